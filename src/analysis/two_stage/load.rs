//! What a registry has to do on an ordinary day: the table of `two-stage.md` 2.7, in requests a minute.

use super::super::latency::Latency;
use super::super::reason::Reason;
use super::consumer::Watching;
use super::silence::{ms, period};
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::message::RequestKind;
use crate::model::two_stage::{ClientConfig, Discovery};

const MINUTE: SimDuration = SimDuration::from_secs(60);

/// The load of a fleet that is well, while nothing changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Requests a minute, by [`RequestKind`].
    pub per_minute: [f64; RequestKind::COUNT],
    /// Long polls that the registry holds at any time; also those that a change of every service has answered and sent
    /// again, on top of [`Self::per_minute`].
    pub held: u64,
}

/// What the scenario's fleet, as it is before the first fault, asks of the registry: heartbeats `60 / H`, polls `60 / P`,
/// and idle long polls `60 / T` a minute for each service, where every period is longer by its round trip.
///
/// # Errors
///
/// The network's delay has no greatest value, or differs between applications.
pub fn ordinary_load(scenario: Case<'_>) -> Result<Load, Reason> {
    let latency = Latency::of_links(&scenario)?;
    let mut load = Load::default();
    for app in scenario.apps() {
        add(&mut load, scenario, app, &latency);
    }
    Ok(load)
}

fn add(load: &mut Load, scenario: Case<'_>, app: App<'_>, latency: &Latency) {
    let (client, instances) = (app.client, f64::from(app.instances));
    let every =
        |period: SimDuration| instances * (MINUTE.as_nanos() as f64 / period.as_nanos().max(1) as f64);
    if client.registers {
        load.per_minute[RequestKind::Renew as usize] += every(period(client, latency).mean);
    }
    if !client.fetches {
        return;
    }
    let services = client.services.len() as f64;
    let kind = |kind: RequestKind| kind as usize;
    match client.discovery {
        Discovery::Poll => {
            load.per_minute[kind(RequestKind::FetchFull)] += every(poll_period(client, latency))
        }
        Discovery::PushPlusPoll => {
            load.per_minute[kind(RequestKind::FetchService)] +=
                services * every(poll_period(client, latency));
        }
        Discovery::LongPoll => {
            let watching = Watching::of(scenario.server(), client, latency);
            load.per_minute[kind(RequestKind::Watch)] += services * every(watching.cycle());
            load.held += u64::from(app.instances) * client.services.len() as u64;
        }
    }
}

/// From one poll to the next: the interval counts from the end of the poll (`two-stage.md` 2.2).
fn poll_period(client: &ClientConfig, latency: &Latency) -> SimDuration {
    ms(client.poll_interval_ms) + latency.round_trip().mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{client_of, two_stage};
    use crate::model::id::AppId;
    use crate::model::two_stage::Preset;
    use crate::scenario::Delay;

    fn minute(load: &Load, kind: RequestKind) -> f64 {
        load.per_minute[kind as usize]
    }

    /// 2.7: C / 5 polls a second, and C / 5 heartbeats. With 60 consumers 12 of each a second.
    #[test]
    fn polls() {
        let mut scenario = two_stage(Preset::TwoStage, &[60]);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        let load = ordinary_load(scenario.two_stage().unwrap()).expect("a constant delay");
        assert_eq!(
            (minute(&load, RequestKind::FetchFull), minute(&load, RequestKind::Renew)),
            (720.0, 720.0)
        );
        assert_eq!(load.per_minute.iter().sum::<f64>(), 1_440.0);
        assert_eq!(load.held, 0);
    }

    /// 2.7: C · S / 30 idle long polls a second, and as many held as consumers times services. A gap of 1 ms comes on
    /// top of 30 s.
    #[test]
    fn long_polls() {
        let mut scenario = two_stage(Preset::TwoStage, &[60, 40]);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        let client = client_of(&mut scenario, 0);
        client.discovery = Discovery::LongPoll;
        client.services = vec![AppId(0), AppId(1)];
        client_of(&mut scenario, 1).fetches = false;
        let load = ordinary_load(scenario.two_stage().unwrap()).expect("a constant delay");
        assert_eq!(load.held, 120);
        assert!((minute(&load, RequestKind::Watch) - 240.0 * 30_000.0 / 30_001.0).abs() < 1e-9);
        assert_eq!(minute(&load, RequestKind::Renew), 1_200.0);
        // A time-out between two looks is noticed at the next: 29.9 s end after 30.
        client_of(&mut scenario, 0).watch_timeout_ms = 29_900;
        assert_eq!(ordinary_load(scenario.two_stage().unwrap()), Ok(load));
    }

    /// Nacos: a poll of each service every 10 s, a heartbeat every 5 s, each and a round trip of 100 ms.
    #[test]
    fn subscribers() {
        let mut scenario = two_stage(Preset::Nacos1, &[101]);
        scenario.network.latency = Delay::Constant(SimDuration::from_millis(50));
        let load = ordinary_load(scenario.two_stage().unwrap()).expect("a constant delay");
        assert!((minute(&load, RequestKind::FetchService) - 600.0).abs() < 1e-9); // 101 · 60 / 10.1
        assert!((minute(&load, RequestKind::Renew) - 101.0 * 60.0 / 5.1).abs() < 1e-9);
    }
}
