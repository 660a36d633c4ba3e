//! Two servers and one client: what reaches the other, and when (`eureka-server.md` V28, `eureka-peers.md` 4.3).

use stillup::model::stage::EventKind;

use super::cluster::{Cluster, renewals, shown_after};

fn two_servers_one_client() -> Cluster {
    Cluster { starts: vec![0, 0], beats: vec![vec![200], vec![]], interval: 30, more: String::new() }
}

#[test]
fn v28_a_heartbeat_counts_on_both_servers() {
    let data = two_servers_one_client().run(&[], 200);
    // Two beats a minute, at A and half a second later at B.
    assert_eq!(renewals(&data, 0, 14, 194), [2; 4]);
    assert_eq!(renewals(&data, 1, 14, 194), [2; 4]);
}

#[test]
fn v28_what_a_client_says_is_half_a_second_later_at_the_peer() {
    let start = "start = { application = \"z1\", count = 1 }";
    let stop = "stop = { instances = [\"z1-2\"] }";
    let data = two_servers_one_client().run(&[(10, start), (40, stop)], 200);
    assert_eq!(shown_after(&data, 0, EventKind::Registration), [Some(0)]);
    assert_eq!(shown_after(&data, 1, EventKind::Registration), [Some(500)]);
    assert_eq!(shown_after(&data, 0, EventKind::Stop), [Some(0)]);
    assert_eq!(shown_after(&data, 1, EventKind::Stop), [Some(500)]);
}
