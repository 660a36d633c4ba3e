//! Did you mean …: the nearest of the words that would have been right.

/// The candidate that `word` most likely stands for, if one is near enough to be worth naming.
///
/// Spelling that Spring's relaxed binding would accept (`leaseRenewalIntervalInSeconds`,
/// `LEASE_RENEWAL_INTERVAL_IN_SECONDS`: `eureka-client.md` 10.4) always finds its kebab-case name. Otherwise at
/// most a third of the letters may be wrong.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody mistypes a name into a hundred letters; the distance costs their product.
    if word.chars().count() > 100 {
        return None;
    }
    let wanted = uniform(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let name = uniform(candidate);
        let distance = strsim::damerau_levenshtein(&wanted, &name);
        let limit = wanted.chars().count().max(name.chars().count()).div_ceil(3);
        let near = distance <= limit && distance < name.chars().count();
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The shortest candidate that has every word of a name, or words that begin so: `evict-interval` finds
/// `eviction-interval-timer-in-ms`.
pub(crate) fn in_short<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let words = |text: &str| -> Vec<String> { text.split(['-', '_', '.']).map(uniform).collect() };
    let wanted = words(name);
    let has_all = |candidate: &&str| {
        let known = words(candidate);
        wanted.iter().all(|word| word.len() > 2 && known.iter().any(|other| other.starts_with(word)))
    };
    candidates.into_iter().filter(has_all).min_by_key(|candidate| candidate.len())
}

/// The spelling that Spring compares: letters and digits only, in lower case.
pub(crate) fn uniform(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `did you mean …?`, if there is a near one.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// `a`, `b` or `c`.
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    list(words, "or")
}

/// `a`, `b` and `c`.
pub(crate) fn all_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    list(words, "and")
}

fn list<'a>(words: impl IntoIterator<Item = &'a str>, before_last: &str) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} {before_last} {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word() {
        assert_eq!(closest("replicats", ["seed", "replicates"]), Some("replicates"));
        assert_eq!(closest("evication", ["eviction", "event"]), Some("eviction"));
        assert_eq!(closest("zzz", ["seed", "replicates"]), None);
        assert_eq!(closest("x", ["a", "b"]), None);
    }

    #[test]
    fn relaxed_spelling_finds_the_kebab_case_name() {
        let names = ["lease-renewal-interval-in-seconds", "lease-expiration-duration-in-seconds"];
        assert_eq!(closest("leaseRenewalIntervalInSeconds", names), Some(names[0]));
        assert_eq!(closest("LEASE_EXPIRATION_DURATION_IN_SECONDS", names), Some(names[1]));
    }

    #[test]
    fn an_abbreviation_finds_its_name() {
        let names = ["eviction-interval-timer-in-ms", "enable-self-preservation"];
        assert_eq!(in_short("evict-interval", names), Some(names[0]));
        assert_eq!(in_short("self-preservation", names), Some(names[1]));
        assert_eq!(in_short("e", names), None);
    }

    #[test]
    fn lists_read_like_english() {
        assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(all_of(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(one_of(["a"]), "`a`");
        assert_eq!(one_of([]), "");
    }
}
