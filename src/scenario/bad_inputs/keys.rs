//! Keys, units and values that are not of the format.

use super::expect;

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
  = help: it counts milliseconds: write eviction-interval-timer-in-ms = 60000
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

#[test]
fn a_title_of_two_lines_and_one_that_would_act_on_a_terminal() {
    expect(
        "title = \"Monday\\nTuesday\"\n[[application]]\nname = \"orders\"\ninstances = 3\n",
        &[],
        r#"error: `title` must be one line
 --> my.toml:1:9
  |
1 | title = "Monday\nTuesday"
  |         ^^^^^^^^^^^^^^^^^ has a line break
  |
  = help: a paragraph goes into `about`
"#,
    );
    expect(
        "title = \"\\u001b[31mred\"\n[[application]]\nname = \"orders\"\ninstances = 3\n",
        &[],
        r#"error: `title` must not have control characters
 --> my.toml:1:9
  |
1 | title = "\u001b[31mred"
  |         ^^^^^^^^^^^^^^^ has U+001B
  |
  = help: leave it out
"#,
    );
}
