//! Exit codes, in one place.

use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// An expectation of the scenario was missed.
    Missed = 1,
    /// The command line or the scenario is wrong.
    Input = 2,
    /// Reading or writing failed.
    Io = 3,
    /// A limit was hit: the event budget.
    Limit = 4,
    /// A bug of stillup.
    Bug = 70,
    /// Interrupted by the user.
    Interrupted = 130,
}

/// The codes, as `--help` and the manual page explain them.
pub(super) const EXPLAINED: &str = "\
Exit codes:
  0    fine
  1    an expectation of the scenario was missed
  2    the command line or the scenario is wrong
  3    reading or writing failed
  4    a limit was hit: a replicate needed more events than its budget
  70   a bug of stillup
  130  interrupted";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained() {
        use Exit::*;
        for exit in [Fine, Missed, Input, Io, Limit, Bug, Interrupted] {
            let code = format!("\n  {:<4} ", exit as u8);
            assert!(EXPLAINED.contains(&code), "{exit:?} is not explained");
        }
    }
}
