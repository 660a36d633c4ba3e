//! What may happen in a random history.

use proptest::prelude::*;

/// One thing that happens. Numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// So many times 400 ms.
    Pass(u8),
    /// A process starts, under a new identity or its old one, or ends.
    Toggle {
        process: u8,
        new_id: bool,
        crash: bool,
    },
    Stop(u8),
    /// A server registers it with one of three statuses.
    Register {
        server: u8,
        process: u8,
        status: u8,
        announced: bool,
    },
    Cancel {
        server: u8,
        process: u8,
    },
    Status {
        server: u8,
        process: u8,
        up: bool,
    },
    /// A server evicts every instance whose bit is set, as far as it has it and, of a two-stage registry, shows it.
    Evict {
        server: u8,
        bits: u16,
    },
    /// A two-stage registry forgets every instance whose bit is set.
    Forget {
        server: u8,
        bits: u16,
    },
    /// A lone server restarts; one of several starts, or ends.
    ToggleServer(u8),
    Serve {
        server: u8,
        back: u8,
    },
    /// An observer stores a version of a server's registry, or applies a delta made of any part of its queue.
    Fetch {
        place: u8,
        server: u8,
        version: u8,
        delta: Option<(u8, u8)>,
    },
    Refresh(u8),
    Watch {
        process: u8,
        event: u8,
    },
    SetUnwell {
        process: u8,
        unwell: bool,
    },
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let delta = prop::option::of((any::<u8>(), any::<u8>()));
    let step = prop_oneof![
        3 => (1u8..8).prop_map(Step::Pass),
        3 => (any::<u8>(), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(process, new_id, crash)| Step::Toggle { process, new_id, crash }),
        1 => any::<u8>().prop_map(Step::Stop),
        8 => (any::<u8>(), any::<u8>(), 0u8..5, prop::bool::weighted(0.8))
            .prop_map(|(server, process, status, announced)| Step::Register { server, process, status, announced }),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(server, process)| Step::Cancel { server, process }),
        1 => (any::<u8>(), any::<u8>(), any::<bool>())
            .prop_map(|(server, process, up)| Step::Status { server, process, up }),
        3 => (any::<u8>(), any::<u16>()).prop_map(|(server, bits)| Step::Evict { server, bits }),
        1 => (any::<u8>(), any::<u16>()).prop_map(|(server, bits)| Step::Forget { server, bits }),
        1 => any::<u8>().prop_map(Step::ToggleServer),
        4 => (any::<u8>(), 0u8..3).prop_map(|(server, back)| Step::Serve { server, back }),
        14 => (any::<u8>(), any::<u8>(), 0u8..4, delta)
            .prop_map(|(place, server, version, delta)| Step::Fetch { place, server, version, delta }),
        10 => any::<u8>().prop_map(Step::Refresh),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(process, event)| Step::Watch { process, event }),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(process, unwell)| Step::SetUnwell { process, unwell }),
    ];
    prop::collection::vec(step, 1..220)
}
