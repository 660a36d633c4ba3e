//! What a release decides: the servers' rules, the transports, the balancer, and in which order servers are tried.

use super::diagnostic::Problem;
use super::suggest::one_of;
use super::values::Values;
use crate::model::eureka::client::{BalancerConfig, ServerOrder, TransportConfig};
use crate::model::eureka::{Flavour, Release, ServerRules};

/// The newest Spring Cloud train: what a scenario without `release` means.
const NEWEST_TRAIN: &str = "2025.1";

/// What the release that a scenario names decides.
pub(super) struct Rules {
    /// The release as it was named.
    pub(super) name: String,
    pub(super) server: ServerRules,
    pub(super) transport: TransportConfig,
    /// Of the client inside the server.
    pub(super) server_transport: TransportConfig,
    pub(super) balancer: BalancerConfig,
    pub(super) server_order: ServerOrder,
}

impl Rules {
    fn of(name: String, release: &Release) -> Self {
        Self {
            name,
            server: release.server_rules(),
            transport: release.transport(),
            server_transport: release.server_client_transport(),
            balancer: release.balancer(),
            server_order: release.server_order(),
        }
    }
}

/// The release named at the top, or the newest.
pub(super) fn resolve(top: Values<'_>, flavour: Flavour, problems: &mut Vec<Problem>) -> Rules {
    let newest = || Rules::of(newest_name(flavour), &Release::newest(flavour));
    let (Some(name), Some(node)) = (top.text("release"), top.node("release")) else { return newest() };
    match Release::parse(name, flavour) {
        Ok(release) => Rules::of(name.to_owned(), &release),
        Err(unknown) => {
            let other = match flavour {
                Flavour::Spring => Flavour::Netflix,
                Flavour::Netflix => Flavour::Spring,
            };
            let hint = if Release::parse(name, other).is_ok() {
                let word = if other == Flavour::Netflix { "netflix" } else { "spring" };
                format!("it is one of `flavour = \"{word}\"`")
            } else {
                format!("perhaps {}?", one_of(unknown.suggestions.iter().map(String::as_str)))
            };
            let kind = match flavour {
                Flavour::Spring => "no Spring Cloud train or Spring Cloud Netflix version",
                Flavour::Netflix => "no Eureka version",
            };
            problems.push(
                Problem::error(node.place.clone(), unknown.to_string())
                    .label(format!("{kind} that the rules were checked for"))
                    .hint(hint),
            );
            newest()
        }
    }
}

/// The rules of a release that has been resolved before.
pub(super) fn named(name: &str, flavour: Flavour) -> Rules {
    let release = Release::parse(name, flavour).unwrap_or_else(|_| Release::newest(flavour));
    Rules::of(name.to_owned(), &release)
}

fn newest_name(flavour: Flavour) -> String {
    match flavour {
        Flavour::Spring => NEWEST_TRAIN.to_owned(),
        Flavour::Netflix => Release::newest(flavour).eureka().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_can_be_named() {
        for flavour in [Flavour::Spring, Flavour::Netflix] {
            let named = Release::parse(&newest_name(flavour), flavour);
            assert_eq!(named, Ok(Release::newest(flavour)));
        }
    }
}
