//! Datagrams: pushes of a server to its subscribers, and what these acknowledge. Nobody waits for one. What a link
//! loses, or a partition swallows, is gone, and nobody learns of it but by what does not follow.

use super::World;
use super::event::Event;
use super::fabric::{Kind, MessageDirection, Route};
use super::node::State;
use crate::engine::Schedule;
use crate::model::effect::PushId;
use crate::model::eureka::client::purpose;
use crate::model::id::{AppId, ClientId, ServerId};
use crate::model::view::Payload;

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatagramPayload {
    /// This is what is shown of a service.
    Push(AppId, Payload),
    /// That has come.
    Acknowledged,
}

/// A datagram on its way.
#[derive(Clone, Copy)]
pub(super) struct Datagram {
    pub(super) client: ClientId,
    pub(super) server: ServerId,
    /// How often the server's process had ended when it was sent: what an earlier process pushed is not another's to
    /// hear of.
    pub(super) server_ended: u32,
    pub(super) push: PushId,
    pub(super) says: DatagramPayload,
}

impl World<'_> {
    /// A server or a client sends a datagram.
    pub(super) fn send_datagram(&mut self, datagram: Datagram, schedule: &mut Schedule<Event>) {
        let (client, server) = (datagram.client, datagram.server);
        let way = match datagram.says {
            DatagramPayload::Push(..) => MessageDirection::FromServer,
            DatagramPayload::Acknowledged => MessageDirection::ToServer,
        };
        let loss = self.scenario.setup.server().datagram_loss();
        let node = &mut self.clients[client.index()];
        if loss > 0.0 && node.streams.with(&self.seed).unit(purpose::DATAGRAM_LOSS) < loss {
            return;
        }
        let route = Route { from: self.host_of(client), to: server };
        let passes =
            self.with_carrier(route, Kind::Call, |fabric, carrier| fabric.passes(route, way, carrier));
        if let Some(transit) = passes {
            let datagram = self.datagrams.insert(datagram);
            transit.schedule(Event::DatagramArrives { datagram }, schedule);
        }
    }

    /// A datagram reaches a host. A process that stands still finds it when it goes on.
    pub(super) fn datagram_arrives(&mut self, place: u32, schedule: &mut Schedule<Event>) {
        let datagram = self.datagrams.get(place);
        let (client, server, is_push) =
            (datagram.client, datagram.server, datagram.says != DatagramPayload::Acknowledged);
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
        let Datagram { push, says, server_ended, .. } = self.datagrams.remove(place);
        if state == State::Down {
            return;
        }
        match says {
            DatagramPayload::Push(app, payload) => {
                self.step_client(client, schedule, |client, config, step| {
                    client.on_push(config, (app, payload), push, step);
                })
            }
            DatagramPayload::Acknowledged => {
                let node = &mut self.servers[server.index()];
                if let Some(life) = node.server.as_mut().filter(|_| node.ended == server_ended) {
                    life.on_acknowledged(client, push);
                }
            }
        }
    }
}
