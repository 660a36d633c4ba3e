//! Where a death, a departure or an arrival has become visible. One name for each, everywhere: in code, CSV
//! columns, chart legends and the glossary.

/// A stage on the way from the registry to the caller. A stage *shows* an instance while a caller that asked
/// it would be given that instance: present and UP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Stage {
    /// The lease in the server's registry; of a two-stage registry, the flag that says healthy.
    Registry = 0,
    /// The answer that clients get.
    Served = 1,
    /// An observer's local registry.
    Client = 2,
    /// The list that an observer's load balancer picks from.
    Balancer = 3,
    /// What a two-stage registry stores, shown or not: until it is forgotten. No caller sees it.
    Entry = 4,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 5] = [Self::Registry, Self::Served, Self::Client, Self::Balancer, Self::Entry];

    /// Those on the way from the registry to the caller, in order.
    pub const WAY: [Self; 4] = [Self::Registry, Self::Served, Self::Client, Self::Balancer];

    /// Those that an observer has, in order: what its callers see is the last of them.
    pub const OBSERVED: [Self; 2] = [Self::Client, Self::Balancer];

    /// The stage's one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registry => "registry",
            Self::Served => "served",
            Self::Client => "client",
            Self::Balancer => "balancer",
            Self::Entry => "entry",
        }
    }
}

/// What is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum EventKind {
    /// An instance died without a word: until the stage never shows it again.
    Crash = 0,
    /// An instance stopped in order: until the stage never shows it again.
    Stop = 1,
    /// An instance registered: until the stage shows it.
    Registration = 2,
    /// An instance's health went DOWN: until the stage never shows it again.
    Unhealthy = 3,
    /// An operator took an instance out of service: until the stage never shows it again.
    Override = 4,
    /// An instance that was unhealthy or overridden is well again: until the stage shows it.
    Recovery = 5,
}

impl EventKind {
    /// All events, in order.
    pub const ALL: [Self; 6] =
        [Self::Crash, Self::Stop, Self::Registration, Self::Unhealthy, Self::Override, Self::Recovery];

    /// The event's one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Stop => "stop",
            Self::Registration => "registration",
            Self::Unhealthy => "unhealthy",
            Self::Override => "override",
            Self::Recovery => "recovery",
        }
    }

    /// Whether it is about ceasing to be shown; otherwise about being shown.
    pub const fn is_end(self) -> bool {
        !matches!(self, Self::Registration | Self::Recovery)
    }
}
