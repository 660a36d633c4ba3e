//! What bad input gets: the whole message, as a person sees it.

use super::parse;

fn message(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let problems = parse("my.toml", text, &sets).expect_err("it is wrong");
    format!("{}\n", problems.render(false))
}

/// Compares without the blanks at the ends of lines, which editors remove.
fn expect(text: &str, sets: &[&str], wanted: &str) {
    let trimmed = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    let message = message(text, sets);
    assert_eq!(trimmed(&message), trimmed(wanted), "{message}");
}

#[test]
fn a_misspelt_key() {
    expect(
        r#"replicats = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `replicats` at the top of a scenario
 --> my.toml:1:1
  |
1 | replicats = 5
  | ^^^^^^^^^ not known
  |
  = help: did you mean `replicates`?
"#,
    );
}

#[test]
fn a_key_in_the_wrong_section() {
    expect(
        r#"[eureka.client]
lease-renewal-interval-in-seconds = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `lease-renewal-interval-in-seconds` in `eureka.client`
 --> my.toml:2:1
  |
2 | lease-renewal-interval-in-seconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: it belongs in `[eureka.instance]`
"#,
    );
}

#[test]
fn a_key_in_camel_case() {
    expect(
        r#"[eureka.instance]
leaseRenewalIntervalInSeconds = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `leaseRenewalIntervalInSeconds` in `eureka.instance`
 --> my.toml:2:1
  |
2 | leaseRenewalIntervalInSeconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `lease-renewal-interval-in-seconds`?
"#,
    );
}

#[test]
fn a_wrong_unit() {
    expect(
        r#"duration = 30
[eureka.server]
eviction-interval-timer-in-ms = "60s"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `duration` must be a duration with a unit
 --> my.toml:1:12
  |
1 | duration = 30
  |            ^^ this is a whole number
  |
  = help: write the unit: `"30s"` for seconds, `"30ms"` for milliseconds

error: `eviction-interval-timer-in-ms` must be a whole number of milliseconds
 --> my.toml:3:33
  |
3 | eviction-interval-timer-in-ms = "60s"
  |                                 ^^^^^ this is a text
  |
  = help: Eureka counts milliseconds here: write eviction-interval-timer-in-ms = 60000
"#,
    );
}

#[test]
fn numbers_out_of_range() {
    expect(
        r#"replicates = 0
[eureka.server]
renewal-percent-threshold = 85
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `replicates` is out of range
 --> my.toml:1:14
  |
1 | replicates = 0
  |              ^ must be from 1 to 1000000

error: `renewal-percent-threshold` is out of range
 --> my.toml:3:29
  |
3 | renewal-percent-threshold = 85
  |                             ^^ must be from 0 to 1
  |
  = help: for 85 percent write 0.85
"#,
    );
}

#[test]
fn an_empty_fleet() {
    expect(
        r#"title = "nobody"
"#,
        &[],
        r#"error: an empty fleet: the scenario names no application
--> my.toml
 = help: add one:
           [[application]]
           name = "orders"
           instances = 10
"#,
    );
}

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
        r#"error: a fault takes only one of `crash`, `stop`, `restart`, `pause`, `partition` or `start`
 --> my.toml:6:1
  |
5 | crash = { count = 1 }
  | ----- the other one
6 | stop = { count = 1 }
  | ^^^^ one too many

error: a fault needs one of `crash`, `stop`, `restart`, `pause`, `partition` or `start`
 --> my.toml:8:1
  |
8 | [[fault]]
  | ^^^^^^^^^ has none
  |
  = help: as in `crash = { count = 1 }`
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
        r#"error: a pause needs a length
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
            at least 57 of 100 left at the end
            rounds evict 15, 13, 11
            no self-preservation at the end

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

#[test]
fn two_applications_of_one_name() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[application]]
name = "ORDERS"
"#,
        &[],
        r#"error: two applications are called `ORDERS`
 --> my.toml:5:8
  |
2 | name = "orders"
  |        -------- first here
...
5 | name = "ORDERS"
  |        ^^^^^^^^ again here
  |
  = help: Eureka takes names in upper case: they must differ in more than case
"#,
    );
}

#[test]
fn an_unknown_release() {
    expect(
        r#"release = "Hoxten"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown release `Hoxten`
 --> my.toml:1:11
  |
1 | release = "Hoxten"
  |           ^^^^^^^^ no Spring Cloud train or Spring Cloud Netflix version that the rules were checked for
  |
  = help: perhaps `Hoxton`, `Hoxton.SR1` or `Hoxton.SR3`?
"#,
    );
}

#[test]
fn the_release_of_another_flavour() {
    expect(
        r#"release = "1.9.13"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown release `1.9.13`
 --> my.toml:1:11
  |
1 | release = "1.9.13"
  |           ^^^^^^^^ no Spring Cloud train or Spring Cloud Netflix version that the rules were checked for
  |
  = help: it is one of `flavour = "netflix"`
"#,
    );
}

#[test]
fn a_balancer_setting_of_another_kind() {
    expect(
        r#"[balancer]
kind = "ribbon"
ttl = "35s"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `ttl` belongs to `spring-cloud-loadbalancer`
 --> my.toml:3:7
  |
2 | kind = "ribbon"
  |        -------- as it says here
3 | ttl = "35s"
  |       ^^^^^ the balancer is `ribbon`
  |
  = help: leave it out, or set `kind = "spring-cloud-loadbalancer"`
"#,
    );
}

#[test]
fn an_observer_that_does_not_fetch() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
observers = true
[application.eureka.client]
fetch-registry = false
"#,
        &[],
        r#"error: `orders` cannot observe without fetching
 --> my.toml:4:13
  |
4 | observers = true
  |             ^^^^ observers fetch the registry
5 | [application.eureka.client]
6 | fetch-registry = false
  |                  ----- but this application does not
  |
  = help: leave `observers` out, or set `fetch-registry = true`
"#,
    );
}

#[test]
fn no_toml_at_all() {
    expect(
        r#"title = 
[[application]]
name = "orders"
instances = 3
x = [1,
"#,
        &[],
        r#"error: this is not TOML: string values must be quoted, expected literal string
 --> my.toml:1:9
  |
1 | title =
  |         ^

error: this is not TOML: unclosed array, expected `]`
 --> my.toml:5:8
  |
5 | x = [1,
  |        ^
"#,
    );
}

#[test]
fn a_wrong_setting_on_the_command_line() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
"#,
        &["eureka.server.evict-interval=5", "replicates=many", "application.order.instances=5"],
        r#"error: unknown key `evict-interval` in `eureka.server`
 --> command line:1:21
  |
1 | --set eureka.server.evict-interval=5
  |                     ^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `eviction-interval-timer-in-ms`?

error: `replicates` must be a whole number
 --> command line:2:18
  |
2 | --set replicates=many
  |                  ^^^^ this is a text

error: no application is called `order`
 --> command line:3:19
  |
3 | --set application.order.instances=5
  |                   ^^^^^ not in the scenario
  |
  = help: did you mean `orders`?
"#,
    );
}

#[test]
fn a_single_table_for_a_list() {
    expect(
        r#"[application]
name = "orders"
"#,
        &[],
        r#"error: `application` must be a list of tables
 --> my.toml:1:1
  |
1 | [application]
  | ^^^^^^^^^^^^^ this is a table
  |
  = help: write `[[application]]`, in double brackets, once for each application
"#,
    );
}
