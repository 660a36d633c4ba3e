//! Lengths of time as people read them.

/// A length in words, from milliseconds: `400 ms`, `2.5 s`, `48 s`, `4m 02s`, `1h 05m`. Rounded to the nearest
/// last digit shown.
pub(super) fn in_words(ms: u64) -> String {
    let tenths = (ms + 50) / 100;
    let secs = (ms + 500) / 1_000;
    let mins = (ms + 30_000) / 60_000;
    match ms {
        0..=949 => format!("{ms} ms"),
        950..=9_949 => format!("{}.{} s", tenths / 10, tenths % 10),
        9_950..=59_499 => format!("{secs} s"),
        59_500..=3_599_499 => format!("{}m {:02}s", secs / 60, secs % 60),
        _ => format!("{}h {:02}m", mins / 60, mins % 60),
    }
}

/// Seconds with one decimal, from milliseconds: `195.0`. Rounded to the nearest tenth.
pub(super) fn in_seconds(ms: u64) -> String {
    let tenths = (ms + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The same with a sign, of a length that may be negative: `+0.4`, `-26.3`, `0.0`.
#[cfg(any(test, feature = "cli"))]
pub(super) fn in_seconds_signed(ms: i64) -> String {
    let text = in_seconds(ms.unsigned_abs());
    match ms {
        _ if text == "0.0" => text,
        ..0 => format!("-{text}"),
        _ => format!("+{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_round_to_the_last_digit_shown() {
        let cases = [
            (0, "0 ms"),
            (949, "949 ms"),
            (950, "1.0 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (59_499, "59 s"),
            (59_500, "1m 00s"),
            (242_499, "4m 02s"),
            (3_599_499, "59m 59s"),
            (3_599_500, "1h 00m"),
            (5_400_000, "1h 30m"),
        ];
        for (ms, words) in cases {
            assert_eq!(in_words(ms), words);
        }
        assert_eq!(in_seconds(195_049), "195.0");
        assert_eq!(in_seconds(195_050), "195.1");
        let signed = [-26_349, -49, 0, 50].map(in_seconds_signed);
        assert_eq!(signed, ["-26.3", "0.0", "0.0", "+0.1"]);
    }
}
