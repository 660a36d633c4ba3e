//! A fleet that cannot be, and settings that do not go together.

use super::expect;

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
