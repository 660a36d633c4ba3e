//! Datagrams: pushes of a server to its subscribers, and what these acknowledge. Nobody waits for one. What a link
//! loses, or a partition swallows, is gone, and nobody learns of it but by what does not follow.

use super::World;
use super::event::Event;
use super::links::{Verdict, Way};
use super::node::State;
use crate::engine::{Schedule, SimTime};
use crate::model::effect::PushId;
use crate::model::eureka::client::purpose;
use crate::model::id::{AppId, ClientId, ServerId};
use crate::model::view::Payload;

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// This is what is shown of a service.
    Push(AppId, Payload),
    /// That has come.
    Acknowledged,
}

/// A datagram on its way.
pub(super) struct Datagram {
    pub(super) client: ClientId,
    pub(super) server: ServerId,
    /// How often the server's process had ended when it was sent: what an earlier process pushed is not another's to
    /// hear of.
    pub(super) server_ended: u32,
    pub(super) push: PushId,
    pub(super) says: Says,
}

impl World<'_> {
    /// A server or a client sends a datagram.
    pub(super) fn send_datagram(&mut self, datagram: Datagram, schedule: &mut Schedule<Event>) {
        let (client, server) = (datagram.client, datagram.server);
        let way = match datagram.says {
            Says::Push(..) => Way::FromServer,
            Says::Acknowledged => Way::ToServer,
        };
        let loss = self.scenario.setup.server().datagram_loss();
        let node = &mut self.clients[client.index()];
        if loss > 0.0 && node.chance.with(&self.seed).unit(purpose::DATAGRAM_LOSS) < loss {
            return;
        }
        if let Verdict::Passes { later } = self.verdict(client, server, way) {
            let place = self.datagrams.take_off(datagram);
            self.deliver((client, server), Event::DatagramArrives { datagram: place }, later, schedule);
        }
    }

    /// A datagram reaches a host. A process that stands still finds it when it goes on.
    pub(super) fn datagram_arrives(&mut self, place: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let datagram = self.datagrams.at(place);
        let (client, server, is_push) =
            (datagram.client, datagram.server, datagram.says != Says::Acknowledged);
        let arrival = Event::DatagramArrives { datagram: place };
        let state =
            if is_push { self.clients[client.index()].state } else { self.servers[server.index()].state };
        match state {
            State::Paused { .. } if is_push => {
                self.clients[client.index()].waiting.get_or_insert_default().arrivals.push(arrival);
                return;
            }
            State::Paused { .. } => {
                self.servers[server.index()].waiting.arrivals.push(arrival);
                return;
            }
            State::Down | State::Running => {}
        }
        let Datagram { push, says, server_ended, .. } = self.datagrams.land(place);
        if state == State::Down {
            return;
        }
        match says {
            Says::Push(app, payload) => self.step_client(client, now, schedule, |client, config, step| {
                client.on_push(config, (app, payload), push, step);
            }),
            Says::Acknowledged => {
                let node = &mut self.servers[server.index()];
                if let Some(life) = node.server.as_mut().filter(|_| node.ended == server_ended) {
                    life.on_acknowledged(client, push);
                }
            }
        }
    }
}
