//! Other users of a store during a load: another load is refused, and indexes in use by others are kept.
//!
//! A load begins by taking away the indexes of empty tables, to build them when all rows are there. A server that has the
//! store open searches words by some of them, so they stay, kept by their triggers, wherever the file cannot be had alone
//! for that moment. A server that comes later finds written down what is missing, and does without it.
//!
//! **Invariant:** at most one load writes into a store, whatever becomes of its process.

use crate::store::database::{Database, Place, Value};
use crate::store::{Error, Types, defer_indexes as defer};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The right to load, given back when it is dropped.
pub(crate) enum ImportLock {
    /// A locked file beside the store.
    File { path: PathBuf, _file: File },
    /// A session that holds the lock.
    Session { _session: Box<Database> },
}

impl ImportLock {
    /// Takes the right to load into the store at `place`.
    /// # Errors
    /// Another load has it.
    pub(crate) fn new(place: &Place) -> Result<Self, Error> {
        if let Some(path) = place.file() {
            return Self::lock(path);
        }
        let mut session = Database::open(place)?;
        if session.lock_load()? {
            Ok(Self::Session { _session: Box::new(session) })
        } else {
            Err(taken_already())
        }
    }

    fn lock(store: &Path) -> Result<Self, Error> {
        let mut name = store.as_os_str().to_owned();
        name.push("-import");
        let path = PathBuf::from(name);
        let failed = |cause: std::io::Error| Error::Database(format!("{}: {cause}", path.display()));
        loop {
            let file =
                File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_same(&file, &path) => return Ok(Self::File { path, _file: file }),
                // The owner has just removed it: there is a new one of that name, or none.
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Err(taken_already()),
                Err(std::fs::TryLockError::Error(cause)) => return Err(failed(cause)),
            }
        }
    }
}

impl Drop for ImportLock {
    fn drop(&mut self) {
        if let Self::File { path, .. } = self {
            // A file that stays behind is not locked, so it blocks nobody.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let places = file.metadata().and_then(|it| Ok(((it.dev(), it.ino()), std::fs::metadata(path)?)));
    places.is_ok_and(|(one, other)| one == (other.dev(), other.ino()))
}

#[cold]
fn taken_already() -> Error {
    Error::Database("another import loads into this store; wait until it has ended".into())
}

/// Drops indexes of empty tables, unless they are in use.
pub(crate) fn defer_indexes(place: &Place, types: &Types) -> Result<(), Error> {
    // The other users of a server search without them meanwhile.
    let Some(mut database) = Database::exclusive(place)? else { return Ok(()) };
    database.begin()?;
    let done = defer(types, &mut database).and_then(|()| database.commit());
    if done.is_err() {
        database.rollback();
    }
    done
}

/// The rows of a statement of one column, as texts.
pub(crate) fn texts(database: &mut Database, sql: &str, values: &[Value]) -> Result<Vec<String>, Error> {
    Ok(database.query(sql, values, 1)?.iter().map(|row| row[0].text()).collect())
}
