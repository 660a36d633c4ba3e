//! A bar for those who wait: only on a terminal, and only once the work has taken a while.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::stopwatch::Stopwatch;

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(200);

/// The bar; dropping it wipes it off.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar over so many replicates, which may be told of from any thread.
    pub(super) fn over(replicates: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(replicates), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:40} {pos} of {len} replicates, {elapsed}, {eta} to go");
        bar.set_style(style.expect("the template is one"));
        if !quiet {
            let waiting = bar.clone();
            // One replicate may take long, so it is a thread that looks at the clock, not the work. It sleeps
            // in short steps, and the process does not wait for it.
            // Where no thread is to be had, there is no bar.
            let _ = std::thread::Builder::new().spawn(move || show_later(&waiting));
        }
        Self { bar }
    }

    /// One replicate more is done.
    pub(super) fn one_more(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn show_later(bar: &ProgressBar) {
    let watch = Stopwatch::start();
    while watch.elapsed() < PATIENCE {
        if bar.is_finished() {
            return;
        }
        std::thread::sleep(TICK / 4);
    }
    if !bar.is_finished() {
        // Draws on a terminal only.
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(TICK);
    }
}
