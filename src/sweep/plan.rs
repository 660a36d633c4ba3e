//! Which configurations a comparison runs, and in which order.
//!
//! A configuration is a scenario file, the settings of `--set`, and one value of each axis. The order is that of the
//! command line, the first axis the slowest, and it is the order of every result. All configurations run with the
//! same seed and as many replicates, so replicate `n` draws the same luck in each of them: their differences are due
//! to their settings.
//!
//! [`Plan::of`] checks every configuration before anything runs. A plan keeps no scenario but a hash of each, so that
//! a hundred thousand configurations need little room; [`Plan::scenario`] reads one again.

use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use super::axis::{self, Axes, Axis};
use super::problems::{Findings, PlanProblems, PlanWarnings};
use super::request::{Request, ScenarioText};
use super::threads::{map_all, on_threads};
use crate::scenario::{Assignment, Loaded, Problems, Scenario, canonical, parse_assigned};

/// Configurations are checked in groups of this size, so that their problems need little room.
const GROUP: usize = 1_024;

/// A dimension of the comparison: an axis, or the choice among scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The setting's key as it was typed, or `scenario`.
    pub name: String,
    /// Its values as tables show them, in the order of the command line.
    pub values: Vec<String>,
}

/// The name of the dimension that is a choice among scenarios.
pub const SCENARIO: &str = "scenario";

/// Checked configurations in their order.
#[derive(Clone, Debug)]
pub struct Plan {
    texts: Vec<ScenarioText>,
    sets: Vec<Assignment>,
    axes: Vec<Axis>,
    dimensions: Vec<Dimension>,
    seed: u64,
    replicates: u32,
    /// SHA-256 of each configuration's canonical text, its event budget aside.
    keys: Vec<[u8; 32]>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// Configurations are wrong.
    Wrong(PlanProblems),
    /// The user asked to stop.
    Interrupted,
}

impl Plan {
    /// Checks all configurations, on so many threads. The warnings are no reason not to run.
    ///
    /// # Errors
    /// [`PlanError::Wrong`] with everything that is wrong with any of them, each problem once;
    /// [`PlanError::Interrupted`] once `interrupt` is set.
    ///
    /// # Panics
    /// If the request has no scenario, or axes and several.
    pub fn of(
        request: &Request,
        jobs: usize,
        interrupt: &AtomicBool,
    ) -> Result<(Self, PlanWarnings), PlanError> {
        assert!(!request.texts.is_empty(), "there is something to compare");
        assert!(request.texts.len() == 1 || request.axes.is_empty(), "axes vary one scenario");
        let sets = assignments(&request.sets);
        let Axes { sound, unsound, problems } = axis::read(&request.axes, &sets);
        let mut plan = Self {
            dimensions: dimensions(&request.texts, &sound),
            texts: request.texts.clone(),
            axes: sound,
            sets,
            seed: 0,
            replicates: 0,
            keys: Vec::new(),
        };
        let mut findings = Findings::new(&plan.texts, plan.command_line(&unsound));
        let above: usize = plan.sets.iter().map(|set| set.shown().len() + 1).sum();
        findings.command_line_is_wrong(problems.into_iter().map(|problem| axis::moved(problem, above)));
        let chosen = (request.seed, request.replicates);
        on_threads(jobs, || plan.check_all(chosen, interrupt, &mut findings));
        if interrupt.load(Ordering::Relaxed) {
            return Err(PlanError::Interrupted);
        }
        match findings.finish(plan.size()) {
            Ok(warnings) => Ok((plan, warnings)),
            Err(problems) => Err(PlanError::Wrong(problems)),
        }
    }

    fn check_all(
        &mut self,
        (seed, replicates): (Option<u64>, Option<u32>),
        interrupt: &AtomicBool,
        findings: &mut Findings,
    ) {
        let size = self.size();
        if let Ok(first) = self.point(0).load() {
            self.seed = seed.unwrap_or(first.scenario.seed);
            self.replicates = replicates.unwrap_or(first.scenario.replicates);
        }
        let mut from = 0;
        while from < size && !interrupt.load(Ordering::Relaxed) {
            let group = from..(from + GROUP).min(size);
            from = group.end;
            let checked: Vec<_> = map_all(group, |index| {
                let loaded = self.point(index).load()?;
                Ok((self.key_of(&self.with_luck(loaded.scenario)), loaded.warnings))
            });
            for result in checked {
                let text = if self.axes.is_empty() { self.keys.len() } else { 0 };
                match result {
                    Ok((key, warnings)) => {
                        findings.warned(text, self.keys.len(), warnings);
                        self.keys.push(key);
                    }
                    Err(problems) => {
                        findings.wrong(text, problems);
                        self.keys.push([0; 32]);
                    }
                }
            }
        }
        findings.alike(&self.keys);
    }

    /// How many configurations there are.
    pub fn size(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.values.len()).product()
    }

    /// The scenario of the configuration at this place.
    pub fn scenario(&self, index: usize) -> Scenario {
        let loaded = self.point(index).load().unwrap_or_else(|problems| panic!("it was fine: {problems}"));
        self.with_luck(loaded.scenario)
    }

    /// What varies.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Whether scenarios are compared, not the values of settings.
    pub fn compares_scenarios(&self) -> bool {
        self.axes.is_empty()
    }

    /// The places of the configuration's values in their dimensions.
    pub fn coordinates(&self, index: usize) -> Vec<usize> {
        coordinates(self.dimensions.iter().map(|dimension| dimension.values.len()), index)
    }

    /// The arguments of `--set` that make the configuration of its scenario.
    pub fn sets_of(&self, index: usize) -> Vec<String> {
        let axes = self.axes.iter().zip(self.coordinates(index)).map(|(axis, value)| axis.assignment(value));
        let all = self.sets.iter().cloned().chain(axes);
        all.map(|set| format!("{}={}", set.key(), set.value_text().unwrap_or_default())).collect()
    }

    /// The path of the configuration's scenario, as it was typed.
    pub fn path_of(&self, index: usize) -> &str {
        &self.text_of(index).path
    }

    /// The seed of all.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The replicates of each.
    pub fn replicates(&self) -> u32 {
        self.replicates
    }

    /// SHA-256 over all that decides the results of the configuration at this place, but for the version of this
    /// program: its canonical text with the seed and the number of replicates. The event budget is left out: a
    /// replicate that ends within one ends the same within a larger one.
    pub fn key(&self, index: usize) -> &[u8; 32] {
        &self.keys[index]
    }

    fn point(&self, index: usize) -> Point<'_> {
        Point { text: self.text_of(index), sets: &self.sets, axes: &self.axes, index }
    }

    fn text_of(&self, index: usize) -> &ScenarioText {
        &self.texts[if self.axes.is_empty() { index } else { 0 }]
    }

    fn with_luck(&self, scenario: Scenario) -> Scenario {
        Scenario { seed: self.seed, replicates: self.replicates, ..scenario }
    }

    fn key_of(&self, scenario: &Scenario) -> [u8; 32] {
        let text = canonical(&Scenario { event_budget: 0, ..scenario.clone() });
        Sha256::digest(text).into()
    }

    /// The arguments as they are shown in messages, one a line.
    fn command_line(&self, unsound: &[String]) -> String {
        let axes: Vec<Assignment> = self.axes.iter().map(|axis| axis.assignment(0)).collect();
        let shown = self.sets.iter().chain(&axes).map(Assignment::shown);
        shown.chain(unsound.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
    }
}

/// One configuration, not yet read.
pub(super) struct Point<'a> {
    pub(super) text: &'a ScenarioText,
    pub(super) sets: &'a [Assignment],
    pub(super) axes: &'a [Axis],
    pub(super) index: usize,
}

impl Point<'_> {
    pub(super) fn load(&self) -> Result<Loaded, Problems> {
        let values = coordinates(self.axes.iter().map(Axis::len), self.index);
        let axes = self.axes.iter().zip(values).map(|(axis, value)| axis.assignment(value));
        let all: Vec<Assignment> = self.sets.iter().cloned().chain(axes).collect();
        parse_assigned(&self.text.path, &self.text.text, &all)
    }
}

/// The digits of a number whose places have these sizes, the last the fastest.
fn coordinates(sizes: impl DoubleEndedIterator<Item = usize>, mut index: usize) -> Vec<usize> {
    let mut digits: Vec<usize> = sizes
        .rev()
        .map(|size| {
            let digit = index % size;
            index /= size;
            digit
        })
        .collect();
    digits.reverse();
    digits
}

pub(super) fn assignments(sets: &[String]) -> Vec<Assignment> {
    sets.iter().map(|set| Assignment::set(set)).collect()
}

fn dimensions(texts: &[ScenarioText], axes: &[Axis]) -> Vec<Dimension> {
    if axes.is_empty() {
        let values = texts.iter().map(|text| text.name.clone()).collect();
        return vec![Dimension { name: SCENARIO.to_owned(), values }];
    }
    axes.iter().map(|axis| Dimension { name: axis.key.clone(), values: axis.labels() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "replicates = 3\n[[application]]\nname = \"orders\"\ninstances = 3\n[[fault]]\ncrash = { count = 1 }\n";

    fn request(axes: &[&str]) -> Request {
        let text = ScenarioText { path: "a.toml".into(), name: "a".into(), text: FILE.into() };
        let axes = axes.iter().map(|&axis| axis.to_owned()).collect();
        Request { texts: vec![text], axes, ..Request::default() }
    }

    fn checked(request: &Request) -> Result<Plan, PlanError> {
        Plan::of(request, 1, &AtomicBool::new(false)).map(|(plan, _)| plan)
    }

    fn plan(axes: &[&str]) -> Plan {
        checked(&request(axes)).unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn problems(axes: &[&str]) -> String {
        match Plan::of(&request(axes), 2, &AtomicBool::new(false)) {
            Err(PlanError::Wrong(problems)) => problems.render(false),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_axis_is_the_slowest() {
        let plan = plan(&["application.orders.instances=2,4", "duration=20m,30m,40m"]);
        let instances = |index| plan.scenario(index).applications[0].instances;
        let minutes = |index| plan.scenario(index).duration.as_millis() / 60_000;
        let all: Vec<_> = (0..plan.size()).map(|index| (instances(index), minutes(index))).collect();
        assert_eq!(all, [(2, 20), (2, 30), (2, 40), (4, 20), (4, 30), (4, 40)]);
        assert_eq!(plan.coordinates(4), [1, 1]);
        assert_eq!(plan.sets_of(4), ["application.orders.instances=4", "duration=30m"]);
    }

    #[test]
    fn all_configurations_share_seed_and_replicates() {
        let mut request = request(&["duration=20m,30m"]);
        (request.seed, request.replicates) = (Some(9), Some(7));
        let plan = checked(&request).expect("it is fine");
        let luck = |index| (plan.scenario(index).seed, plan.scenario(index).replicates);
        assert_eq!((luck(0), luck(1)), ((9, 7), (9, 7)));
        assert_ne!(plan.key(0), plan.key(1));

        let other = FILE.replace("replicates = 3", "replicates = 8\nseed = 5");
        let mut compared = super::tests::request(&[]);
        compared.texts.push(ScenarioText { path: "b.toml".into(), name: "b".into(), text: other });
        let plan = checked(&compared).expect("it is fine");
        assert!(plan.compares_scenarios());
        assert_eq!((plan.scenario(1).seed, plan.scenario(1).replicates), (1, 3));
    }

    #[test]
    fn the_event_budget_is_no_part_of_a_key() {
        let (small, large) = (plan(&["event-budget=1000,2000"]), plan(&["event-budget=3000,4000"]));
        assert_eq!(small.key(0), large.key(1));
    }

    #[test]
    fn a_problem_of_many_configurations_is_told_once() {
        let text = problems(&["application.orders.instances=0,4", "duration=0s,10m,20m", "start.wnidow=5s"]);
        for title in ["`orders` has no instances", "`duration` is out of range", "unknown key `wnidow`"] {
            assert_eq!(text.matches(title).count(), 1, "{title} in\n{text}");
        }
        assert!(text.contains("--axis application.orders.instances=0,4"), "{text}");
        assert!(text.contains("did you mean `window`?"), "{text}");
    }

    #[test]
    fn a_wrong_axis_does_not_hide_wrong_values() {
        let text = problems(&["seed=1,2", "application.orders.instances=4,nine"]);
        assert!(text.contains("`seed` is no axis") && text.contains("nine"), "{text}");
        let marked = text.lines().position(|line| line.contains("--axis seed=1,2")).expect("it is shown");
        let caret = text.lines().nth(marked + 1).expect("a line of carets");
        assert!(caret.contains("       ^^^^ the same in all"), "{text}");
    }

    #[test]
    fn the_size_is_known_before_anything_is_checked() {
        let huge = request(&["a=1..100000", "b=1..100000", "c=1..100000", "d=1..100000"]);
        assert_eq!(huge.size(), u64::MAX, "10^20 configurations are more than fit");
        assert_eq!(request(&["a=1..10", "b=1,2"]).size(), 20);
        // 3 clients, 20 minutes, 3 + 3 events every 30 s: 3 × 40 × 6 = 720; of 3 replicates of 2 configurations 4320.
        let events = request(&["duration=20m,21m"]).events_at_most();
        assert_eq!(events.map(libm::round), Some(4_320.0));
    }
}
