//! A copy of an embedded store, made while it is served.
//!
//! SQLite's backup copies pages as they are, so the copy has the same row numbers, which word indexes depend on. It is
//! written beside its place and moved there when it is whole and on the disk.
//!
//! **Cost:** some hundred pages at a time; writers wait for none of them.

use super::database::{Place, open_sqlite};
use super::{Error, versions};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// Copies the store at `place` to the new file `to`; `progress` hears pages done and all pages.
/// # Errors
/// There is no store, `to` is there already, or it cannot be written.
pub fn backup(place: &Place, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
    let Place::Sqlite(from) = place else {
        return Err(Error::Database(
            "the store is in PostgreSQL; save it by `pg_dump`, and restore it by `pg_restore`".into(),
        ));
    };
    if !from.exists() {
        return Err(Error::Missing);
    }
    if to.exists() {
        return Err(Error::Database(format!("{} is there already; name a new file", to.display())));
    }
    let draft = PathBuf::from(format!("{}.{}", to.display(), std::process::id()));
    let done = copy(from, &draft, progress).and_then(|()| {
        let moved = std::fs::rename(&draft, to);
        moved.map_err(|cause| Error::Database(format!("{}: {cause}", to.display())))
    });
    if done.is_err() {
        // A failure to remove the draft is ignored: the first error is the one to report.
        let _ = std::fs::remove_file(&draft);
    }
    done
}

fn copy(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
    let source = open_sqlite(from, OpenFlags::empty())?;
    let words = |cause: rusqlite::Error| Error::Database(format!("{}: {cause}", to.display()));
    // One snapshot: else every commit of others would begin the copy anew.
    source.execute_batch("BEGIN; SELECT one FROM weir_store").map_err(words)?;
    let mut target = Connection::open(to).map_err(words)?;
    {
        let backup = Backup::new(&source, &mut target).map_err(words)?;
        loop {
            let step = backup.step(512).map_err(words)?;
            let state = backup.progress();
            let all = u64::try_from(state.pagecount).unwrap_or_default();
            progress(all - u64::try_from(state.remaining).unwrap_or_default().min(all), all);
            if step == rusqlite::backup::StepResult::Done {
                break;
            }
        }
    }
    drop(target);
    let file = std::fs::File::open(to).and_then(|it| it.sync_all());
    file.map_err(|cause| Error::Database(format!("{}: {cause}", to.display())))?;
    let mut copy = super::database::Database::Sqlite(open_sqlite(to, OpenFlags::empty())?);
    versions::current(&mut copy)?.map(drop).ok_or(Error::Missing)
}
