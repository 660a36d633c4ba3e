//! Calls on their way. A flight lives from the sending of a request until nobody will ask for it any more.

use crate::engine::SimTime;
use crate::model::eureka::client::Call;
use crate::model::id::{ClientId, ServerId};
use crate::model::message::{Failure, Reply, Request};

/// How a call comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not answered yet.
    None,
    /// With an HTTP answer.
    Reply(Reply),
    /// With a reset or a refused connection.
    Refused,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) client: ClientId,
    /// To whom.
    pub(super) server: ServerId,
    pub(super) call: Call,
    pub(super) request: Request,
    pub(super) answer: Answer,
    /// When the caller's wait began that its limit counts from.
    pub(super) sent_at: SimTime,
    /// When what a partition has swallowed was sent first.
    pub(super) swallowed_at: SimTime,
    /// Its connection is still to be made.
    pub(super) connects: bool,
    /// The caller has given up: an answer would find nobody.
    pub(super) given_up: bool,
    /// When its caller gives up, once that is set: places are used again so often that a generation alone might
    /// come round while an old limit waits.
    pub(super) limit_at: SimTime,
    /// How it fails then.
    pub(super) failure: Failure,
    /// Somebody still holds it who will come back to it: an event of the queue, or a paused process. Otherwise it is
    /// lost, or a partition has it.
    pub(super) is_under_way: bool,
}

impl Flight {
    /// A call that is sent now, over a connection that it `connects` first or that is there.
    pub(super) const fn new(
        client: ClientId,
        server: ServerId,
        call: Call,
        request: Request,
        connects: bool,
        sent_at: SimTime,
    ) -> Self {
        Self {
            client,
            server,
            call,
            request,
            answer: Answer::None,
            sent_at,
            swallowed_at: SimTime::MAX,
            connects,
            given_up: false,
            limit_at: SimTime::MAX,
            failure: Failure::ReadTimeout,
            is_under_way: true,
        }
    }

    /// Its request has reached the server's process: the connection stands, and its data is acknowledged.
    pub(super) const fn has_connected(&mut self) {
        self.connects = false;
        self.swallowed_at = SimTime::MAX;
    }

    /// Whether the server's side has answered.
    pub(super) fn has_answer(&self) -> bool {
        self.answer != Answer::None
    }
}
