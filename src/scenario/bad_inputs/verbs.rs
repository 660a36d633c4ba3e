//! Verbs that lack something, and targets, peers and lengths that mean nothing.

use super::expect;

#[test]
fn a_zone_that_does_not_exist_or_holds_somebody_else() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
zones = ["east", "west"]
[[application]]
name = "stock"
zones = ["west"]
[[fault]]
crash = { all = true, zone = "esat" }
[[fault]]
crash = { count = 3, zone = "east" }
[[fault]]
crash = { instances = ["orders-2"], zone = "east" }
[[fault]]
crash = { all = true, application = "stock", zone = "east" }
[[fault]]
crash = { server = true, zone = "east" }
"#,
        &[],
        r#"error: no zone is called `esat`
 --> my.toml:9:30
  |
9 | crash = { all = true, zone = "esat" }
  |                              ^^^^^^ nobody is in it
  |
  = help: did you mean `east`?

error: the fleet has only 2 instances in zone `east`
  --> my.toml:11:19
   |
11 | crash = { count = 3, zone = "east" }
   |                   ^ at most 2
   |
   = help: to hit every one, write `all = true`

error: `orders-2` is not in zone `east`
  --> my.toml:13:24
   |
13 | crash = { instances = ["orders-2"], zone = "east" }
   |                        ^^^^^^^^^^
   |
   = help: an application's zones are taken in turn

error: no instance of `stock` is in this zone
  --> my.toml:15:53
   |
15 | crash = { all = true, application = "stock", zone = "east" }
   |                                                     ^^^^^^ not among its `zones`

error: `zone` chooses among instances, not among servers
  --> my.toml:17:33
   |
17 | crash = { server = true, zone = "east" }
   |                                 ^^^^^^ without effect
   |
   = help: leave it out; to hit those of one zone name them, as in `servers = ["server-1"]`
"#,
    );
}

#[test]
fn what_a_verb_cannot_do_without() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
pauses = { count = 1, lasting = "2s" }
[[fault]]
degrade = { count = 1 }
[[fault]]
clock = { server = true }
[[fault]]
roll-out = { batch = 1 }
[[fault]]
flap = { count = 1, upfor = "5s", down-for = "5s" }
"#,
        &[],
        r#"error: `pauses` needs `every`
 --> my.toml:5:10
  |
5 | pauses = { count = 1, lasting = "2s" }
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ has no `every`
  |
  = help: as in `pauses = { all = true, every = { exponential = "5m" }, lasting = "2s" }`

error: `degrade` needs `loss` or `latency`
 --> my.toml:7:11
  |
7 | degrade = { count = 1 }
  |           ^^^^^^^^^^^^^ has none
  |
  = help: as in `degrade = { all = true, loss = 0.05 }`

error: `clock` needs `step` or `drift-ppm`
 --> my.toml:9:9
  |
9 | clock = { server = true }
  |         ^^^^^^^^^^^^^^^^^ has none
  |
  = help: as in `clock = { server = true, step = "60s" }`

error: `roll-out` needs `application`
  --> my.toml:11:12
   |
11 | roll-out = { batch = 1 }
   |            ^^^^^^^^^^^^^ has no `application`
   |
   = help: as in `roll-out = { application = "orders", batch = 5 }`

error: unknown key `upfor` in `flap`
  --> my.toml:13:21
   |
13 | flap = { count = 1, upfor = "5s", down-for = "5s" }
   |                     ^^^^^ not known
   |
   = help: did you mean `up-for`?
"#,
    );
}

#[test]
fn lengths_that_are_no_distribution() {
    expect(
        r#"network.latency = { expontial = "1ms" }
[[application]]
name = "orders"
instances = 3
[[fault]]
pauses = { all = true, every = 5, lasting = { log-normal = { median = "2s", p99 = "1s" } } }
[[fault]]
flap = { all = true, up-for = "0s", down-for = { uniform = ["0s", "0s"] } }
[[fault]]
pause = { all = true, for = { pareto = { scale = "1s", shape = 2 } } }
"#,
        &[],
        r#"error: `latency` must be a duration or a distribution
 --> my.toml:1:19
  |
1 | network.latency = { expontial = "1ms" }
  |                   ^^^^^^^^^^^^^^^^^^^^^ no distribution is called `expontial`: did you mean `exponential`?

error: `every` must be a duration or a distribution
 --> my.toml:6:32
  |
6 | pauses = { all = true, every = 5, lasting = { log-normal = { median = "2s", p99 = "1s" } } }
  |                                ^ write `"2s"`, or a distribution such as `{ uniform = ["1s", "5s"] }`
  |
  = help: write the unit: `"5s"` for seconds, `"5ms"` for milliseconds

error: `lasting` must be a duration or a distribution
 --> my.toml:6:45
  |
6 | pauses = { all = true, every = 5, lasting = { log-normal = { median = "2s", p99 = "1s" } } }
  |                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `p99` must be longer than `median`, which is 2s

error: `up-for` is out of range
 --> my.toml:8:31
  |
8 | flap = { all = true, up-for = "0s", down-for = { uniform = ["0s", "0s"] } }
  |                               ^^^^ must be longer than 0s

error: `down-for` is out of range
 --> my.toml:8:48
  |
8 | flap = { all = true, up-for = "0s", down-for = { uniform = ["0s", "0s"] } }
  |                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^ must be longer than 0s

error: `for` must be a duration or a distribution
  --> my.toml:10:29
   |
10 | pause = { all = true, for = { pareto = { scale = "1s", shape = 2 } } }
   |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `pareto` has no `scale`: `pareto` takes `least` and `shape`
"#,
    );
}

#[test]
fn a_peer_that_is_none() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
partition = { count = 1, peer = "orders" }
[[fault]]
partition = { count = 1, peer = { aplication = "orders" } }
[[fault]]
partition = { count = 1, peer = { application = "order" } }
[[fault]]
partition = { count = 1, peer = {} }
[[fault]]
partition = { count = 1, lost = "to-sever" }
"#,
        &[],
        r#"error: unknown `peer`: `orders`
 --> my.toml:5:33
  |
5 | partition = { count = 1, peer = "orders" }
  |                                 ^^^^^^^^ must be `servers`, `all`, `instances` or a table
  |
  = help: for the instances of an application write `{ application = "orders" }`

error: unknown key `aplication` in `peer`
 --> my.toml:7:35
  |
7 | partition = { count = 1, peer = { aplication = "orders" } }
  |                                   ^^^^^^^^^^ not known
  |
  = help: did you mean `application`?

error: no application is called `order`
 --> my.toml:9:49
  |
9 | partition = { count = 1, peer = { application = "order" } }
  |                                                 ^^^^^^^ not in the fleet
  |
  = help: did you mean `orders`?

error: `peer` names nobody
  --> my.toml:11:33
   |
11 | partition = { count = 1, peer = {} }
   |                                 ^^
   |
   = help: write `"servers"`, `"all"`, `"instances"`, `{ application = "orders", zone = "a" }` or `{ servers = ["server-1"] }`

error: unknown `lost`: `to-sever`
  --> my.toml:13:33
   |
13 | partition = { count = 1, lost = "to-sever" }
   |                                 ^^^^^^^^^^ must be `both`, `to-server`, `from-server`, `to-peer` or `from-peer`
   |
   = help: did you mean `to-server`?
"#,
    );
}

#[test]
fn a_verb_that_is_not_for_the_server() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
stop = { server = true }
[[fault]]
crash-loop = { server = true, up-for = "5s" }
"#,
        &[],
        r#"error: `stop` is for instances, not for servers
 --> my.toml:5:10
  |
5 | stop = { server = true }
  |          ^^^^^^ not here
  |
  = help: what can be done to servers: `crash`, `restart`, `pause`, `pauses`, `partition`, `flap`, `degrade` and `clock`

error: `crash-loop` is for instances, not for servers
 --> my.toml:7:16
  |
7 | crash-loop = { server = true, up-for = "5s" }
  |                ^^^^^^ not here
  |
  = help: what can be done to servers: `crash`, `restart`, `pause`, `pauses`, `partition`, `flap`, `degrade` and `clock`
"#,
    );
}
