//! Calls on their way. A flight lives from the sending of a request until nobody will ask for it any more;
//! its place is used again, so a place carries a generation.

use crate::engine::SimTime;
use crate::model::client::Call;
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

struct Place {
    generation: u16,
    flight: Option<Flight>,
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

/// All flights, in places that are used again, the last freed first.
#[derive(Default)]
pub(super) struct Flights {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Flights {
    /// Takes off; returns the place.
    #[inline]
    pub(super) fn take_off(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.places[number as usize].flight = Some(flight);
                number
            }
            None => {
                self.places.push(Place { generation: 0, flight: Some(flight) });
                self.places.len() as u32 - 1
            }
        }
    }

    /// The flight at a place that is taken.
    #[inline]
    pub(super) fn at(&self, number: u32) -> &Flight {
        self.places[number as usize].flight.as_ref().expect("an event points at a flight that has landed")
    }

    /// The flight at a place that is taken, to change.
    #[inline]
    pub(super) fn at_mut(&mut self, number: u32) -> &mut Flight {
        self.places[number as usize].flight.as_mut().expect("an event points at a flight that has landed")
    }

    /// The generation of a place.
    pub(super) fn generation(&self, number: u32) -> u16 {
        self.places[number as usize].generation
    }

    /// Whether the flight of that generation is still under way.
    pub(super) fn is_current(&self, number: u32, generation: u16) -> bool {
        let place = &self.places[number as usize];
        place.generation == generation && place.flight.is_some()
    }

    /// Lands: frees the place and returns what was there.
    #[inline]
    pub(super) fn land(&mut self, number: u32) -> Flight {
        let place = &mut self.places[number as usize];
        let flight = place.flight.take().expect("a flight lands once");
        place.generation = place.generation.wrapping_add(1);
        self.free.push(number);
        flight
    }
}
