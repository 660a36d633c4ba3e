//! What each server shows, and which servers can be asked what they make of an event.
//!
//! Where there are several, a server that is down looks at nothing, like an observer that is down. A lone server is
//! looked at all the time: while it is down it shows nobody, which is what its clients make of it.

use super::layout::Layout;
use crate::model::id::ServerId;
use crate::model::stage::Stage;
use crate::model::view::View;

/// The stages of a server, as they are numbered here. A registry may lack the last.
pub(super) const STAGES: [Stage; 3] = [Stage::Registry, Stage::Served, Stage::Entry];

/// What each stage of a server shows.
pub(super) type Shown = [View; STAGES.len()];

/// The number of a server's stage among its own.
pub(super) fn number_of(stage: Stage) -> usize {
    STAGES.iter().position(|&own| own == stage).expect("a stage of servers")
}

/// All servers of a replicate.
#[derive(Clone)]
pub(super) struct Servers {
    layout: Layout,
    /// By server.
    shown: Vec<Shown>,
    /// Whether its process is there; always, of a lone server.
    up: Vec<bool>,
}

impl Servers {
    /// Servers that show nobody. Several are down at first.
    pub(super) fn new(layout: Layout) -> Self {
        let count = layout.servers;
        Self { layout, shown: vec![[View::EMPTY; STAGES.len()]; count], up: vec![count == 1; count] }
    }

    /// The stages of each.
    pub(super) fn stages(&self) -> &'static [Stage] {
        self.layout.of_server
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// The lone server, which whoever asks at all must be asking.
    pub(super) fn lone(&self) -> Option<ServerId> {
        (self.len() == 1).then_some(ServerId(0))
    }

    /// Its process starts or ends. Nothing of that is kept of a lone server.
    pub(super) fn set_up(&mut self, server: ServerId, up: bool) {
        self.up[server.index()] = up || self.len() == 1;
    }

    /// The servers that can be asked.
    pub(super) fn up(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&server| self.up[server])
    }

    /// How many can be asked.
    pub(super) fn up_count(&self) -> u32 {
        self.up().count() as u32
    }

    /// What a server's registry and its answers show.
    pub(super) fn shown(&self, server: ServerId) -> [View; 2] {
        let [registry, served, _] = self.shown[server.index()];
        [registry, served]
    }

    /// What each shows, by number; `None` of one that cannot be asked.
    pub(super) fn asked(&self) -> impl Iterator<Item = Option<Shown>> + '_ {
        self.shown.iter().zip(&self.up).map(|(&shown, &up)| up.then_some(shown))
    }

    /// A server's stage shows something else; returns what it showed.
    pub(super) fn change(&mut self, server: ServerId, stage: Stage, to: View) -> View {
        std::mem::replace(&mut self.shown[server.index()][number_of(stage)], to)
    }

    /// All views that servers show.
    pub(super) fn views(&self) -> impl Iterator<Item = View> + '_ {
        self.shown.iter().flatten().copied()
    }
}
