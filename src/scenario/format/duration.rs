//! Durations as people write them: `30s`, `1m 30s`, `500ms`.
//!
//! A thin skin over `humantime`: it adds the range of virtual time and words its errors for the person who wrote
//! the file.

use std::time::Duration;

use crate::engine::SimDuration;

/// The longest duration a scenario may name: a year of 365 days. Far inside virtual time (584 years), so that
/// sums of a few of them never meet its end.
pub(crate) const LONGEST: SimDuration = SimDuration::from_secs(365 * 86_400);

/// Reads a duration. The error is a clause for a person, without a full stop.
pub(crate) fn parse(text: &str) -> Result<SimDuration, String> {
    let trimmed = text.trim();
    if trimmed.parse::<f64>().is_ok() && trimmed != "0" {
        return Err(format!("`{trimmed}` has no unit"));
    }
    let length: Duration =
        humantime::parse_duration(trimmed).map_err(|_| format!("`{trimmed}` is not a duration"))?;
    let nanos = u64::try_from(length.as_nanos()).map_err(|_| format!("`{trimmed}` is longer than a year"))?;
    let length = SimDuration::from_nanos(nanos);
    if length > LONGEST { Err(format!("`{trimmed}` is longer than a year")) } else { Ok(length) }
}

/// Reads a duration that may be negative, in milliseconds, which it must be whole ones of.
pub(crate) fn parse_shift_ms(text: &str) -> Result<i64, String> {
    let trimmed = text.trim();
    let (sign, length) = match trimmed.strip_prefix('-') {
        Some(rest) => (-1, parse(rest)),
        None => (1, parse(trimmed.strip_prefix('+').unwrap_or(trimmed))),
    };
    let length = length.map_err(|_| parse(trimmed).err().unwrap_or_default())?;
    if length != SimDuration::from_millis(length.as_millis()) {
        return Err(format!("`{trimmed}` is not a whole number of milliseconds"));
    }
    Ok(sign * length.as_millis() as i64)
}

/// Writes what [`parse_shift_ms`] reads.
pub(crate) fn print_shift_ms(shift_ms: i64) -> String {
    let sign = if shift_ms < 0 { "-" } else { "" };
    format!("\"{sign}{}\"", SimDuration::from_millis(shift_ms.unsigned_abs()))
}

/// What to write instead of a bare number.
pub(crate) fn unit_hint(number: &str) -> String {
    format!("write the unit: `\"{number}s\"` for seconds, `\"{number}ms\"` for milliseconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(parse("30s"), Ok(SimDuration::from_secs(30)));
        assert_eq!(parse(" 1m 30s "), Ok(SimDuration::from_secs(90)));
        assert_eq!(parse("5m30s"), Ok(SimDuration::from_secs(330)));
        assert_eq!(parse("500us"), Ok(SimDuration::from_nanos(500_000)));
        assert_eq!(parse("0"), Ok(SimDuration::ZERO));
    }

    #[test]
    fn a_bare_number_lacks_its_unit() {
        assert_eq!(parse("30"), Err("`30` has no unit".into()));
        assert_eq!(parse("1.5"), Err("`1.5` has no unit".into()));
    }

    #[test]
    fn nonsense_and_eternity_are_refused() {
        assert_eq!(parse("soon"), Err("`soon` is not a duration".into()));
        assert_eq!(parse("-5s"), Err("`-5s` is not a duration".into()));
        assert_eq!(parse(""), Err("`` is not a duration".into()));
        assert_eq!(parse("366days"), Err("`366days` is longer than a year".into()));
        assert_eq!(parse("9999999999years"), Err("`9999999999years` is longer than a year".into()));
        let endless = format!("{}s", "9".repeat(50));
        assert_eq!(parse(&endless), Err(format!("`{endless}` is not a duration")));
    }

    #[test]
    fn a_shift_goes_either_way_by_whole_milliseconds() {
        assert_eq!(parse_shift_ms("60s"), Ok(60_000));
        assert_eq!(parse_shift_ms("-1m 500ms"), Ok(-60_500));
        assert_eq!(parse_shift_ms("1us"), Err("`1us` is not a whole number of milliseconds".into()));
        assert_eq!(parse_shift_ms("-60"), Err("`-60` has no unit".into()));
        assert!(parse_shift_ms("--1s").is_err());
        for shift_ms in [0, 1, -1, 60_000, -86_400_001] {
            assert_eq!(parse_shift_ms(print_shift_ms(shift_ms).trim_matches('"')), Ok(shift_ms));
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_is_read_back(nanos in 0..=LONGEST.as_nanos()) {
            let length = SimDuration::from_nanos(nanos);
            proptest::prop_assert_eq!(parse(&length.to_string()), Ok(length));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse(&text), parse_shift_ms(&text));
        }
    }
}
