//! Which lines there are, and which Eureka is inside which patch.

use super::{EurekaVersion, Release, SpringVersion};

/// One line of Spring Cloud Netflix.
pub(super) struct Line {
    pub(super) major: u16,
    pub(super) minor: u16,
    /// Its release train.
    pub(super) train: &'static str,
    pub(super) newest_patch: u16,
    /// Eureka inside, from a patch on.
    eureka: &'static [(u16, EurekaVersion)],
}

impl Line {
    /// Whether a version is of this line.
    pub(super) fn holds(&self, version: SpringVersion) -> bool {
        (self.major, self.minor) == (version.0, version.1)
    }

    /// The release with a patch of this line.
    pub(super) fn release(&self, patch: u16) -> Release {
        let inside = self.eureka.iter().rev().find(|&&(from, _)| patch >= from);
        let &(_, eureka) = inside.expect("every line says what is in its patch 0");
        Release { spring: Some(SpringVersion(self.major, self.minor, patch)), eureka }
    }
}

const fn e(major: u16, minor: u16, patch: u16) -> EurekaVersion {
    EurekaVersion(major, minor, patch)
}

const fn line(
    (major, minor): (u16, u16),
    train: &'static str,
    newest_patch: u16,
    eureka: &'static [(u16, EurekaVersion)],
) -> Line {
    Line { major, minor, train, newest_patch, eureka }
}

/// `eureka-server.md` 0.1 and `eureka-client.md` 0.2, oldest first.
pub(super) const LINES: [Line; 10] = [
    line((2, 0), "Finchley", 4, &[(0, e(1, 9, 2)), (2, e(1, 9, 3))]),
    line((2, 1), "Greenwich", 6, &[(0, e(1, 9, 8)), (2, e(1, 9, 12)), (3, e(1, 9, 13))]),
    line(
        (2, 2),
        "Hoxton",
        10,
        &[
            (0, e(1, 9, 13)),
            (2, e(1, 9, 17)),
            (3, e(1, 9, 21)),
            (4, e(1, 9, 25)),
            (6, e(1, 10, 7)),
            (7, e(1, 10, 11)),
            (9, e(1, 10, 14)),
        ],
    ),
    line(
        (3, 0),
        "2020.0",
        6,
        &[(0, e(1, 10, 10)), (1, e(1, 10, 11)), (3, e(1, 10, 14)), (4, e(1, 10, 16)), (5, e(1, 10, 17))],
    ),
    line((3, 1), "2021.0", 8, &[(0, e(1, 10, 17)), (8, e(1, 10, 18))]),
    line((4, 0), "2022.0", 5, &[(0, e(2, 0, 0)), (3, e(2, 0, 1))]),
    line(
        (4, 1),
        "2023.0",
        6,
        &[(0, e(2, 0, 1)), (1, e(2, 0, 2)), (3, e(2, 0, 3)), (4, e(2, 0, 4)), (6, e(2, 0, 5))],
    ),
    line((4, 2), "2024.0", 3, &[(0, e(2, 0, 4)), (2, e(2, 0, 5))]),
    line((4, 3), "2025.0", 3, &[(0, e(2, 0, 4)), (1, e(2, 0, 5)), (2, e(2, 0, 6))]),
    line((5, 0), "2025.1", 2, &[(0, e(2, 0, 5)), (2, e(2, 0, 6))]),
];

/// Eureka's own lines: major, minor, newest patch.
pub(super) const EUREKA_LINES: [(u16, u16, u16); 3] = [(1, 9, 26), (1, 10, 18), (2, 0, 6)];

/// Spring Cloud Netflix inside Hoxton.SR4 to SR12.
pub(super) const HOXTON_FROM_SR4: [u16; 9] = [2, 3, 3, 4, 5, 6, 7, 8, 9];
