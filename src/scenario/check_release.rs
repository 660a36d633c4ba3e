//! What a release decides: the server's rules, the transport and the balancer.

use super::diagnostic::Problem;
use super::values::Values;
use crate::model::client::{BalancerConfig, ClientConfig, TransportConfig, TransportKind};
use crate::model::eureka::{Flavour, ServerConfig, ServerRules};

/// The rules of the release that a scenario names.
pub(super) struct Rules {
    /// The release as it is reported.
    pub(super) label: String,
    pub(super) server: ServerRules,
    pub(super) transport: TransportConfig,
    pub(super) balancer: BalancerConfig,
}

/// The release named at the top, or the newest.
pub(super) fn resolve(top: Values<'_>, flavour: Flavour, problems: &mut Vec<Problem>) -> Rules {
    let _ = problems;
    let client = ClientConfig::defaults(flavour);
    Rules {
        label: top.text("release").unwrap_or("2025.1").to_owned(),
        server: ServerConfig::defaults(flavour).rules,
        transport: client.transport,
        balancer: client.balancer,
    }
}

impl Rules {
    /// The transport of a server's own client: Jersey in every release. From Spring Boot 3 on it does not
    /// understand a 404 with a JSON body, which Spring servers send (`eureka-client.md` 0.3, 6.6).
    pub(super) fn server_transport(&self, flavour: Flavour) -> TransportConfig {
        let jersey = TransportConfig::of_kind(TransportKind::Jersey);
        TransportConfig { understands_not_found: flavour == Flavour::Netflix, ..jersey }
    }
}
