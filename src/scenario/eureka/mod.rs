//! What only Eureka has in a scenario: its properties, balancers and transports, what a release decides, its warnings.

pub(crate) mod format;
pub(crate) mod lint;
pub(crate) mod print;
pub(crate) mod properties;
pub(crate) mod release;
pub(crate) mod settings;
pub(crate) mod unmodelled;
