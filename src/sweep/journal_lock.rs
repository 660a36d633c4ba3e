//! One process at a time: the lock of a journal.
//!
//! It is held by the operating system, so it is free as soon as its process ends, however that ends.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::journal::JournalError;

/// The name of the file that is locked. It says which process holds it.
pub(super) const LOCK: &str = "lock";
/// How often to look for a lock file that another process has just removed.
const LOCK_TRIES: usize = 10;

/// Takes the lock of a journal, which is begun if need be.
pub(super) fn lock(directory: &Path) -> Result<File, JournalError> {
    let failed = |error| JournalError::Io(directory.to_owned(), error);
    let path = directory.join(LOCK);
    for _ in 0..LOCK_TRIES {
        match fs::create_dir(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = match opened {
            Ok(file) => file,
            // Whoever had it has just removed the directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default();
                let holder = holder.trim().parse::<u32>();
                let holder = holder.map(|process| format!(", by process {process}")).unwrap_or_default();
                return Err(JournalError::Locked(directory.to_owned(), holder));
            }
            // A file system without locks: then there is none to be had.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Whoever had it may have removed the file that is locked here now. Then another one bears its name.
        let process = format!("{}\n", std::process::id());
        file.set_len(0).and_then(|()| file.write_all(process.as_bytes())).map_err(failed)?;
        if fs::read_to_string(&path).is_ok_and(|text| text == process) {
            return Ok(file);
        }
    }
    let error = io::Error::other("its lock file is removed again and again");
    Err(failed(error))
}
