//! Settings of one registry in a scenario of another.

use super::expect;

/// One message for every setting.
const EUREKAS_SETTINGS_UNDER_NACOS: &str = r#"error: `flavour` belongs to Eureka
 --> my.toml:2:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
2 | flavour = "spring"
  | ^^^^^^^ the registry is `nacos-1`
  |
  = help: leave it out: the defaults are those of the preset that `registry` names

error: `enable-self-preservation` is a setting of Eureka
 --> my.toml:4:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
4 | enable-self-preservation = false
  | ^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `guard` in `[two-stage]`, `"ratio"` or `"none"`

error: `response-cache-update-interval-ms` is a setting of Eureka
 --> my.toml:5:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
5 | response-cache-update-interval-ms = 3000
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: there is no cache between the registry and its clients

error: `renewal-percent-threshold` is a setting of Eureka
 --> my.toml:6:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
6 | renewal-percent-threshold = 0.5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `guard-min-healthy-pct` in `[two-stage]`, in percent

error: `registry-fetch-interval-seconds` is a setting of Eureka
 --> my.toml:8:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
8 | registry-fetch-interval-seconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `poll-interval-ms` in `[two-stage]`

error: `fetch-registry` is a setting of Eureka
 --> my.toml:9:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
9 | fetch-registry = true
  | ^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `fetch` of an application

error: `heartbeat-executor-thread-pool-size` is a setting of Eureka
  --> my.toml:10:1
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
10 | heartbeat-executor-thread-pool-size = 5
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: a two-stage registry has nothing of the kind

error: `lease-expiration-duration-in-seconds` is a setting of Eureka
  --> my.toml:12:1
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
12 | lease-expiration-duration-in-seconds = 15
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
   |
   = help: here it is two in `[two-stage]`: `soft-timeout-ms` hides an instance, `hard-timeout-ms` removes it

error: `balancer` belongs to Eureka
  --> my.toml:13:2
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
13 | [balancer]
   |  ^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: callers pick from their consumer's list, the stage `client`

error: `transport` belongs to Eureka
  --> my.toml:15:2
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
15 | [transport]
   |  ^^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: how long calls wait is `request-timeout-ms` in `[two-stage]`
"#;

#[test]
fn eurekas_settings_under_nacos() {
    expect(
        r#"registry = "nacos-1"
flavour = "spring"
[eureka.server]
enable-self-preservation = false
response-cache-update-interval-ms = 3000
renewal-percent-threshold = 0.5
[eureka.client]
registry-fetch-interval-seconds = 5
fetch-registry = true
heartbeat-executor-thread-pool-size = 5
[eureka.instance]
lease-expiration-duration-in-seconds = 15
[balancer]
kind = "none"
[transport]
kind = "jersey"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        EUREKAS_SETTINGS_UNDER_NACOS,
    );
}

#[test]
fn a_registry_set_on_the_command_line() {
    expect(
        r#"release = "2025.0"
[[application]]
name = "orders"
instances = 3
"#,
        &["registry=nacos-1"],
        r#"error: `release` belongs to Eureka
 --> my.toml:1:1
  |
1 | release = "2025.0"
  | ^^^^^^^ the registry is `nacos-1`
  |
 ::: command line:1:16
  |
1 | --set registry=nacos-1
  |                ------- as it says here
  |
  = help: leave it out: the rules are those of the preset that `registry` names
"#,
    );
}

#[test]
fn a_registry_that_is_none() {
    expect(
        r#"registry = "nacos"
[two-stage]
watch-park-ms = 100
[[application]]
name = "orders"
[[expect]]
that = "no guard shut at the end"
"#,
        &[],
        r#"error: unknown `registry`: `nacos`
 --> my.toml:1:12
  |
1 | registry = "nacos"
  |            ^^^^^^^ must be `eureka`, `two-stage` or `nacos-1`
  |
  = help: did you mean `nacos-1`?
"#,
    );
}

#[test]
fn a_registry_that_is_not_modelled() {
    expect(
        r#"registry = "nacos-2"
[[application]]
name = "orders"
"#,
        &[],
        r#"error: unknown `registry`: `nacos-2`
 --> my.toml:1:12
  |
1 | registry = "nacos-2"
  |            ^^^^^^^^^ must be `eureka`, `two-stage` or `nacos-1`
  |
  = help: Nacos 2 is another registry, in which a connection is the lease; `nacos-1` is 1.4
"#,
    );
}

#[test]
fn nacos_own_names_at_the_top() {
    expect(
        r#"preserved.heart.beat.timeout = 5
[[application]]
name = "orders"
instances = 20
"#,
        &["soft-timeout-ms=5", "two-stage.soft-timeout=5"],
        r#"error: `preserved.heart.beat.timeout` is Nacos' own name
 --> my.toml:1:1
  |
1 | preserved.heart.beat.timeout = 5
  | ^^^^^^^^^ not known
  |
  = help: here it is `soft-timeout-ms` in `[two-stage]`

error: unknown key `soft-timeout-ms` at the top of a scenario
 --> command line:1:7
  |
1 | --set soft-timeout-ms=5
  |       ^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `two-stage.soft-timeout-ms`?

error: unknown key `soft-timeout` in `two-stage`
 --> command line:2:17
  |
2 | --set two-stage.soft-timeout=5
  |                 ^^^^^^^^^^^^ not known
  |
  = help: did you mean `soft-timeout-ms`?
"#,
    );
}
