//! Release profiles: what a release's name says about its rules.
//!
//! People know their Spring Cloud train (`2025.0`, `Hoxton.SR3`, `Greenwich`), their Spring Cloud Netflix
//! version (`2.2.10.RELEASE`, `4.3.0`) or, without Spring, their Eureka version (`1.9.13`). The flavour says
//! which of the last two a bare number is: 2.0.4 is both. A train or line without a patch means its newest.
//!
//! Few things differ between releases: whether an eviction lowers the expectation (from Eureka 1.9.17), how
//! the threshold is kept (up to 1.9.3), the HTTP client below the Eureka client, and the default balancer.
//!
//! Source: `eureka-server.md` 0.1, 0.2, 2.4, 4.2; `eureka-client.md` 0.2, 0.3, 6.6. The service releases of
//! Greenwich and Hoxton are counted as their bills of materials do; Hoxton.SR2 was not checked and is refused.

mod lines;
mod names;

use std::fmt;

use thiserror::Error;

use self::lines::{EUREKA_LINES, LINES};
use super::config::{Flavour, ServerRules};
use crate::engine::SimDuration;
use crate::model::eureka::client::{BalancerConfig, ServerOrder, TransportConfig, TransportKind};

/// A Netflix Eureka version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EurekaVersion(pub u16, pub u16, pub u16);

/// A Spring Cloud Netflix version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SpringVersion(u16, u16, u16);

/// A release that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    spring: Option<SpringVersion>,
    eureka: EurekaVersion,
}

/// A name that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown release `{name}`")]
pub struct UnknownRelease {
    /// The name as it was given.
    pub name: String,
    /// Names that were perhaps meant, the likeliest first; at most three.
    pub suggestions: Vec<String>,
}

impl Release {
    /// The newest release of a flavour: the default.
    pub fn newest(flavour: Flavour) -> Self {
        match flavour {
            Flavour::Spring => {
                let newest = &LINES[LINES.len() - 1];
                newest.release(newest.newest_patch)
            }
            Flavour::Netflix => {
                let (major, minor, patch) = EUREKA_LINES[EUREKA_LINES.len() - 1];
                Self { spring: None, eureka: EurekaVersion(major, minor, patch) }
            }
        }
    }

    /// Reads a release's name: a train or Spring Cloud Netflix version for the Spring flavour, a Eureka
    /// version for plain Netflix.
    ///
    /// # Errors
    /// If there is no such release, or none that the rules were checked for; with names that were perhaps
    /// meant.
    pub fn parse(name: &str, flavour: Flavour) -> Result<Self, UnknownRelease> {
        let found = match flavour {
            Flavour::Spring => names::spring_version(name).or_else(|| names::train_release(name)),
            Flavour::Netflix => names::eureka_version(name),
        };
        found.ok_or_else(|| UnknownRelease {
            name: name.to_owned(),
            suggestions: names::suggestions(name, flavour),
        })
    }

    /// How the release is named in reports: `Spring Cloud 2025.1 (Netflix 5.0.2, Eureka 2.0.6)`.
    pub fn label(&self) -> String {
        match self.spring {
            Some(version) => {
                let train = LINES.iter().find(|line| line.holds(version)).map_or("", |line| line.train);
                format!("Spring Cloud {train} (Netflix {version}, Eureka {})", self.eureka)
            }
            None => format!("Eureka {}", self.eureka),
        }
    }

    /// The Eureka inside.
    pub fn eureka(&self) -> EurekaVersion {
        self.eureka
    }

    /// What differs in the server.
    pub fn server_rules(&self) -> ServerRules {
        ServerRules {
            decrement_expected_on_eviction: self.eureka >= EurekaVersion(1, 9, 17),
            legacy_threshold: self.eureka <= EurekaVersion(1, 9, 3),
        }
    }

    /// The client's default transport and its time-outs.
    pub fn transport(&self) -> TransportConfig {
        let Some(version) = self.spring else { return TransportConfig::of_kind(TransportKind::Jersey) };
        match version {
            SpringVersion(..3, ..) => TransportConfig::of_kind(TransportKind::Jersey),
            SpringVersion(3, ..) => TransportConfig {
                connect_timeout: None,
                read_timeout: None,
                ..TransportConfig::of_kind(TransportKind::RestTemplate)
            },
            SpringVersion(4, minor, patch) => TransportConfig {
                understands_not_found: (minor, patch) != (0, 0),
                ..TransportConfig::of_kind(TransportKind::RestTemplate)
            },
            SpringVersion(5.., ..) => TransportConfig::of_kind(TransportKind::RestClient),
        }
    }

    /// The transport of the client inside a server: always Jersey. From Spring Cloud Netflix 4.0 on it does
    /// not understand a heartbeat's 404 (Netflix #1515).
    pub fn server_client_transport(&self) -> TransportConfig {
        TransportConfig {
            understands_not_found: self.spring.is_none_or(|version| version < SpringVersion(4, 0, 0)),
            ..TransportConfig::of_kind(TransportKind::Jersey)
        }
    }

    /// In which order a client tries its servers: by its address up to Eureka 1.10.13 (Netflix #1383).
    pub fn server_order(&self) -> ServerOrder {
        if self.eureka >= EurekaVersion(1, 10, 14) { ServerOrder::Shuffled } else { ServerOrder::ByHost }
    }

    /// The default balancer: Ribbon up to Spring Cloud Netflix 2.2 and without Spring.
    pub fn balancer(&self) -> BalancerConfig {
        if self.spring.is_some_and(|version| version >= SpringVersion(3, 0, 0)) {
            BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_secs(35), call_rate: None }
        } else {
            BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) }
        }
    }
}

impl fmt::Display for EurekaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl fmt::Display for SpringVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spring(name: &str) -> Release {
        Release::parse(name, Flavour::Spring).expect(name)
    }

    #[test]
    fn greenwich_is_old_and_hoxton_is_both() {
        for old in ["Greenwich", "Greenwich.SR6", "2.1.5", "Hoxton.SR1", "Hoxton.RELEASE", "2.2.1.RELEASE"] {
            assert!(!spring(old).server_rules().decrement_expected_on_eviction, "{old}");
        }
        for new in ["Hoxton", "Hoxton.SR3", "Hoxton.SR12", "2.2.2", "2.2.10.RELEASE", "2020.0", "4.3.0"] {
            assert!(spring(new).server_rules().decrement_expected_on_eviction, "{new}");
        }
        assert!(spring("Finchley").server_rules().legacy_threshold);
        assert!(!spring("Greenwich").server_rules().legacy_threshold);
    }

    #[test]
    fn the_eureka_inside() {
        let inside = [
            ("2.1.5", "1.9.13"),
            ("2.2.2", "1.9.17"),
            ("2.2.10", "1.10.14"),
            ("3.0.6", "1.10.17"),
            ("4.1.2", "2.0.2"),
            ("4.3.0", "2.0.4"),
            ("2025.0.0", "2.0.4"),
            ("5.0.2", "2.0.6"),
        ];
        for (name, eureka) in inside {
            assert_eq!(spring(name).eureka().to_string(), eureka, "{name}");
        }
    }

    #[test]
    fn the_flavour_tells_which_2_0_4_is_meant() {
        assert_eq!(spring("2.0.4").eureka(), EurekaVersion(1, 9, 3));
        assert_eq!(
            Release::parse("2.0.4", Flavour::Netflix).map(|it| it.eureka()),
            Ok(EurekaVersion(2, 0, 4))
        );
    }

    #[test]
    fn netflix_breaks_at_1_9_17() {
        let rules = |name| Release::parse(name, Flavour::Netflix).expect(name).server_rules();
        assert!(!rules("1.9.16").decrement_expected_on_eviction);
        assert!(rules("1.9.17").decrement_expected_on_eviction);
        assert!(rules("1.9.3").legacy_threshold && !rules("1.9.4").legacy_threshold);
    }

    #[test]
    fn transports_and_balancers_by_line() {
        let kind = |name| spring(name).transport().kind;
        assert_eq!(kind("2.2.10"), TransportKind::Jersey);
        assert_eq!(kind("3.1.8"), TransportKind::RestTemplate);
        assert_eq!(spring("3.1.8").transport().read_timeout, None);
        assert_eq!(spring("4.3.0").transport().read_timeout, Some(SimDuration::from_secs(180)));
        assert_eq!(kind("2025.1"), TransportKind::RestClient);
        assert!(!spring("4.0.0").transport().understands_not_found);
        assert!(spring("4.0.1").transport().understands_not_found);
        assert!(!spring("4.3.0").server_client_transport().understands_not_found);
        assert!(matches!(spring("2.2").balancer(), BalancerConfig::Ribbon { .. }));
        assert!(matches!(spring("3.0").balancer(), BalancerConfig::SpringCloudLoadBalancer { .. }));
    }

    #[test]
    fn servers_are_shuffled_from_1_10_14_on() {
        let order = |release: Release| release.server_order();
        let netflix = |name| order(Release::parse(name, Flavour::Netflix).expect(name));
        assert_eq!([netflix("1.10.13"), netflix("1.10.14")], [ServerOrder::ByHost, ServerOrder::Shuffled]);
        // Spring Cloud Netflix up to 2.2.8 and 3.0.2 (`eureka-client.md` 0.2).
        for (name, expected) in [("2.2.8", ServerOrder::ByHost), ("2.2.9", ServerOrder::Shuffled)] {
            assert_eq!(order(spring(name)), expected, "{name}");
        }
        for (name, expected) in [("3.0.2", ServerOrder::ByHost), ("3.0.3", ServerOrder::Shuffled)] {
            assert_eq!(order(spring(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_newest_are_the_defaults() {
        let newest = Release::newest(Flavour::Spring);
        assert_eq!(newest.label(), "Spring Cloud 2025.1 (Netflix 5.0.2, Eureka 2.0.6)");
        assert_eq!(Release::newest(Flavour::Netflix).label(), "Eureka 2.0.6");
        let defaults = crate::model::eureka::client::ClientConfig::defaults(Flavour::Spring);
        assert_eq!((newest.transport(), newest.balancer()), (defaults.transport, defaults.balancer));
    }

    #[test]
    fn unknown_names_bring_suggestions() {
        let unknown = Release::parse("Hoxten", Flavour::Spring).unwrap_err();
        assert_eq!(unknown.suggestions[0], "Hoxton");
        let unchecked = Release::parse("Hoxton.SR2", Flavour::Spring).unwrap_err();
        assert!(unchecked.suggestions[0].starts_with("Hoxton"), "{unchecked:?}");
        for nonsense in ["", ".", "2", "2.2.99", "4.3.0.1", "9.9.9", "Hoxton.", "Hoxton.SRx", "1.9.13"] {
            assert!(Release::parse(nonsense, Flavour::Spring).is_err(), "{nonsense}");
        }
        assert!(Release::parse("1.8.9", Flavour::Netflix).is_err());
    }
}
