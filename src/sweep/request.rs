//! What the command line asks for, and how much that would be, before anything of it is checked.

use super::axis;
use super::plan::{Point, assignments};
use crate::engine::SimDuration;
use crate::model::registry::ClientSettings;
use crate::scenario::Scenario;

/// What is to be compared, as the command line says it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The scenarios. One, if there are axes.
    pub texts: Vec<ScenarioText>,
    /// The `--set` arguments.
    pub sets: Vec<String>,
    /// The `--axis` arguments.
    pub axes: Vec<String>,
    /// The seed for all, instead of the first configuration's.
    pub seed: Option<u64>,
    /// The replicates for all, instead of the first configuration's.
    pub replicates: Option<u32>,
}

/// A scenario's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioText {
    /// What messages call it: its path.
    pub path: String,
    /// What results call it.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Request {
    /// How many configurations there would be, whatever is wrong with them.
    pub fn size(&self) -> u64 {
        let axes = axis::read(&self.axes, &assignments(&self.sets)).sound;
        axes.iter().fold(self.texts.len() as u64, |size, axis| size.saturating_mul(axis.len() as u64))
    }

    /// About how many events all replicates of all configurations need at most, if they are like the first one; `None`
    /// if something is wrong with that.
    pub fn events_at_most(&self) -> Option<f64> {
        let first = self.first()?;
        Some(self.size() as f64 * f64::from(first.replicates) * events_at_most(&first))
    }

    fn first(&self) -> Option<Scenario> {
        let sets = assignments(&self.sets);
        let axes = axis::read(&self.axes, &sets);
        let point = Point { text: self.texts.first()?, sets: &sets, axes: &axes.sound, index: 0 };
        let mut scenario = point.load().ok()?.scenario;
        scenario.replicates = self.replicates.unwrap_or(scenario.replicates);
        Some(scenario)
    }
}

/// About how many events a replicate needs at most: heartbeats and fetches, three events each.
fn events_at_most(scenario: &Scenario) -> f64 {
    let secs = scenario.duration.as_millis() as f64 / 1e3;
    let per_client = |client: &dyn ClientSettings| {
        let rate = |interval: SimDuration| 3_000.0 / interval.as_millis().max(1) as f64;
        secs * (rate(client.heartbeat_interval()) + rate(client.fetch_interval()))
    };
    let applications = scenario.applications.iter().zip(scenario.setup.clients());
    let events: f64 = applications.map(|(app, client)| f64::from(app.instances) * per_client(client)).sum();
    events.min(scenario.event_budget as f64)
}
