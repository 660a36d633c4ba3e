//! The format as data: the two-stage registry and its clients. Its parameters are in [`super::parameters`]. See
//! [`super::format`].

use super::format::{Key, Section, section};
use super::parameters;

/// The words of `registry`: Eureka, and the presets of the two-stage registry.
pub(super) const REGISTRIES: &[&str] = &["eureka", "two-stage", "nacos-1"];

/// The keys of the registry itself, then those of its clients.
fn all_keys() -> Vec<&'static Key> {
    parameters::SERVER.iter().map(|parameter| &parameter.key).chain(client_keys()).collect()
}

fn client_keys() -> Vec<&'static Key> {
    parameters::CLIENT.iter().map(|parameter| &parameter.key).collect()
}

section!(
    /// `[two-stage]`
    TWO_STAGE,
    "two-stage",
    all_keys()
);
section!(
    /// `[application.two-stage]`
    OWN_TWO_STAGE,
    "two-stage",
    client_keys()
);
