//! The one server that delivers from a file: it holds a lock on a file beside it, which the system frees when the process ends.
//!
//! The database's own file is not locked: closing a second handle of it would drop the locks of SQLite.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// The lock of a file, perhaps held.
#[derive(Debug)]
pub(super) struct FileOwner {
    path: PathBuf,
    held: Option<File>,
}

impl FileOwner {
    /// The lock of the database in `path`.
    pub(super) fn new(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push("-weir-events");
        Self { path: name.into(), held: None }
    }

    /// Takes the lock if it is free; true if it is held now.
    /// # Errors
    /// The file of the lock cannot be made.
    pub(super) fn try_hold(&mut self) -> std::io::Result<bool> {
        if self.held.is_none() {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.path)?;
            match file.try_lock() {
                Ok(()) => self.held = Some(file),
                Err(std::fs::TryLockError::WouldBlock) => {}
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(self.held.is_some())
    }
}

/// The identity of the file in `path`, which a copy does not have.
#[cfg(unix)]
pub(super) fn inode(path: &Path) -> std::io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map(|it| it.ino().to_string())
}
