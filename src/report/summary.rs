//! Every figure that is shown anywhere, computed once. [`Summary`] is `summary.json`, it is what
//! `--format json` prints, and the table and the charts read it too. `docs/OUTPUT.md` explains each field.

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::calls::CallSummary;
use super::guards::{ConsumerSummary, GuardSummary};
use super::manifest::hex;
use super::mistakes::{MistakeSummary, Tolerance, replicates, replicates_with};
use super::servers::{ServerAgreement, ServerStage, ServerSummary};
use super::stages::{StageSummary, stages};
use super::{Report, sentence, words};
use crate::model::stage::{EventKind, Stage};
use crate::observe::Ending;
use crate::sweep::Verdict;

/// A run in figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// What the scenario shows, in one line.
    pub title: String,
    /// The release that was simulated; of the two-stage registry the name of its preset.
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
    /// The guards of a two-stage registry; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<GuardSummary>,
    /// What consumers of a two-stage registry did; left out for Eureka.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumers: Option<ConsumerSummary>,
    /// What each server held, removed and had to do, by number.
    pub servers: Vec<ServerSummary>,
    /// How far the servers agreed; null for one server.
    pub server_agreement: Option<ServerAgreement>,
    /// Detection times by event, stage and server; none for one server, whose times are those of `stages`.
    pub stages_by_server: Vec<ServerStage>,
    /// How the scenario's expectations came out, in its order.
    pub expectations: Vec<ExpectationSummary>,
    /// The answer in words.
    pub answer: String,
    /// The version of stillup that ran.
    pub version: String,
    /// The command that repeats the run.
    pub command: String,
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
            release: report.scenario.setup.release().to_owned(),
            seed: report.scenario.seed,
            replicates: replicates(data.replicates.len()),
            replicates_to_duration: replicates_with(data, |replicate| replicate.ending == Ending::Duration),
            events: data.replicates.iter().map(|replicate| replicate.events).sum(),
            digest: digest(data.replicates.iter().map(|replicate| replicate.digest)),
            stages: stages(data, report.bounds),
            mistakes: MistakeSummary::of(data),
            tolerance: Tolerance::of(report.scenario),
            calls: CallSummary::of(report.scenario, data),
            guard: GuardSummary::of(report),
            consumers: ConsumerSummary::of(report),
            servers: ServerSummary::of(report),
            server_agreement: ServerAgreement::of(report),
            stages_by_server: ServerStage::of(report),
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
        self.stages.iter().find(|row| row.event == event && row.stage == stage)
    }

    /// Whether the registry is the two-stage one: only its consumers are told of.
    pub(super) fn is_two_stage(&self) -> bool {
        self.consumers.is_some()
    }

    /// The events that occur, in order.
    pub fn events_watched(&self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL
            .into_iter()
            .filter(|event| self.stages.iter().any(|row| row.event == *event && row.observed()))
    }

    /// As the text of `summary.json`.
    pub fn to_json(&self) -> String {
        words::json(self)
    }
}

/// The JSON schema of [`Summary`], with a final newline.
pub fn json_schema() -> String {
    words::json(&schemars::schema_for!(Summary))
}

impl ExpectationSummary {
    pub(super) fn of(verdict: &Verdict) -> Self {
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
pub(super) fn digest(digests: impl IntoIterator<Item = u64>) -> String {
    let mut hash = Sha256::new();
    digests.into_iter().for_each(|digest| hash.update(digest.to_be_bytes()));
    hex(&hash.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::report::fixtures::Fixture;

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
        let cases = [
            Fixture::crashes(7, 3),
            Fixture::protected(2),
            Fixture::coming_and_going(9),
            Fixture::quiet(2),
            Fixture::calling(7, true),
            Fixture::cut_off(2, 3),
            Fixture::jammed(2),
            Fixture::only_instance(2),
        ];
        for made in cases {
            let summary: Value = serde_json::from_str(&Summary::of(&made.report()).to_json()).unwrap();
            require(&summary, &schema, &schema);
        }
    }
}
