//! Replaying recordings of a Nacos server: the recorded registrations and beats drive the rules of the two-stage
//! registry with its `nacos-1` preset, and the code of every beat, every change of the raw flags and every change of
//! the answer must agree.
//!
//! No log tells when the server's check ran; that is inferred ([`checks`]). The server takes up a call at some moment
//! between its sending and its answer, here at the answer. Where something else is possible and fits better, that is
//! taken ([`guesses`]): the recording decides what happened, and the rules what follows.

mod arrivals;
mod checks;
mod guesses;
mod play;
mod recording;
mod sights;
mod simulate;
#[cfg(test)]
mod tests;

use std::path::Path;

use stillup::model::two_stage::{Preset, ServerConfig, SweepPasses, SweepPhase};

use super::{Outcome, TIE_MS};
use checks::Checks;
use recording::Recording;

pub(crate) use recording::is_of_nacos;
/// Compares crashes with simulated ones.
pub(crate) use simulate::simulate;

/// What a check or a call has done shows this late at most: a removal is a call of the server's to itself, ms.
const LATE_MS: i64 = 150;

/// A rule that is bent on purpose, to see that the replay notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bent {
    /// As it should be.
    None,
    /// Unhealthy after 14 s.
    ShorterSoft,
    /// Unhealthy after 16.5 s. There is no recorded silence of 15 to 16 s that a check found.
    LongerSoft,
    /// Deleted after 29 s.
    ShorterHard,
    /// Deleted after 31.5 s. There is no recorded silence of 30 to 31 s that a check found.
    LongerHard,
    /// A check every 4 s.
    FasterChecks,
    /// One check for all services, from the start of the server on.
    ChecksFromTheStart,
    /// No check both marks and deletes an instance.
    MarkOrDelete,
    /// A beat renews an unhealthy instance and leaves it unhealthy.
    BeatsHealNobody,
    /// A new instance is not heard of before its first beat.
    RegistrationIsNoSign,
    /// Nobody who is unhealthy is handed out, whatever the share.
    NoReadProtection,
    /// All are handed out only if the share of healthy ones is below the threshold, not if it equals it.
    StrictReadProtection,
    /// All are handed out as long as a tenth is unhealthy.
    MoreReadProtection,
}

impl Bent {
    fn server_config(self) -> ServerConfig {
        let mut config = ServerConfig::defaults(Preset::Nacos1);
        match self {
            Self::None | Self::BeatsHealNobody => {}
            Self::ShorterSoft => config.soft_timeout_ms -= 1_000,
            Self::LongerSoft => config.soft_timeout_ms += 1_500,
            Self::ShorterHard => config.hard_timeout_ms -= 1_000,
            Self::LongerHard => config.hard_timeout_ms += 1_500,
            Self::FasterChecks => config.sweep_interval_ms = 4_000,
            Self::ChecksFromTheStart => config.sweep_phase = SweepPhase::Global,
            Self::MarkOrDelete => config.sweep_passes = SweepPasses::ElseIf,
            Self::RegistrationIsNoSign => config.register_stamps_heartbeat = false,
            Self::NoReadProtection => config.read_protect_threshold = None,
            Self::StrictReadProtection => {
                config.read_protect_threshold = config.read_protect_threshold.map(f64::next_down);
            }
            Self::MoreReadProtection => config.read_protect_threshold = Some(0.9),
        }
        config
    }
}

/// Replays a folder.
pub(crate) fn replay(folder: &Path, bent: Bent) -> Result<(String, Outcome), String> {
    let recording = Recording::read(folder)?;
    let config = bent.server_config();
    let checks = Checks::of(&recording, &config)?;
    let outcome = guesses::best(&recording, &config, bent, checks);
    Ok((format!("{} ({})", recording.name, recording.experiment.experiment), outcome))
}
