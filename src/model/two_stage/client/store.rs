//! What becomes of an answer that is taken: memory first, then the disk.

use super::machine::TwoStageClient;
use crate::model::effect::ClientEffect;
use crate::model::fact::Fact;
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, DiskMode, DiskWriteOn};
use crate::model::view::View;

impl TwoStageClient {
    /// Takes `view` over into memory, and writes it if that is to be done. Whether it could be written, or need not
    /// be: writing is a part of the refresh, so that a full disk looks like a dead registry (`two-stage.md` 2.2).
    pub(super) fn store(
        &mut self,
        view: View,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> bool {
        let writes = config.disk_mode != DiskMode::None
            && match config.disk_write_on {
                DiskWriteOn::EverySuccess => true,
                DiskWriteOn::Change => !step.views.show_the_same(self.view, view),
            };
        self.hold(view, step);
        !writes || self.disk.write(view, config, step.now.mono)
    }

    /// Takes `view` over into memory.
    pub(super) fn hold(&mut self, view: View, step: &mut Step<'_, ClientEffect>) {
        if view == self.view {
            return;
        }
        let from = std::mem::replace(&mut self.view, view);
        step.out.push(ClientEffect::Fact(Fact::ViewChanged { from, to: view }));
    }
}
