//! Changes, replacements, shares and statuses that mean nothing.

use super::expect;

#[test]
fn a_change_that_takes_a_restart() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
change = { eureka.server.eviction-interval-timer-in-ms = 1000 }
[[fault]]
change = { eureka.server = { renewal-percent-threshold = 85 } }
[[fault]]
change = {}
[[fault]]
change = { eureka.server.enable-self-preservaton = false }
[[fault]]
change = { eureka.server.expected-client-renewal-interval-seconds = 0 }
[[fault]]
change = { eureka.client.disable-delta = true }
"#,
        &[],
        r#"error: `eviction-interval-timer-in-ms` cannot change while the server runs
 --> my.toml:5:26
  |
5 | change = { eureka.server.eviction-interval-timer-in-ms = 1000 }
  |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the server reads it at its start: a change takes a restart
  |
  = help: what it reads anew each time: `enable-self-preservation`, `renewal-percent-threshold`, `expected-client-renewal-interval-seconds`, `disable-delta` and `sync-when-timestamp-differs`

error: `renewal-percent-threshold` is out of range
 --> my.toml:7:58
  |
7 | change = { eureka.server = { renewal-percent-threshold = 85 } }
  |                                                          ^^ must be from 0 to 1
  |
  = help: for 85 percent write 0.85

error: `change` changes nothing
 --> my.toml:9:10
  |
9 | change = {}
  |          ^^ names no setting
  |
  = help: below `eureka.server` it takes `enable-self-preservation`, `renewal-percent-threshold`, `expected-client-renewal-interval-seconds`, `disable-delta` and `sync-when-timestamp-differs`

error: unknown key `enable-self-preservaton` in `change.eureka.server`
  --> my.toml:11:26
   |
11 | change = { eureka.server.enable-self-preservaton = false }
   |                          ^^^^^^^^^^^^^^^^^^^^^^^ not known
   |
   = help: did you mean `enable-self-preservation`?

error: `expected-client-renewal-interval-seconds` is out of range
  --> my.toml:13:69
   |
13 | change = { eureka.server.expected-client-renewal-interval-seconds = 0 }
   |                                                                     ^ must be at least 1
   |
   = help: Spring divides by it: the renewal threshold would be infinite

error: unknown key `client` in `change.eureka`
  --> my.toml:15:19
   |
15 | change = { eureka.client.disable-delta = true }
   |                   ^^^^^^ not known
   |
   = help: known here: `server`
"#,
    );
}

#[test]
fn replacements_that_cannot_be() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
roll-out = { application = "orders", batch = 1, batch-share = 0.5 }
[[fault]]
roll-out = { application = "orders", batch = 1, order = "start-first", down-for = "5s", new-id = false }
[[fault]]
roll-out = { application = "orders" }
[[fault]]
blue-green = { from = "orders", to = "orders" }
[[fault]]
blue-green = { from = "orders", to = "order" }
"#,
        &[],
        r#"error: `roll-out` takes only one of `batch` or `batch-share`
 --> my.toml:5:49
  |
5 | roll-out = { application = "orders", batch = 1, batch-share = 0.5 }
  |                                      -----      ^^^^^^^^^^^ one too many
  |                                      |
  |                                      the other one

error: with `start-first` nobody is away: the new ones are there first
 --> my.toml:7:83
  |
7 | roll-out = { application = "orders", batch = 1, order = "start-first", down-for = "5s", new-id = false }
  |                                                                                   ^^^^ without effect
  |
  = help: leave it out, or set `order = "stop-first"`

error: with `start-first` two instances would have one id
 --> my.toml:7:98
  |
7 | roll-out = { application = "orders", batch = 1, order = "start-first", down-for = "5s", new-id = false }
  |                                                                                                  ^^^^^ the old one still runs
  |
  = help: leave it out, or set `order = "stop-first"`

error: `roll-out` needs `batch` or `batch-share`
 --> my.toml:9:12
  |
9 | roll-out = { application = "orders" }
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^ has none
  |
  = help: as in `roll-out = { application = "orders", batch = 5 }`

error: `from` and `to` are the same application
  --> my.toml:11:38
   |
11 | blue-green = { from = "orders", to = "orders" }
   |                                      ^^^^^^^^ must be another one
   |
   = help: to replace the instances of one application, use `roll-out`

error: no application is called `order`
  --> my.toml:13:38
   |
13 | blue-green = { from = "orders", to = "order" }
   |                                      ^^^^^^^ not in the fleet
   |
   = help: did you mean `orders`?
"#,
    );
}

#[test]
fn shares_and_statuses_that_are_none() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
grey = { count = 1, calls-fail = 0 }
[[fault]]
reclaim = { count = 1, heeded = 20 }
[[fault]]
override = { count = 1, status = "OUTOFSERVICE" }
[network]
loss = 5
"#,
        &[],
        r#"error: `calls-fail` is out of range
 --> my.toml:5:34
  |
5 | grey = { count = 1, calls-fail = 0 }
  |                                  ^ must be above 0, at most 1

error: `heeded` is out of range
 --> my.toml:7:33
  |
7 | reclaim = { count = 1, heeded = 20 }
  |                                 ^^ must be from 0 to 1
  |
  = help: for 20 percent write 0.2

error: unknown `status`: `OUTOFSERVICE`
 --> my.toml:9:34
  |
9 | override = { count = 1, status = "OUTOFSERVICE" }
  |                                  ^^^^^^^^^^^^^^ must be `OUT_OF_SERVICE`, `DOWN`, `STARTING` or `UP`
  |
  = help: did you mean `OUT_OF_SERVICE`?

error: `loss` is out of range
  --> my.toml:11:8
   |
11 | loss = 5
   |        ^ must be from 0 to 1
   |
   = help: for 5 percent write 0.05
"#,
    );
}
