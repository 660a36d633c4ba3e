//! Servers that do not exist, are their own peers or are missed by everybody.

use super::expect;

/// One message for every name.
const NOT_THERE: &str = r#"error: no server is called `server-3`
 --> my.toml:4:13
  |
4 | server-1 = ["server-3", "server-1"]
  |             ^^^^^^^^^^ there are `server-1` to `server-2`
  |
  = help: to have so many, set `count = 3` in `[server]`

error: `server-1` is no peer of its own
 --> my.toml:4:25
  |
4 | server-1 = ["server-3", "server-1"]
  |                         ^^^^^^^^^^ the server itself
  |
  = help: leave it out, or set `recognises-own-url = false`: then every server passes on to itself too

error: no server is called `sever-2`
 --> my.toml:5:1
  |
5 | sever-2 = ["server-1"]
  | ^^^^^^^ there are `server-1` to `server-2`
  |
  = help: did you mean `server-2`?

error: `server-2` is named twice
 --> my.toml:8:24
  |
8 | servers = ["server-2", "server-2"]
  |                        ^^^^^^^^^^ again here

error: no server is called `server-0`
  --> my.toml:10:22
   |
10 | crash = { servers = ["server-0"] }
   |                      ^^^^^^^^^^ there are `server-1` to `server-2`
   |
   = help: they are counted from 1

error: there are only 2 servers
  --> my.toml:12:21
   |
12 | crash = { servers = 3 }
   |                     ^ at most 2
   |
   = help: to hit every one, write `servers = "all"`

error: `servers` must be a list of servers, how many of them, or `all`
  --> my.toml:14:21
   |
14 | pause = { servers = "al", for = "5s" }
   |                     ^^^^ this is a text
   |
   = help: did you mean `all`?

error: no server is called `server-9`
  --> my.toml:16:30
   |
16 | override = { count = 1, at = "server-9" }
   |                              ^^^^^^^^^^ there are `server-1` to `server-2`
   |
   = help: to have so many, set `count = 9` in `[server]`

error: no server is called `server-3`
  --> my.toml:18:24
   |
18 | that = "no eviction on server-3"
   |                        ^^^^^^^^ there are `server-1` to `server-2`
   |
   = help: to have so many, set `count = 3` in `[server]`
"#;

#[test]
fn servers_that_are_not_there() {
    expect(
        r#"[server]
count = 2
[server.peers]
server-1 = ["server-3", "server-1"]
sever-2 = ["server-1"]
[[application]]
name = "orders"
servers = ["server-2", "server-2"]
[[fault]]
crash = { servers = ["server-0"] }
[[fault]]
crash = { servers = 3 }
[[fault]]
pause = { servers = "al", for = "5s" }
[[fault]]
override = { count = 1, at = "server-9" }
[[expect]]
that = "no eviction on server-3"
"#,
        &[],
        NOT_THERE,
    );
}

/// One message for every setting.
const NOT_FITTING: &str = r#"error: `peers` and `topology` say the same in two ways
 --> my.toml:4:9
  |
3 | topology = "ring"
  |            ------ the other one
4 | peers = { server-1 = ["server-2"] }
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ one too many
  |
  = help: leave one of the two out

error: there are 3 servers, but 2 starts
 --> my.toml:5:16
  |
5 | starts-after = ["1s", "2s"]
  |                ^^^^^^^^^^^^ one for each server

error: `start-window` is for servers whose starts are drawn
 --> my.toml:6:16
  |
5 | starts-after = ["1s", "2s"]
  |                ------------ here each start is given
6 | start-window = "1m"
  |                ^^^^ without effect
  |
  = help: leave one of the two out

error: `capacity` needs `threads`
 --> my.toml:7:1
  |
7 | [server.capacity]
  | ^^^^^^^^^^^^^^^^^ how many?
  |
  = help: as in `threads = 200`; without `[server.capacity]` nothing ever waits

error: `servers` and `server-zones` say the same in two ways
  --> my.toml:12:16
   |
11 | servers = ["server-1"]
   |           ------------ the other one
12 | server-zones = ["a"]
   |                ^^^^^ one too many
   |
   = help: leave one of the two out

error: no zone is called `a`
  --> my.toml:12:17
   |
12 | server-zones = ["a"]
   |                 ^^^ nobody is in it
   |
   = help: give applications zones, as in `zones = ["a", "b"]`

error: `first-address` must be an IPv4 address
  --> my.toml:13:17
   |
13 | first-address = "10.0.0"
   |                 ^^^^^^^^ four numbers from 0 to 255 with dots between them
   |
   = help: as in `"10.0.1.1"`

error: 5 instances have no room from 255.255.255.252 on
  --> my.toml:17:17
   |
17 | first-address = "255.255.255.252"
   |                 ^^^^^^^^^^^^^^^^^ addresses end at 255.255.255.255: room for 4
   |
   = help: leave it out, or give a lower one
"#;

#[test]
fn settings_of_servers_that_do_not_fit() {
    expect(
        r#"[server]
count = 3
topology = "ring"
peers = { server-1 = ["server-2"] }
starts-after = ["1s", "2s"]
start-window = "1m"
[server.capacity]
renew = "1ms"
[[application]]
name = "orders"
servers = ["server-1"]
server-zones = ["a"]
first-address = "10.0.0"
[[application]]
name = "stock"
instances = 5
first-address = "255.255.255.252"
"#,
        &[],
        NOT_FITTING,
    );
}

#[test]
fn starts_zones_and_counts() {
    expect(
        r#"[server]
count = 2
zones = ["east"]
starts-after = ["1s", "2s"]
[[application]]
name = "orders"
zones = ["west"]
server-zones = ["west"]
[[application]]
name = "stock"
server-zones = ["eest"]
[[fault]]
crash = { all = true, zone = "east" }
"#,
        &[],
        r#"error: no server starts at 0s
 --> my.toml:4:16
  |
4 | starts-after = ["1s", "2s"]
  |                ^^^^^^^^^^^^ a replicate starts with its first server
  |
  = help: let one of them start at `"0s"`, and the others so much earlier too

error: no server is in one of these zones
 --> my.toml:8:16
  |
8 | server-zones = ["west"]
  |                ^^^^^^^^ its instances would know no server
  |
  = help: servers are in `east`

error: no zone is called `eest`
  --> my.toml:11:17
   |
11 | server-zones = ["eest"]
   |                 ^^^^^^ nobody is in it
   |
   = help: did you mean `east`?

error: no instance is in zone `east`
  --> my.toml:13:30
   |
13 | crash = { all = true, zone = "east" }
   |                              ^^^^^^ only servers are
   |
   = help: give applications zones, as in `zones = ["a", "b"]`
"#,
    );
}

/// One message for every fault.
const NO_OTHER_END: &str = r#"error: nobody is at the other end: every server of `peer` is among the targets
 --> my.toml:7:13
  |
7 | partition = { servers = "all" }
  |             ^^^^^^^^^^^^^^^^^^^ without effect
  |
  = help: targets keep their links to each other; to cut them off from their clients set `peer = "instances"`, from everyone `peer = "all"`

error: nobody is at the other end: every server of `peer` is among the targets
 --> my.toml:9:46
  |
9 | partition = { servers = ["server-1"], peer = { servers = ["server-1"] } }
  |                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^ without effect
  |
  = help: targets keep their links to each other; to cut them off from their clients set `peer = "instances"`, from everyone `peer = "all"`

error: `servers = 0` hits nobody
  --> my.toml:11:25
   |
11 | partition = { servers = 0 }
   |                         ^ nobody
   |
   = help: leave the fault out, or name other targets

error: unknown `peer`: `server-2`
  --> my.toml:13:33
   |
13 | partition = { count = 1, peer = "server-2" }
   |                                 ^^^^^^^^^^ must be `servers`, `all`, `instances` or a table
   |
   = help: for one server write `{ servers = ["server-2"] }`

error: servers belong to no zone
  --> my.toml:15:59
   |
15 | partition = { count = 1, peer = { servers = ["server-2"], zone = "a" } }
   |                                                           ^^^^ beside `servers`
   |
   = help: name either servers or instances

error: `one-by-one` is for servers
  --> my.toml:17:37
   |
17 | restart = { count = 1, one-by-one = "1m" }
   |                                     ^^^^ all targets restart at once
   |
   = help: to replace instances in batches, use `roll-out`
"#;

#[test]
fn links_without_another_end() {
    expect(
        r#"[server]
count = 2
[[application]]
name = "orders"
instances = 3
[[fault]]
partition = { servers = "all" }
[[fault]]
partition = { servers = ["server-1"], peer = { servers = ["server-1"] } }
[[fault]]
partition = { servers = 0 }
[[fault]]
partition = { count = 1, peer = "server-2" }
[[fault]]
partition = { count = 1, peer = { servers = ["server-2"], zone = "a" } }
[[fault]]
restart = { count = 1, one-by-one = "1m" }
"#,
        &[],
        NO_OTHER_END,
    );
}

#[test]
fn a_lone_server_has_no_other_end() {
    expect(
        r#"[[application]]
name = "orders"
[[fault]]
partition = { server = true }
"#,
        &[],
        r#"error: there is no other server that `server-1` could be cut off from
 --> my.toml:4:13
  |
4 | partition = { server = true }
  |             ^^^^^^^^^^^^^^^^^ without effect
  |
  = help: targets keep their links to each other; to cut them off from their clients set `peer = "instances"`, from everyone `peer = "all"`
"#,
    );
}
