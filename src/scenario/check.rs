//! From the tree to a [`Scenario`]: names are resolved, defaults filled in, settings held against each other.
//!
//! [`super::shape`] has judged every value for itself. What is left is what takes more than one value to see.
//! The check never stops at a problem: it takes a default in place of what is wrong and goes on, so that one run
//! reports everything; the scenario it returns counts only if no error was found.

use super::check_eureka::{self, Layer};
use super::check_fault;
use super::check_fleet;
use super::check_release;
use super::diagnostic::{Place, Problem};
use super::document::Table;
use super::expect;
use super::types::{Claim, Delay, Expectation, Network, Scenario};
use super::values::{LengthOr, Values};
use crate::engine::SimDuration;
use crate::model::eureka::Flavour;

/// The default of `duration`.
const DURATION: SimDuration = SimDuration::from_secs(30 * 60);
/// The default of `start.warm-up`.
const WARM_UP: SimDuration = SimDuration::from_secs(5 * 60);
/// The default of `network.latency`.
const LATENCY: SimDuration = SimDuration::from_millis(1);

/// Checks a file whose shape has been checked.
pub(super) fn scenario(root: &Table, problems: &mut Vec<Problem>) -> Scenario {
    let top = Values(Some(root));
    let flavour = match top.text("flavour") {
        Some("netflix") => Flavour::Netflix,
        _ => Flavour::Spring,
    };
    let rules = check_release::resolve(top, flavour, problems);
    let server = check_eureka::server(top, &rules, flavour, problems);
    let server_client = check_eureka::server_client(top, &rules, &server, problems);
    let base = Layer::release(&rules, flavour).overlay(top, &rules, problems);
    let fleet = check_fleet::fleet(root, &base, &rules, problems);
    let faults = check_fault::faults(root, &fleet, problems);
    let expectations = expectations(root, fleet.size_at_start(), problems);
    let longest_heartbeat =
        fleet.applications.iter().map(|app| app.client.lease_renewal_interval_in_seconds).max().unwrap_or(30);
    let start = top.section("start");
    Scenario {
        title: top.text("title").unwrap_or("untitled").to_owned(),
        about: top.text("about").unwrap_or_default().to_owned(),
        seed: top.large_count("seed").unwrap_or(1),
        replicates: top.count("replicates").unwrap_or(100),
        duration: top.length("duration").unwrap_or(DURATION),
        stop_when_settled: top.flag("stop-when-settled").unwrap_or(true),
        start_window: start.length("window").unwrap_or(SimDuration::from_secs(u64::from(longest_heartbeat))),
        warm_up: start.length("warm-up").unwrap_or(WARM_UP),
        event_budget: top.large_count("event-budget").unwrap_or(1_000_000_000),
        release: rules.name,
        server,
        server_starts_at_second: top
            .section("server")
            .length_or("starts-at-second", &["random"])
            .and_then(LengthOr::length),
        server_client,
        applications: fleet.applications,
        network: Network {
            latency: top.section("network").delay("latency").unwrap_or(Delay::Constant(LATENCY)),
        },
        faults,
        expectations,
    }
}

fn expectations(root: &Table, fleet_size: Option<u32>, problems: &mut Vec<Problem>) -> Vec<Expectation> {
    root.tables("expect").filter_map(|table| expectation(table, fleet_size, problems)).collect()
}

fn expectation(table: &Table, fleet_size: Option<u32>, problems: &mut Vec<Problem>) -> Option<Expectation> {
    let values = Values(Some(table));
    let Some(node) = values.node("that") else {
        problems.push(
            Problem::error(table.place.clone(), "an expectation needs `that`")
                .hint("as in `that = \"no false removal\"`"),
        );
        return None;
    };
    let text = node.as_text()?;
    let inside = |span: std::ops::Range<usize>| within_text(node.place.clone(), text, span);
    let sentence = match expect::parse(text) {
        Ok(sentence) => sentence,
        Err(refusal) => {
            problems.push(
                Problem::error(inside(refusal.span), format!("this expectation is not understood: {text}"))
                    .label(refusal.expected)
                    .hint(refusal.hint),
            );
            return None;
        }
    };
    if let (Some((out_of, span)), Some(size)) = (&sentence.out_of, fleet_size)
        && *out_of != size
    {
        problems.push(
            Problem::error(inside(span.clone()), format!("the fleet has {size} instances, not {out_of}"))
                .label(format!("must be {size}"))
                .hint("write the fleet's size at the start, or leave it out: `at least 57 left at the end`"),
        );
    }
    if let (Claim::Left { count, .. }, Some((out_of, _))) = (&sentence.claim, &sentence.out_of)
        && count > out_of
    {
        problems.push(
            Problem::error(node.place.clone(), format!("{count} of {out_of} can never be left"))
                .label("more than there are"),
        );
    }
    let in_share = match values.text("in") {
        Some(_) => 1.0,
        None => values.number("in").unwrap_or(1.0),
    };
    Some(Expectation { text: text.to_owned(), claim: sentence.claim, in_share })
}

/// The place of a part of a text. Only a text in plain quotes, without escapes, has its letters where they
/// stand in the file: the node is as long as the text and two quotes.
fn within_text(node: Place, text: &str, span: std::ops::Range<usize>) -> Place {
    match node.end - node.start {
        length if length == text.len() + 2 => {
            Place::new(node.source, node.start + 1 + span.start..node.start + 1 + span.end)
        }
        length if length == text.len() => {
            Place::new(node.source, node.start + span.start..node.start + span.end)
        }
        _ => node,
    }
}
