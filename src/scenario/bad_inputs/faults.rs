//! Faults and expectations that mean nothing.

use super::expect;

#[test]
fn a_target_that_does_not_exist() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
crash = { count = 1, application = "order" }
[[fault]]
stop = { instances = ["orders-4", "orders"] }
"#,
        &[],
        r#"error: no application is called `order`
 --> my.toml:5:36
  |
5 | crash = { count = 1, application = "order" }
  |                                    ^^^^^^^ not in the fleet
  |
  = help: did you mean `orders`?

error: there is no instance `orders-4`
 --> my.toml:7:23
  |
7 | stop = { instances = ["orders-4", "orders"] }
  |                       ^^^^^^^^^^ `orders-1` to `orders-3`
  |
  = help: instance `n` of `orders` is called `orders-n`, from 1

error: `orders` is not the name of an instance
 --> my.toml:7:35
  |
7 | stop = { instances = ["orders-4", "orders"] }
  |                                   ^^^^^^^^
  |
  = help: instance `n` of `orders` is called `orders-n`, from 1
"#,
    );
}

#[test]
fn too_many_targets() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
crash = { count = 4 }
"#,
        &[],
        r#"error: the fleet has only 3 instances
 --> my.toml:5:19
  |
5 | crash = { count = 4 }
  |                   ^ at most 3
  |
  = help: to hit every one, write `all = true`
"#,
    );
}

#[test]
fn two_verbs_and_none() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
crash = { count = 1 }
stop = { count = 1 }

[[fault]]
at = "5s"
"#,
        &[],
        r#"error: a fault takes only one verb
 --> my.toml:6:1
  |
5 | crash = { count = 1 }
  | ----- the other one
6 | stop = { count = 1 }
  | ^^^^ one too many

error: a fault needs one verb
 --> my.toml:8:1
  |
8 | [[fault]]
  | ^^^^^^^^^ has none
  |
  = help: as in `crash = { count = 1 }`; a verb is one of `crash`, `stop`, `restart`, `crash-loop`, `pause`, `pauses`, `partition`, `flap`, `degrade`, `slow-heartbeats`, `clock`, `unhealthy`, `grey`, `full-disk`, `change`, `override`, `delete`, `start`, `roll-out`, `blue-green` or `reclaim`
"#,
    );
}

#[test]
fn a_pause_without_a_length() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
pause = { server = true }
"#,
        &[],
        r#"error: `pause` needs `for`
 --> my.toml:5:9
  |
5 | pause = { server = true }
  |         ^^^^^^^^^^^^^^^^^ has no `for`
  |
  = help: as in `pause = { count = 1, for = "40s" }`
"#,
    );
}

#[test]
fn an_expectation_that_makes_no_sense() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[expect]]
that = "balanser p99 below 5m"
[[expect]]
that = "at least 2 of 4 left at the end"
"#,
        &[],
        r#"error: this expectation is not understood: balanser p99 below 5m
 --> my.toml:5:9
  |
5 | that = "balanser p99 below 5m"
  |         ^^^^^^^^ no expectation begins so
  |
  = help: did you mean `balancer`? an expectation is one of
            balancer p99 below 5m30s
            no false removal
            no eviction
            no mistake at client
            query accuracy at client above 99.5 %
            failed calls below 1.5 %
            most fetches a minute above 400
            at least 57 of 100 left at the end
            rounds evict 15, 13, 11
            no self-preservation at the end
            servers agree 5s after the last fault
            at most 10 instances differ
            utilisation below 90 %

error: the fleet has 3 instances, not 4
 --> my.toml:7:23
  |
7 | that = "at least 2 of 4 left at the end"
  |                       ^ must be 3
  |
  = help: write the fleet's size at the start, or leave it out: `at least 57 left at the end`
"#,
    );
}
