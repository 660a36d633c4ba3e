//! A warning about servers that have more to do than their threads can: not for a storm, which is what capacities are
//! there to show, but for every minute of the run.

use crate::engine::{Distribution, DistributionShape};
use crate::model::eureka::Eureka;
use crate::model::message::RequestKind;
use crate::scenario::diagnostics::Problem;
use crate::scenario::eureka::lint::protection;
use crate::scenario::lint::Spans;
use crate::scenario::setup::{AppOf, ScenarioOf};

/// Heartbeats and fetches that take more of the threads' time than there is: the queue grows to the end of the run, and
/// memory with it.
pub(crate) fn overload(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let capacity = scenario.capacity.as_ref()?;
    let seconds = |kind: RequestKind| mean_seconds(capacity.service[kind as usize]);
    let count = scenario.servers.len() as f64;
    let renewals = protection::Fleet::of(scenario).renewals / count;
    let fetches = |full: bool| -> f64 {
        let apps = scenario.apps().filter(|app| app.client.fetch_registry);
        let apps = apps.filter(|app| (app.client.disable_delta || scenario.server().disable_delta) == full);
        let each = |app: AppOf<'_, Eureka>| 60.0 / f64::from(app.client.registry_fetch_interval_seconds);
        apps.map(|app| each(app) * f64::from(app.instances)).sum::<f64>() / count
    };
    let peers = scenario.servers.iter().map(|server| server.peers.len()).sum::<usize>() as f64 / count;
    let work = renewals * (seconds(RequestKind::Renew) + peers * mean_seconds(capacity.item))
        + fetches(true) * seconds(RequestKind::FetchFull)
        + fetches(false) * seconds(RequestKind::FetchDelta);
    let share = work / (60.0 * f64::from(capacity.threads));
    if share <= 1.0 {
        return None;
    }
    let (taken, busy) = if share.is_finite() {
        let busy = (share * f64::from(capacity.threads)).ceil();
        (
            format!("{:.0} % of a server's threads", share * 100.0),
            format!("{busy:.0} threads would be busy all the time"),
        )
    } else {
        let hint = "their mean is infinite: a `pareto` with a `shape` of at most 1 has none";
        ("any number of threads in the long run".to_owned(), hint.to_owned())
    };
    Some(
        Problem::warning(
            spans.global(&["server", "capacity", "threads"]),
            format!("heartbeats and fetches alone take {taken}"),
        )
        .label("the queue, and the memory that it takes, grow to the end of the run")
        .hint(busy),
    )
}

/// The mean, in seconds. Of a normal distribution without what is negative it is that of the whole, and less than the
/// true one; a mean that is infinite is.
fn mean_seconds(distribution: Distribution) -> f64 {
    match distribution.shape() {
        DistributionShape::Constant(length) => length.as_secs_f64(),
        DistributionShape::Uniform { low, high } => (low.as_secs_f64() + high.as_secs_f64()) / 2.0,
        DistributionShape::Exponential { mean } | DistributionShape::Normal { mean, .. } => {
            mean.as_secs_f64()
        }
        DistributionShape::LogNormal { median, sigma } => {
            median.as_secs_f64() * libm::exp(sigma * sigma / 2.0)
        }
        DistributionShape::Pareto { shape, .. } if shape <= 1.0 => f64::INFINITY,
        DistributionShape::Pareto { scale, shape } => scale.as_secs_f64() * shape / (shape - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    #[test]
    fn more_work_than_there_are_threads_for() {
        // 100 clients beat and fetch twice a minute: 200 renewals of 0.2 s and 200 fetches of 0.1 s are 60 s of work.
        let work = "renew = \"200ms\"\nfetch-delta = \"100ms\"\nfetch-full = \"1h\"";
        let text = |threads: u32, more: &str| {
            warnings(&format!("{more}[server.capacity]\nthreads = {threads}\n{work}"))
        };
        assert_eq!(text(1, ""), "");
        assert!(
            text(1, "[server]\nrecognises-own-url = true\n[eureka.instance]\nlease-renewal-interval-in-seconds = 20\n")
                .contains("take 133 % of a server's threads")
        );
        // Full fetches of an hour: 200 x 3600 s and 40 s of renewals in a minute.
        assert!(text(2, "[eureka.client]\ndisable-delta = true\n").contains("take 600033 %"));
        // Of 200 renewals two thirds come from peers: 133.3 items of 0.6 s are 80 s.
        let items = "[server]\ncount = 3\n[server.capacity]\nthreads = 1\nreplicated-item = \"600ms\"";
        assert!(warnings(items).contains("take 133 %"), "{}", warnings(items));
        let tail = "[server.capacity]\nthreads = 1\nrenew = { pareto = { least = \"1us\", shape = 1.0 } }";
        assert!(warnings(tail).contains("take any number of threads"), "{}", warnings(tail));
    }
}
