//! Why a closed form, or the mean of one, is absent.
//!
//! A reason is a value, with the figures that its sentence needs: code asks which one it is, and only what is printed or
//! written is the sentence. Here is what any registry may meet; what only one of them knows stands in its folder.

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::disturbances::Disturbance;
use super::eureka::EurekaReason;
use super::two_stage::TwoStageReason;

/// Why no closed form is given. It displays, and serialises, as one clause without a full stop: `self-preservation is
/// engaged: 32 renewals against a threshold of 35`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Reason {
    /// There is no form for this kind of event at this stage.
    #[error("no closed form covers this")]
    NotCovered,
    /// Nor for changes of an instance's status, at any stage.
    #[error("no closed form is known for a change of status")]
    ChangeOfStatus,
    /// Something of the scenario disturbs every form.
    #[error(transparent)]
    Disturbed(#[from] Disturbance),
    /// Applications differ in how long a message takes.
    #[error("applications have links of different latency")]
    UnlikeLinks,
    /// A message may take any time.
    #[error("the latency has no greatest value")]
    UnboundedLatency,
    /// Faults hit no instance that was registered at the start.
    #[error("no instance that is there from the start is hit")]
    NobodyIsHit,
    /// Nobody is left who asks for what changes.
    #[error("no observer is left to see it")]
    NobodyWatches,
    /// An end and the return after it may be one to those who watch.
    #[error("an instance may come back before its end has been noticed")]
    ReturnsUnnoticed,
    /// Of the mean: those hit are observers of each other, at moments that hang together.
    #[error("those hit one after the other watch each other")]
    WatchEachOther,
    /// What only Eureka's forms take for granted does not hold.
    #[error(transparent)]
    Eureka(#[from] EurekaReason),
    /// What only the two-stage registry's forms take for granted does not hold.
    #[error(transparent)]
    TwoStage(#[from] TwoStageReason),
}

/// As its sentence.
impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
