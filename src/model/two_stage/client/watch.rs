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
