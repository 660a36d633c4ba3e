//! Parameters of the two-stage registry that are wrong.

use super::expect;

/// One message for every setting.
const PARAMETERS_UNDER_OTHER_NAMES: &str = r#"error: unknown key `soft_timeout_ms` in `two-stage`
 --> my.toml:3:1
  |
3 | soft_timeout_ms = 5000
  | ^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `soft-timeout-ms`?

error: unknown key `sweepIntervalMs` in `two-stage`
 --> my.toml:4:1
  |
4 | sweepIntervalMs = 5000
  | ^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `sweep-interval-ms`?

error: `lease-renewal-interval-in-seconds` is Eureka's name
 --> my.toml:5:1
  |
5 | lease-renewal-interval-in-seconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: here it is `heartbeat-interval-ms` in `[two-stage]`

error: `response-cache-update-interval-ms` is Eureka's name
 --> my.toml:6:1
  |
6 | response-cache-update-interval-ms = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: there is no cache between the registry and its clients

error: `retries` is no setting of the registry
 --> my.toml:7:1
  |
7 | retries = 2
  | ^^^^^^^ not known
  |
  = help: it is `retries-on-next-instance` in `[traffic]`

error: `connect-timeout-ms` is no setting of the registry
 --> my.toml:8:1
  |
8 | connect-timeout-ms = 5
  | ^^^^^^^^^^^^^^^^^^ not known
  |
  = help: calls take no time; `read-timeout` in `[traffic]` is for instances that stand still

error: `protectThreshold` is Nacos' own name
 --> my.toml:9:1
  |
9 | protectThreshold = 0.5
  | ^^^^^^^^^^^^^^^^ not known
  |
  = help: here it is `read-protect-threshold` in `[two-stage]`

error: `preserved.heart.beat.interval` is Nacos' own name
  --> my.toml:10:1
   |
10 | preserved.heart.beat.interval = 1000
   | ^^^^^^^^^ not known
   |
   = help: here it is `heartbeat-interval-ms` in `[two-stage]`

error: `namingPushEmptyProtection` is Nacos' own name
  --> my.toml:11:1
   |
11 | namingPushEmptyProtection = true
   | ^^^^^^^^^^^^^^^^^^^^^^^^^ not known
   |
   = help: here it is `sanity = "push-empty"` in `[two-stage]`

error: unknown key `guard-min-instance` in `two-stage`
  --> my.toml:12:1
   |
12 | guard-min-instance = 5
   | ^^^^^^^^^^^^^^^^^^ not known
   |
   = help: did you mean `guard-min-instances`?

error: `soft-timeout-ms` is the registry's, and not an application's
  --> my.toml:17:1
   |
17 | soft-timeout-ms = 3
   | ^^^^^^^^^^^^^^^ one for all
   |
   = help: it belongs in `[two-stage]`

error: unknown key `watch-timeout` in `two-stage`
  --> my.toml:18:1
   |
18 | watch-timeout = 3
   | ^^^^^^^^^^^^^ not known
   |
   = help: did you mean `watch-timeout-ms`?
"#;

#[test]
fn parameters_under_other_names() {
    expect(
        r#"registry = "two-stage"
[two-stage]
soft_timeout_ms = 5000
sweepIntervalMs = 5000
lease-renewal-interval-in-seconds = 5
response-cache-update-interval-ms = 5
retries = 2
connect-timeout-ms = 5
protectThreshold = 0.5
preserved.heart.beat.interval = 1000
namingPushEmptyProtection = true
guard-min-instance = 5
[[application]]
name = "orders"
instances = 3
[application.two-stage]
soft-timeout-ms = 3
watch-timeout = 3
"#,
        &[],
        PARAMETERS_UNDER_OTHER_NAMES,
    );
}

/// One message for every setting.
const PARAMETERS_OUT_OF_RANGE: &str = r#"error: `guard-min-healthy-pct` is out of range
 --> my.toml:3:25
  |
3 | guard-min-healthy-pct = 101
  |                         ^^^ must be from 0 to 100 percent

error: `read-protect-threshold` is out of range
 --> my.toml:4:26
  |
4 | read-protect-threshold = 1.5
  |                          ^^^ must be from 0 to 1
  |
  = help: for 1.5 percent write 0.015

error: `sweep-interval-ms` is out of range
 --> my.toml:5:21
  |
5 | sweep-interval-ms = 0
  |                     ^ must be from 1 to 2147483647 milliseconds

error: `soft-timeout-ms` must be a whole number of milliseconds
 --> my.toml:6:19
  |
6 | soft-timeout-ms = "15s"
  |                   ^^^^^ this is a text
  |
  = help: it counts milliseconds: write soft-timeout-ms = 15000

error: `guard` must be `ratio` or `none`
 --> my.toml:7:9
  |
7 | guard = true
  |         ^^^^ this is true or false

error: `worker-threads` must be a whole number of threads, or `unlimited`
 --> my.toml:8:18
  |
8 | worker-threads = "many"
  |                  ^^^^^^ this is a text

error: unknown `sanity`: `haf`
 --> my.toml:9:10
  |
9 | sanity = "haf"
  |          ^^^^^ must be `half`, `none` or `push-empty`
  |
  = help: did you mean `half`?

error: `push-loss` is out of range
  --> my.toml:10:13
   |
10 | push-loss = -1
   |             ^^ must be from 0 to 1

error: `backoff-max-shift` is out of range
  --> my.toml:11:21
   |
11 | backoff-max-shift = 21
   |                     ^^ must be from 0 to 20 bits

error: `poll-interval-ms` must be a whole number of milliseconds
  --> my.toml:12:20
   |
12 | poll-interval-ms = "5000"
   |                    ^^^^^^ this is a text
   |
   = help: write it without quotes: 5000
"#;

#[test]
fn parameters_out_of_range() {
    expect(
        r#"registry = "two-stage"
[two-stage]
guard-min-healthy-pct = 101
read-protect-threshold = 1.5
sweep-interval-ms = 0
soft-timeout-ms = "15s"
guard = true
worker-threads = "many"
sanity = "haf"
push-loss = -1
backoff-max-shift = 21
poll-interval-ms = "5000"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        PARAMETERS_OUT_OF_RANGE,
    );
}

#[test]
fn switches_that_are_written_otherwise() {
    expect(
        r#"registry = "two-stage"
[two-stage]
guard-min-healthy-pct = 0.85
read-protect-threshold = -1
worker-threads = 0
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `guard-min-healthy-pct` must be a whole number of percent
 --> my.toml:3:25
  |
3 | guard-min-healthy-pct = 0.85
  |                         ^^^^ this is a number with a fraction
  |
  = help: it counts percent: write guard-min-healthy-pct = 85

error: `read-protect-threshold` is out of range
 --> my.toml:4:26
  |
4 | read-protect-threshold = -1
  |                          ^^ must be from 0 to 1
  |
  = help: to switch it off write `"none"`

error: `worker-threads` is out of range
 --> my.toml:5:18
  |
5 | worker-threads = 0
  |                  ^ must be from 1 to 100000 threads
"#,
    );
}

#[test]
fn long_polls_that_let_no_time_pass() {
    expect(
        r#"registry = "two-stage"
[network]
latency = "0s"
[two-stage]
discovery = "long-poll"
watch-reissue-gap-ms = 0
[[application]]
name = "orders"
"#,
        &[],
        r#"error: a long poll of `orders` that is refused is asked again in no time, for ever
 --> my.toml:6:24
  |
3 | latency = "0s"
  |           ---- a call takes no time
...
6 | watch-reissue-gap-ms = 0
  |                        ^ time would stand still
  |
  = help: give one of the two a length, as in `watch-reissue-gap-ms = 1`
"#,
    );
}

#[test]
fn services_that_are_not_there() {
    expect(
        r#"registry = "two-stage"
[two-stage]
discovery = "long-poll"
[[application]]
name = "orders"
subscribes = ["order", "stock", "stock"]
[[application]]
name = "stock"
fetch = false
observers = true
[application.traffic]
calls-per-second = 1.0
"#,
        &[],
        r#"error: no application is called `order`
 --> my.toml:6:15
  |
6 | subscribes = ["order", "stock", "stock"]
  |               ^^^^^^^ not in the fleet
  |
  = help: did you mean `orders`?

error: `stock` is named twice
 --> my.toml:6:33
  |
6 | subscribes = ["order", "stock", "stock"]
  |                                 ^^^^^^^ again here

error: `stock` cannot observe without fetching
  --> my.toml:10:13
   |
 9 | fetch = false
   |         ----- but this application does not
10 | observers = true
   |             ^^^^ observers fetch the registry
   |
   = help: leave `observers` out, or set `fetch = true`

error: `stock` cannot call others without fetching the registry
  --> my.toml:11:1
   |
11 | [application.traffic]
   | ^^^^^^^^^^^^^^^^^^^^^ callers pick instances from their registry
   |
   = help: leave its `traffic` out, or set `fetch = true`
"#,
    );
}
