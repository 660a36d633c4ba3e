//! Every figure that is shown anywhere, computed once. [`Summary`] is `summary.json`, it is what
//! `--format json` prints, and the table and the charts read it too. `docs/OUTPUT.md` explains each field.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::calls::CallSummary;
use super::mistakes::{MistakeSummary, Tolerance, replicates_with};
use super::{Report, intervals, sentence};
use crate::analysis::{Bound, BoundRange};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Detection, Ending, RunData};
use crate::sweep::{Sample, Verdict};

/// A run in figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// What the scenario shows, in one line.
    pub title: String,
    /// The release that was simulated.
    pub release: String,
    /// The seed of all chance.
    pub seed: u64,
    /// How often the scenario was run.
    pub replicates: u32,
    /// Of these, how many ran to the scenario's duration, since something could still change.
    pub replicates_to_duration: u32,
    /// Engine events that ran, over all replicates.
    pub events: u64,
    /// The digest of all events of all replicates in order: 16 hexadecimal digits.
    pub digest: String,
    /// Detection times by event and stage.
    pub stages: Vec<StageSummary>,
    /// Instances that were well and not shown, by stage; a stage without any is left out.
    pub mistakes: Vec<MistakeSummary>,
    /// How many heartbeats each application's settings let an instance miss.
    pub tolerance: Vec<Tolerance>,
    /// Calls between instances, by caller and callee; none without traffic.
    pub calls: Vec<CallSummary>,
    /// How the scenario's expectations came out, in its order.
    pub expectations: Vec<ExpectationSummary>,
    /// The answer in words.
    pub answer: String,
    /// The version of stillup that ran.
    pub version: String,
    /// The command that repeats the run.
    pub command: String,
}

/// The detection times of one event at one stage. Milliseconds, rounded down.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StageSummary {
    /// What was detected: `crash`, `stop` or `registration`.
    pub event: String,
    /// Where: `registry`, `served`, `client` or `balancer`.
    pub stage: String,
    /// Observations, detected and censored.
    pub count: u64,
    /// Of these, those that the end of the run cut off.
    pub censored: u64,
    /// Observations of an instance that came back before its end was noticed; not part of `count`.
    pub superseded: u64,
    /// The shortest detected; null if nothing was.
    pub min_ms: Option<u64>,
    /// The mean; null if anything is censored.
    pub mean_ms: Option<u64>,
    /// Quantiles by nearest rank; null if among the censored.
    pub p50_ms: Option<u64>,
    /// See `p50_ms`.
    pub p90_ms: Option<u64>,
    /// See `p50_ms`.
    pub p95_ms: Option<u64>,
    /// See `p50_ms`.
    pub p99_ms: Option<u64>,
    /// The longest; null if anything is censored.
    pub max_ms: Option<u64>,
    /// The earliest by closed form; null if it does not hold.
    pub bound_min_ms: Option<u64>,
    /// The mean by closed form, over uniform phases; null if it does not hold or phases are not uniform.
    pub bound_mean_ms: Option<u64>,
    /// The latest by closed form; null if it does not hold.
    pub bound_max_ms: Option<u64>,
    /// Why there is no closed form; null if there is.
    pub bound_absent_because: Option<String>,
    /// Why there is a range and no mean by closed form; null if there are both or neither.
    pub bound_mean_absent_because: Option<String>,
    /// What the figures would be if all was run again.
    pub intervals: StageIntervals,
}

/// 95 % confidence intervals whose unit is the replicate. A null end is not bounded by so few replicates, or
/// is censored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageIntervals {
    /// Replicates with an observation.
    pub replicates: u64,
    /// Of the median, over replicates, of a replicate's mean.
    pub replicate_mean: IntervalMs,
    /// Of `p50_ms`.
    pub p50: IntervalMs,
    /// Of `p90_ms`.
    pub p90: IntervalMs,
    /// Of `p95_ms`.
    pub p95: IntervalMs,
    /// Of `p99_ms`.
    pub p99: IntervalMs,
}

/// Both ends of an interval, ms, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IntervalMs {
    /// The lower end.
    pub low_ms: Option<u64>,
    /// The upper end.
    pub high_ms: Option<u64>,
}

/// How one expectation came out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectationSummary {
    /// As written in the scenario.
    pub expectation: String,
    /// Replicates in which it held.
    pub held_in: u32,
    /// Replicates there were.
    pub replicates: u32,
    /// The share in which it must hold.
    pub required_share: f64,
    /// Whether it held often enough.
    pub passed: bool,
}

impl Summary {
    /// The figures of this run.
    pub fn of(report: &Report<'_>) -> Self {
        let data = report.data;
        let mut summary = Self {
            title: report.scenario.title.clone(),
            release: report.scenario.release.clone(),
            seed: report.scenario.seed,
            replicates: u32::try_from(data.replicates.len()).expect("replicates are counted in a u32"),
            replicates_to_duration: replicates_with(data, |replicate| replicate.ending == Ending::Duration),
            events: data.replicates.iter().map(|replicate| replicate.events).sum(),
            digest: digest(data),
            stages: stages(data, report.bounds),
            mistakes: MistakeSummary::of(data),
            tolerance: Tolerance::of(report.scenario),
            calls: CallSummary::of(report.scenario, data),
            expectations: report.verdicts.iter().map(ExpectationSummary::of).collect(),
            answer: String::new(),
            version: report.version.to_owned(),
            command: report.command.clone(),
        };
        summary.answer = sentence::answer(report, &summary);
        summary
    }

    /// The figures of one event at one stage, if there are any.
    pub fn stage(&self, event: EventKind, stage: Stage) -> Option<&StageSummary> {
        self.stages.iter().find(|row| row.event == event.name() && row.stage == stage.name())
    }

    /// The events that occur, in order.
    pub fn events_watched(&self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL
            .into_iter()
            .filter(|event| self.stages.iter().any(|row| row.event == event.name() && row.observed()))
    }

    /// As the text of `summary.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain structs are always JSON");
        text.push('\n');
        text
    }
}

/// The JSON schema of [`Summary`], with a final newline.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(Summary);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is always JSON");
    text.push('\n');
    text
}

impl StageSummary {
    /// Whether anything was observed here.
    pub fn observed(&self) -> bool {
        self.count + self.superseded > 0
    }

    /// What is known of T_D, from the shortest to the longest, and then its closed form: least, mean and most. ms.
    pub(super) const fn times_ms(&self) -> [Option<u64>; 10] {
        [
            self.min_ms,
            self.mean_ms,
            self.p50_ms,
            self.p90_ms,
            self.p95_ms,
            self.p99_ms,
            self.max_ms,
            self.bound_min_ms,
            self.bound_mean_ms,
            self.bound_max_ms,
        ]
    }

    /// The figures of a sample; `means` are the replicates' own, those without an observation left out.
    pub(super) fn of(
        (event, stage): (EventKind, Stage),
        sample: &Sample,
        means: Vec<Option<SimDuration>>,
        bound: Option<&Bound>,
    ) -> Self {
        let ms = |length: Option<SimDuration>| length.map(SimDuration::as_millis);
        let (range, absent) = range_of(bound);
        let bound_ms = |pick: fn(BoundRange) -> SimDuration| range.map(|range| pick(range).as_millis());
        let uneven = bound.and_then(|bound| bound.mean_absent.as_ref());
        let replicates = means.len() as u64;
        let interval = |percent| intervals::of_quantile(sample, replicates, percent);
        Self {
            event: event.name().to_owned(),
            stage: stage.name().to_owned(),
            count: sample.count(),
            censored: sample.censored(),
            superseded: sample.superseded(),
            min_ms: ms(sample.min()),
            mean_ms: ms(sample.mean()),
            p50_ms: ms(sample.percentile(50)),
            p90_ms: ms(sample.percentile(90)),
            p95_ms: ms(sample.percentile(95)),
            p99_ms: ms(sample.percentile(99)),
            max_ms: ms(sample.max()),
            bound_min_ms: bound_ms(|range| range.min),
            bound_mean_ms: bound_ms(|range| range.mean).filter(|_| uneven.is_none()),
            bound_max_ms: bound_ms(|range| range.max),
            bound_absent_because: absent,
            bound_mean_absent_because: uneven.map(|absence| absence.because.clone()),
            intervals: StageIntervals {
                replicates,
                p50: interval(50),
                p90: interval(90),
                p95: interval(95),
                p99: interval(99),
                replicate_mean: intervals::of_replicates(means),
            },
        }
    }
}

impl ExpectationSummary {
    fn of(verdict: &Verdict) -> Self {
        Self {
            expectation: verdict.text.clone(),
            held_in: verdict.held_in,
            replicates: verdict.replicates,
            required_share: verdict.required_share,
            passed: verdict.passed,
        }
    }
}

/// One digest over the replicates' digests in order: the first 64 bits of their SHA-256.
pub(super) fn digest(data: &RunData) -> String {
    let mut hash = Sha256::new();
    for replicate in &data.replicates {
        hash.update(replicate.digest.to_be_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Rows by event and stage, in order; and by replicate within.
pub(super) type RowsByStage<'a> = BTreeMap<(EventKind, Stage), Vec<Vec<&'a Detection>>>;

/// All rows, sorted into events and stages.
pub(super) fn rows_by_stage(data: &RunData) -> RowsByStage<'_> {
    let mut rows = RowsByStage::new();
    for replicate in &data.replicates {
        let mut own: BTreeMap<(EventKind, Stage), Vec<&Detection>> = BTreeMap::new();
        for row in &replicate.detections {
            own.entry((row.event, row.stage)).or_default().push(row);
        }
        for (key, own) in own {
            rows.entry(key).or_default().push(own);
        }
    }
    rows
}

fn stages(data: &RunData, bounds: &[Bound]) -> Vec<StageSummary> {
    let mut rows = rows_by_stage(data);
    for bound in bounds {
        rows.entry((bound.event, bound.stage)).or_default();
    }
    rows.into_iter()
        .map(|((event, stage), replicates)| {
            let pooled = Sample::of(replicates.iter().flatten().copied());
            let means = replicates
                .iter()
                .map(|rows| Sample::of(rows.iter().copied()))
                .filter(|own| own.count() > 0)
                .map(|own| own.mean())
                .collect();
            let bound = bounds.iter().find(|bound| bound.event == event && bound.stage == stage);
            StageSummary::of((event, stage), &pooled, means, bound)
        })
        .collect()
}

fn range_of(bound: Option<&Bound>) -> (Option<BoundRange>, Option<String>) {
    match bound.map(|bound| &bound.range) {
        Some(Ok(range)) => (Some(*range), None),
        Some(Err(absence)) => (None, Some(absence.because.clone())),
        None => (None, Some("no closed form covers this".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::report::made_up::Made;

    /// The required keys of a schema, and those of the schemas that its lists and fields refer to.
    fn require(value: &Value, schema: &Value, root: &Value) {
        // What may be null is the first of two.
        let schema = schema["anyOf"].as_array().map_or(schema, |either| &either[0]);
        let schema = match schema["$ref"].as_str() {
            Some(reference) => root.pointer(&reference[1..]).expect("a reference leads somewhere"),
            None => schema,
        };
        match value {
            Value::Object(fields) => {
                let properties = schema["properties"].as_object().expect("an object's schema has properties");
                let required = schema["required"].as_array().into_iter().flatten();
                for key in required.map(|key| key.as_str().unwrap()) {
                    assert!(fields.contains_key(key), "{key} is required");
                }
                let known: BTreeSet<&String> = properties.keys().collect();
                for (key, field) in fields {
                    assert!(known.contains(key), "{key} is not in the schema");
                    require(field, &properties[key], root);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| require(item, &schema["items"], root)),
            _ => {}
        }
    }

    #[test]
    fn what_is_printed_follows_the_schema() {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        let calling = Made::calling(7, true);
        for made in
            [Made::crashes(7, 3), Made::protected(2), Made::coming_and_going(9), Made::quiet(2), calling]
        {
            let summary: Value = serde_json::from_str(&Summary::of(&made.report()).to_json()).unwrap();
            require(&summary, &schema, &schema);
        }
    }

    #[test]
    fn a_bound_without_observations_has_a_row() {
        let mut made = Made::crashes(2, 2);
        for replicate in &mut made.data.replicates {
            replicate.detections.retain(|row| row.stage != Stage::Balancer);
        }
        let summary = Summary::of(&made.report());
        let row = summary.stage(EventKind::Crash, Stage::Balancer).unwrap();
        assert_eq!((row.count, row.max_ms, row.bound_max_ms), (0, None, Some(335_000)));
    }

    #[test]
    fn the_replicate_is_the_unit_of_confidence() {
        // One replicate with 500 observers bounds nothing; seven bound the median by the first and the last.
        let one = Summary::of(&Made::crashes(1, 500).report());
        let interval = |summary: &Summary| {
            summary.stage(EventKind::Crash, Stage::Client).map(|row| row.intervals.p50).unwrap()
        };
        assert_eq!(interval(&one), IntervalMs { low_ms: None, high_ms: None });
        let seven = interval(&Summary::of(&Made::crashes(7, 500).report()));
        assert!(seven.low_ms.is_some() && seven.low_ms < seven.high_ms);
    }
}
