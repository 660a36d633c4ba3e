//! Long polls (`two-stage.md` 2.7): one for each service, held by the registry until there is news.
//!
//! An answer with the revision that the consumer knows says that nothing has changed, whatever list comes with it: that
//! is what an idle long poll ends with, and it ends with an empty list. Any other revision is news, and the list is
//! looked at. If it is refused, [`WatchAck`] decides what the consumer knows afterwards:
//!
//! * [`WatchAck::OnApply`]: what it knew before. The next long poll is then answered at once. This repairs a change that
//!   was answered with an empty list because the time was up; and it spins when a service really shrank.
//! * [`WatchAck::Always`]: the new revision. The change is lost until the next.

use super::machine::TwoStageClient;
use super::services::ServiceLoop;
use crate::model::effect::ClientEffect;
use crate::model::message::{Reply, Request};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, WatchAck};
use crate::model::view::{Payload, View};

impl TwoStageClient {
    pub(super) fn watch(&self, at: usize, config: &ClientConfig) -> Request {
        let ServiceLoop { app, revision: known, .. } = self.loops[at];
        Request::Watch { app, known, timeout_ms: config.watch_timeout_ms }
    }

    /// Takes or refuses an answer; whether its loop counts it as a success. A refusal is one.
    pub(super) fn watch_answered(
        &mut self,
        at: usize,
        reply: Reply,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> bool {
        let ServiceLoop { app, revision: known, .. } = self.loops[at];
        if reply.revision == known {
            return true;
        }
        let offered = reply.payload.as_ref().map_or(View::EMPTY, Payload::full_view);
        if self.refuses_list(app, offered, config, step) {
            if config.watch_ack == WatchAck::Always {
                self.loops[at].revision = reply.revision;
            }
            return true;
        }
        self.loops[at].revision = reply.revision;
        let view = step.views.with_service(self.view, app, offered);
        self.store(view, config, step)
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Logged, REFUSED, Rig, at_ms, healthy, ms, time_is_up};
    use crate::engine::SimTime;
    use crate::model::fact::Fact;
    use crate::model::id::AppId;
    use crate::model::message::{Request, RequestKind};
    use crate::model::two_stage::config::{Discovery, Preset, Sanity, WatchAck};

    /// A consumer that watches application 0, of which instances 0 to 2 are registered: revision 3.
    fn watcher() -> Rig {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.discovery = Discovery::LongPoll;
        rig.config.watch_reissue_gap_ms = 10;
        rig.registry.up(0, 0..3);
        rig
    }

    /// The second watch runs from 10 ms to 30,010 ms. Instance 0 goes in its last park, so that it is answered at its
    /// end with the new revision and no list. Watches that know it are held.
    fn swallows_a_change(rig: &mut Rig) {
        rig.answer(|now, request, registry| match *request {
            Request::Watch { known, .. } if known.number == 3 && now == at_ms(10) => {
                registry.gone(0, 0..1);
                (ms(30_000), Ok(time_is_up(4)))
            }
            Request::Watch { known, .. } if known.number == 4 => (ms(30_000), Ok(time_is_up(4))),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(31_000));
    }

    /// When watches were sent, ms, and what their sender knew.
    fn watches(rig: &Rig) -> Vec<(u64, u32)> {
        let watch = |&(at, logged): &(SimTime, Logged)| match logged {
            Logged::Sent(Request::Watch { known, .. }, _) => Some((at.as_millis(), known.number)),
            _ => None,
        };
        rig.log.iter().filter_map(watch).collect()
    }

    fn refused_ms(rig: &Rig) -> Vec<u64> {
        rig.facts_ms(|fact| *fact == Fact::AnswerRefused)
    }

    #[test]
    fn a_watch_that_knows_nothing_follows_the_fetch_at_the_start() {
        let mut rig = watcher();
        rig.answer(|_, request, registry| match *request {
            Request::Watch { known, .. } if known.number == 3 => (ms(30_000), Ok(time_is_up(3))),
            _ => (ms(5), healthy(request, registry).1),
        });
        rig.start();
        rig.run_to(at_ms(35_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0]);
        // The fetch ends at 5 ms, the first watch at 10 ms; 10 ms later the second, and 30,010 ms after it the third.
        assert_eq!(watches(&rig), [(5, 0), (20, 3), (30_030, 3)]);
        // The empty list of a watch whose time is up says nothing, since the revision is the same.
        assert_eq!((refused_ms(&rig), rig.held()), (vec![], vec![0, 1, 2]));
    }

    #[test]
    fn a_swallowed_change_is_repaired_if_only_what_is_taken_is_acknowledged() {
        let mut rig = watcher();
        swallows_a_change(&mut rig);
        assert_eq!(watches(&rig), [(0, 0), (10, 3), (30_020, 3), (30_030, 4)]);
        assert_eq!(refused_ms(&rig), [30_010]); // 2 · 0 < 3
        assert_eq!(rig.changes(), [(0, vec![0, 1, 2]), (30_020, vec![1, 2])]);
    }

    #[test]
    fn a_swallowed_change_is_lost_if_everything_is_acknowledged() {
        let mut rig = watcher();
        rig.config.watch_ack = WatchAck::Always;
        swallows_a_change(&mut rig);
        assert_eq!(watches(&rig), [(0, 0), (10, 3), (30_020, 4)]);
        assert_eq!((refused_ms(&rig), rig.held()), (vec![30_010], vec![0, 1, 2]));
    }

    #[test]
    fn without_a_look_at_it_the_empty_list_is_taken() {
        let mut rig = watcher();
        rig.config.sanity = Sanity::None;
        swallows_a_change(&mut rig);
        assert_eq!(rig.changes(), [(0, vec![0, 1, 2]), (30_010, vec![])]);
    }

    #[test]
    fn a_shrink_by_more_than_half_spins() {
        let mut rig = watcher();
        rig.start();
        rig.run_to(at_ms(99));
        rig.registry.gone(0, 1..3); // 2 · 1 < 3
        rig.run_to(at_ms(1_000));
        // One a gap: at 100, 110, … 1,000 ms.
        assert_eq!(refused_ms(&rig).len(), 91);
        assert_eq!(rig.held(), [0, 1, 2]);
    }

    #[test]
    fn each_service_counts_its_own_failures() {
        let mut rig = watcher();
        rig.config.services = vec![AppId(0), AppId(1)];
        rig.registry.up(1, 3..4);
        rig.answer(|_, request, registry| match *request {
            Request::Watch { app: AppId(0), .. } => REFUSED,
            Request::Watch { known, .. } if known.number > 0 => {
                (ms(7_000), Ok(registry.news(known.number + 1)))
            }
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(15_000));
        let of = |app| {
            let wanted =
                move |request: &Request| matches!(request, Request::Watch { app: of, .. } if of.0 == app);
            let logged = |logged: &_| matches!(logged, Logged::Sent(sent, _) if wanted(sent));
            rig.logged_ms(logged)
        };
        assert_eq!(of(0), [0, 2_000, 6_000, 14_000]);
        assert_eq!(of(1), [0, 10, 7_020, 14_030]);
        assert_eq!(rig.facts_ms(|fact| *fact == Fact::RefreshWarned), [6_000]);
    }

    #[test]
    fn a_list_moves_its_own_service_only() {
        let mut rig = watcher();
        rig.registry.up(1, 3..4);
        rig.config.sanity = Sanity::None;
        rig.start();
        rig.registry.gone(1, 3..4);
        rig.registry.gone(0, 0..1);
        rig.run_to(at_ms(50));
        assert_eq!(rig.held(), [1, 2, 3]); // application 1 was only fetched at the start
    }
}
