//! The settings of Eureka's clients as canonical text.

use crate::model::eureka::{Eureka, Flavour};
use crate::scenario::eureka::format::{self, Balancer};
use crate::scenario::eureka::properties;
use crate::scenario::eureka::settings::Layer;
use crate::scenario::format::page::TomlWriter;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::Names;

/// The clients' settings: those of the first application. And how a server counts them at its start.
pub(crate) fn clients(page: &mut TomlWriter, scenario: ScenarioOf<'_, Eureka>) {
    let Some(first) = scenario.apps().next() else { return };
    client_settings(page, "", &layer(first), None);
    if scenario.server().flavour == Flavour::Spring {
        page.section("eureka.instance.registry", |lines| {
            lines.settings(properties::registry::ALL, scenario.server(), None, Names::NONE);
        });
    }
}

/// What an application's clients are set to.
pub(crate) fn layer(app: AppOf<'_, Eureka>) -> Layer {
    Layer { config: app.client.clone(), first_call: app.balancer_first_call }
}

/// The tables of a client's settings below `prefix`: all, or what differs from `base`.
pub(crate) fn client_settings(page: &mut TomlWriter, prefix: &str, own: &Layer, base: Option<&Layer>) {
    let other = base.map(|base| &base.config);
    let config = &own.config;
    page.section(&format!("{prefix}eureka.client"), |lines| {
        lines.settings(properties::client::ALL, config, other, Names::NONE);
    });
    page.section(&format!("{prefix}eureka.client.transport"), |lines| {
        lines.settings(properties::transport::ALL, config, other, Names::NONE);
    });
    page.section(&format!("{prefix}eureka.client.healthcheck"), |lines| {
        lines.settings(properties::healthcheck::ALL, config, other, Names::NONE);
    });
    page.section(&format!("{prefix}eureka.instance"), |lines| {
        lines.settings(properties::instance::ALL, config, other, Names::NONE);
    });
    if other.is_none_or(|other| other.transport != config.transport) {
        page.section(&format!("{prefix}transport"), |lines| {
            lines.settings(format::transport::ALL, &config.transport, None, Names::NONE);
        });
    }
    let same_balancer =
        base.is_some_and(|base| base.config.balancer == config.balancer && base.first_call == own.first_call);
    if !same_balancer {
        page.section(&format!("{prefix}balancer"), |lines| {
            let own = Balancer::of(&config.balancer, own.first_call);
            lines.settings(format::balancer::ALL, &own, None, Names::NONE);
        });
    }
}
