//! Distributions as a file writes them: `"2s"`, `{ exponential = "2s" }`, `{ pareto = { least = "1s", shape = 1.5 } }`.
//!
//! Read and printed here, so that the two cannot part. Errors are clauses for a person, without a full stop.

use crate::engine::{Distribution, DistributionError, DistributionShape, SimDuration};
use crate::scenario::diagnostics::suggest::{all_of, did_you_mean, one_of};
use crate::scenario::document::{Node, Table};
use crate::scenario::format::duration;
use crate::scenario::format::page::quoted;
use crate::scenario::format::values::{self, Values};
use crate::scenario::types::Delay;

/// The families; a length alone is constant.
const FAMILIES: [&str; 5] = ["uniform", "exponential", "normal", "log-normal", "pareto"];
/// What is told to whoever writes something else.
const FORM: &str = "write `\"2s\"`, or a distribution such as `{ uniform = [\"1s\", \"5s\"] }`";

/// Reads a distribution.
pub(crate) fn parse(node: &Node) -> Result<Distribution, String> {
    if let Some(text) = node.as_text() {
        return duration::parse(text).map(Distribution::constant);
    }
    let table = node.as_table().ok_or(FORM)?;
    let [entry] = table.entries.as_slice() else { return Err(FORM.into()) };
    let (family, node) = (entry.key.as_str(), &entry.node);
    let made = match family {
        "uniform" => return uniform(node),
        "exponential" => Distribution::exponential(length(node, family)?),
        "normal" => {
            let values = fields(node, family, &["mean", "deviation"])?;
            Distribution::normal(length_of(values, family, "mean")?, length_of(values, family, "deviation")?)
        }
        "log-normal" => return log_normal(node),
        "pareto" => return pareto(node),
        other => {
            let near =
                did_you_mean(other, FAMILIES).unwrap_or_else(|| format!("there are {}", one_of(FAMILIES)));
            return Err(format!("no distribution is called `{other}`: {near}"));
        }
    };
    made.map_err(|error| error.to_string())
}

/// The canonical text of a distribution.
pub(crate) fn print(distribution: Distribution) -> String {
    match distribution.shape() {
        DistributionShape::Constant(length) => quoted(length),
        DistributionShape::Uniform { low, high } => {
            format!("{{ uniform = [{}, {}] }}", quoted(low), quoted(high))
        }
        DistributionShape::Exponential { mean } => format!("{{ exponential = {} }}", quoted(mean)),
        DistributionShape::Normal { mean, deviation } => {
            format!("{{ normal = {{ mean = {}, deviation = {} }} }}", quoted(mean), quoted(deviation))
        }
        DistributionShape::LogNormal { median, sigma } => {
            format!("{{ log-normal = {{ median = {}, sigma = {sigma:?} }} }}", quoted(median))
        }
        DistributionShape::Pareto { scale, shape } => {
            format!("{{ pareto = {{ least = {}, shape = {shape:?} }} }}", quoted(scale))
        }
    }
}

/// The canonical text of a delay.
pub(crate) fn print_delay(delay: Delay) -> String {
    match delay {
        Delay::Constant(always) => quoted(always),
        Delay::Uniform(low, high) => format!("{{ uniform = [{}, {}] }}", quoted(low), quoted(high)),
        Delay::Drawn(distribution) => print(distribution),
    }
}

fn uniform(node: &Node) -> Result<Distribution, String> {
    let Some([from, to]) = node.as_list() else {
        return Err("`uniform` takes two durations, the shorter first".into());
    };
    let (from, to) = (length(from, "uniform")?, length(to, "uniform")?);
    Distribution::uniform(from, to)
        .map_err(|_| format!("`uniform` takes the shorter duration first: {from} is longer than {to}"))
}

fn log_normal(node: &Node) -> Result<Distribution, String> {
    let values = fields(node, "log-normal", &["median", "p99", "sigma"])?;
    let median = length_of(values, "log-normal", "median")?;
    let made = match (values.has("p99"), values.has("sigma")) {
        (true, false) => {
            let p99 = length_of(values, "log-normal", "p99")?;
            if p99 <= median {
                return Err(format!("`p99` must be longer than `median`, which is {median}"));
            }
            Distribution::log_normal_by_p99(median, p99)
        }
        (false, true) => Distribution::log_normal(median, number_of(values, "sigma")?),
        _ => return Err("`log-normal` takes `median` and one of `p99` and `sigma`".into()),
    };
    made.map_err(|error| error.to_string())
}

fn pareto(node: &Node) -> Result<Distribution, String> {
    let values = fields(node, "pareto", &["least", "shape"])?;
    let least = length_of(values, "pareto", "least")?;
    Distribution::pareto(least, number_of(values, "shape")?).map_err(|error| match error {
        DistributionError::Zero(_) => "`least` must be longer than 0s".into(),
        other => other.to_string(),
    })
}

/// The table of a family's parameters.
fn fields<'d>(node: &'d Node, family: &str, known: &[&'static str]) -> Result<Values<'d>, String> {
    let takes = || format!("`{family}` takes {}", all_of(known.iter().copied()));
    let table: &Table = node.as_table().ok_or_else(takes)?;
    match table.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
        Some(entry) => Err(format!("`{family}` has no `{}`: {}", entry.key, takes())),
        None => Ok(Values(Some(table))),
    }
}

fn length_of(values: Values<'_>, family: &str, key: &str) -> Result<SimDuration, String> {
    match values.node(key) {
        Some(node) => length(node, key),
        None => Err(format!("`{family}` needs `{key}`")),
    }
}

fn length(node: &Node, key: &str) -> Result<SimDuration, String> {
    duration::parse(node.as_text().ok_or_else(|| format!("`{key}` takes a duration such as `\"2s\"`"))?)
}

fn number_of(values: Values<'_>, key: &str) -> Result<f64, String> {
    values.node(key).and_then(values::number).ok_or_else(|| format!("`{key}` takes a number such as 1.5"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::parse_argument;

    fn read(text: &str) -> Result<Distribution, String> {
        parse(&parse_argument(text, 0))
    }

    fn s(seconds: u64) -> SimDuration {
        SimDuration::from_secs(seconds)
    }

    #[test]
    fn every_family_is_read_and_comes_back() {
        let families = [
            ("\"2s\"", Distribution::constant(s(2))),
            ("{ uniform = [\"1s\", \"5s\"] }", Distribution::uniform(s(1), s(5)).expect("in order")),
            ("{ exponential = \"2s\" }", Distribution::exponential(s(2)).expect("not zero")),
            (
                "{ normal = { mean = \"2s\", deviation = \"1s\" } }",
                Distribution::normal(s(2), s(1)).expect("not zero"),
            ),
            (
                "{ log-normal = { median = \"2s\", sigma = 1.2 } }",
                Distribution::log_normal(s(2), 1.2).expect("in range"),
            ),
            (
                "{ pareto = { least = \"1s\", shape = 1.5 } }",
                Distribution::pareto(s(1), 1.5).expect("in range"),
            ),
        ];
        for (text, distribution) in families {
            assert_eq!(read(text), Ok(distribution), "{text}");
            assert_eq!(print(distribution), text);
        }
    }

    #[test]
    fn a_log_normal_by_its_p99_is_printed_with_its_sigma() {
        // ln(5 / 0.2) / 2.3263 = 1.3837.
        let read_by_p99 = read("{ log-normal = { median = \"200ms\", p99 = \"5s\" } }").expect("it is one");
        let printed = print(read_by_p99);
        assert!(printed.starts_with("{ log-normal = { median = \"200ms\", sigma = 1.383"), "{printed}");
        assert_eq!(read(&printed), Ok(read_by_p99));
    }

    #[test]
    fn what_is_no_distribution_is_told_why() {
        let because = |text: &str| read(text).expect_err("it is none");
        assert_eq!(because("{ normal = { mean = \"2s\" } }"), "`normal` needs `deviation`");
        assert!(because("{ exponental = \"2s\" }").ends_with("did you mean `exponential`?"));
        assert_eq!(
            because("{ pareto = { scale = \"2s\", shape = 1 } }"),
            "`pareto` has no `scale`: `pareto` takes `least` and `shape`"
        );
        assert!(
            because("{ log-normal = { median = \"5s\", p99 = \"2s\" } }").contains("longer than `median`")
        );
        assert!(because("{ log-normal = { median = \"5s\" } }").contains("one of `p99` and `sigma`"));
        assert!(because("{ uniform = [\"5s\", \"2s\"] }").contains("the shorter duration first"));
        assert!(because("{ pareto = { least = \"2s\", shape = 1000 } }").contains("at most 100"));
        for text in ["3", "true", "[]", "{}", "{ uniform = [] }", "{ exponential = 3 }", "{ normal = 3 }"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
