//! Figures that the arithmetic of several scenarios asks for.

use stillup::engine::{SimDuration, SimTime};
use stillup::observe::{Minute, ReplicateData};

/// `trunc(clients x 60 / interval x 0.85)` for the default interval: `eureka-server.md` 4.2.
pub(crate) fn threshold(clients: u32) -> u32 {
    clients * 17 / 10
}

/// Leases that rounds removed.
pub(crate) fn evicted(replicate: &ReplicateData) -> u64 {
    replicate.leases.evicted
}

/// Minutes that a server counted between two moments, as a whole.
pub(crate) fn minutes(
    replicate: &ReplicateData,
    from: SimTime,
    to: SimTime,
) -> impl Iterator<Item = &Minute> {
    let whole = from + SimDuration::from_secs(60);
    replicate.timeline.iter().filter(move |row| row.at >= whole && row.at <= to)
}

/// The mean of some numbers.
pub(crate) fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) =
        numbers.into_iter().fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / count
}

/// Whether `seen` of `of` is what `probability` allows: within four standard deviations, exact for 0 and 1.
pub(crate) fn is_likely(seen: usize, of: usize, probability: f64) -> bool {
    let mean = of as f64 * probability;
    let deviation = (mean * (1.0 - probability)).sqrt();
    (seen as f64 - mean).abs() <= 4.0 * deviation
}
