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

#[cfg(test)]
mod tests {
    use super::super::harness::{Logged, Rig, at_ms};
    use super::*;
    use crate::model::fact::Fact;
    use crate::model::message::RequestKind;
    use crate::model::two_stage::config::{DiskWriteOn, OnCorruptFile, Preset};

    fn failed(fact: &Fact) -> bool {
        *fact == Fact::StartFailed
    }

    /// A consumer that has written instance 0 and, with instance 1 from 3 s on, fetches both at 5 s. Its process is
    /// killed at `killed_ms`.
    fn killed_at(killed_ms: u64, mode: DiskMode, on_corrupt_file: OnCorruptFile) -> Rig {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.disk_mode = mode;
        rig.config.on_corrupt_file = on_corrupt_file;
        rig.registry.up(0, 0..1);
        rig.start();
        rig.run_to(at_ms(3_000));
        rig.registry.up(0, 1..2);
        rig.run_to(at_ms(killed_ms));
        rig.crash();
        rig
    }

    /// What a consumer holds that starts now, while the registry is down; `None` if it does not start.
    fn restarted(rig: &mut Rig) -> Option<Vec<u32>> {
        rig.registry_is_down();
        rig.start();
        rig.client.is_running().then(|| rig.held())
    }

    #[test]
    fn a_kill_in_the_middle_of_a_write_leaves_what_the_mode_says() {
        use DiskMode::{Atomic, InPlace, None as NoFile};
        use OnCorruptFile::{FailStart, Ignore};
        // The write begins at 5,000 ms and is done at 5,020 ms.
        for (killed_ms, mode, on_corrupt_file, held) in [
            (5_019, Atomic, FailStart, Some(vec![0])),
            (5_020, Atomic, FailStart, Some(vec![0, 1])),
            (5_019, InPlace, FailStart, None),
            (5_019, InPlace, Ignore, Some(vec![])),
            (5_020, InPlace, FailStart, Some(vec![0, 1])),
            (5_019, NoFile, FailStart, Some(vec![])),
        ] {
            let mut rig = killed_at(killed_ms, mode, on_corrupt_file);
            assert_eq!(restarted(&mut rig), held, "{mode:?} {on_corrupt_file:?} at {killed_ms} ms");
        }
    }

    #[test]
    fn a_torn_file_fails_every_start_before_anything_is_sent() {
        let mut rig = killed_at(5_010, DiskMode::InPlace, OnCorruptFile::FailStart);
        let before = rig.log.len();
        for now_ms in [6_000, 9_000] {
            rig.run_to(at_ms(now_ms));
            assert_eq!(restarted(&mut rig), None);
        }
        assert_eq!(rig.facts_ms(failed), [6_000, 9_000]);
        assert_eq!(rig.logged_ms(|logged| *logged == Logged::Exited), [6_000, 9_000]);
        assert_eq!(rig.log.len() - before, 4);
    }

    #[test]
    fn the_next_write_mends_a_torn_file() {
        let mut rig = killed_at(5_010, DiskMode::InPlace, OnCorruptFile::Ignore);
        rig.start();
        rig.run_to(at_ms(6_000));
        rig.crash();
        assert_eq!(restarted(&mut rig), Some(vec![0, 1]));
    }

    #[test]
    fn a_restart_after_the_registry_lost_everything_replaces_the_good_file() {
        let mut rig = killed_at(5_900, DiskMode::Atomic, OnCorruptFile::FailStart);
        rig.registry.restart();
        rig.start();
        assert_eq!(rig.held(), [0, 1]); // from the file, until the first answer
        rig.run_to(at_ms(6_000));
        assert_eq!(rig.held(), [0; 0]);
        rig.crash();
        assert_eq!(restarted(&mut rig), Some(vec![]));
    }

    #[test]
    fn a_full_disk_looks_like_a_dead_registry() {
        use DiskMode::{Atomic, InPlace};
        for (mode, writable, left) in [
            (Atomic, true, Some(vec![0, 1])),
            (InPlace, true, None),
            (Atomic, false, Some(vec![])),
            (InPlace, false, Some(vec![])),
        ] {
            let mut rig = killed_at(5_900, mode, OnCorruptFile::FailStart);
            if !writable {
                rig.client.disk = Disk::EMPTY;
            }
            rig.config.disk_writable = writable;
            rig.client.set_disk_full(writable);
            rig.registry.up(0, 2..3);
            let before = rig.sent_ms(RequestKind::FetchFull).len();
            rig.run_to(at_ms(10_000));
            rig.start();
            rig.run_to(at_ms(25_000));
            // The fetch at the start counts no failure; then 2, 4 and 8 s, as if nobody had answered.
            assert_eq!(
                rig.sent_ms(RequestKind::FetchFull)[before..],
                [10_000, 10_000, 12_000, 16_000, 24_000]
            );
            assert_eq!(rig.facts_ms(|fact| *fact == Fact::RefreshWarned), [16_000]);
            assert_eq!(rig.held(), [0, 1, 2]); // the news is taken all the same
            rig.crash();
            assert_eq!(restarted(&mut rig), left, "{mode:?}");
        }
    }

    #[test]
    fn what_is_written_on_change_needs_no_room_without_one() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.disk_write_on = DiskWriteOn::Change;
        rig.registry.up(0, 0..1);
        rig.start();
        rig.run_to(at_ms(1_000));
        rig.client.set_disk_full(true);
        rig.run_to(at_ms(11_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 5_000, 10_000]);
        rig.registry.up(0, 1..2);
        rig.run_to(at_ms(18_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull)[4..], [15_000, 17_000]);
        // What has changed is in memory by now, so the next answer changes nothing and need not be written.
        rig.run_to(at_ms(23_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull)[6..], [22_000]);
    }

    #[test]
    fn a_write_takes_the_place_of_one_that_runs() {
        let config = ClientConfig::defaults(Preset::TwoStage);
        let mut views = crate::model::view::Views::default();
        let life = views.begin_life();
        let [first, second] = [1, 2].map(|version| View::of(life, version));
        let after = |ends_ms| {
            let mut disk = Disk::EMPTY;
            assert!(disk.write(first, &config, at_ms(0)) && disk.write(second, &config, at_ms(10)));
            assert_eq!(disk.views(), [second, View::EMPTY]);
            disk.process_ends(&config, at_ms(ends_ms));
            disk.file()
        };
        assert_eq!(after(29), File::Missing); // 10 + 20 = 30
        assert_eq!(after(30), File::Holds(second));
    }
}
