//! The file as a whole: its sections ([`format`]), reading ([`read`]), printing ([`print`]) and warning ([`lint`]) in
//! order, and what only the whole can say: unknown keys, what belongs to another registry, the schema, the guide.

pub(crate) mod applicability;
pub(crate) mod counterparts;
pub(crate) mod format;
#[cfg(test)]
mod guide;
pub(crate) mod lint;
pub(crate) mod print;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod unknown_keys;
