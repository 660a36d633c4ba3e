//! Names of services and instances as the rules number them, and lists as the vectors write them.

use stillup::model::clock::WallMs;
use stillup::model::id::{AppId, InstanceId};
use stillup::model::message::{Record, Status};
use stillup::model::view::{Presence, View};

use super::Machine;
use crate::ids::Ids;
use crate::row::Map;
use crate::vector::Op;

/// Services and the instances of each in the order of their names, and then what else is mentioned. One id in two
/// services is two instances.
pub(super) struct Names {
    services: Vec<String>,
    instances: Vec<(AppId, String)>,
}

impl Names {
    pub(super) fn new(services: Vec<String>, script: &[Op]) -> Self {
        let mut names = Self { services, instances: Vec::new() };
        let mut named: Vec<(&str, &String)> = Vec::new();
        for op in script {
            if let Some((svc, ids)) = op.svc().zip(op.ids()) {
                named.extend(ids.iter().map(|id| (svc, id)));
            }
        }
        named.sort();
        named.into_iter().for_each(|(svc, id)| {
            names.instance(svc, id);
        });
        names
    }

    pub(super) fn apps(&self) -> Vec<AppId> {
        (0..self.services.len() as u32).map(AppId).collect()
    }

    pub(super) fn app(&self, svc: &str) -> AppId {
        let at = self.services.iter().position(|name| name == svc).expect("every service is named");
        AppId(at as u32)
    }

    pub(super) fn svc(&self, app: AppId) -> &str {
        &self.services[app.index()]
    }

    pub(super) fn instance(&mut self, svc: &str, id: &str) -> InstanceId {
        let key = (self.app(svc), id.to_owned());
        let at = self.instances.iter().position(|it| *it == key).unwrap_or_else(|| {
            self.instances.push(key);
            self.instances.len() - 1
        });
        InstanceId(at as u32)
    }

    pub(super) fn of(&self, instance: InstanceId) -> (AppId, &str) {
        let (app, id) = &self.instances[instance.index()];
        (*app, id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (InstanceId, AppId)> + '_ {
        self.instances.iter().enumerate().map(|(at, (app, _))| (InstanceId(at as u32), *app))
    }

    pub(super) fn record(&mut self, svc: &str, id: &str) -> Record {
        Record {
            app: self.app(svc),
            instance: self.instance(svc, id),
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: WallMs(0),
            duration_s: 0,
            renewal_s: 0,
        }
    }
}

impl Machine {
    /// The list of one service in a view.
    pub(super) fn list(&mut self, view: View, app: AppId) -> Ids {
        let list = self.views.up_instances(view, app);
        list.iter().map(|&instance| self.names.of(instance).1).collect()
    }

    /// Every service that a view knows, with its list. A service that `before` knew is not forgotten by an answer about
    /// others.
    pub(super) fn map(&mut self, view: View, before: &Map) -> Map {
        let known = self.known(view, before);
        known.into_iter().map(|app| (self.names.svc(app).to_owned(), self.list(view, app))).collect()
    }

    fn known(&self, view: View, before: &Map) -> Vec<AppId> {
        let Some(life) = view.life() else { return Vec::new() };
        let log = self.views.log(life);
        let version = (0..=log.version()).rev().find(|&version| View::of(life, version) == view);
        let is_known = |app: AppId| {
            let mut of_it = self.names.all().filter(|it| it.1 == app).map(|it| it.0);
            match version {
                // A log knows a service from the first instance of it on.
                Some(version) => of_it.any(|it| (0..=version).any(|v| log.at(it, v) != Presence::Absent)),
                None => {
                    before.contains_key(self.names.svc(app))
                        || of_it.any(|it| self.views.presence(view, it) != Presence::Absent)
                }
            }
        };
        self.names.apps().into_iter().filter(|&app| is_known(app)).collect()
    }
}
