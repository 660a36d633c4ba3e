//! Mistakes in figures: live instances that a stage removed, how often and for how long.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::SimDuration;
use crate::model::stage::Stage;
use crate::observe::{ReplicateData, RunData};

/// Live instances that a stage removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MistakeSummary {
    /// Where: `registry` for the server's own removals.
    pub stage: String,
    /// How many.
    pub count: u64,
    /// Of these, those corrected before the run or the instance's life ended.
    pub corrected: u64,
    /// Replicates with at least one.
    pub replicates: u32,
    /// T_M, the mean length; null if any was not corrected.
    pub mean_duration_ms: Option<u64>,
    /// The longest; null if any was not corrected.
    pub max_duration_ms: Option<u64>,
}

impl MistakeSummary {
    /// The mistakes of all replicates, by stage; a stage without any has no entry.
    pub(super) fn of(data: &RunData) -> Vec<Self> {
        let at = |stage| {
            let own = move |replicate: &ReplicateData| {
                replicate.mistakes.iter().any(|mistake| mistake.stage == stage)
            };
            let all = || {
                let all = data.replicates.iter().flat_map(|replicate| &replicate.mistakes);
                all.filter(move |mistake| mistake.stage == stage)
            };
            let (count_all, corrected) = (all().count(), all().filter(|mistake| mistake.corrected).count());
            let sum: u128 = all().map(|mistake| u128::from(mistake.lasted.as_nanos())).sum();
            let mean_nanos = sum.checked_div(count_all as u128)?;
            let mean =
                SimDuration::from_nanos(u64::try_from(mean_nanos).expect("a mean lies between two u64"));
            let known = |length: SimDuration| (corrected == count_all).then(|| length.as_millis());
            Some(Self {
                stage: stage.name().to_owned(),
                count: count_all as u64,
                corrected: corrected as u64,
                replicates: replicates_with(data, own),
                mean_duration_ms: known(mean),
                max_duration_ms: all().map(|mistake| mistake.lasted).max().and_then(known),
            })
        };
        Stage::ALL.into_iter().filter_map(at).collect()
    }
}

/// How many replicates are so.
pub(super) fn replicates_with(data: &RunData, wanted: impl Fn(&ReplicateData) -> bool) -> u32 {
    let found = data.replicates.iter().filter(|replicate| wanted(replicate)).count();
    u32::try_from(found).expect("replicates are counted in a u32")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::made_up::Made;

    #[test]
    fn mistakes_are_summed_up() {
        // 10 s, 11 s and 12 s in the first of four replicates: 11 s on average.
        let summary = Summary::of(&Made::quiet(3).report());
        let expected = MistakeSummary {
            stage: "registry".to_owned(),
            count: 3,
            corrected: 3,
            replicates: 1,
            mean_duration_ms: Some(11_000),
            max_duration_ms: Some(12_000),
        };
        assert_eq!(summary.mistakes, [expected]);
    }
}
