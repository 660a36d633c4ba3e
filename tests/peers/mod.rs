//! The worked timelines of `eureka-peers.md` section 11, and V28 of `eureka-server.md` 14.2, as whole runs: several
//! servers, the clients of each, and what a fault makes of every bucket, threshold, round and registry.
//!
//! Messages take no time here, so a client beats exactly every 30 s, and each figure follows from the moments at which
//! clients start. The comments derive it from there. Times `t` are in seconds from the cut, as on that page.

mod cluster;
mod cut_between_servers;
mod cut_from_all;
mod fail_over;
mod lag;
mod many_servers;
mod restart;
