//! A copy of an embedded store, made while it is served.
//!
//! Pages are copied as they are, so the copy has the same row numbers, which word indexes depend on. It is
//! written beside its place and moved there when it is whole and on the disk.
//!
//! **Cost:** some hundred pages at a time; writers wait for none of them.

use super::database::{Place, copy};
use super::{Error, versions};
use std::path::{Path, PathBuf};

/// Copies the store at `place` to the new file `to`; `progress` receives the number of pages done and of all pages.
/// # Errors
/// There is no store, `to` exists already, or it cannot be written.
pub fn backup(place: &Place, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
    let Some(from) = place.file() else {
        return Err(Error::Database(place.kind().store_dialect().backup_hint().into()));
    };
    if !from.exists() {
        return Err(Error::Missing);
    }
    if to.exists() {
        return Err(Error::Database(format!("{} is there already; name a new file", to.display())));
    }
    let draft = PathBuf::from(format!("{}.{}", to.display(), std::process::id()));
    let done = copy(from, &draft, progress)
        .and_then(|mut copy| versions::current(&mut copy)?.map(drop).ok_or(Error::Missing))
        .and_then(|()| {
            let moved = std::fs::rename(&draft, to);
            moved.map_err(|cause| Error::Database(format!("{}: {cause}", to.display())))
        });
    if done.is_err() {
        // A failure to remove the draft is ignored: the first error is the one to report.
        let _ = std::fs::remove_file(&draft);
    }
    done
}
