//! Names of things as small numbers. Strings live at the edges only (scenario and report).

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a table of these.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// An application (a service name): the order in which the scenario names it.
    AppId
}
id! {
    /// A registered identity: one (application, instance id) pair. A process that comes back under a new
    /// instance id gets a new one of these.
    InstanceId
}
id! {
    /// A process that runs a registry client; it may register, look others up, or both.
    ClientId
}
id! {
    /// A registry server.
    ServerId
}
