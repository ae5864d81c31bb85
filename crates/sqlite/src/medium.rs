//! Files in WAL mode where no file can be made beside them: SQLite keeps a log even while it only reads.
//!
//! On a medium that nobody can write, a file without a log does not change, and is opened as such. Elsewhere another user may write it,
//! so that is left to whoever runs Weir.
//!
//! Source: sqlite.org/wal.html, section 5; sqlite.org/uri.html, `immutable`.

use rusqlite::{Error, ErrorCode};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Place of the version that a reader has to know, and its value in WAL mode. Source: sqlite.org/fileformat.html, section 1.3.
const READ_VERSION_AT: usize = 19;
const WAL_VERSION: u8 = 2;

const REMEDY: &str = "it is in WAL mode, in which SQLite makes files beside it even to read: let the user that runs Weir write its folder, \
                      or take it out of this mode where it can be written, by `PRAGMA journal_mode = DELETE`";

/// True if `path` is in WAL mode, without a log, on a medium that nobody can write.
pub(crate) fn is_immutable(path: &Path) -> bool {
    is_in_wal_mode(path) && !has_log(path) && is_on_read_only_medium(path)
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

fn is_in_wal_mode(path: &Path) -> bool {
    let mut head = [0; READ_VERSION_AT + 1];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut head));
    read.is_ok() && head[READ_VERSION_AT] == WAL_VERSION
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

/// Opening a file to write it changes nothing in it.
fn is_on_read_only_medium(path: &Path) -> bool {
    let opened = OpenOptions::new().append(true).open(path);
    opened.is_err_and(|it| it.kind() == ErrorKind::ReadOnlyFilesystem)
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
