//! How releases are named, in whole and in short.

use super::lines::{EUREKA_LINES, HOXTON_FROM_SR4, LINES};
use super::{EurekaVersion, Release, SpringVersion};
use crate::model::eureka::Flavour;

/// `2.2.10`, `2.2.10.RELEASE`, `4.3`.
pub(super) fn spring_version(name: &str) -> Option<Release> {
    let numbers = numbers(name.strip_suffix(".RELEASE").unwrap_or(name))?;
    let line = |major, minor| LINES.iter().find(move |line| (line.major, line.minor) == (major, minor));
    match numbers[..] {
        [major, minor] => line(major, minor).map(|line| line.release(line.newest_patch)),
        [major, minor, patch] => {
            line(major, minor).filter(|line| patch <= line.newest_patch).map(|line| line.release(patch))
        }
        _ => None,
    }
}

/// `2025.0`, `2025.0.1`, `Hoxton`, `Hoxton.SR3`, `Greenwich.RELEASE`, in any case.
pub(super) fn train_release(name: &str) -> Option<Release> {
    let lower = name.to_ascii_lowercase();
    for line in &LINES {
        let Some(rest) = lower.strip_prefix(&line.train.to_ascii_lowercase()) else { continue };
        let service = match rest {
            "" => return Some(line.release(line.newest_patch)),
            ".release" => 0,
            _ => rest.strip_prefix(".sr").or_else(|| rest.strip_prefix('.'))?.parse().ok()?,
        };
        let patch = match (line.train, service) {
            ("Hoxton", 2) => return None,
            ("Hoxton", 3) => 2,
            ("Hoxton", 4..) => *HOXTON_FROM_SR4.get(usize::from(service) - 4)?,
            // Trains of the later kind number their releases as the line does, and go on a little longer.
            (_, patch) => patch,
        };
        return (patch <= line.newest_patch).then(|| line.release(patch));
    }
    None
}

/// `1.9.13`, `2.0`.
pub(super) fn eureka_version(name: &str) -> Option<Release> {
    let numbers = numbers(name)?;
    let line = |major, minor| EUREKA_LINES.iter().find(move |line| (line.0, line.1) == (major, minor));
    let eureka = match numbers[..] {
        [major, minor] => line(major, minor).map(|&(_, _, newest)| EurekaVersion(major, minor, newest)),
        [major, minor, patch] => line(major, minor)
            .filter(|&&(_, _, newest)| patch <= newest)
            .map(|_| EurekaVersion(major, minor, patch)),
        _ => None,
    }?;
    Some(Release { spring: None, eureka })
}

fn numbers(name: &str) -> Option<Vec<u16>> {
    name.split('.').map(|part| part.parse().ok()).collect()
}

/// The names of `flavour` that are written most like `name`.
pub(super) fn suggestions(name: &str, flavour: Flavour) -> Vec<String> {
    let mut candidates: Vec<String> = match flavour {
        Flavour::Spring => LINES
            .iter()
            .rev()
            .flat_map(|line| {
                let newest = SpringVersion(line.major, line.minor, line.newest_patch);
                [line.train.to_owned(), newest.to_string()]
            })
            .chain(["Hoxton.SR1", "Hoxton.SR3"].map(str::to_owned))
            .collect(),
        Flavour::Netflix => {
            let newest = |&(major, minor, patch): &(u16, u16, u16)| EurekaVersion(major, minor, patch);
            EUREKA_LINES.iter().rev().map(|line| newest(line).to_string()).collect()
        }
    };
    let likeness = |candidate: &String| strsim::jaro_winkler(&candidate.to_lowercase(), &name.to_lowercase());
    candidates.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    candidates.truncate(3);
    candidates
}
