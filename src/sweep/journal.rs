//! What a comparison has finished so far, on the disk: so that one that was stopped, killed or cut off from power goes
//! on where it was.
//!
//! A journal is a directory of its own beside the place of the results:
//!
//! ```text
//!   plan.json                  what is being run, to be compared with what is asked for
//!   configuration-000001.json  a configuration with all its replicates
//!   lock                       held by the process that works here, and freed when it ends, however it ends
//! ```
//!
//! A configuration's file is written beside its name, forced to the disk and then renamed. Its first line has a key,
//! which stands for all that decides the results, and a hash of what follows. A file that is torn, of another key or
//! no file of ours counts as absent, and its configuration is run again. Results are only ever made from these files,
//! so it cannot matter in how many goes they came about.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::journal_lock::{LOCK, lock};
use super::journal_plan::{PlanRecord, TOOL, hex};
use super::plan::Plan;
use super::record::ReplicateRecord;

const PLAN: &str = "plan.json";
const BEING_WRITTEN: &str = ".tmp";
/// So many are looked for at most to say how many are kept.
const CONFIGURATIONS_COUNTED: usize = 1_000_000;
/// The first words of every configuration's file. Its number grows when the format changes.
const MAGIC: &str = "stillup configuration 2";

/// The finished configurations of one plan. Held by one process at a time.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    /// The version of this program, and the revision if it is known.
    program: String,
    keys: Vec<[u8; 32]>,
    finished: Vec<bool>,
    /// Configurations that were kept since.
    kept: AtomicUsize,
    lock: File,
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process works here.
    #[error("another comparison is under way in {}{}", .0.display(), .1)]
    Locked(PathBuf, String),
    /// It is that of another plan; what differs, a sentence each.
    #[error("{} holds {kept} of {size} configurations of another comparison", .directory.display())]
    Changed {
        /// The journal.
        directory: PathBuf,
        /// Configurations that are finished.
        kept: usize,
        /// Configurations that there would have been.
        size: usize,
        /// What differs.
        differences: Vec<String>,
        /// The command that began it.
        command: String,
    },
    /// Reading or writing failed.
    #[error("cannot write to {}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
}

impl Journal {
    /// Opens the journal at `directory`, or begins one. `program` is the version of this program, and `command` what
    /// was typed. With `fresh`, what is there is lost.
    ///
    /// # Errors
    /// [`JournalError::Locked`] if another process works there, [`JournalError::Changed`] if it is that of another plan.
    pub fn open(
        directory: &Path,
        plan: &Plan,
        program: &str,
        command: &str,
        fresh: bool,
    ) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io(directory.to_owned(), error);
        let lock = lock(directory)?;
        let mut journal = Self {
            directory: directory.to_owned(),
            program: program.to_owned(),
            keys: (0..plan.size()).map(|index| *plan.key(index)).collect(),
            finished: vec![false; plan.size()],
            kept: AtomicUsize::new(0),
            lock,
        };
        if fresh {
            journal.remove_records().map_err(failed)?;
        }
        let record = PlanRecord::of(plan, program, command);
        match journal.earlier_plan() {
            Some(earlier) => journal.require_same(&earlier, &record)?,
            None => {
                let text = serde_json::to_string_pretty(&record).expect("plain structs are always JSON");
                journal.write_whole(PLAN, text.as_bytes()).map_err(failed)?;
            }
        }
        journal.finished =
            (0..plan.size()).into_par_iter().map(|index| journal.read(index).is_ok()).collect();
        Ok(journal)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the configuration at this place was finished when the journal was opened.
    pub fn had(&self, index: usize) -> bool {
        self.finished[index]
    }

    /// How many configurations were finished when the journal was opened.
    pub fn had_count(&self) -> usize {
        self.finished.iter().filter(|&&finished| finished).count()
    }

    /// How many are finished now.
    pub fn count(&self) -> usize {
        self.had_count() + self.kept.load(Ordering::Relaxed)
    }

    /// Keeps a finished configuration.
    ///
    /// # Errors
    /// If it cannot be written. Then nothing of it is kept.
    pub fn keep(&self, index: usize, replicates: &[ReplicateRecord]) -> io::Result<()> {
        let body = serde_json::to_vec(replicates).expect("plain structs are always JSON");
        let mut bytes = format!("{}{}\n", self.head(index), hex(&Sha256::digest(&body))).into_bytes();
        bytes.extend_from_slice(&body);
        self.write_whole(&file_name(index), &bytes)?;
        self.kept.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The replicates of a finished configuration.
    ///
    /// # Errors
    /// If it is not there, or what is there is torn or of something else.
    pub fn read(&self, index: usize) -> io::Result<Vec<ReplicateRecord>> {
        let bytes = fs::read(self.directory.join(file_name(index)))?;
        let torn = || io::Error::new(io::ErrorKind::InvalidData, format!("{} is torn", file_name(index)));
        let rest = bytes.strip_prefix(self.head(index).as_bytes()).ok_or_else(torn)?;
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(torn)?;
        let (hash, body) = (&rest[..end], &rest[end + 1..]);
        if hash != hex(&Sha256::digest(body)).as_bytes() {
            return Err(torn());
        }
        let replicates: Vec<ReplicateRecord> = serde_json::from_slice(body).map_err(|_| torn())?;
        let sound = replicates.iter().flat_map(|replicate| &replicate.stages).all(|stage| stage.is_sound());
        if sound { Ok(replicates) } else { Err(torn()) }
    }

    /// Removes it all, once it is no longer needed. What others put there stays.
    pub fn remove(self) {
        // It is no loss if something stays: it is found and used, or replaced, the next time.
        let _ = self.remove_records();
        let _ = fs::remove_file(self.directory.join(LOCK));
        drop(self.lock);
        let _ = fs::remove_dir(&self.directory);
    }

    /// The first line of a configuration's file, but for the hash.
    fn head(&self, index: usize) -> String {
        let mut key = Sha256::new();
        key.update(self.program.as_bytes());
        key.update([0]);
        key.update(self.keys[index]);
        format!("{MAGIC} {} ", hex(&key.finalize()))
    }

    fn earlier_plan(&self) -> Option<PlanRecord> {
        let text = fs::read(self.directory.join(PLAN)).ok()?;
        serde_json::from_slice(&text).ok().filter(|plan: &PlanRecord| plan.tool == TOOL)
    }

    fn require_same(&self, earlier: &PlanRecord, now: &PlanRecord) -> Result<(), JournalError> {
        let differences = earlier.differences(now);
        if differences.is_empty() {
            return Ok(());
        }
        // Read from a file that may be damaged: its numbers are not trusted.
        let lengths = earlier.dimensions.iter().map(|(_, values)| values.len());
        let size = lengths.fold(1_usize, usize::saturating_mul);
        let kept = (0..size.min(CONFIGURATIONS_COUNTED))
            .filter(|&index| self.directory.join(file_name(index)).exists())
            .count();
        Err(JournalError::Changed {
            directory: self.directory.clone(),
            kept,
            size,
            differences,
            command: earlier.command.clone(),
        })
    }

    fn remove_records(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(|name| {
                name == PLAN || name.starts_with("configuration-") || name.ends_with(BEING_WRITTEN)
            });
            if ours {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes a file so that it is there whole or not at all, whatever happens meanwhile.
    fn write_whole(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let fresh = self.directory.join(format!("{name}{BEING_WRITTEN}"));
        let written = File::create(&fresh).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        if let Err(error) = written.and_then(|()| fs::rename(&fresh, self.directory.join(name))) {
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
        // Only some systems can force a directory to the disk; on the others a rename may be lost, no more.
        if let Ok(directory) = File::open(&self.directory) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

fn file_name(index: usize) -> String {
    format!("configuration-{:06}.json", index + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tempfile::TempDir;

    use super::*;
    use crate::sweep::{Request, ScenarioText};

    fn plan(axis: &str, text: &str) -> Plan {
        let text = format!(
            "replicates = 2\n{text}\n[[application]]\nname = \"orders\"\ninstances = 3\n[[fault]]\ncrash = {{ count = 1 }}\n"
        );
        let text = ScenarioText { path: "a.toml".into(), name: "a".into(), text };
        let request = Request { texts: vec![text], axes: vec![axis.into()], ..Request::default() };
        Plan::of(&request, 1, &AtomicBool::new(false)).expect("it is fine").0
    }

    fn ours() -> Plan {
        plan("duration=20m,30m", "")
    }

    fn open(around: &TempDir, plan: &Plan) -> Result<Journal, JournalError> {
        Journal::open(&around.path().join("journal"), plan, "1.0", "stillup sweep", false)
    }

    fn record(digest: u64) -> ReplicateRecord {
        ReplicateRecord {
            digest,
            events: 1,
            ended_at_nanos: 1,
            to_duration: false,
            requests: 1,
            busiest_minute: 1,
            quality: Default::default(),
            evictions: 0,
            soft_evictions: 0,
            protected_at_end: false,
            refused_answers: 0,
            refresh_warnings: 0,
            failed_starts: 0,
            calls: 0,
            failed_calls: 0,
            held: vec![true],
            stages: Vec::new(),
        }
    }

    #[test]
    fn what_is_kept_is_there_when_it_is_opened_again() {
        let around = TempDir::new().unwrap();
        let journal = open(&around, &ours()).unwrap();
        assert!(!journal.had(0) && !journal.had(1));
        journal.keep(1, &[record(7), record(8)]).unwrap();
        drop(journal);
        let journal = open(&around, &ours()).unwrap();
        assert!(!journal.had(0) && journal.had(1));
        assert_eq!(journal.read(1).unwrap(), [record(7), record(8)]);
        journal.remove();
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_torn_or_strange_counts_as_absent() {
        let around = TempDir::new().unwrap();
        let journal = open(&around, &ours()).unwrap();
        journal.keep(0, &[record(7)]).unwrap();
        let path = around.path().join("journal").join(file_name(0));
        let whole = fs::read(&path).unwrap();
        drop(journal);
        let has_first = || open(&around, &ours()).unwrap().had(0);
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(!has_first(), "{length} bytes of {}", whole.len());
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        fs::write(&path, flipped).unwrap();
        assert!(!has_first());
        fs::write(&path, &whole).unwrap();
        assert!(has_first());
        // The file of another configuration under this one's name.
        fs::rename(&path, path.with_file_name(file_name(1))).unwrap();
        assert!(!open(&around, &ours()).unwrap().had(1));
        // A plan that is torn is written anew.
        fs::write(around.path().join("journal").join(PLAN), "{").unwrap();
        assert!(!open(&around, &ours()).unwrap().had(0));
    }

    #[test]
    fn another_plan_is_refused_with_what_differs() {
        let around = TempDir::new().unwrap();
        open(&around, &ours()).unwrap().keep(0, &[record(7)]).unwrap();
        let differences = |plan: &Plan| match open(&around, plan) {
            Err(JournalError::Changed { kept: 1, size: 2, differences, .. }) => differences,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            differences(&plan("duration=20m", "")),
            ["what varies: duration=20m,30m then, duration=20m now"]
        );
        let changed = differences(&plan("duration=20m,30m", "seed = 3\n[network]\nlatency = \"2ms\""));
        assert_eq!(changed.len(), 2, "{changed:?}");
        assert_eq!(changed[0], "the seed: 1 then, 3 now");
        assert!(changed[1].starts_with("the scenario: `latency = "), "{changed:?}");
        let version = Journal::open(&around.path().join("journal"), &ours(), "2.0", "", false);
        assert!(matches!(version, Err(JournalError::Changed { .. })));
        let fresh = Journal::open(&around.path().join("journal"), &ours(), "2.0", "", true).unwrap();
        assert!(!fresh.had(0));
    }

    #[test]
    fn two_at_once_are_one_too_many() {
        let around = TempDir::new().unwrap();
        let first = open(&around, &ours()).unwrap();
        let second = open(&around, &ours());
        let Err(error @ JournalError::Locked(..)) = second else { panic!("{second:?}") };
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        drop(first);
        open(&around, &ours()).unwrap();
    }
}
