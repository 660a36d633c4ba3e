//! Made-up comparisons for the tests of this room, from made-up runs.

use std::collections::BTreeMap;

use super::charts::Curve;
use super::paired::{Difference, ReplicateMean};
use super::summary::{
    AxisSummary, CallersDifference, ComparisonSummary, ConfigurationSummary, QualitySummary, StageComparison,
};
use super::{Comparison, SCENARIO_AXIS};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::report::fixtures::Fixture;
use crate::report::stages::{StageSummary, rows_by_stage};
use crate::report::summary::Summary;
use crate::sweep::Sample;

/// So many values on each of up to four axes; detection times grow along each.
pub(super) fn sweep(sizes: &[usize], replicates: u32) -> ComparisonSummary {
    let axes = [
        ("eureka.server.eviction-interval-timer-in-ms", 5_000),
        ("eureka.client.registry-fetch-interval-seconds", 10),
        ("application.orders.instances", 20),
        ("run.of", 1),
    ];
    let axes: Vec<AxisSummary> = axes
        .into_iter()
        .zip(sizes)
        .map(|((name, step), &size)| AxisSummary {
            name: name.to_owned(),
            values: (1..=size).map(|value| (value * step).to_string()).collect(),
        })
        .collect();
    let count: usize = sizes.iter().product();
    let mut made = Vec::new();
    for index in 0..count {
        let mut rest = index;
        let mut digits = Vec::new();
        for &size in sizes.iter().rev() {
            digits.push(rest % size);
            rest /= size;
        }
        digits.reverse();
        let longer: usize = digits.iter().enumerate().map(|(axis, digit)| digit * 9_000 / (axis + 1)).sum();
        let values = axes.iter().zip(&digits).map(|(axis, &digit)| axis.values[digit].clone()).collect();
        made.push((values, delayed(replicates, longer as u64)));
    }
    summary(axes, made, "One of 100 instances is killed")
}

/// So many scenarios compared.
pub(super) fn scenarios(count: usize) -> ComparisonSummary {
    let names: Vec<String> = (1..=count).map(|number| format!("the-{number}-th-scenario-of-all")).collect();
    let made = names
        .iter()
        .enumerate()
        .map(|(index, name)| (vec![name.clone()], delayed(20, 7_000 * (index as u64 * 7 % 5))));
    let made = made.collect();
    let axes = vec![AxisSummary { name: SCENARIO_AXIS.to_owned(), values: names }];
    summary(axes, made, "the-1-th-scenario-of-all and others compared")
}

/// Three registries.
pub(super) fn registries() -> ComparisonSummary {
    let names = ["eureka-crash", "two-stage-crash", "nacos-crash"].map(str::to_owned).to_vec();
    let made = [delayed(50, 0), Fixture::two_stages(50, 19), Fixture::only_instance(50)];
    let made = names.iter().map(|name| vec![name.clone()]).zip(made).collect();
    let axes = vec![AxisSummary { name: SCENARIO_AXIS.to_owned(), values: names }];
    let mut summary = summary(axes, made, "eureka-crash, two-stage-crash and nacos-crash compared");
    for (one, mean_ms) in summary.configurations[1..].iter_mut().zip([-226_900, -212_400]) {
        let difference = Some(Difference {
            pairs: 50,
            mean_ms,
            low_ms: Some(mean_ms - 8_100),
            high_ms: Some(mean_ms + 8_100),
        });
        one.callers = vec![CallersDifference {
            event: EventKind::Crash,
            stage: Stage::Client,
            first_stage: Stage::Balancer,
            difference,
        }];
    }
    summary
}

/// In one of two configurations the dead are never removed.
pub(super) fn protected() -> ComparisonSummary {
    let axis = |name: &str, values: [&str; 2]| AxisSummary {
        name: name.to_owned(),
        values: values.map(str::to_owned).to_vec(),
    };
    let axes = vec![
        axis("eureka.server.enable-self-preservation", ["true", "false"]),
        axis("eureka.client.registry-fetch-interval-seconds", ["5", "30"]),
    ];
    let made = [("true", "5"), ("true", "30"), ("false", "5"), ("false", "30")].map(|(protection, fetch)| {
        let made = if protection == "true" { Fixture::protected(20) } else { delayed(20, 0) };
        (vec![protection.to_owned(), fetch.to_owned()], made)
    });
    summary(axes, made.into(), "Four of twenty are killed")
}

/// Nothing is watched.
pub(super) fn quiet() -> ComparisonSummary {
    let axes = vec![AxisSummary { name: "duration".to_owned(), values: vec!["20m".into(), "30m".into()] }];
    let made = axes[0].values.iter().map(|value| (vec![value.clone()], Fixture::quiet(3))).collect();
    summary(axes, made, "Nothing happens")
}

/// With the curves that its figures might have.
pub(super) fn comparison(summary: ComparisonSummary) -> Comparison {
    let few = summary.configurations.len() <= super::charts::CURVES_MAX;
    let curve = |row: &StageComparison| {
        let figures = &row.figures;
        let known = [figures.min_ms, figures.p50_ms, figures.p90_ms, figures.p99_ms, figures.max_ms];
        let steps = known.into_iter().flatten().map(|ms| (SimDuration::from_millis(ms), 1)).collect();
        Curve::of(&Sample::rounded(steps, 0, figures.censored, 0))
    };
    let own = |one: &ConfigurationSummary| one.stages.iter().filter(|_| few).map(curve).collect();
    Comparison { curves: summary.configurations.iter().map(own).collect(), summary }
}

/// Crashes noticed so much later, ms.
fn delayed(replicates: u32, longer_ms: u64) -> Fixture {
    let mut made = Fixture::crashes(replicates, 30);
    for row in made.data.replicates.iter_mut().flat_map(|replicate| &mut replicate.detections) {
        if let crate::observe::Outcome::Detected(length) = &mut row.outcome {
            *length = *length + SimDuration::from_millis(longer_ms);
        }
    }
    made
}

fn summary(axes: Vec<AxisSummary>, made: Vec<(Vec<String>, Fixture)>, title: &str) -> ComparisonSummary {
    let mut first: Option<BTreeMap<(EventKind, Stage), Vec<ReplicateMean>>> = None;
    let mut configurations = Vec::new();
    for (index, (values, made)) in made.into_iter().enumerate() {
        let run = Summary::of(&made.report());
        let registry = made.scenario.registry();
        let means: BTreeMap<(EventKind, Stage), Vec<ReplicateMean>> = rows_by_stage(&made.data)
            .into_iter()
            .map(|((event, stage), replicates)| {
                let means = replicates.iter().map(|rows| Some(Sample::of(rows.iter().copied()).mean()));
                ((event, stage), means.collect())
            })
            .collect();
        let of_first = first.get_or_insert_with(|| means.clone());
        let difference = |figures: &StageSummary| {
            let key = (figures.event, figures.stage);
            (index > 0).then(|| Difference::of(of_first.get(&key)?, means.get(&key)?)).flatten()
        };
        let stages = run.stages.into_iter();
        let mut expectations = run.expectations;
        // The second one misses what it was expected to keep.
        expectations.retain(|one| one.passed || index == 1);
        configurations.push(ConfigurationSummary {
            configuration: index as u64 + 1,
            values,
            title: run.title,
            release: run.release,
            replicates_to_duration: run.replicates_to_duration,
            events: run.events,
            digest: run.digest,
            stages: stages
                .map(|figures| StageComparison { difference: difference(&figures), figures })
                .collect(),
            requests_per_minute: 400.0 + index as f64 / 3.0,
            busiest_minute_requests: 500,
            callers: Vec::new(),
            quality: registry
                .stages()
                .iter()
                .map(|stage| QualitySummary {
                    stage: *stage,
                    mistakes: run
                        .mistakes
                        .iter()
                        .filter(|row| row.stage == *stage)
                        .map(|row| row.count)
                        .sum(),
                    query_accuracy: Some(0.999),
                })
                .collect(),
            calls: 0,
            failed_calls: 0,
            failed_call_share: None,
            expectations,
            scenario_sha256: "00".repeat(32),
            command: "stillup run scenarios/made-up.toml".to_owned(),
        });
    }
    ComparisonSummary {
        title: title.to_owned(),
        seed: 7,
        replicates: 20,
        axes,
        configurations,
        version: "0.1.0".to_owned(),
        command: "stillup sweep scenarios/made-up.toml --axis a=1,2".to_owned(),
    }
}
