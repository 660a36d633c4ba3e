//! `[[fault]]`: the verbs, whom they hit, and what they say.

pub(crate) mod format;
pub(crate) mod keys;
pub(crate) mod print;
pub(crate) mod read;
pub(crate) mod read_targets;
pub(crate) mod read_verb;
pub(crate) mod verbs;
