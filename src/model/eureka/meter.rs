//! The renewal meter: a tumbling bucket, not a sliding window. What it shows is the number of renewals between
//! its last two ticks, so at any moment the figure is up to a minute old at its newest edge.
//!
//! Renewals count from the moment the server exists, but the first tick comes a minute after
//! `openForTraffic`: the first bucket may span far more than a minute, and until it is closed the meter
//! shows 0.
//!
//! Source: `eureka-server.md` 4.1; `com.netflix.eureka.util.MeasuredRate`.

/// The bucket's period (`MeasuredRate(1000 * 60 * 1)`), ms.
pub(super) const PERIOD_MS: i64 = 60_000;

/// `renewsLastMin`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeasuredRate {
    current: u32,
    last: u32,
}

impl MeasuredRate {
    /// Counts one renewal.
    pub(super) fn increment(&mut self) {
        self.current += 1;
    }

    /// Closes the bucket and says what was in it.
    pub(super) fn tick(&mut self) -> u32 {
        self.last = std::mem::take(&mut self.current);
        self.last
    }

    /// `getCount`: renewals in the last closed bucket.
    pub(super) fn count(&self) -> u32 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_that_of_the_last_closed_bucket() {
        let mut rate = MeasuredRate::default();
        rate.increment();
        rate.increment();
        assert_eq!(rate.count(), 0); // nothing is closed yet
        assert_eq!(rate.tick(), 2);
        rate.increment();
        assert_eq!(rate.count(), 2); // the third is in the open bucket
        assert_eq!(rate.tick(), 1);
        assert_eq!(rate.tick(), 0); // an empty minute counts as such
    }
}
