//! `get_catalog_state` and `set_catalog_state`: states that the command line and the console keep on the server.
//!
//! They stand in a hidden folder beside the metadata, so all servers of one metadata share them, and no change of the metadata touches
//! them. Until one is set, it is that of a Hasura whose metadata database is ours: a command line that found none would run all
//! migrations again.
//!
//! **Invariant:** a file is written whole and exchanged by a rename: a reader sees one state or the other.

use super::{Done, SUCCESS, Work, text};
use crate::server::request::hasura_error::HasuraError;
use hyper::StatusCode;
use std::cell::LazyCell;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use weir_language::json::JsonRef;

/// Maximum size of a state, in bytes.
const STATE_BYTES_MAX: u64 = 16 << 20;
/// Kinds of state, one file each.
const KINDS: [&str; 2] = ["cli", "console"];

impl Work {
    /// Returns all states, and the permanent id of this installation.
    pub(super) fn catalog_state(&self) -> Done {
        let folder = self.state_folder()?;
        let id = identity(&folder).map_err(|cause| state_error(&folder, &cause))?;
        let before = LazyCell::new(|| self.read_states_before().unwrap_or_default());
        let state = |at: usize| {
            let file = folder.join(KINDS[at]);
            let read = read_bounded(&file).map_err(|cause| state_error(&file, &cause))?;
            let read = read.or_else(|| before[at].clone());
            Ok::<_, HasuraError>(read.unwrap_or_else(|| "{}".to_owned()))
        };
        let (cli, console) = (state(0)?, state(1)?);
        Ok(format!("{{\"id\":\"{id}\",\"cli_state\":{cli},\"console_state\":{console}}}"))
    }

    /// The states in the metadata database of a Hasura that was here before.
    fn read_states_before(&self) -> Option<[Option<String>; 2]> {
        self.live.current().config.state_address().ok().flatten()?.read_kept_states()
    }

    /// Replaces one state.
    pub(super) fn set_catalog_state(&self, args: JsonRef<'_>) -> Done {
        let wrong = |key: &str, message: &str| {
            HasuraError::new("parse-failed", &format!("$.args{key}"), message.to_owned())
        };
        let kind = text(args, "type")?.ok_or_else(|| wrong("", "key \"type\" not found"))?;
        let state = args.get("state").ok_or_else(|| wrong("", "key \"state\" not found"))?;
        if !KINDS.contains(&kind.as_str()) {
            return Err(wrong(".type", "unexpected catalog state type: it is \"cli\" or \"console\""));
        }
        if state.raw().len() as u64 > STATE_BYTES_MAX {
            return Err(wrong(".state", &format!("the state is longer than {STATE_BYTES_MAX} bytes")));
        }
        let folder = self.state_folder()?;
        let file = folder.join(kind);
        write_whole(&folder, &file, state.raw()).map_err(|cause| state_error(&file, &cause))?;
        Ok(SUCCESS.to_owned())
    }

    /// Folder of the states, which may not exist.
    fn state_folder(&self) -> Result<PathBuf, HasuraError> {
        let turn = self.live.turn();
        let path = self.place(&turn)?.path;
        let real = path.canonicalize().map_err(|cause| state_error(&path, &cause))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(real.with_file_name(format!(".{name}.weir-state")))
    }
}

fn state_error(path: &Path, cause: &io::Error) -> HasuraError {
    let message = format!("the state of the command line at {} cannot be kept: {cause}", path.display());
    HasuraError::new("unexpected", "$.args", message).with_status(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Contents of a file, if it exists.
fn read_bounded(file: &Path) -> io::Result<Option<String>> {
    let open = match fs::File::open(file) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        open => open?,
    };
    let mut text = String::new();
    open.take(STATE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > STATE_BYTES_MAX { Err(io::Error::other("it is too long")) } else { Ok(Some(text)) }
}

/// Writes and syncs `text` to a draft beside `file`; returns the draft's path.
fn draft(folder: &Path, file: &Path, text: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let draft = file.with_extension(format!("{:016x}", fastrand::u64(..)));
    let mut made = fs::File::create(&draft)?;
    made.write_all(text.as_bytes())?;
    made.sync_all()?;
    Ok(draft)
}

fn write_whole(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    let draft = draft(folder, file, text)?;
    fs::rename(&draft, file).inspect_err(|_| {
        // An error here would hide the first one.
        let _ = fs::remove_file(&draft);
    })
}

/// Id of this installation, created on first use.
fn identity(folder: &Path) -> io::Result<String> {
    let file = folder.join("id");
    if let Some(id) = read_bounded(&file)? {
        return Ok(id);
    }
    let bits = fastrand::u128(..);
    let version_4 = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{version_4:032x}");
    let id = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-");
    let draft = draft(folder, &file, &id)?;
    // The link fails if another process created the file first.
    let linked = fs::hard_link(&draft, &file);
    fs::remove_file(&draft)?;
    match linked {
        Ok(()) => Ok(id),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            read_bounded(&file)?.ok_or_else(|| io::Error::other("its name went away"))
        }
        Err(cause) => Err(cause),
    }
}
