//! What the two-stage registry needs of the world: answers that come later, datagrams, disks, and the order of things
//! after a pause. All processes start at once, at time zero; messages take 1 ms, so heartbeats arrive at 5.001 s,
//! 10.001 s and so on, and sweeps come at 3 s, 6 s and so on.

use super::*;
use crate::model::view::View;

/// Three instances with these settings; faults are timed from 60 s.
fn three(settings: &str, faults: &str) -> Scenario {
    let text = format!(
        "{settings}\n[start]\nwindow = \"0s\"\nwarm-up = \"1m\"\n[[application]]\nname = \"orders\"\ninstances = 3\n{faults}"
    );
    let loaded =
        crate::scenario::parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    Scenario { replicates: 1, duration: s(600), stop_when_settled: false, ..loaded.scenario }
}

const TWO_STAGE: &str = "registry = \"two-stage\"";
const LONG_POLL: &str = "registry = \"two-stage\"\ntwo-stage = { discovery = \"long-poll\" }";

fn held(world: &World<'_>) -> usize {
    world.servers[0].server.as_ref().map_or(0, |server| server.held().len())
}

fn shown(world: &World<'_>, view: View) -> usize {
    world.views.counts(view).of(crate::model::message::Status::Up) as usize
}

/// Each consumer always has one long poll open. A registry that is killed resets them all at once.
#[test]
fn long_polls_are_held_until_their_registry_dies() {
    let killed =
        "[[fault]]\nat = \"0s\"\nwithin = \"0s\"\nrestart = { servers = \"all\", down-for = \"10s\" }\n";
    let scenario = three(LONG_POLL, killed);
    assert_eq!(look(&scenario, 59, held), 3);
    assert_eq!(look(&scenario, 65, held), 0);
    // Back at 70 s; whoever waits longest after failures at 60 s waits 2, 4 and 8 s, so until 74 s.
    assert_eq!(look(&scenario, 100, held), 3);
    let reset = moments(&scenario, |event| matches!(event, Event::AnswerArrives { .. }));
    assert_eq!(reset.iter().filter(|&&at| at == 60_001).count(), 3, "one for each");
}

/// An idle long poll lasts for 30 s, ten times as long as other calls may take, and nobody gives it up.
#[test]
fn a_long_poll_may_take_its_time() {
    let data = run(&three(LONG_POLL, ""), 0);
    assert_eq!((data.consumers.refresh_warnings, data.consumers.refused_answers), (0, 0));
    let watches = |minute: usize| data.load[minute].requests[RequestKind::Watch as usize];
    assert_eq!((watches(3), watches(7)), (6, 6));
}

/// After 20 s everybody has been silent for more than 15 s. Nobody has if the heartbeats that wait come first.
#[test]
fn overdue_sweeps_come_before_what_waits_or_after() {
    let paused = "[[fault]]\nat = \"0s\"\nwithin = \"0s\"\npause = { servers = \"all\", for = \"20s\" }\n";
    let first = run(&three(TWO_STAGE, paused), 0);
    assert_eq!((first.leases.soft_evicted, first.leases.evicted), (3, 0));
    assert_eq!(first.agreement.missing_in_registries, 0, "the heartbeats that waited heal all of them");
    let settings = format!("{TWO_STAGE}\ntwo-stage = {{ resume-order = \"requests-first\" }}");
    assert_eq!(run(&three(&settings, paused), 0).leases.soft_evicted, 0);
}

/// The snapshot outlives the process, so one that starts while the registry is down knows what it knew; without one it
/// knows nothing.
#[test]
fn a_snapshot_outlives_its_process() {
    let down = "[[fault]]\nat = \"0s\"\nwithin = \"0s\"\nrestart = { servers = \"all\", down-for = \"2m\" }\n\
                [[fault]]\nat = \"10s\"\nwithin = \"0s\"\nrestart = { count = 1, down-for = \"1s\" }\n";
    let known = |settings: &str| {
        look(&three(settings, down), 72, |world| {
            let known: Vec<usize> =
                world.clients.iter().map(|node| shown(world, node.client.view())).collect();
            let [least, .., most] = known[..] else { unreachable!() };
            (least.min(most), known.iter().sum::<usize>())
        })
    };
    assert_eq!(known(TWO_STAGE), (3, 9));
    let (_, without) = known(&format!("{TWO_STAGE}\ntwo-stage = {{ disk-mode = \"none\" }}"));
    assert_eq!(without, 6, "the two that went on still know all three");
}

/// A process that dies 10 ms after its poll tears the file that it writes for 20 ms, and can never start again.
#[test]
fn a_process_that_dies_while_it_writes_leaves_a_torn_file() {
    // The loop's fetch at the start is answered at 4 ms, so those after it at 5.006, 10.008 and so on: at 60.028 s.
    let crash = "[[fault]]\nat = \"38ms\"\nwithin = \"0s\"\nrestart = { count = 1, down-for = \"5s\" }\n\
                 [[fault]]\nat = \"20s\"\nwithin = \"0s\"\nrestart = { count = 3, down-for = \"5s\" }\n";
    let settings = |mode: &str| format!("{TWO_STAGE}\ntwo-stage = {{ disk-mode = \"{mode}\" }}");
    let torn = run(&three(&settings("in-place"), crash), 0);
    assert_eq!(torn.consumers.failed_starts, 1);
    assert_eq!(run(&three(&settings("atomic"), crash), 0).consumers.failed_starts, 0);
}

/// Nobody misses a push that is lost; the next poll, at most 10 s later, brings the same.
#[test]
fn a_lost_push_is_made_up_for_by_the_next_poll() {
    let crash = "[[fault]]\nat = \"0s\"\nwithin = \"0s\"\ncrash = { count = 1 }\n";
    let latest = |loss: &str| {
        let settings = format!("registry = \"nacos-1\"\ntwo-stage = {{ push-loss = {loss} }}");
        let data = run(&three(&settings, crash), 0);
        let seen = outcomes(&data, EventKind::Crash, Stage::Client);
        let detected = |&(outcome, _): &(Outcome, u64)| match outcome {
            Outcome::Detected(after) => after,
            outcome => panic!("{outcome:?}"),
        };
        seen.iter().map(detected).max().expect("two observers")
    };
    let registry = {
        let data = run(&three("registry = \"nacos-1\"", crash), 0);
        match outcomes(&data, EventKind::Crash, Stage::Registry)[..] {
            [(Outcome::Detected(after), 1)] => after,
            ref outcomes => panic!("{outcomes:?}"),
        }
    };
    // The push leaves a second after the check, and takes 1 ms.
    assert_eq!(latest("0.0"), registry + ms(1_001));
    assert!(latest("1.0") > registry + ms(1_001) && latest("1.0") <= registry + ms(10_010));
}

/// Everybody has seen it leave long before its forgotten heartbeat registers it again: at 63 s it deregisters, the
/// heartbeat of 65 s registers it at 65.003, at 66 it is gone, and the sweep of 81 s finds it silent for more than 15 s.
#[test]
fn a_run_goes_on_while_who_has_left_may_register_again() {
    let stop = "[[fault]]\nat = \"3s\"\nwithin = \"0s\"\nstop = { count = 1 }\n";
    let settling = |settings: &str| {
        let knobs = format!("discovery = \"long-poll\", {settings}");
        let scenario = three(&format!("{TWO_STAGE}\ntwo-stage = {{ {knobs} }}"), stop);
        run(&Scenario { stop_when_settled: true, ..scenario }, 0)
    };
    let forgets = settling("stop-heartbeat-before-deregister = false");
    assert_eq!(forgets.ending, Ending::Duration);
    assert_eq!(outcomes(&forgets, EventKind::Stop, Stage::Registry), [(Outcome::Detected(s(18)), 1)]);
    let ends = settling("stop-heartbeat-before-deregister = true");
    assert_eq!(ends.ending, Ending::Settled);
    assert_eq!(outcomes(&ends, EventKind::Stop, Stage::Registry), [(Outcome::Detected(ms(1)), 1)]);
}

/// A push whose acknowledgement was lost is sent again 10 s later as it was, and may bring back who has left meanwhile.
#[test]
fn a_run_goes_on_while_an_older_list_may_be_pushed_again() {
    let stop = "[[fault]]\nat = \"0s\"\nwithin = \"0s\"\nstop = { count = 1 }\n";
    let ending = |loss: &str| {
        let scenario = three(&format!("registry = \"nacos-1\"\ntwo-stage = {{ push-loss = {loss} }}"), stop);
        run(&Scenario { stop_when_settled: true, ..scenario }, 0).ending
    };
    assert_eq!((ending("0.0"), ending("0.3")), (Ending::Settled, Ending::Duration));
}
