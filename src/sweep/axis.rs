//! `--axis KEY=VALUE,VALUE,…`: a setting and the values that it takes in turn.
//!
//! Values are separated by commas outside quotes, brackets and braces, and each is what `--set` takes: a TOML value,
//! or else a text. `1..20` stands for the whole numbers from 1 to 20, both included, and `0..60..15` for every
//! fifteenth. What is wrong is told at its place in the argument, all of it at once.

use std::ops::Range;

use crate::scenario::{Assignment, Place, Problem, Source};

const FLAG: &str = "--axis ";
/// Values that one axis may have at most.
const VALUES_MAX: u64 = 1_000_000;
/// What every configuration must share, lest a difference be due to chance.
const SHARED: [&str; 2] = ["seed", "replicates"];

/// A setting that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// The key as it was typed.
    pub(super) key: String,
    /// The names that it leads through.
    pub(super) path: Vec<String>,
    /// The argument as it was typed, with its flag.
    shown: String,
    /// At least one, no two equal.
    values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    /// What is assigned.
    text: String,
    /// What stands for it, within the argument with its flag.
    place: Range<usize>,
}

impl Axis {
    /// How many values it has.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The assignment of its value at this place.
    pub(super) fn assignment(&self, index: usize) -> Assignment {
        let value = &self.values[index];
        let key = FLAG.len()..FLAG.len() + self.key.len();
        Assignment::at(self.shown.clone(), key, value.text.clone(), value.place.clone())
    }

    /// Its values as tables show them: a text without its quotes.
    pub(super) fn labels(&self) -> Vec<String> {
        self.values.iter().map(|value| unquoted(&value.text).to_owned()).collect()
    }
}

/// What the command line says about axes.
#[derive(Debug, Default)]
pub(super) struct Axes {
    /// Those without a problem, in their order.
    pub(super) sound: Vec<Axis>,
    /// The arguments of the others, with their flag.
    pub(super) unsound: Vec<String>,
    /// What is wrong with them. Places count from the start of the first sound axis's line; the lines of the unsound
    /// follow those of the sound.
    pub(super) problems: Vec<Problem>,
}

/// Reads the arguments. `sets` are those of `--set`, which no axis may name.
pub(super) fn read(arguments: &[String], sets: &[Assignment]) -> Axes {
    let mut axes = Axes::default();
    let mut wrong: Vec<(String, Vec<Problem>)> = Vec::new();
    for argument in arguments {
        let shown = format!("{FLAG}{argument}");
        match read_one(&shown, &axes.sound, sets) {
            Ok(axis) => axes.sound.push(axis),
            Err(problems) => wrong.push((shown, problems)),
        }
    }
    let mut line_start: usize = axes.sound.iter().map(|axis| axis.shown.len() + 1).sum();
    for (shown, problems) in wrong {
        axes.problems.extend(problems.into_iter().map(|problem| moved(problem, line_start)));
        line_start += shown.len() + 1;
        axes.unsound.push(shown);
    }
    axes
}

/// The problem, with its place moved by so many bytes.
pub(super) fn moved(mut problem: Problem, by: usize) -> Problem {
    if let Some(place) = &mut problem.place {
        place.start += by;
        place.end += by;
    }
    problem
}

fn at(range: Range<usize>) -> Place {
    Place::new(Source::CommandLine, range)
}

fn read_one(shown: &str, others: &[Axis], sets: &[Assignment]) -> Result<Axis, Vec<Problem>> {
    let start = FLAG.len();
    let Some(equals) = shown.find('=') else {
        let problem = Problem::error(at(start..shown.len()), "`--axis` takes KEY=VALUE,VALUE,…")
            .label("there is no `=`")
            .hint("as in `--axis eureka.server.eviction-interval-timer-in-ms=5000,15000,60000`");
        return Err(vec![problem]);
    };
    let key = &shown[start..equals];
    let key_range = start..equals;
    // Only the key matters here.
    let probe = Assignment::at(shown.to_owned(), key_range.clone(), String::new(), equals + 1..equals + 1);
    let Some(path) = probe.path() else {
        let problem = Problem::error(at(key_range), "this is not a key")
            .label("not a dotted path of names")
            .hint("as in `--axis eureka.client.registry-fetch-interval-seconds=5,30`");
        return Err(vec![problem]);
    };
    let mut problems = Vec::new();
    problems.extend(refused_key(key, &path, &key_range, others, sets));
    let mut values: Vec<Value> = Vec::new();
    if shown[equals + 1..].trim().is_empty() {
        let problem = Problem::error(at(equals..shown.len()), format!("the axis `{key}` has no value"))
            .label("nothing follows")
            .hint("list its values: VALUE,VALUE,…");
        return Err([problems, vec![problem]].concat());
    }
    for item in items(shown, equals + 1) {
        match expand(&shown[item.clone()]) {
            Err((title, hint)) => problems.push(Problem::error(at(item), title).hint(hint)),
            Ok(texts) => values.extend(texts.into_iter().map(|text| Value { text, place: item.clone() })),
        }
    }
    problems.extend(twice(&values));
    if problems.is_empty() {
        Ok(Axis { key: key.to_owned(), path, shown: shown.to_owned(), values })
    } else {
        Err(problems)
    }
}

fn refused_key(
    key: &str,
    path: &[String],
    place: &Range<usize>,
    others: &[Axis],
    sets: &[Assignment],
) -> Option<Problem> {
    let problem = |title: String| Some(Problem::error(at(place.clone()), title));
    if let [only] = path
        && SHARED.contains(&only.as_str())
    {
        return problem(format!("`{only}` is no axis")).map(|problem| {
            problem.label("the same in all configurations").hint(format!(
                "configurations run with the same draws, so that they differ by their settings alone; \
                 `--{only} N` sets it for all of them"
            ))
        });
    }
    if others.iter().any(|other| other.path == path) {
        return problem(format!("the axis `{key}` stands twice"))
            .map(|problem| problem.label("again").hint("list all its values in one `--axis`"));
    }
    if sets.iter().any(|set| set.path().as_deref() == Some(path)) {
        return problem(format!("`{key}` is set and varied at once"))
            .map(|problem| problem.label("varied here").hint("leave out its `--set`"));
    }
    None
}

/// A value that stands twice would give two configurations that are the same.
fn twice(values: &[Value]) -> Vec<Problem> {
    let mut sorted: Vec<(&str, usize)> =
        values.iter().enumerate().map(|(index, value)| (value.text.as_str(), index)).collect();
    sorted.sort_unstable();
    let again = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| &values[pair[1].1]);
    let problem = |value: &Value| {
        Problem::error(at(value.place.clone()), format!("the value `{}` stands twice", value.text))
            .label("again")
            .hint("leave it out here")
    };
    let mut problems: Vec<Problem> = again.map(problem).collect();
    problems.dedup_by(|later, earlier| later.place == earlier.place);
    problems
}

/// The ranges of the items that commas separate, from `start` on, without blanks around them.
fn items(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut from = start;
    let mut depth = 0_u32;
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (offset, letter) in text[start..].char_indices() {
        match (quote, letter) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(trimmed(text, from..start + offset));
                from = start + offset + 1;
            }
            (None, _) => {}
        }
    }
    items.push(trimmed(text, from..text.len()));
    items
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The values that an item stands for; or what is wrong with it, and what to do.
fn expand(item: &str) -> Result<Vec<String>, (String, String)> {
    if item.is_empty() {
        let hint = "leave out the comma, or write `\"\"` for an empty text";
        return Err(("a value is missing".to_owned(), hint.to_owned()));
    }
    let Some((first, last, step)) = numbers(item) else { return Ok(vec![item.to_owned()]) };
    let hint = "as in `1..20`, or `0..60..15` for every fifteenth".to_owned();
    if step < 1 {
        return Err((format!("`{item}` goes nowhere: its step must be at least 1"), hint));
    }
    if first > last {
        return Err((format!("`{item}` is empty: its first number is larger than its last"), hint));
    }
    let count = (last.abs_diff(first) / step.unsigned_abs()).saturating_add(1);
    if count > VALUES_MAX {
        return Err((format!("`{item}` stands for more than {VALUES_MAX} values"), hint));
    }
    let number = |index: u64| i128::from(first) + i128::from(index) * i128::from(step);
    Ok((0..count).map(|index| number(index).to_string()).collect())
}

/// The first and last number of a range, and its step; `None` if it is none.
fn numbers(item: &str) -> Option<(i64, i64, i64)> {
    let mut parts = item.split("..").map(|part| part.trim().parse::<i64>().ok());
    let (first, last) = (parts.next()??, parts.next()??);
    let step = match parts.next() {
        None => 1,
        Some(step) => step?,
    };
    parts.next().is_none().then_some((first, last, step))
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains([quote, '\\'])) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(argument: &str) -> Axes {
        read(&[argument.to_owned()], &[])
    }

    fn texts(argument: &str) -> Vec<String> {
        let mut axes = one(argument);
        assert_eq!(axes.problems, [], "{argument}");
        axes.sound.remove(0).values.into_iter().map(|value| value.text).collect()
    }

    fn title(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut problems = read(&arguments, &[Assignment::set("duration=1h")]).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.remove(0).title
    }

    #[test]
    fn values_are_split_at_commas_that_separate() {
        assert_eq!(texts("a=5000, 15000 ,60000"), ["5000", "15000", "60000"]);
        assert_eq!(texts("a=true,false"), ["true", "false"]);
        assert_eq!(texts("a=30s,1m 30s"), ["30s", "1m 30s"]);
        assert_eq!(texts(r#"a="x, \"y",'z,'"#), [r#""x, \"y""#, "'z,'"]);
        assert_eq!(texts(r#"a={ uniform = ["1ms","2ms"] },"1ms""#).len(), 2);
        assert_eq!(texts("a=[1,2],[3]"), ["[1,2]", "[3]"]);
        // What is not closed takes the rest, and is told of as a value.
        assert_eq!(texts("a=[1,2"), ["[1,2"]);
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(texts("a=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(texts("a=0..60..25,100"), ["0", "25", "50", "100"]);
        assert_eq!(texts("a=-1..1"), ["-1", "0", "1"]);
        assert_eq!(texts("a='1..4'"), ["'1..4'"]);
        assert_eq!(texts("a=1.5,2..x"), ["1.5", "2..x"]);
    }

    #[test]
    fn an_assignment_points_at_its_value() {
        let axes = one("a.b=1..3,7");
        let assigned = axes.sound[0].assignment(3);
        assert_eq!((assigned.shown(), assigned.key()), ("--axis a.b=1..3,7", "a.b"));
        assert_eq!(assigned.path(), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(axes.sound[0].values[3].place, 16..17);
        assert_eq!(axes.sound[0].values[2].place, 11..15);
    }

    #[test]
    fn what_cannot_be_an_axis_says_why() {
        assert_eq!(title(&["a"]), "`--axis` takes KEY=VALUE,VALUE,…");
        assert_eq!(title(&["=1,2"]), "this is not a key");
        assert_eq!(title(&["a="]), "the axis `a` has no value");
        assert_eq!(title(&["a=1,,2"]), "a value is missing");
        assert_eq!(title(&["a=1,2,"]), "a value is missing");
        assert_eq!(title(&["a=1,2,1"]), "the value `1` stands twice");
        assert_eq!(title(&["a=1..3,2"]), "the value `2` stands twice");
        assert_eq!(title(&["a=3..1"]), "`3..1` is empty: its first number is larger than its last");
        assert_eq!(title(&["a=1..3..0"]), "`1..3..0` goes nowhere: its step must be at least 1");
        assert_eq!(title(&["a=1..9999999"]), "`1..9999999` stands for more than 1000000 values");
        assert_eq!(title(&["a=1,2", "\"a\"=3"]), "the axis `\"a\"` stands twice");
        assert_eq!(title(&["seed=1,2"]), "`seed` is no axis");
        assert_eq!(title(&["duration=30m,1h"]), "`duration` is set and varied at once");
    }

    #[test]
    fn places_of_the_unsound_count_from_below_the_sound() {
        let arguments = ["x=", "a=1,2", "y=1,,2"].map(str::to_owned);
        let axes = read(&arguments, &[]);
        assert_eq!(axes.sound.len(), 1);
        let text = ["--axis a=1,2".to_owned(), axes.unsound.join("\n")].join("\n");
        let marked = |index: usize| {
            let place = axes.problems[index].place.as_ref().expect("it has one");
            &text[place.start..place.end]
        };
        assert_eq!(marked(0), "=");
        assert_eq!(axes.problems[1].place.as_ref().expect("it has one").start, text.rfind(",2").unwrap());
    }

    proptest::proptest! {
        #[test]
        fn no_argument_panics(argument in "(?s).{0,30}=?.{0,30}") {
            let _ = one(&argument);
        }
    }
}
