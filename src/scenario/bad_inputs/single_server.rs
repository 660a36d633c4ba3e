//! What several servers have and do, of a registry that is one; and faults that it does not know.

use super::expect;

/// One message for every setting.
const SERVERS_AND_FAULTS_THAT_A_TWO_STAGE_REGISTRY_LACKS: &str = r#"error: a two-stage registry is a single server
 --> my.toml:3:9
  |
1 | registry = "two-stage"
  |            ----------- as it says here
2 | [server]
3 | count = 3
  |         ^ the registry is `two-stage`
  |
  = help: leave `count` out

error: `topology` of `server` belongs to Eureka
 --> my.toml:4:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
4 | topology = "ring"
  | ^^^^^^^^ the registry is `two-stage`
  |
  = help: the registry is one server, `server-1`: leave it out

error: `zones` of `server` belongs to Eureka
 --> my.toml:5:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
5 | zones = ["a"]
  | ^^^^^ the registry is `two-stage`
  |
  = help: the registry is one server, `server-1`: leave it out

error: `register-with-eureka` of `server` belongs to Eureka
 --> my.toml:6:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
6 | register-with-eureka = true
  | ^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: the server has no client of its own: leave it out

error: `process-backlog-after-pause` of `server` belongs to Eureka
 --> my.toml:7:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
7 | process-backlog-after-pause = false
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: requests that waited are always answered; who comes first is `resume-order` in `[two-stage]`

error: `capacity` of `server` belongs to Eureka
 --> my.toml:8:9
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
8 | [server.capacity]
  |         ^^^^^^^^ the registry is `two-stage`
  |
  = help: how many requests it works at, long polls included, is `worker-threads` in `[two-stage]`

error: `server-zones` of `application` belongs to Eureka
  --> my.toml:13:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
13 | server-zones = "own-first"
   | ^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: the registry is one server, `server-1`: leave it out

error: `first-address` of `application` belongs to Eureka
  --> my.toml:14:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
14 | first-address = "10.0.0.1"
   | ^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: leave it out: with one server nobody orders servers by address

error: `lease-renewal-interval-in-seconds` is a setting of Eureka
  --> my.toml:16:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
16 | lease-renewal-interval-in-seconds = 5
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: here it is `heartbeat-interval-ms` in `[two-stage]`

error: `change` of `fault` belongs to Eureka
  --> my.toml:18:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
18 | change = { eureka.server.disable-delta = true }
   | ^^^^^^ the registry is `two-stage`
   |
   = help: no setting of its changes while it runs; to compare two settings run a sweep

error: `override` of `fault` belongs to Eureka
  --> my.toml:20:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
20 | override = { count = 1 }
   | ^^^^^^^^ the registry is `two-stage`
   |
   = help: it knows no statuses; `delete` deregisters an instance, which comes back with its next heartbeat

error: `unhealthy` of `fault` belongs to Eureka
  --> my.toml:22:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
22 | unhealthy = { count = 1 }
   | ^^^^^^^^^ the registry is `two-stage`
   |
   = help: whoever sends heartbeats is healthy; `grey` lets calls fail though heartbeats go on

error: there is only one server to restart
  --> my.toml:24:41
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
24 | restart = { server = true, one-by-one = "1m" }
   |                                         ^^^^ the registry is `two-stage`
   |
   = help: leave `one-by-one` out

error: nobody is at the other end: every server of `peer` is among the targets
  --> my.toml:26:13
   |
26 | partition = { server = true }
   |             ^^^^^^^^^^^^^^^^^ without effect
   |
   = help: targets keep their links to each other; to cut them off from their clients set `peer = "instances"`, from everyone `peer = "all"`
"#;

#[test]
fn servers_and_faults_that_a_two_stage_registry_lacks() {
    expect(
        r#"registry = "two-stage"
[server]
count = 3
topology = "ring"
zones = ["a"]
register-with-eureka = true
process-backlog-after-pause = false
[server.capacity]
threads = 200
[[application]]
name = "orders"
instances = 3
server-zones = "own-first"
first-address = "10.0.0.1"
[application.eureka.instance]
lease-renewal-interval-in-seconds = 5
[[fault]]
change = { eureka.server.disable-delta = true }
[[fault]]
override = { count = 1 }
[[fault]]
unhealthy = { count = 1 }
[[fault]]
restart = { server = true, one-by-one = "1m" }
[[fault]]
partition = { server = true }
"#,
        &[],
        SERVERS_AND_FAULTS_THAT_A_TWO_STAGE_REGISTRY_LACKS,
    );
}
