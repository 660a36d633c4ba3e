//! Ctrl-C and a polite kill: a flag that long work asks, so that everything is tidied up on the way out.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The flag, raised by the first interruption from now on.
pub(super) fn listen() -> &'static AtomicBool {
    // A second handler cannot be set. Then the first one raises the same flag.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    &INTERRUPTED
}
