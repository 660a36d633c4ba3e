//! How a process starts (`two-stage.md` 2.1, 4.2).
//!
//! First the consumer reads its snapshot, if it reads one: without a network, so that it can route while the registry
//! is down. Then the process registers and asks for the first time, in the same instant. The sources do not say which
//! of the two comes first; that it registers first is our choice. It shows only if the registry answers in no time:
//! then the process finds itself in its first answer.

use super::disk::File;
use super::machine::{Life, TwoStageClient};
use crate::model::effect::ClientEffect;
use crate::model::fact::Fact;
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Discovery, DiskMode, OnCorruptFile};

impl TwoStageClient {
    /// A process starts. It must not be running. One that cannot read its snapshot may end here, before it has sent
    /// anything.
    pub fn on_start(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        assert!(self.life == Life::Down, "a process starts once");
        if config.fetches && config.disk_load_at_start && config.disk_mode != DiskMode::None {
            match self.disk.file() {
                File::Torn if config.on_corrupt_file == OnCorruptFile::FailStart => {
                    step.out.push(ClientEffect::Fact(Fact::StartFailed));
                    step.out.push(ClientEffect::Exited);
                    return;
                }
                File::Missing | File::Torn => {}
                File::Holds(view) => self.hold(view, step),
            }
        }
        self.life = Life::Running;
        if config.registers {
            self.register_at_start(config, step);
        }
        if config.fetches {
            match config.discovery {
                Discovery::Poll | Discovery::LongPoll => self.fetch(step),
                Discovery::PushPlusPoll => self.ask_for_every_service(config, step),
            }
        }
    }
}
