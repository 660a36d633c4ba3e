//! Whether an answer is taken (`two-stage.md` 2.3, 4.2).
//!
//! The half rule compares with what is held, which a refusal leaves as it is: it never times out. Of a whole map one
//! service that has lost too much is enough to refuse all of it; a list of one service stands for itself.
//! Push-empty protection is Nacos' rule for lists. For a whole map it is read in the same spirit: the map is refused if
//! a service of which instances are held would be left without any.

use super::machine::TwoStageClient;
use crate::model::effect::ClientEffect;
use crate::model::fact::Fact;
use crate::model::id::AppId;
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Sanity};
use crate::model::view::{Loss, Payload, View};

impl TwoStageClient {
    /// Whether the consumer refuses a map of all services.
    pub(super) fn refuses_everything(
        &self,
        payload: &Payload,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> bool {
        if payload.full_view() == self.view {
            return false;
        }
        let refuses = match config.sanity {
            Sanity::Half => step.views.would_lose(self.view, payload, Loss::MoreThanHalf),
            Sanity::PushEmpty => step.views.would_lose(self.view, payload, Loss::All),
            Sanity::None => false,
        };
        tell(refuses, step)
    }

    /// Whether the consumer refuses, of `offered`, the list of `app`.
    pub(super) fn refuses_list(
        &self,
        app: AppId,
        offered: View,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> bool {
        let listed = step.views.up_of(offered, app);
        let refuses = match config.sanity {
            Sanity::Half => 2 * u64::from(listed) < u64::from(step.views.up_of(self.view, app)),
            Sanity::PushEmpty => listed == 0,
            Sanity::None => false,
        };
        tell(refuses, step)
    }
}

fn tell(refuses: bool, step: &mut Step<'_, ClientEffect>) -> bool {
    if refuses {
        step.out.push(ClientEffect::Fact(Fact::AnswerRefused));
    }
    refuses
}
