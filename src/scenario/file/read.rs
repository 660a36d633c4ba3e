//! From the tree to a [`Scenario`]: names are resolved, defaults filled in, settings held against each other.
//!
//! [`crate::scenario::format::walk`] has judged every value for itself. What is left is what takes more than one value to see.
//! The check never stops at a problem: it takes a default in place of what is wrong and goes on, so that one run
//! reports everything; the scenario it returns counts only if no error was found.

use crate::engine::SimDuration;
use crate::model::eureka::Flavour;
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::Table;
use crate::scenario::expect;
use crate::scenario::fault;
use crate::scenario::file::applicability::{self, ActiveRegistry};
use crate::scenario::file::format::top;
use crate::scenario::format;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::sections::registry::Registry;
use crate::scenario::sections::start::Start;
use crate::scenario::sections::{fleet, registry, server, traffic};
use crate::scenario::types::claim::{Claim, Expectation};
use crate::scenario::types::{Clock, Network, Scenario};

/// Checks a file whose shape has been checked.
pub(crate) fn scenario(root: &Table, problems: &mut Vec<Problem>) -> Scenario {
    let file = Values(Some(root));
    let registry = Registry::of(file, problems);
    let active = ActiveRegistry::new(file, registry.kind(), registry.word());
    applicability::check(root, &active, problems);
    let network = Network::usual();
    let network = network.with(file.section("network")).unwrap_or(network);
    let mut fleet = fleet::fleet(root, registry.reading(file, problems), network, problems);
    registry::subscriptions(root, &mut fleet, problems);
    if fleet.is_whole() {
        registry::time_goes_on(root, &fleet, network, problems);
    }
    traffic::calls(root, &mut fleet, problems);
    let server_clock = Clock::read(file.section("server").section("clock"));
    let flavour = match &registry {
        Registry::Eureka { flavour, .. } => *flavour,
        Registry::TwoStage(_) => Flavour::Spring,
    };
    let faults = fault::read::faults(root, &fleet, flavour, problems);
    fault::read::clocks_go_forward(root, &faults, &fleet, server_clock, problems);
    let expectations = expectations(root, &fleet, &active, problems);
    let longest_heartbeat = fleet.setup.clients().map(|client| client.heartbeat_interval()).max();
    let start = Start::read(file.section("start"));
    let scenario = Scenario {
        title: String::new(),
        about: String::new(),
        seed: 0,
        replicates: 0,
        duration: SimDuration::ZERO,
        stop_when_settled: false,
        event_budget: 0,
        start_window: start.window.or(longest_heartbeat).unwrap_or_default(),
        warm_up: start.warm_up,
        setup: fleet.setup,
        server_starts_at_second: None,
        server_clock,
        servers: fleet.servers.nodes,
        servers_start_window: fleet.servers.start_window,
        server_network: fleet.servers.network,
        capacity: fleet.servers.capacity,
        zones: fleet.zones,
        applications: fleet.applications,
        network,
        faults,
        expectations,
    };
    let mut scenario = format::reset(top::ALL, scenario);
    format::apply(top::ALL, file, &mut scenario);
    format::apply(server::start::ALL, file.section("server"), &mut scenario);
    scenario
}

fn expectations(
    root: &Table,
    fleet: &Fleet,
    active: &ActiveRegistry<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<Expectation> {
    root.tables("expect").filter_map(|table| expectation(table, fleet, active, problems)).collect()
}

fn expectation(
    table: &Table,
    fleet: &Fleet,
    active: &ActiveRegistry<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Expectation> {
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
    let sentence = match expect::parse(text, active.kind) {
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
    problems.extend(applicability::claim(&sentence.claim, node.place.clone(), active));
    if let (Some((out_of, span)), Some(size)) = (&sentence.out_of, fleet.size_at_start())
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
    let server = match &sentence.server {
        Some((name, span)) => {
            let known = fleet.servers.resolve(name, &inside(span.clone()));
            Some(known.map_err(|problem| problems.push(*problem)).ok()?)
        }
        None => None,
    };
    let in_share = match values.text("in") {
        Some(_) => 1.0,
        None => values.number("in").unwrap_or(1.0),
    };
    Some(Expectation { text: text.to_owned(), claim: sentence.claim, server, in_share })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::eureka::client::{BalancerConfig, ClientConfig, TransportKind};
    use crate::model::eureka::{Eureka, ServerConfig};
    use crate::model::id::AppId;
    use crate::scenario::parse;
    use crate::scenario::setup::Settings;
    use crate::scenario::types::Delay;
    use crate::scenario::types::targets::{Direction, Peer, Selection, TargetChoice, Targets};
    use crate::scenario::types::verb::FaultKind;

    fn read(text: &str) -> Scenario {
        parse("test.toml", text, &[]).unwrap_or_else(|problems| panic!("{problems}")).scenario
    }

    fn eureka(scenario: &Scenario) -> &Settings<Eureka> {
        scenario.setup.eureka().expect("it is Eureka")
    }

    const FLEET: &str = "[[application]]\nname = \"a\"\ninstances = 20\n";

    #[test]
    fn what_is_not_said_has_its_default() {
        let scenario = read(FLEET);
        assert_eq!((scenario.seed, scenario.replicates, scenario.event_budget), (1, 100, 1_000_000_000));
        assert_eq!(scenario.duration, SimDuration::from_secs(1_800));
        assert_eq!(
            (scenario.start_window, scenario.warm_up),
            (SimDuration::from_secs(30), SimDuration::from_secs(300))
        );
        assert_eq!(scenario.network.latency, Delay::Constant(SimDuration::from_millis(1)));
        let settings = eureka(&scenario);
        assert_eq!(settings.server, ServerConfig::defaults(Flavour::Spring));
        assert_eq!(settings.clients, [ClientConfig::defaults(Flavour::Spring)]);
        assert_eq!(settings.own_client.transport.kind, TransportKind::Jersey);
        let netflix = read(&format!("flavour = \"netflix\"\n{FLEET}"));
        assert_eq!(eureka(&netflix).server, ServerConfig::defaults(Flavour::Netflix));
        assert_eq!(eureka(&netflix).clients, [ClientConfig::defaults(Flavour::Netflix)]);
    }

    #[test]
    fn a_release_decides_rules_transport_and_balancer() {
        let old = read(&format!("release = \"Greenwich.SR6\"\n{FLEET}"));
        let Settings { server, clients, .. } = eureka(&old);
        assert!(!server.rules.decrement_expected_on_eviction);
        assert_eq!(clients[0].transport.kind, TransportKind::Jersey);
        assert_eq!(
            clients[0].balancer,
            BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) }
        );
    }

    #[test]
    fn a_server_that_registers_with_itself_tries_five_times_unless_told() {
        let own = "[server]\nregister-with-eureka = true\n";
        assert_eq!(eureka(&read(&format!("{own}{FLEET}"))).server.registry_sync_retries, 5);
        let told = format!("{own}[eureka.server]\nregistry-sync-retries = 2\n{FLEET}");
        assert_eq!(eureka(&read(&told)).server.registry_sync_retries, 2);
        assert_eq!(eureka(&read(FLEET)).server.registry_sync_retries, 0);
    }

    #[test]
    fn an_application_overrides_what_it_names() {
        let text = "[eureka.instance]\nlease-renewal-interval-in-seconds = 10\n\
                    lease-expiration-duration-in-seconds = 40\n[transport]\nread-timeout = \"9s\"\n\
                    [[application]]\nname = \"a\"\n\
                    [[application]]\nname = \"b\"\n[application.eureka.instance]\n\
                    lease-renewal-interval-in-seconds = 20\n[application.transport]\nkind = \"jersey\"\n";
        let scenario = read(text);
        let clients = &eureka(&scenario).clients;
        let leases = clients.iter().map(|client| {
            (client.lease_renewal_interval_in_seconds, client.lease_expiration_duration_in_seconds)
        });
        assert_eq!(leases.collect::<Vec<_>>(), [(10, 40), (20, 40)]);
        // The longest heartbeat interval of the fleet.
        assert_eq!(scenario.start_window, SimDuration::from_secs(20));
        let limits = clients.iter().map(|client| client.transport.read_timeout);
        let seconds = |count| Some(SimDuration::from_secs(count));
        assert_eq!(limits.collect::<Vec<_>>(), [seconds(9), seconds(8)]);
    }

    #[test]
    fn zero_means_the_default_where_the_client_says_so() {
        let text = format!("[eureka.instance]\nlease-renewal-interval-in-seconds = -5\n{FLEET}");
        let loaded = parse("test.toml", &text, &[]).expect("it is only a warning");
        assert_eq!(eureka(&loaded.scenario).clients[0].lease_renewal_interval_in_seconds, 30);
        assert_eq!(loaded.warnings.len(), 1);
    }

    #[test]
    fn faults_are_read_with_their_defaults() {
        let text = format!(
            "{FLEET}[[fault]]\nat = \"5s\"\npartition = {{ share = 0.3, application = \"a\" }}\n\
                            [[fault]]\nwithin = \"0s\"\nrestart = {{ instances = [\"a-20\"] }}\n"
        );
        let faults = read(&text).faults;
        assert_eq!((faults[0].at, faults[0].within), (SimDuration::from_secs(5), SimDuration::from_secs(60)));
        let targets = Selection { application: Some(AppId(0)), zone: None, which: TargetChoice::Share(0.3) };
        assert_eq!(
            faults[0].verb,
            FaultKind::Partition {
                targets: targets.into(),
                peer: Peer::Servers,
                length: None,
                lost: Direction::Both
            }
        );
        let targets = Targets::Instances(Selection {
            application: None,
            zone: None,
            which: TargetChoice::Named(vec![(AppId(0), 20)]),
        });
        let down_for = SimDuration::from_secs(10);
        assert_eq!(
            faults[1].verb,
            FaultKind::Restart { one_by_one: None, targets, down_for, new_id: false, graceful: false }
        );
    }
}
