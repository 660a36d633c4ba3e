//! The registry that a scenario runs, with all its settings: one of several, each with settings of its own types, so that
//! no scenario can pair the servers of one with the clients of another.
//!
//! Who knows which registry it is about is given a [`ScenarioOf`] it: the scenario and, beside it, that registry's
//! settings. Everybody else asks [`Setup::server`] and [`Setup::client`] what may be asked of any. Where a room has
//! something of its own for each registry, [`with_registry`](crate::scenario::with_registry) leads there.

use std::ops::Deref;

use super::types::{Application, Scenario};
use crate::model::eureka::Eureka;
use crate::model::id::AppId;
use crate::model::registry::{ClientConfig, ClientSettings, Kind, Registry, ServerConfig, ServerSettings};
use crate::model::two_stage::TwoStage;

/// A registry and its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Setup {
    /// Eureka.
    Eureka(Settings<Eureka>),
    /// The two-stage registry, whatever its preset.
    TwoStage(Settings<TwoStage>),
}

/// All settings of a registry.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings<R: Registry> {
    /// The release as it was named, for the report: `2025.0`, `2.2.10.RELEASE`, `1.9.13`; of the two-stage registry the
    /// name of its preset: `two-stage`, `nacos-1`.
    pub release: String,
    /// Of all servers.
    pub server: R::ServerConfig,
    /// Of the servers' own clients, used if they register or fetch.
    pub own_client: R::OwnClient,
    /// Of each application's clients, by [`AppId`].
    pub clients: Vec<R::ClientConfig>,
}

impl<R: Registry> Settings<R> {
    /// Of the clients of `app`.
    ///
    /// # Panics
    ///
    /// If there is no such application.
    pub fn client(&self, app: AppId) -> &R::ClientConfig {
        &self.clients[app.index()]
    }
}

/// Evaluates an expression with the [`Settings`] of a [`Setup`] under the name given: those of one registry or another.
/// Here stands which registries there are.
macro_rules! with_registry {
    ($setup:expr, $settings:ident => $it:expr) => {
        match $setup {
            $crate::scenario::Setup::Eureka($settings) => $it,
            $crate::scenario::Setup::TwoStage($settings) => $it,
        }
    };
}
pub(crate) use with_registry;

impl Setup {
    /// Which registry.
    pub fn kind(&self) -> Kind {
        fn kind_of<R: Registry>(_: &Settings<R>) -> Kind {
            R::KIND
        }
        with_registry!(self, settings => kind_of(settings))
    }

    /// The release or the preset, as it is named.
    pub fn release(&self) -> &str {
        with_registry!(self, settings => &settings.release)
    }

    /// The same, to change.
    pub fn release_mut(&mut self) -> &mut String {
        with_registry!(self, settings => &mut settings.release)
    }

    /// The settings of all servers.
    pub fn server(&self) -> &dyn ServerSettings {
        with_registry!(self, settings => &settings.server)
    }

    /// The settings of the clients of `app`.
    ///
    /// # Panics
    ///
    /// If there is no such application.
    pub fn client(&self, app: AppId) -> &dyn ClientSettings {
        with_registry!(self, settings => settings.client(app))
    }

    /// The settings of each application's clients, in the order of the applications.
    pub fn clients(&self) -> impl ExactSizeIterator<Item = &dyn ClientSettings> {
        let count = with_registry!(self, settings => settings.clients.len());
        (0..count).map(|place| self.client(AppId(place as u32)))
    }

    /// See [`Registry::beats_in_time`] and [`Registry::leaves_for_good`]: whether both are so of every application.
    pub fn is_steady(&self) -> bool {
        fn is_steady<R: Registry>(Settings { server, clients, .. }: &Settings<R>) -> bool {
            clients
                .iter()
                .all(|client| R::beats_in_time(server, client) && R::leaves_for_good(server, client))
        }
        with_registry!(self, settings => is_steady(settings))
    }

    /// Eureka's settings, if it is that.
    pub fn eureka(&self) -> Option<&Settings<Eureka>> {
        if let Self::Eureka(settings) = self { Some(settings) } else { None }
    }

    /// The same, to change.
    pub fn eureka_mut(&mut self) -> Option<&mut Settings<Eureka>> {
        if let Self::Eureka(settings) = self { Some(settings) } else { None }
    }

    /// The two-stage registry's settings, if it is that.
    pub fn two_stage(&self) -> Option<&Settings<TwoStage>> {
        if let Self::TwoStage(settings) = self { Some(settings) } else { None }
    }

    /// The same, to change.
    pub fn two_stage_mut(&mut self) -> Option<&mut Settings<TwoStage>> {
        if let Self::TwoStage(settings) = self { Some(settings) } else { None }
    }

    /// The settings of all servers, for a world that drives any registry.
    pub(crate) fn server_config(&self) -> ServerConfig {
        match self {
            Self::Eureka(settings) => ServerConfig::Eureka(settings.server.clone()),
            Self::TwoStage(settings) => ServerConfig::TwoStage(settings.server.clone()),
        }
    }

    /// The settings of the clients of `app`, or of the servers' own if there is no such application, for a world that
    /// drives any registry.
    #[inline]
    pub(crate) fn client_config(&self, app: AppId) -> Option<ClientConfig<'_>> {
        fn of<R: Registry>(settings: &Settings<R>, app: AppId) -> Option<&R::ClientConfig> {
            settings.clients.get(app.index()).or_else(|| R::own_client(&settings.own_client))
        }
        match self {
            Self::Eureka(settings) => of(settings, app).map(ClientConfig::Eureka),
            Self::TwoStage(settings) => of(settings, app).map(ClientConfig::TwoStage),
        }
    }
}

impl From<Settings<Eureka>> for Setup {
    fn from(settings: Settings<Eureka>) -> Self {
        Self::Eureka(settings)
    }
}

impl From<Settings<TwoStage>> for Setup {
    fn from(settings: Settings<TwoStage>) -> Self {
        Self::TwoStage(settings)
    }
}

impl Scenario {
    /// Adds an application whose clients have the settings of those of `like`.
    ///
    /// # Panics
    ///
    /// If there is no application `like`.
    pub fn add_application(&mut self, application: Application, like: AppId) {
        self.applications.push(application);
        with_registry!(&mut self.setup, settings => settings.clients.push(settings.client(like).clone()));
    }

    /// Replaces the fleet by these, all of whose clients have the settings of those of `like`.
    ///
    /// # Panics
    ///
    /// If there was no application `like`.
    pub fn set_applications(&mut self, applications: Vec<Application>, like: AppId) {
        let count = applications.len();
        self.applications = applications;
        with_registry!(&mut self.setup, settings => {
            settings.clients = vec![settings.client(like).clone(); count];
        });
    }

    /// The scenario and its settings, if it is one of Eureka.
    pub fn eureka(&self) -> Option<ScenarioOf<'_, Eureka>> {
        self.setup.eureka().map(|settings| ScenarioOf::new(self, settings))
    }

    /// The same of the two-stage registry.
    pub fn two_stage(&self) -> Option<ScenarioOf<'_, TwoStage>> {
        self.setup.two_stage().map(|settings| ScenarioOf::new(self, settings))
    }
}

/// A scenario of a known registry: the scenario, with that registry's settings.
#[derive(Debug)]
pub struct ScenarioOf<'a, R: Registry> {
    scenario: &'a Scenario,
    /// Those of [`Scenario::setup`].
    pub settings: &'a Settings<R>,
}

impl<R: Registry> Clone for ScenarioOf<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Registry> Copy for ScenarioOf<'_, R> {}

impl<R: Registry> Deref for ScenarioOf<'_, R> {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        self.scenario
    }
}

impl<'a, R: Registry> ScenarioOf<'a, R> {
    /// `scenario`, whose settings are `settings`.
    pub(crate) const fn new(scenario: &'a Scenario, settings: &'a Settings<R>) -> Self {
        Self { scenario, settings }
    }

    /// The scenario.
    pub const fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// The settings of all servers.
    pub const fn server(&self) -> &'a R::ServerConfig {
        &self.settings.server
    }

    /// The applications with the settings of their clients.
    pub fn apps(&self) -> impl Iterator<Item = AppOf<'a, R>> + use<'a, R> {
        let scenario = *self;
        (0..self.scenario.applications.len() as u32).map(move |place| scenario.app(AppId(place)))
    }

    /// One of them.
    ///
    /// # Panics
    ///
    /// If there is no such application.
    pub fn app(&self, id: AppId) -> AppOf<'a, R> {
        AppOf { id, app: &self.scenario.applications[id.index()], client: self.settings.client(id) }
    }
}

/// An application of a known registry.
#[derive(Debug)]
pub struct AppOf<'a, R: Registry> {
    /// Its number.
    pub id: AppId,
    app: &'a Application,
    /// The settings of its clients.
    pub client: &'a R::ClientConfig,
}

impl<R: Registry> Clone for AppOf<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Registry> Copy for AppOf<'_, R> {}

impl<R: Registry> Deref for AppOf<'_, R> {
    type Target = Application;

    fn deref(&self) -> &Application {
        self.app
    }
}
