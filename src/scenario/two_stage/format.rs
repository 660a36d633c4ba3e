//! The format as data: the two-stage registry and its clients. Its parameters are in [`crate::scenario::two_stage::parameters`]. See
//! [`crate::scenario::file::format`].

use crate::model::two_stage::Preset;
use crate::scenario::format::{Key, Section, section};
use crate::scenario::two_stage::parameters;

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

/// The preset of a name of `registry`; Eureka is none.
pub(crate) fn preset(word: &str) -> Option<Preset> {
    match word {
        "two-stage" => Some(Preset::TwoStage),
        "nacos-1" => Some(Preset::Nacos1),
        _ => None,
    }
}
