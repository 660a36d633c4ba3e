//! The settings of whichever registry, for whoever is not written over [`Registry`] yet.

use std::ops::Deref;

use super::{ClientSettings, Registry};
use crate::model::eureka::{self, Eureka, client};
use crate::model::message::RequestKind;
use crate::model::stage::Stage;
use crate::model::two_stage::{self, TwoStage};

/// The registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Eureka.
    Eureka,
    /// The two-stage registry, whatever its preset.
    TwoStage,
}

impl Kind {
    /// The stages that it has, in order.
    pub const fn stages(self) -> &'static [Stage] {
        match self {
            Self::Eureka => Eureka::STAGES,
            Self::TwoStage => TwoStage::STAGES,
        }
    }

    /// Of these, the stages on the way from the registry to the caller, in order.
    pub const fn way(self) -> &'static [Stage] {
        match self {
            Self::Eureka => Eureka::WAY,
            Self::TwoStage => TwoStage::WAY,
        }
    }

    /// The kinds of request that it knows, in order of their numbers.
    pub const fn requests(self) -> &'static [RequestKind] {
        match self {
            Self::Eureka => Eureka::REQUESTS,
            Self::TwoStage => TwoStage::REQUESTS,
        }
    }
}

/// The settings of a registry's servers.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerConfig {
    /// Of Eureka.
    Eureka(eureka::ServerConfig),
    /// Of the two-stage registry.
    TwoStage(two_stage::ServerConfig),
}

/// The settings of an application's clients.
#[derive(Clone, Copy, Debug)]
pub enum ClientConfig<'a> {
    /// Of Eureka.
    Eureka(&'a client::ClientConfig),
    /// Of the two-stage registry.
    TwoStage(&'a two_stage::ClientConfig),
}

impl<'a> ClientConfig<'a> {
    /// What may be asked of any.
    #[inline]
    pub fn any(self) -> &'a dyn ClientSettings {
        match self {
            Self::Eureka(config) => config,
            Self::TwoStage(config) => config,
        }
    }
}

impl<'a> Deref for ClientConfig<'a> {
    type Target = dyn ClientSettings + 'a;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.any()
    }
}
