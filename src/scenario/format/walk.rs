//! The shape of a file: no unknown key, every value of its type and in its range.
//!
//! One walk over the tree beside the tables of [`crate::scenario::file::format`]. What it cannot see, that two settings fit
//! together or that a target exists, is left to [`crate::scenario::file::read`].

use crate::engine::SimDuration;
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::{did_you_mean, one_of};
use crate::scenario::document::{Entry, Node, Table, Value};
use crate::scenario::fault::verbs::VERBS;
use crate::scenario::format::distribution;
use crate::scenario::format::duration;
use crate::scenario::format::of_servers;
use crate::scenario::format::values;
use crate::scenario::format::{Key, Section, Shape};

/// Problems after which the walk ends: the file is of another kind.
const PROBLEMS_MAX: usize = 500;

/// What to say of a key that a section does not have.
type Unknown = fn(&Entry, &'static Section) -> Problem;

/// Checks the whole file, of which `top` is the outermost section.
pub(crate) fn check(root: &Table, top: &'static Section, unknown: Unknown, problems: &mut Vec<Problem>) {
    Walk { unknown, problems }.table(root, top);
}

struct Walk<'p> {
    unknown: Unknown,
    problems: &'p mut Vec<Problem>,
}

impl Walk<'_> {
    fn table(&mut self, table: &Table, section: &'static Section) {
        for entry in &table.entries {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            match section.key(&entry.key) {
                Some(key) => self.value(entry, key),
                None => self.problems.push((self.unknown)(entry, section)),
            }
        }
    }

    fn value(&mut self, entry: &Entry, key: &'static Key) {
        match (key.shape, &entry.node.value) {
            (Shape::Table(section), Value::Table(table)) => self.table(table, section),
            (Shape::Tables(section), Value::List(nodes)) => self.tables(entry, nodes, section),
            _ => check_value(entry, key, self.problems),
        }
    }

    fn tables(&mut self, entry: &Entry, nodes: &[Node], section: &'static Section) {
        for node in nodes {
            match &node.value {
                Value::Table(table) => self.table(table, section),
                other => self.problems.push(
                    Problem::error(node.place.clone(), format!("each `{}` is a table", entry.key))
                        .label(format!("this is {}", other.kind())),
                ),
            }
        }
    }
}

fn check_value(entry: &Entry, key: &'static Key, problems: &mut Vec<Problem>) {
    let node = &entry.node;
    let problem = match key.shape {
        Shape::Table(_) => Some(wrong_type(entry, "a table").hint(table_hint(key))),
        Shape::Tables(section) => Some(
            wrong_type(entry, "a list of tables")
                .hint(format!("write `[[{0}]]`, in double brackets, once for each {0}", section.path)),
        ),
        Shape::Text => text(entry, ""),
        Shape::Lines => text(entry, "\n\r\t"),
        Shape::Flag => (!matches!(node.value, Value::Flag(_))).then(|| wrong_flag(entry)),
        Shape::Count { min, max, unit } => count(entry, min, max, unit),
        Shape::CountOrDefault { max, default, unit } => count_or_default(entry, max, default, unit),
        Shape::Signed { min, max, unit } => signed(entry, min, max, unit),
        Shape::CountOr { min, max, unit, word } => count_or(entry, min, max, (unit, word)),
        Shape::Share => share(entry, true),
        Shape::ShareOr { word } => share_or(entry, word),
        Shape::PositiveShare => share(entry, false),
        Shape::Rate { words } => rate(entry, words),
        Shape::Length { min, max, words } => length(entry, min, max, words),
        Shape::Choice(words) => choice(entry, words),
        Shape::Names => names(entry, &[]),
        Shape::NamesOr(words) => names(entry, words),
        Shape::Lengths => of_servers::lengths(entry),
        Shape::Address => of_servers::address(entry),
        Shape::PeersByServer => return of_servers::peers_by_server(entry, problems),
        Shape::Servers => of_servers::servers(entry),
        Shape::Distribution { zero } => distribution(entry, zero),
        Shape::Shift => shift(entry),
        Shape::Peer => of_servers::peer(entry),
        Shape::ShareOfReplicates => share_of_replicates(entry),
    };
    problems.extend(problem);
}

/// How the table is written: a verb's in braces. Other sections have keys of the same names.
fn table_hint(key: &'static Key) -> String {
    match VERBS.iter().find(|form| std::ptr::eq(&form.key, key)) {
        Some(form) => format!("as in `{}`", form.example),
        None => format!("write `[{}]`", key.name),
    }
}

pub(crate) fn wrong_type(entry: &Entry, wanted: &str) -> Problem {
    Problem::error(entry.node.place.clone(), format!("`{}` must be {wanted}", entry.key))
        .label(format!("this is {}", entry.node.value.kind()))
}

/// A text is shown on terminals and in charts, which are XML: control characters would act there, and XML has
/// neither these nor the two last characters of the basic plane.
fn text(entry: &Entry, allowed: &str) -> Option<Problem> {
    let Some(text) = entry.node.as_text() else { return Some(wrong_type(entry, "a text")) };
    let wrong = |c: char| (c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}')) && !allowed.contains(c);
    let found = text.chars().find(|&c| wrong(c))?;
    let place = entry.node.place.clone();
    let key = &entry.key;
    Some(if matches!(found, '\n' | '\r') {
        let problem = Problem::error(place, format!("`{key}` must be one line")).label("has a line break");
        if key == "title" { problem.hint("a paragraph goes into `about`") } else { problem }
    } else {
        Problem::error(place, format!("`{key}` must not have control characters"))
            .label(format!("has U+{:04X}", u32::from(found)))
            .hint("leave it out")
    })
}

fn wrong_flag(entry: &Entry) -> Problem {
    let problem = wrong_type(entry, "`true` or `false`");
    match entry.node.as_text() {
        Some(text @ ("true" | "false")) => problem.hint(format!("write it without quotes: {text}")),
        _ => problem,
    }
}

pub(crate) fn out_of_range(entry: &Entry, range: String) -> Problem {
    Problem::error(entry.node.place.clone(), format!("`{}` is out of range", entry.key)).label(range)
}

fn counted(unit: &str) -> String {
    if unit.is_empty() { "a whole number".into() } else { format!("a whole number of {unit}") }
}

fn count(entry: &Entry, min: u64, max: u64, unit: &str) -> Option<Problem> {
    let Value::Integer(number) = entry.node.value else { return Some(not_a_count(entry, unit)) };
    let fits = number.is_some_and(|number| (i128::from(min)..=i128::from(max)).contains(&number));
    let range = if max == u64::MAX { format!("at least {min}") } else { format!("from {min} to {max}") };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    (!fits).then(|| out_of_range(entry, format!("must be {range}{unit}")))
}

/// A count, or the one word that may stand in its place.
fn count_or(entry: &Entry, min: u64, max: u64, (unit, word): (&str, &str)) -> Option<Problem> {
    let Some(text) = entry.node.as_text() else { return count(entry, min, max, unit) };
    (text != word).then(|| {
        let wanted = format!("{}, or `{word}`", counted(unit));
        wrong_type(entry, &wanted).maybe_hint(did_you_mean(text, [word]))
    })
}

fn not_a_count(entry: &Entry, unit: &str) -> Problem {
    let problem = wrong_type(entry, &counted(unit));
    if let (Value::Float(share), "percent") = (&entry.node.value, unit)
        && (0.0..=1.0).contains(share)
    {
        let percent = (share * 100.0).round();
        return problem.hint(format!("it counts percent: write {} = {percent}", entry.key));
    }
    let Some(text) = entry.node.as_text() else { return problem };
    if text.parse::<u64>().is_ok() {
        return problem.hint(format!("write it without quotes: {text}"));
    }
    let per_unit = match unit {
        "seconds" => 1_000_000_000,
        "milliseconds" => 1_000_000,
        _ => return problem,
    };
    match duration::parse(text) {
        Ok(length) => problem.hint(format!(
            "it counts {unit}: write {} = {}",
            entry.key,
            length.as_nanos().div_ceil(per_unit)
        )),
        Err(_) => problem,
    }
}

fn count_or_default(entry: &Entry, max: u64, default: u32, unit: &str) -> Option<Problem> {
    if let Value::Integer(Some(number)) = entry.node.value
        && number <= 0
    {
        let title = format!("`{}` = {number} means the default, {default} {unit}", entry.key);
        return Some(
            Problem::warning(entry.node.place.clone(), title)
                .label("zero or less")
                .hint(format!("write {default}, or leave it out")),
        );
    }
    count(entry, 1, max, unit)
}

fn signed(entry: &Entry, min: i64, max: i64, unit: &str) -> Option<Problem> {
    let Value::Integer(number) = entry.node.value else {
        return Some(wrong_type(entry, &format!("a whole number of {unit}")));
    };
    let fits = number.is_some_and(|number| (i128::from(min)..=i128::from(max)).contains(&number));
    (!fits).then(|| out_of_range(entry, format!("must be from {min} to {max} {unit}")))
}

fn share(entry: &Entry, zero: bool) -> Option<Problem> {
    let wanted = if zero { "from 0 to 1" } else { "above 0, at most 1" };
    if !matches!(entry.node.value, Value::Float(_) | Value::Integer(_)) {
        return Some(wrong_type(entry, &format!("a number {wanted}")));
    }
    let number = values::number(&entry.node);
    if number.is_some_and(|number| (0.0..=1.0).contains(&number) && (zero || number > 0.0)) {
        return None;
    }
    let problem = out_of_range(entry, format!("must be {wanted}"));
    Some(match number {
        Some(percent) if percent > 1.0 && percent <= 100.0 => {
            // Rounded, or 1.1 percent would be 0.011000000000000001.
            problem.hint(format!("for {percent} percent write {}", (percent * 1e6).round() / 1e8))
        }
        _ => problem,
    })
}

/// A share, or the one word that may stand in its place.
fn share_or(entry: &Entry, word: &str) -> Option<Problem> {
    let Some(text) = entry.node.as_text() else {
        let off = values::number(&entry.node).is_some_and(|number| number < 0.0);
        let hint = off.then(|| format!("to switch it off write `\"{word}\"`"));
        return share(entry, true).map(|problem| problem.maybe_hint(hint));
    };
    (text != word).then(|| {
        let wanted = format!("a number from 0 to 1, or `{word}`");
        wrong_type(entry, &wanted).maybe_hint(did_you_mean(text, [word]))
    })
}

fn rate(entry: &Entry, words: &[&str]) -> Option<Problem> {
    let or = if words.is_empty() { String::new() } else { format!(", or {}", one_of(words.iter().copied())) };
    let wanted = format!("a number above 0{or}");
    if entry.node.as_text().is_some_and(|text| words.contains(&text)) {
        return None;
    }
    if !matches!(entry.node.value, Value::Float(_) | Value::Integer(_)) {
        return Some(wrong_type(entry, &wanted));
    }
    let fits = values::number(&entry.node).is_some_and(|number| (1e-6..=1e6).contains(&number));
    (!fits).then(|| out_of_range(entry, "must be from 0.000001 to 1000000".into()))
}

fn length(entry: &Entry, min: SimDuration, max: SimDuration, words: &[&str]) -> Option<Problem> {
    let place = entry.node.place.clone();
    let Some(text) = entry.node.as_text() else {
        let problem = wrong_type(entry, "a duration with a unit");
        return Some(match entry.node.value {
            Value::Integer(Some(number)) if number >= 0 => {
                problem.hint(duration::unit_hint(&number.to_string()))
            }
            _ => problem.hint("durations look like `\"30s\"`, `\"1m 30s\"`, `\"500ms\"`"),
        });
    };
    if words.contains(&text) {
        return None;
    }
    match duration::parse(text) {
        Ok(length) if length < min => Some(out_of_range(entry, "must be longer than 0s".into())),
        Ok(length) if length > max => Some(out_of_range(entry, format!("must be at most {max}"))),
        Ok(_) => None,
        Err(why) => {
            let near = did_you_mean(text, words.iter().copied()).filter(|_| !words.is_empty());
            let hint = if text.trim().parse::<f64>().is_ok() {
                duration::unit_hint(text.trim())
            } else {
                near.unwrap_or_else(|| "durations look like `\"30s\"`, `\"1m 30s\"`, `\"500ms\"`".into())
            };
            Some(Problem::error(place, format!("`{}` must be a duration", entry.key)).label(why).hint(hint))
        }
    }
}

fn choice(entry: &Entry, words: &'static [&'static str]) -> Option<Problem> {
    let all = one_of(words.iter().copied());
    let Some(text) = entry.node.as_text() else { return Some(wrong_type(entry, &all)) };
    (!words.contains(&text)).then(|| {
        let other_nacos = words.contains(&"nacos-1") && text.starts_with("nacos-2");
        let hint = other_nacos.then(|| {
            "Nacos 2 is another registry, in which a connection is the lease; `nacos-1` is 1.4".to_owned()
        });
        Problem::error(entry.node.place.clone(), format!("unknown `{}`: `{text}`", entry.key))
            .label(format!("must be {all}"))
            .maybe_hint(hint.or_else(|| did_you_mean(text, words.iter().copied())))
    })
}

pub(crate) fn names(entry: &Entry, words: &[&'static str]) -> Option<Problem> {
    let nodes = entry.node.as_list();
    if entry.node.as_text().is_some_and(|text| words.contains(&text)) {
        return None;
    }
    let texts = nodes.is_some_and(|nodes| nodes.iter().all(|node| node.as_text().is_some()));
    if !texts {
        let or =
            if words.is_empty() { String::new() } else { format!(", or {}", one_of(words.iter().copied())) };
        return Some(wrong_type(entry, &format!("a list of texts{or}")).hint(match entry.key.as_str() {
            "instances" => "write `[\"orders-1\", \"orders-2\"]`",
            "servers" => "write `[\"server-1\", \"server-2\"]`",
            _ => "write `[\"a\", \"b\"]`, with one or more",
        }));
    }
    nodes.is_some_and(<[Node]>::is_empty).then(|| out_of_range(entry, "must name at least one".into()))
}

fn distribution(entry: &Entry, zero: bool) -> Option<Problem> {
    let place = entry.node.place.clone();
    let why = match distribution::parse(&entry.node) {
        Ok(drawn) if !zero && drawn.is_always_zero() => {
            return Some(out_of_range(entry, "must be longer than 0s".into()));
        }
        Ok(_) => return None,
        Err(why) => why,
    };
    let bare = match entry.node.value {
        Value::Integer(Some(number)) => Some(duration::unit_hint(&number.to_string())),
        _ => None,
    };
    let title = format!("`{}` must be a duration or a distribution", entry.key);
    Some(Problem::error(place, title).label(why).maybe_hint(bare))
}

fn shift(entry: &Entry) -> Option<Problem> {
    let Some(text) = entry.node.as_text() else {
        return Some(wrong_type(entry, "a duration with a unit").hint("as in `\"60s\"` or `\"-60s\"`"));
    };
    let why = duration::parse_shift_ms(text).err()?;
    let title = format!("`{}` must be a duration, negative or not", entry.key);
    Some(Problem::error(entry.node.place.clone(), title).label(why).hint("as in `\"60s\"` or `\"-60s\"`"))
}

fn share_of_replicates(entry: &Entry) -> Option<Problem> {
    let wanted = "`\"all\"` or a number above 0, at most 1";
    match &entry.node.value {
        Value::Text(text) if text == "all" => None,
        Value::Float(_) | Value::Integer(_) => {
            let fits = values::number(&entry.node).is_some_and(|number| number > 0.0 && number <= 1.0);
            (!fits).then(|| out_of_range(entry, format!("must be {wanted}")))
        }
        _ => Some(wrong_type(entry, wanted)),
    }
}
