//! Every figure of a comparison, computed once. [`ComparisonSummary`] is `summary.json` and what `--format json`
//! prints; the CSV files, the table and the charts read it too. `docs/SWEEP.md` explains each field.

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::paired::{Difference, ReplicateMean};
use crate::analysis;
use crate::model::registry::Kind;
use crate::model::stage::{EventKind, Stage};
use crate::report::manifest::hex;
use crate::report::stages::StageSummary;
use crate::report::summary::ExpectationSummary;
use crate::scenario::{Scenario, canonical};
use crate::sweep::verdict::passed;
use crate::sweep::{Plan, ReplicateRecord, Sample, StageRecord};

/// Configurations in figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonSummary {
    /// What is compared, in one line.
    pub title: String,
    /// The seed of all configurations.
    pub seed: u64,
    /// How often each was run.
    pub replicates: u32,
    /// What varies, in the order of the command line.
    pub axes: Vec<AxisSummary>,
    /// The configurations in plan order: the first axis is the slowest.
    pub configurations: Vec<ConfigurationSummary>,
    /// The version of stillup that ran.
    pub version: String,
    /// The command that repeats all of it.
    pub command: String,
}

/// What varies: a setting, or `scenario`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AxisSummary {
    /// The setting's key, or `scenario`.
    pub name: String,
    /// Its values, in the order of the command line.
    pub values: Vec<String>,
}

/// One configuration in figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConfigurationSummary {
    /// Its number, from 1.
    pub configuration: u64,
    /// Its value on each axis.
    pub values: Vec<String>,
    /// What its scenario shows, in one line.
    pub title: String,
    /// The release that was simulated.
    pub release: String,
    /// Replicates that ran to the scenario's duration, since something could still change.
    pub replicates_to_duration: u32,
    /// Engine events that ran, over all replicates.
    pub events: u64,
    /// The digest of all events of all replicates in order, 16 hexadecimal digits: that of the scenario run alone.
    pub digest: String,
    /// Detection times by event and stage.
    pub stages: Vec<StageComparison>,
    /// How the mean differs, by event, where callers are at another stage than in the first configuration since its
    /// registry is another; left out otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<CallersDifference>,
    /// Requests that all servers answered, per minute of virtual time, over all replicates.
    pub requests_per_minute: f64,
    /// Requests in the busiest minute of any server and replicate.
    pub busiest_minute_requests: u64,
    /// How well each stage of its registry told who is alive, in the order of the stages.
    pub quality: Vec<QualitySummary>,
    /// Calls through balancers, over all replicates.
    pub calls: u64,
    /// Of these, failed after all retries.
    pub failed_calls: u64,
    /// Their share, 0 to 1; null without calls.
    pub failed_call_share: Option<f64>,
    /// How the scenario's expectations came out, in its order.
    pub expectations: Vec<ExpectationSummary>,
    /// SHA-256 of the scenario's canonical text, hexadecimal.
    pub scenario_sha256: String,
    /// The command that runs it alone.
    pub command: String,
}

/// The detection times of one event at one stage, and how they differ from those of the first configuration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StageComparison {
    /// The figures, as a run of this configuration alone gives them.
    #[serde(flatten)]
    pub figures: StageSummary,
    /// The difference of the mean to that of the first configuration; null for that one itself, and where a mean is
    /// not known.
    pub difference: Option<Difference>,
}

/// How the detection times of callers differ between two registries, whose ways to them end at different stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallersDifference {
    /// What was detected.
    pub event: String,
    /// The last stage on the way to the callers here.
    pub stage: String,
    /// That of the first configuration.
    pub first_stage: String,
    /// The difference of the mean there to that of the first configuration at its own; null where a mean is not known.
    pub difference: Option<Difference>,
}

/// How well a stage told who is alive, over all observers and replicates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QualitySummary {
    /// The stage.
    pub stage: String,
    /// Mistakes: live instances that ceased to be shown, once for each observer.
    pub mistakes: u64,
    /// P_A, the probability that a question at a random moment about a live instance is answered rightly, 0 to 1; null
    /// if nobody was observed.
    pub query_accuracy: Option<f64>,
}

impl ComparisonSummary {
    /// The events that any configuration observed, in order.
    pub fn events_watched(&self) -> Vec<EventKind> {
        let stages = || self.configurations.iter().flat_map(|configuration| &configuration.stages);
        let watched = |event: &EventKind| {
            stages().any(|row| row.figures.event == event.name() && row.figures.observed())
        };
        EventKind::ALL.into_iter().filter(watched).collect()
    }

    /// Whether its configurations have different registries, with stages of their own.
    pub fn mixes_registries(&self) -> bool {
        let stages = |one: &ConfigurationSummary| -> Vec<String> {
            one.quality.iter().map(|quality| quality.stage.clone()).collect()
        };
        self.configurations.iter().any(|one| stages(one) != stages(&self.configurations[0]))
    }

    /// The last stage on the way to the callers at which any configuration observed the event.
    pub fn last_stage(&self, event: EventKind) -> Option<Stage> {
        let watched = self.stages_watched(event);
        watched.iter().rev().find(|stage| Stage::WAY.contains(stage)).or(watched.last()).copied()
    }

    /// The stages at which any configuration observed the event, in order.
    pub fn stages_watched(&self, event: EventKind) -> Vec<Stage> {
        let rows = |stage: Stage| {
            self.configurations.iter().filter_map(move |configuration| configuration.stage(event, stage))
        };
        Stage::ALL.into_iter().filter(|&stage| rows(stage).any(|row| row.figures.observed())).collect()
    }

    /// Expectations that were missed, each with the numbers of the configurations that missed it.
    pub fn missed(&self) -> Vec<(&str, Vec<u64>)> {
        let mut missed: Vec<(&str, Vec<u64>)> = Vec::new();
        for configuration in &self.configurations {
            for expectation in configuration.expectations.iter().filter(|expectation| !expectation.passed) {
                let text = expectation.expectation.as_str();
                match missed.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, numbers)) => numbers.push(configuration.configuration),
                    None => missed.push((text, vec![configuration.configuration])),
                }
            }
        }
        missed
    }

    /// As the text of `summary.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain structs are always JSON");
        text.push('\n');
        text
    }
}

/// The JSON schema of [`ComparisonSummary`], with a final newline.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(ComparisonSummary);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is always JSON");
    text.push('\n');
    text
}

impl ConfigurationSummary {
    /// The figures of one event at one stage, if there are any.
    pub fn stage(&self, event: EventKind, stage: Stage) -> Option<&StageComparison> {
        let wanted =
            |row: &&StageComparison| row.figures.event == event.name() && row.figures.stage == stage.name();
        self.stages.iter().find(wanted)
    }

    /// The figures of one event where the callers are: at the last of an observer's stages that observed it. Without
    /// observers there are none: what a registry answers, nobody has yet asked for.
    pub fn at_callers(&self, event: EventKind) -> Option<&StageComparison> {
        let rows = Stage::OBSERVED.into_iter().rev().filter_map(|stage| self.stage(event, stage));
        rows.into_iter().find(|row| row.figures.observed())
    }

    /// How the mean where the callers are differs from that of the first configuration where its callers are.
    pub fn callers_difference(&self, event: EventKind) -> Option<Difference> {
        let other = self.callers.iter().find(|row| row.event == event.name());
        other.map_or_else(|| self.at_callers(event)?.difference, |row| row.difference)
    }

    /// How well a stage told who is alive; `None` if the registry has no such stage.
    pub fn quality_at(&self, stage: Stage) -> Option<&QualitySummary> {
        self.quality.iter().find(|quality| quality.stage == stage.name())
    }

    /// The figures of the configuration at this place, and a sample for each of its stages, in the same order. The
    /// means of the first configuration are `first`; `None` for that one itself.
    pub(super) fn of(
        plan: &Plan,
        index: usize,
        records: &[ReplicateRecord],
        first: Option<&Means>,
        command: String,
    ) -> (Self, Vec<Sample>) {
        let scenario = plan.scenario(index);
        let (stages, samples) = stages(&scenario, records, first);
        let sum = |pick: fn(&ReplicateRecord) -> u64| records.iter().map(pick).sum::<u64>();
        let (calls, failed_calls) = (sum(|record| record.calls), sum(|record| record.failed_calls));
        let virtual_nanos: u128 = records.iter().map(|record| u128::from(record.ended_at_nanos)).sum();
        let dimensions = plan.dimensions().iter().zip(plan.coordinates(index));
        let summary = Self {
            configuration: index as u64 + 1,
            values: dimensions.map(|(dimension, value)| dimension.values[value].clone()).collect(),
            title: scenario.title.clone(),
            release: scenario.setup.release().to_owned(),
            replicates_to_duration: count(records.iter().filter(|record| record.to_duration).count()),
            events: sum(|record| record.events),
            digest: digest(records),
            stages,
            callers: first.map(|first| callers(&scenario, records, first)).unwrap_or_default(),
            requests_per_minute: sum(|record| record.requests) as f64 * 6e10
                / (virtual_nanos as f64).max(1.0),
            busiest_minute_requests: records.iter().map(|record| record.busiest_minute).max().unwrap_or(0),
            quality: scenario
                .registry()
                .stages()
                .iter()
                .map(|&stage| QualitySummary::of(stage, records))
                .collect(),
            calls,
            failed_calls,
            failed_call_share: (calls > 0).then(|| failed_calls as f64 / calls as f64),
            expectations: expectations(&scenario, records),
            scenario_sha256: hex(&Sha256::digest(canonical(&scenario))),
            command,
        };
        (summary, samples)
    }
}

impl QualitySummary {
    fn of(stage: Stage, records: &[ReplicateRecord]) -> Self {
        let rows = || records.iter().map(|record| &record.quality[stage as usize]);
        let good: u128 = rows().map(|row| row.good_nanos).sum();
        let mistaken: u128 = rows().map(|row| row.mistaken_nanos).sum();
        Self {
            stage: stage.name().to_owned(),
            mistakes: rows().map(|row| row.mistakes).sum(),
            query_accuracy: (good > 0).then(|| good.saturating_sub(mistaken) as f64 / good as f64),
        }
    }
}

/// Each replicate's mean T_D, by event and stage.
#[derive(Clone, Debug)]
pub(super) struct Means {
    registry: Kind,
    rows: Vec<((EventKind, Stage), Vec<ReplicateMean>)>,
}

impl Means {
    /// Those of a configuration.
    pub(super) fn of(registry: Kind, records: &[ReplicateRecord]) -> Self {
        let mut keys: Vec<(EventKind, Stage)> = records.iter().flat_map(keys_of).collect();
        keys.sort_unstable();
        keys.dedup();
        Self { registry, rows: keys.into_iter().map(|key| (key, means_at(records, key))).collect() }
    }

    fn at(&self, key: (EventKind, Stage)) -> &[ReplicateMean] {
        self.rows.iter().find(|(known, _)| *known == key).map_or(&[], |(_, means)| means)
    }

    /// The last of an observer's stages that observed the event, if there are observers.
    fn last_stage(&self, event: EventKind) -> Option<Stage> {
        let observed = |&&(of, stage): &&(EventKind, Stage)| of == event && Stage::OBSERVED.contains(&stage);
        let keys = self.rows.iter().map(|(key, _)| key);
        keys.filter(observed).map(|(_, stage)| *stage).max()
    }
}

/// How callers differ from those of the first configuration, if that has another registry.
fn callers(scenario: &Scenario, records: &[ReplicateRecord], first: &Means) -> Vec<CallersDifference> {
    let registry = scenario.registry();
    if registry.way() == first.registry.way() {
        return Vec::new();
    }
    let own = Means::of(registry, records);
    let difference = |event: EventKind| {
        let (stage, first_stage) = (own.last_stage(event)?, first.last_stage(event)?);
        Some(CallersDifference {
            event: event.name().to_owned(),
            stage: stage.name().to_owned(),
            first_stage: first_stage.name().to_owned(),
            difference: Difference::of(first.at((event, first_stage)), own.at((event, stage))),
        })
    };
    EventKind::ALL.into_iter().filter_map(difference).collect()
}

fn keys_of(record: &ReplicateRecord) -> impl Iterator<Item = (EventKind, Stage)> + '_ {
    record.stages.iter().map(StageRecord::key)
}

fn means_at(records: &[ReplicateRecord], key: (EventKind, Stage)) -> Vec<ReplicateMean> {
    let mean = |record: &ReplicateRecord| {
        let own = StageRecord::pooled(record.stages.iter().find(|stage| stage.key() == key));
        (own.count() > 0).then(|| own.mean())
    };
    records.iter().map(mean).collect()
}

fn stages(
    scenario: &Scenario,
    records: &[ReplicateRecord],
    first: Option<&Means>,
) -> (Vec<StageComparison>, Vec<Sample>) {
    let bounds = analysis::bounds(scenario);
    let mut keys: Vec<(EventKind, Stage)> = records.iter().flat_map(keys_of).collect();
    keys.extend(bounds.iter().map(|bound| (bound.event, bound.stage)));
    keys.sort_unstable();
    keys.dedup();
    let at = |key: (EventKind, Stage)| {
        let all = records.iter().flat_map(|record| &record.stages).filter(move |stage| stage.key() == key);
        let sample = StageRecord::pooled(all);
        let means = means_at(records, key);
        let difference = first.and_then(|first| Difference::of(first.at(key), &means));
        let bound = bounds.iter().find(|bound| (bound.event, bound.stage) == key);
        let known = means.into_iter().flatten().collect();
        let figures = StageSummary::of(key, &sample, known, bound);
        (StageComparison { figures, difference }, sample)
    };
    keys.into_iter().map(at).unzip()
}

fn expectations(scenario: &Scenario, records: &[ReplicateRecord]) -> Vec<ExpectationSummary> {
    let replicates = count(records.len());
    let all = scenario.expectations.iter().enumerate();
    all.map(|(index, expectation)| {
        let held_in = count(records.iter().filter(|record| record.held[index]).count());
        ExpectationSummary {
            expectation: expectation.text.clone(),
            held_in,
            replicates,
            required_share: expectation.in_share,
            passed: passed(held_in, expectation.in_share, replicates),
        }
    })
    .collect()
}

/// As [`crate::report::summary::digest`] has it for a run.
fn digest(records: &[ReplicateRecord]) -> String {
    let mut hash = Sha256::new();
    records.iter().for_each(|record| hash.update(record.digest.to_be_bytes()));
    hex(&hash.finalize()[..8])
}

fn count(number: usize) -> u32 {
    u32::try_from(number).expect("replicates are counted in a u32")
}
