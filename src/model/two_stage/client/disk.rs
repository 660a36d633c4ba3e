//! The snapshot on disk (`two-stage.md` 2.4). It belongs to the host: it survives the end of a process.
//!
//! A write begins when an answer is taken and is done [`ClientConfig::disk_write_ms`] later. The loop does not wait for
//! it. No event tells of its end: whoever looks at the file compares times, and while a process runs nobody looks. An
//! answer that is taken while a write runs begins another, which takes the running one's place: both write the same
//! file, and the newer one is what stays.
//!
//! | what happens | atomic | in place |
//! | --- | --- | --- |
//! | the process ends in the middle of a write | the old content | torn |
//! | the disk is full | unchanged: the other file is what cannot be written | torn: it was cut off before the write failed |
//! | the folder cannot be written to | unchanged | unchanged: the file cannot be opened |
//!
//! A file that is torn stays so until the next write that succeeds. There is one file for all services. Nacos has one
//! for each, so that with it a torn file costs one service's list.

use crate::engine::{SimDuration, SimTime};
use crate::model::two_stage::config::{ClientConfig, DiskMode};
use crate::model::view::View;

/// What is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// There is none.
    Missing,
    /// What a consumer held.
    Holds(View),
    /// Something that cannot be read.
    Torn,
}

impl File {
    fn view(self) -> View {
        match self {
            Self::Holds(view) => view,
            Self::Missing | Self::Torn => View::EMPTY,
        }
    }
}

/// The file, and the last write to it.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    /// What is in the file once the last write is done.
    file: File,
    /// What was in it before.
    before: File,
    /// When the last write is done.
    done: SimTime,
    /// Whether there is no room for another write.
    pub(super) is_full: bool,
}

impl Disk {
    /// No file, and room for one.
    pub(super) const EMPTY: Self =
        Self { file: File::Missing, before: File::Missing, done: SimTime::ZERO, is_full: false };

    /// What a process finds that starts.
    pub(super) fn file(&self) -> File {
        self.file
    }

    /// Begins to write; whether that will succeed, as long as the process lives.
    pub(super) fn write(&mut self, view: View, config: &ClientConfig, now: SimTime) -> bool {
        if !config.disk_writable {
            return false;
        }
        if self.is_full {
            if config.disk_mode == DiskMode::InPlace {
                (self.file, self.done) = (File::Torn, now);
            }
            return false;
        }
        if self.done <= now {
            self.before = self.file;
        }
        self.file = File::Holds(view);
        self.done = now + SimDuration::from_millis(u64::from(config.disk_write_ms));
        true
    }

    /// The process that writes has ended, and its write with it.
    pub(super) fn process_ends(&mut self, config: &ClientConfig, now: SimTime) {
        if self.done > now {
            self.file = match config.disk_mode {
                DiskMode::InPlace => File::Torn,
                DiskMode::Atomic | DiskMode::None => self.before,
            };
        }
        (self.before, self.done) = (self.file, SimTime::ZERO);
    }

    /// What the file may bring back: what is in it, or was before its last write.
    pub(super) fn views(&self) -> [View; 2] {
        [self.file.view(), self.before.view()]
    }
}
