//! The format as data: the two-stage registry and its clients. Its parameters are in [`crate::scenario::two_stage::parameters`].

use crate::model::two_stage::Preset;
use crate::scenario::format::forms::Choice;
use crate::scenario::format::{self, Key, section};
use crate::scenario::two_stage::parameters;

/// The keys of the registry itself, then those of its clients.
fn all_keys() -> Vec<&'static Key> {
    format::keys(parameters::server::ALL).chain(client_keys()).collect()
}

fn client_keys() -> Vec<&'static Key> {
    format::keys(parameters::client::ALL).collect()
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

/// The words of `registry`: Eureka, and the presets of the two-stage registry.
pub(crate) const REGISTRY: Choice<Option<Preset>> = Choice {
    words: &[("eureka", None), ("two-stage", Some(Preset::TwoStage)), ("nacos-1", Some(Preset::Nacos1))],
    word: |preset| match preset {
        None => "eureka",
        Some(Preset::TwoStage) => "two-stage",
        Some(Preset::Nacos1) => "nacos-1",
    },
    hint: |word| {
        let why = "Nacos 2 is another registry, in which a connection is the lease; `nacos-1` is 1.4";
        word.starts_with("nacos-2").then(|| why.to_owned())
    },
};
