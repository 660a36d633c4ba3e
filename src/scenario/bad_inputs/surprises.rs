//! A two-stage registry that may run, and will surprise: the whole of the warnings.

use super::expect_warnings;

/// One message for every setting.
const SETTINGS_THAT_SURPRISE: &str = r#"warning: a hard timeout of 10s is not longer than the soft one of 15s
 --> my.toml:3:19
  |
3 | hard-timeout-ms = 10000
  |                   ^^^^^ an entry that one sweep hides the next removes, 3s later: hardly anybody can recover
  |
  = help: give `hard-timeout-ms` at least one heartbeat interval more than `soft-timeout-ms`

warning: a soft timeout of 15s is not longer than the heartbeat interval of 20s
 --> my.toml:4:25
  |
4 | heartbeat-interval-ms = 20000
  |                         ^^^^^ instances that are alive are hidden, and removed, between two heartbeats
  |
  = help: the registry hides who is silent for longer than that: give it at least three heartbeat intervals

warning: 20 long polls are held, and there are 3 threads
 --> my.toml:5:18
  |
5 | worker-threads = 3
  |                  ^ heartbeats wait for a long poll to end, up to 30s: live instances are hidden
  |
  = help: each consumer holds a thread for each service that it watches: give it more, or name fewer in `subscribes`

warning: a long poll looks for changes every 30s, and its time is up after 30s
 --> my.toml:7:17
  |
7 | watch-park-ms = 30000
  |                 ^^^^^ it looks only when it comes: a change while it is held is answered as if its time were up
  |
  = help: give `watch-timeout-ms` many times `watch-park-ms`

warning: the folder of the snapshots cannot be written to
 --> my.toml:9:17
  |
9 | disk-writable = false
  |                 ^^^^^ every refresh that writes counts as a failure: the next ones come after 2s, 4s, … 30s
  |
  = help: answers are taken all the same; to keep nothing on disk set `disk-mode = "none"`

warning: `push-loss` has no effect
  --> my.toml:10:13
   |
10 | push-loss = 0.5
   |             ^^^ nobody has `discovery = "push-plus-poll"`

warning: 4 dead of 20 shut the guard of `orders` for good
  --> my.toml:14:1
   |
14 | [[fault]]
   | ^^^^^^^^^ they are hidden but never removed, and whoever dies later stays visible
   |
   = help: of 20 it tolerates 3 unhealthy within 3s; newcomers, `delete = { dead = true, … }` or a restart of the registry end it, and so does `guard-scope = "soft-only"`

warning: a pause may take 20s, and 15s of silence hide an instance
  --> my.toml:17:32
   |
17 | pause = { server = true, for = "20s" }
   |                                ^^^^^ the sweep that is overdue then hides all instances, which come back one by one with their heartbeats
   |
   = help: up to 20s of silence are over when a pause begins
"#;

#[test]
fn settings_that_surprise() {
    expect_warnings(
        r#"registry = "two-stage"
[two-stage]
hard-timeout-ms = 10000
heartbeat-interval-ms = 20000
worker-threads = 3
discovery = "long-poll"
watch-park-ms = 30000
disk-mode = "in-place"
disk-writable = false
push-loss = 0.5
[[application]]
name = "orders"
instances = 20
[[fault]]
crash = { count = 4 }
[[fault]]
pause = { server = true, for = "20s" }
"#,
        SETTINGS_THAT_SURPRISE,
    );
}
