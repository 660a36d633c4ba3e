//! Who can be asked where: how many servers there are, and which stages of the registry each server and each observer
//! has. A stage that the registry lacks is looked at by nobody: it has no detections, no mistakes and no quality.

use super::{observers, servers};
use crate::model::stage::Stage;

/// The servers and stages of a replicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// How many servers there are. At least 1.
    pub(super) servers: usize,
    /// The stages of each server: the first ones of [`servers::STAGES`].
    pub(super) of_server: &'static [Stage],
    /// The stages of each observer: the first ones of [`observers::STAGES`].
    pub(super) of_observer: &'static [Stage],
}

impl Layout {
    /// So many servers of a registry that has these stages.
    pub(super) fn new(servers: usize, stages: &[Stage]) -> Self {
        assert!(servers > 0, "a registry has a server");
        Self {
            servers,
            of_server: first_of(&servers::STAGES, stages),
            of_observer: first_of(&observers::STAGES, stages),
        }
    }

    /// So many servers of Eureka.
    #[cfg(test)]
    pub(super) fn of_eureka(servers: usize) -> Self {
        Self::new(servers, crate::model::registry::Kind::Eureka.stages())
    }
}

/// Those of `all` that are among `stages`. They are its first ones.
fn first_of(all: &'static [Stage], stages: &[Stage]) -> &'static [Stage] {
    let count = all.iter().take_while(|stage| stages.contains(stage)).count();
    assert!(
        all[count..].iter().all(|stage| !stages.contains(stage)),
        "the stages of a registry come in order"
    );
    &all[..count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::registry::Kind;

    #[test]
    fn a_registry_has_its_own_stages_and_no_others() {
        let eureka = Layout::of_eureka(3);
        assert_eq!(eureka.of_server, [Stage::Registry, Stage::Served]);
        assert_eq!(eureka.of_observer, [Stage::Client, Stage::Balancer]);
        let two_stage = Layout::new(1, Kind::TwoStage.stages());
        assert_eq!(two_stage.of_server, [Stage::Registry, Stage::Served, Stage::Entry]);
        assert_eq!(two_stage.of_observer, [Stage::Client]);
    }
}
