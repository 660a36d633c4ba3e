//! The forms: numbers, words and texts, lengths of time, and who is who. See [`super::form`].

pub(crate) mod lengths;
pub(crate) mod links;
pub(crate) mod numbers;
pub(crate) mod or;
pub(crate) mod tables;
pub(crate) mod texts;

pub(crate) use lengths::{DELAY, Drawn, Length, Lengths, Shift, TIME, length, positive_length};
pub(crate) use links::{Peer, PeersByServer, Servers};
pub(crate) use numbers::{
    Count, CountOrDefault, Flag, MS, MS_OR_NONE, Rate, SHARE, Share, ShareOfReplicates, count,
};
pub(crate) use or::{Maybe, Or};
pub(crate) use tables::{Table, Tables};
pub(crate) use texts::{Address, Applications, Choice, Lines, Listed, OneOf, TEXTS, Text, words};
