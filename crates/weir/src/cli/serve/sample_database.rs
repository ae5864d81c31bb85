//! The Chinook sample database, created from SQL in the binary.

use crate::server::unpack_gzip;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// `examples/chinook/chinook.sql`, compressed by the build script.
static CHINOOK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/chinook.sql.gz"));

/// Maximum size of the unpacked SQL, in bytes.
const SEED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The row that the published update operation changes.
const EXTRA: &str = "INSERT INTO Album (AlbumId, Title, ArtistId) VALUES (1000, 'Trying now', 1)";

/// The file of the sample database, which is created if it is missing, or if it is to begin afresh.
pub(in crate::cli) fn sample_file(reset: bool, data: Option<PathBuf>) -> Result<PathBuf, String> {
    let directory = data.unwrap_or_else(data_directory);
    let file = directory.join("chinook.db");
    if reset {
        remove(&file)?;
    }
    if !file.exists() {
        create(&file)?;
    }
    Ok(file)
}

/// `$XDG_CACHE_HOME/weir`, `~/.cache/weir`, or `.weir` in the working directory.
fn data_directory() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|it| it.join(".cache")))
        .map_or_else(|| PathBuf::from(".weir"), |it| it.join("weir"))
}

fn remove(file: &Path) -> Result<(), String> {
    for suffix in ["", "-wal", "-shm"] {
        let part = PathBuf::from(format!("{}{suffix}", file.display()));
        match std::fs::remove_file(&part) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{} cannot be removed: {cause}", part.display()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Creates the database as a draft and renames it when it is complete.
pub(in crate::cli) fn create(file: &Path) -> Result<(), String> {
    let fail = |cause: &dyn std::fmt::Display| format!("{} cannot be made: {cause}", file.display());
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory).map_err(|cause| fail(&cause))?;
    }
    let draft = PathBuf::from(format!("{}.{}", file.display(), std::process::id()));
    let seed = unpack_gzip(CHINOOK, SEED_BYTES_MAX).ok_or_else(|| fail(&"the embedded seed is broken"))?;
    let seed = String::from_utf8(seed).map_err(|cause| fail(&cause))?;
    let written = Connection::open(&draft).and_then(|database| {
        // The draft is deleted on failure, so durability matters only at the end.
        database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        database.execute_batch(&seed)?;
        database.execute_batch(EXTRA)?;
        database.execute_batch("PRAGMA journal_mode = WAL")
    });
    let moved = written
        .map_err(|cause| fail(&cause))
        .and_then(|()| std::fs::rename(&draft, file).map_err(|cause| fail(&cause)));
    if moved.is_err() {
        // A failure to remove the draft is ignored: the first error is the one to report.
        let _ = std::fs::remove_file(&draft);
    }
    moved
}
