//! Files in WAL mode where no file can be made beside them: SQLite keeps a log even while it only reads.
//!
//! On a medium that nobody can write, a file without a log does not change, and is opened as such. Elsewhere another user may write it,
//! so that is left to whoever runs Weir.
//!
//! Source: sqlite.org/wal.html, section 5; sqlite.org/uri.html, `immutable`.

use rusqlite::{Error, ErrorCode};
use rustix::fs::StatVfsMountFlags;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Place of the version that a reader has to know, and its value in WAL mode. Source: sqlite.org/fileformat.html, section 1.3.
const READ_VERSION_AT: usize = 19;
const WAL_VERSION: u8 = 2;

const REMEDY: &str = "it is in WAL mode, in which SQLite makes files beside it even to read: let the user that runs Weir write its folder, \
                      or take it out of this mode where it can be written, by `PRAGMA journal_mode = DELETE`";

/// True if `path` is in WAL mode, without a log, on a medium that nobody can write.
pub(crate) fn is_immutable(path: &Path) -> bool {
    is_on_read_only_medium(path) && !has_log(path) && is_in_wal_mode(path)
}

/// The address that tells SQLite that the file never changes.
pub(crate) fn immutable_address(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address + "?immutable=1"
}

/// The way to have `path` read that cannot be for `error`, if its mode is why.
pub fn find_remedy(path: &Path, error: &Error) -> Option<&'static str> {
    let is_refused = matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly));
    (is_refused && is_in_wal_mode(path)).then_some(REMEDY)
}

/// Most files whose heads are read; of further ones the mode is not known.
const KEPT_FILES_MAX: usize = 64;

/// Files whose heads were read. None is ever closed: a process that closes a file drops all locks that it has on it, those of SQLite's
/// connections too, and then another process takes their log away. Source: fcntl(2), advisory record locks; sqlite.org/howtocorrupt.html,
/// section 2.2.
static KEPT_FILES: Mutex<Vec<File>> = Mutex::new(Vec::new());

fn is_in_wal_mode(path: &Path) -> bool {
    let mut files = KEPT_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = |it: std::fs::Metadata| (it.dev(), it.ino());
    let Ok(sought) = path.metadata().map(identity) else { return false };
    let is_it = |it: &File| it.metadata().map(identity).is_ok_and(|it| it == sought);
    if !files.iter().any(is_it) {
        if files.len() >= KEPT_FILES_MAX {
            return false;
        }
        let Ok(file) = File::open(path) else { return false };
        files.push(file);
    }
    let mut head = [0; READ_VERSION_AT + 1];
    let file = files.iter().find(|it| is_it(it));
    file.is_some_and(|it| it.read_exact_at(&mut head, 0).is_ok() && head[READ_VERSION_AT] == WAL_VERSION)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // A log that cannot be looked at may hold something.
    match PathBuf::from(log).metadata() {
        Ok(found) => found.len() > 0,
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

fn is_on_read_only_medium(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_any_path() {
        assert_eq!(
            immutable_address(Path::new("/a b/ü?#%.db")),
            "file:/a%20b/%C3%BC%3F%23%25.db?immutable=1"
        );
    }

    /// Locks of this process on `path`, as the kernel lists them.
    fn list_locks(path: &Path) -> Vec<String> {
        let file = format!(":{}", path.metadata().expect("it is there").ino());
        let process = std::process::id().to_string();
        let locks = std::fs::read_to_string("/proc/locks").expect("the kernel lists locks");
        let own = |line: &&str| {
            let parts: Vec<&str> = line.split_whitespace().collect();
            parts.contains(&&*process) && parts.iter().any(|it| it.ends_with(&file))
        };
        let parts = locks.lines().filter(own).map(|it| it.split_once(": ").unwrap_or_default().1.to_owned());
        let mut found: Vec<String> = parts.collect();
        found.sort();
        found
    }

    #[test]
    fn connections_keep_their_locks_while_others_are_opened() {
        let path = std::env::temp_dir().join(format!("weir-sqlite-locks-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let first = rusqlite::Connection::open(&path).expect("it opens");
        first.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (b)").expect("it is right");
        let before = list_locks(&path);
        assert!(!before.is_empty(), "a connection that uses the log has a lock on the file");
        let database = crate::connection::Database::new(&path, crate::connection::Tuning::USUAL);
        let reader = database.open_reader().expect("it opens");
        let count = |it: &rusqlite::Connection| it.query_row("SELECT count(*) FROM a", [], |it| it.get(0));
        assert_eq!(count(&reader), Ok(0));
        let writer = database.open_writer().expect("it opens");
        assert_eq!(count(&writer), Ok(0));
        let refused = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        assert_eq!(find_remedy(&path, &Error::SqliteFailure(refused, None)), Some(REMEDY));
        drop((reader, writer));
        assert_eq!(list_locks(&path), before);
        drop(first);
        std::fs::remove_file(&path).expect("it is there");
    }

    #[test]
    fn a_file_that_can_be_written_may_change() {
        let path = std::env::temp_dir().join(format!("weir-sqlite-medium-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let connection = rusqlite::Connection::open(&path).expect("it opens");
        connection.execute_batch("CREATE TABLE a (b)").expect("the statement is right");
        assert!(!is_in_wal_mode(&path));
        connection.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO a VALUES (1)").expect("it is right");
        assert!(is_in_wal_mode(&path) && has_log(&path) && !is_immutable(&path));
        connection.close().expect("it closes");
        assert!(is_in_wal_mode(&path) && !has_log(&path) && !is_immutable(&path));
        std::fs::remove_file(&path).expect("it is there");
        assert!(!is_in_wal_mode(&path));
    }
}
