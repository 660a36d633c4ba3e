use super::*;
use crate::engine::SimDuration;
use crate::model::message::RequestKind;
use crate::scenario::types::claim::Statistic;

/// As in a scenario of Eureka's.
fn parse(text: &str) -> Result<Sentence, Refusal> {
    super::parse(text, Kind::Eureka)
}

fn claim(text: &str) -> Claim {
    parse(text).expect("it is an expectation").claim
}

#[test]
fn latencies_are_read() {
    let limit = SimDuration::from_secs(330);
    let mut expected = Claim::Latency {
        event: None,
        stage: Stage::Balancer,
        statistic: Statistic::Percentile(99),
        comparison: Comparison::Below,
        limit,
    };
    assert_eq!(claim("balancer p99 below 5m30s"), expected);
    assert_eq!(claim("Balancer  P99 BELOW 5m 30s"), expected);
    if let Claim::Latency { event, statistic, comparison, .. } = &mut expected {
        (*event, *statistic, *comparison) = (Some(EventKind::Crash), Statistic::Max, Comparison::AtMost);
    }
    assert_eq!(claim("crash balancer max at most 5m30s"), expected);
}

#[test]
fn counts_are_read() {
    assert_eq!(claim("no false removal"), Claim::FalseRemovals(Comparison::Exactly, 0));
    assert_eq!(claim("at most 3 false removals"), Claim::FalseRemovals(Comparison::AtMost, 3));
    assert_eq!(claim("no evictions"), Claim::Evictions(Comparison::Exactly, 0));
    assert_eq!(claim("exactly 4 evictions"), Claim::Evictions(Comparison::Exactly, 4));
    assert_eq!(claim("rounds evict 15, 13,11"), Claim::Rounds(vec![15, 13, 11]));
    assert_eq!(claim("self-preservation at the end"), Claim::SelfPreservationAtEnd(true));
    assert_eq!(claim("no self-preservation at the end"), Claim::SelfPreservationAtEnd(false));
}

#[test]
fn mistakes_calls_and_load_are_read() {
    assert_eq!(claim("no mistake at client"), Claim::Mistakes(Stage::Client, Comparison::Exactly, 0));
    let most = Claim::Mistakes(Stage::Balancer, Comparison::AtMost, 30);
    assert_eq!(claim("at most 30 mistakes at balancer"), most);
    let accuracy = Claim::QueryAccuracy(Stage::Client, Comparison::Above, 99.5);
    assert_eq!(claim("query accuracy at client above 99.5 %"), accuracy);
    assert_eq!(claim("query accuracy at client above 99.5%"), accuracy);
    assert_eq!(claim("no failed calls"), Claim::FailedCalls(Comparison::Exactly, 0.0));
    assert_eq!(claim("failed calls below 1.5 %"), Claim::FailedCalls(Comparison::Below, 1.5));
    let load = |kinds| Claim::Load { kinds, comparison: Comparison::Above, count: 140 };
    assert_eq!(claim("most renewals a minute above 140"), load(&[RequestKind::Renew]));
    assert_eq!(claim("most full fetches a minute above 140"), load(&[RequestKind::FetchFull]));
    let fetches = &[RequestKind::FetchFull, RequestKind::FetchDelta, RequestKind::FetchService];
    assert_eq!(claim("most fetches a minute above 140"), load(fetches));
    assert_eq!(claim("most requests a minute above 140"), load(&RequestKind::ALL));
    let because = |text: &str| parse(text).expect_err("it is none").expected;
    assert_eq!(because("query accuracy at client above 101 %"), "a percentage is from 0 to 100");
    assert_eq!(because("failed calls below 1.5"), "expected `%`");
    assert_eq!(because("failed calls below NaN %"), "expected a number");
    assert!(because("most heartbeats a minute above 1").starts_with("expected `requests`"));
}

#[test]
fn claims_about_servers_are_read() {
    assert_eq!(claim("self-preservation meanwhile"), Claim::SelfPreservationMeanwhile(true));
    assert_eq!(claim("no self-preservation meanwhile"), Claim::SelfPreservationMeanwhile(false));
    assert_eq!(claim("servers agree at the end"), Claim::ServersAgree);
    let after = Claim::ServersAgreeAfter(SimDuration::from_secs(65));
    assert_eq!(claim("servers agree 1m 5s after the last fault"), after);
    assert_eq!(claim("at most 10 instances differ"), Claim::Differing(Comparison::AtMost, 10));
    assert_eq!(claim("exactly 1 instance differs"), Claim::Differing(Comparison::Exactly, 1));
    assert_eq!(claim("utilisation above 90 %"), Claim::Utilisation(Comparison::Above, 90.0));
    let kinds = &[RequestKind::Replicate];
    let load = Claim::Load { kinds, comparison: Comparison::Below, count: 500 };
    assert_eq!(claim("most replications a minute below 500"), load);
}

#[test]
fn a_claim_may_be_about_one_server() {
    let on = |text: &str| parse(text).map(|sentence| sentence.server.map(|(name, _)| name));
    for text in [
        "crash registry p99 below 1m 30s",
        "no false removal",
        "at least 5 of 10 left at the end",
        "exactly 4 evictions",
        "rounds evict 4, 3",
        "no self-preservation at the end",
        "self-preservation meanwhile",
        "no mistake at client",
        "most renewals a minute above 3",
        "utilisation below 90 %",
    ] {
        assert_eq!(on(text), Ok(None), "{text}");
        assert_eq!(on(&format!("{text} on server-2")), Ok(Some("server-2".into())), "{text}");
    }
    let sentence = parse("no eviction on Server-12").expect("it is one");
    assert_eq!(sentence.server, Some(("server-12".into(), 15..24)));
    for text in ["servers agree at the end", "at most 1 instances differ", "no failed call"] {
        let refusal = parse(&format!("{text} on server-2")).expect_err(text);
        assert_eq!(refusal.hint, "leave `on …` out", "{text}");
    }
    assert_eq!(parse("no eviction on").expect_err("whose?").expected, "expected the name of a server");
    let refusal = parse("balancer p99 below on server-1").expect_err("no limit");
    assert_eq!(refusal.expected, "expected a duration");
}

#[test]
fn claims_about_a_two_stage_registry_are_read() {
    let claim = |text: &str| super::parse(text, Kind::TwoStage).expect("it is an expectation").claim;
    let latency = claim("crash entry max below 63s");
    assert!(matches!(latency, Claim::Latency { stage: Stage::Entry, .. }), "{latency:?}");
    assert_eq!(claim("guard shut at the end"), Claim::GuardShutAtEnd(true));
    assert_eq!(claim("no guard shut at the end"), Claim::GuardShutAtEnd(false));
    assert_eq!(claim("guard shut meanwhile"), Claim::GuardShutMeanwhile(true));
    assert_eq!(claim("no guard shut meanwhile"), Claim::GuardShutMeanwhile(false));
    assert_eq!(claim("exactly 4 soft evictions"), Claim::SoftEvictions(Comparison::Exactly, 4));
    assert_eq!(claim("no soft eviction"), Claim::SoftEvictions(Comparison::Exactly, 0));
    assert_eq!(claim("no refused answer"), Claim::RefusedAnswers(Comparison::Exactly, 0));
    assert_eq!(claim("at least 10 refused answers"), Claim::RefusedAnswers(Comparison::AtLeast, 10));
    assert_eq!(claim("no failed start"), Claim::FailedStarts(Comparison::Exactly, 0));
    assert_eq!(claim("at least 1 failed start"), Claim::FailedStarts(Comparison::AtLeast, 1));
    assert_eq!(claim("no failed call"), Claim::FailedCalls(Comparison::Exactly, 0.0));
    let load = |kinds| Claim::Load { kinds, comparison: Comparison::Above, count: 140 };
    assert_eq!(claim("most watches a minute above 140"), load(&[RequestKind::Watch]));
    assert_eq!(claim("most service fetches a minute above 140"), load(&[RequestKind::FetchService]));
}

#[test]
fn a_refusal_offers_what_the_registry_has() {
    let refusal = |text: &str, kind: Kind| super::parse(text, kind).expect_err("it is none");
    let two_stage = |text: &str| refusal(text, Kind::TwoStage);
    assert!(two_stage("crash entri max below 1m").hint.contains("did you mean `entry`?"));
    assert_eq!(two_stage("guard shut").expected, "expected `at` or `meanwhile`");
    assert_eq!(two_stage("guard open at the end").expected, "expected `shut`");
    assert!(two_stage("no guard").hint.contains("`no guard shut at the end`"));
    assert!(!two_stage("most delta fetches a minute above 1").expected.contains("delta"));
    assert!(refusal("no mistake at no", Kind::Eureka).expected.ends_with("`client` or `balancer`"));
    assert!(two_stage("no mistake at no").expected.ends_with("`client` or `entry`"));
}

#[test]
fn the_size_of_the_fleet_is_kept_for_the_check() {
    let sentence = parse("at least 57 of 100 left at the end").expect("it is an expectation");
    assert_eq!(sentence.claim, Claim::Left { comparison: Comparison::AtLeast, count: 57 });
    assert_eq!(sentence.out_of, Some((100, 15..18)));
    assert_eq!(parse("exactly 1 left at the end").expect("it is one").out_of, None);
}

#[test]
fn a_refusal_points_at_the_word_where_sense_ends() {
    let refusal = parse("balancer p999 below 5m").expect_err("no such quantile");
    assert_eq!(
        (refusal.span, refusal.expected.as_str()),
        (9..13, "expected `min`, `mean`, `p1` to `p99` or `max`")
    );
    let refusal = parse("balanser p99 below 5m").expect_err("no such stage");
    assert!(refusal.hint.starts_with("did you mean `balancer`?"), "{}", refusal.hint);
    let refusal = parse("balancer p99 below 330").expect_err("no unit");
    assert_eq!((refusal.span, refusal.expected.as_str()), (19..22, "`330` has no unit"));
    let refusal = parse("no false removal at all").expect_err("too long");
    assert_eq!((refusal.span, refusal.expected.as_str()), (17..19, "the sentence ends here"));
    assert_eq!(parse("").expect_err("empty").expected, "nothing is expected");
    assert_eq!(parse("rounds evict 15, 0").expect_err("zero").span, 17..18);
    assert_eq!(parse("balancer p99 below").expect_err("no limit").expected, "expected a duration");
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = parse(&text);
    }

    #[test]
    fn no_sequence_of_our_own_words_panics(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "no", "at", "most", "least", "exactly", "57", "of", "left", "the", "end", "false", "removal",
                "rounds", "evict", ",", "balancer", "crash", "query", "accuracy", "failed", "calls", "%", "most",
                "mistakes", "renewals", "a", "minute", "above", "p99", "below", "5m", "self-preservation", "ü", "on",
                "server-2", "servers", "agree", "after", "last", "fault", "instances", "differ", "utilisation",
                "meanwhile", "guard", "shut", "soft", "eviction", "refused", "answers", "starts", "entry", "watches",
            ]),
            0..10,
        ),
    ) {
        let text = words.join(" ");
        for refusal in [Kind::Eureka, Kind::TwoStage].map(|kind| super::parse(&text, kind).err()).into_iter().flatten() {
            proptest::prop_assert!(refusal.span.start <= refusal.span.end);
            proptest::prop_assert!(text.get(refusal.span).is_some());
        }
    }
}
