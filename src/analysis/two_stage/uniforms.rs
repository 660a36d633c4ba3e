//! The distribution of a sum of independent waits, each uniform over its own clock's period.

/// A constant and a sum of independent uniform variables, in any unit of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniforms {
    least: f64,
    widths: Vec<f64>,
}

impl Uniforms {
    /// `least`, and a uniform variable from 0 to each of `widths`. Widths of 0 add nothing; none may be negative. Meant
    /// for a handful: the distribution function has two to the power of their number terms.
    pub fn new(least: f64, widths: impl IntoIterator<Item = f64>) -> Self {
        let widths: Vec<f64> = widths.into_iter().filter(|width| *width != 0.0).collect();
        assert!(widths.iter().all(|width| *width > 0.0), "a wait is not negative");
        Self { least, widths }
    }

    /// The smallest value.
    pub const fn min(&self) -> f64 {
        self.least
    }

    /// The greatest value.
    pub fn max(&self) -> f64 {
        self.least + self.widths.iter().sum::<f64>()
    }

    /// The mean; also the median, since the distribution is symmetric.
    pub fn mean(&self) -> f64 {
        self.least + self.widths.iter().sum::<f64>() / 2.0
    }

    /// The standard deviation: a uniform variable of width `w` has a variance of `w² / 12`.
    pub fn standard_deviation(&self) -> f64 {
        libm::sqrt(self.widths.iter().map(|width| width * width).sum::<f64>() / 12.0)
    }

    /// The probability of `value` or less.
    ///
    /// The volume of a box below a plane, by inclusion and exclusion of its corners: with `x` above the least value,
    /// `Σ over subsets s of (-1)^|s| (x - Σ s)₊ⁿ`, divided by `n!` and the product of all widths.
    pub fn cdf(&self, value: f64) -> f64 {
        let (above, n) = (value - self.least, self.widths.len());
        if above >= self.max() - self.least {
            return 1.0;
        }
        if above <= 0.0 {
            return 0.0;
        }
        let corner = |subset: u32| {
            let chosen = self.widths.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
            let beyond = (above - chosen.map(|(_, width)| width).sum::<f64>()).max(0.0);
            let volume: f64 = (0..n).map(|_| beyond).product();
            if subset.count_ones().is_multiple_of(2) { volume } else { -volume }
        };
        let sum: f64 = (0..1_u32 << n).map(corner).sum();
        let box_and_factorial: f64 =
            self.widths.iter().zip(1_u32..).map(|(width, factor)| width * f64::from(factor)).product();
        (sum / box_and_factorial).clamp(0.0, 1.0)
    }

    /// The smallest value that is not exceeded with probability `share`, 0 to 1, to within a billionth of the range.
    pub fn quantile(&self, share: f64) -> f64 {
        let (mut low, mut high) = (self.least, self.max());
        for _ in 0..30 {
            let middle = low + (high - low) / 2.0;
            if self.cdf(middle) < share { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `two-stage.md` 3, seconds: the least value, the widths, and min, mean, sd, p50, p90, p95, p99, max of the table.
    #[test]
    fn the_spec_s_table() {
        let table: [(f64, &[f64], [f64; 8]); 8] = [
            (10.0, &[5.0, 3.0], [10.0, 14.0, 1.68, 14.0, 16.27, 16.78, 17.45, 18.0]),
            (10.0, &[5.0, 3.0, 5.0], [10.0, 16.5, 2.22, 16.5, 19.44, 20.18, 21.35, 23.0]),
            (10.0, &[5.0, 3.0, 0.2], [10.0, 14.1, 1.68, 14.1, 16.37, 16.88, 17.56, 18.2]),
            (55.0, &[5.0, 3.0], [55.0, 59.0, 1.68, 59.0, 61.27, 61.78, 62.45, 63.0]),
            (10.0, &[5.0, 5.0], [10.0, 15.0, 2.04, 15.0, 17.76, 18.42, 19.29, 20.0]),
            (11.0, &[5.0, 5.0], [11.0, 16.0, 2.04, 16.0, 18.76, 19.42, 20.29, 21.0]),
            (10.0, &[5.0, 5.0, 10.0], [10.0, 20.0, 3.54, 20.0, 24.69, 25.78, 27.53, 30.0]),
            (25.0, &[5.0, 5.0], [25.0, 30.0, 2.04, 30.0, 32.76, 33.42, 34.29, 35.0]),
        ];
        for (least, widths, expected) in table {
            let sum = Uniforms::new(least, widths.iter().copied());
            let quantiles = [0.5, 0.9, 0.95, 0.99].map(|share| sum.quantile(share));
            let [p50, p90, p95, p99] = quantiles;
            let sd = sum.standard_deviation();
            let figures = [sum.min(), sum.mean(), sd, p50, p90, p95, p99, sum.max()];
            for (figure, expected) in figures.into_iter().zip(expected) {
                assert!((figure - expected).abs() < 0.006, "{widths:?}: {figures:?}");
            }
        }
    }

    /// `F(x) = [x³ - (x-3)₊³ - 2(x-5)₊³ + 2(x-8)₊³ + (x-10)₊³ - (x-13)₊³] / 450`.
    #[test]
    fn the_spec_s_polynomial() {
        let sum = Uniforms::new(10.0, [5.0, 3.0, 5.0]);
        let cube = |y: f64| y.max(0.0) * y.max(0.0) * y.max(0.0);
        for tenth in 0..=130 {
            let x = f64::from(tenth) / 10.0;
            let terms = cube(x) - cube(x - 3.0) - 2.0 * cube(x - 5.0) + 2.0 * cube(x - 8.0) + cube(x - 10.0)
                - cube(x - 13.0);
            assert!((sum.cdf(10.0 + x) - terms / 450.0).abs() < 1e-12, "at {x}");
        }
    }

    #[test]
    fn it_is_a_distribution() {
        for widths in [vec![], vec![2.0], vec![0.0, 1.0], vec![1.0, 7.0, 0.2, 3.0]] {
            let sum = Uniforms::new(4.0, widths);
            let at = |part: i32| sum.cdf(sum.min() + (sum.max() - sum.min()) * f64::from(part) / 100.0);
            assert!((0..100).all(|part| at(part) <= at(part + 1) + 1e-12));
            assert_eq!((sum.cdf(3.9), sum.cdf(sum.max())), (0.0, 1.0));
            // Symmetric about the mean.
            assert!((1..100).all(|part| (at(part) + at(100 - part) - 1.0).abs() < 1e-9 || sum.max() == 4.0));
            assert!((sum.quantile(0.5) - sum.mean()).abs() < 1e-6);
        }
    }
}
