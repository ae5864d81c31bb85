//! SQLite's own files with four of their methods replaced: write, sync, close, and the opening itself.
//!
//! The virtual file system registered here is a copy of the default one but for `xOpen` and `xDelete`. A file is opened by the
//! default one, in the memory that SQLite has for it; then its table of methods is replaced by a [`Table`] of its own, whose
//! first member is what SQLite looks at.
//!
//! **Why the `unsafe` is sound:**
//! - The default file system is never unregistered, so [`REAL`] is valid for ever; the copy is leaked. Its methods get the
//!   default one back as their first argument where we call them; where SQLite calls the copied ones, they see the same fields.
//! - A [`Table`] is made when a file has been opened and freed when it is closed, which SQLite does once, after which it calls
//!   no method of that file. `Table` is `repr(C)` with the methods first, so the pointer in the file is one to the `Table`.
//! - SQLite gives buffers of the lengths it says, and calls methods of one file from one thread at a time.

#![allow(unsafe_code, reason = "SQLite's border is C; the module's words say why it is sound")]

use super::faults::{self, Fault};
use rusqlite::ffi;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The default file system.
static REAL: AtomicPtr<ffi::sqlite3_vfs> = AtomicPtr::new(std::ptr::null_mut());

/// The methods of one file.
#[repr(C)]
struct Table {
    ours: ffi::sqlite3_io_methods,
    real: *const ffi::sqlite3_io_methods,
    path: PathBuf,
}

/// Makes the disk the default of this process.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the default file system is valid for ever, and so is the leaked copy of it.
        unsafe {
            let real = ffi::sqlite3_vfs_find(std::ptr::null());
            REAL.store(real, Ordering::Release);
            let copy = ffi::sqlite3_vfs {
                pNext: std::ptr::null_mut(),
                zName: c"faulty".as_ptr(),
                xOpen: Some(open),
                xDelete: Some(delete),
                ..*real
            };
            let done = ffi::sqlite3_vfs_register(Box::leak(Box::new(copy)), 1);
            assert_eq!(done, ffi::SQLITE_OK, "the file system can be registered");
        }
    });
}

/// A path as SQLite has it; empty for a file without a name.
///
/// # Safety
/// `name` is null or ends with a zero.
unsafe fn path<'n>(name: *const c_char) -> &'n Path {
    if name.is_null() {
        return Path::new("");
    }
    // SAFETY: the caller's promise.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    told: *mut c_int,
) -> c_int {
    let real = REAL.load(Ordering::Acquire);
    // SAFETY: the arguments are SQLite's for just this; `file` has room for the default's, whose size the copy has kept.
    unsafe {
        let Some(open) = (*real).xOpen else { return ffi::SQLITE_CANTOPEN };
        let done = open(real, name, file, flags, told);
        let kinds = ffi::SQLITE_OPEN_MAIN_DB | ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL;
        if done == ffi::SQLITE_OK && flags & kinds != 0 {
            let real = (*file).pMethods;
            let ours = ffi::sqlite3_io_methods {
                xWrite: Some(write),
                xSync: Some(sync),
                xClose: Some(close),
                ..*real
            };
            let table = Box::new(Table { ours, real, path: path(name).to_owned() });
            (*file).pMethods = Box::into_raw(table).cast();
            faults::record_open(path(name), content(file));
        }
        done
    }
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    let real = REAL.load(Ordering::Acquire);
    // SAFETY: the arguments are SQLite's for just this.
    unsafe {
        let Some(delete) = (*real).xDelete else { return ffi::SQLITE_IOERR_DELETE };
        let done = delete(real, name, sync);
        if done == ffi::SQLITE_OK {
            faults::record_delete(path(name));
        }
        done
    }
}

/// The table of a file of ours.
///
/// # Safety
/// `file` was opened by [`open`] and not yet closed.
unsafe fn table<'f>(file: *mut ffi::sqlite3_file) -> &'f Table {
    // SAFETY: `open` put a `Table` there, which lives until the file is closed.
    unsafe { &*(*file).pMethods.cast::<Table>() }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: `file` is of ours; half of the buffer is in the buffer.
    unsafe {
        let Some(write) = (*table(file).real).xWrite else { return ffi::SQLITE_IOERR_WRITE };
        match faults::verdict(false) {
            None => write(file, bytes, length, offset),
            Some(Fault::Write | Fault::Sync) => ffi::SQLITE_IOERR_WRITE,
            Some(Fault::HalfWrite) => {
                write(file, bytes, length / 2, offset);
                ffi::SQLITE_IOERR_WRITE
            }
            Some(Fault::Full) => ffi::SQLITE_FULL,
        }
    }
}

/// Takes note of what is in the file. It is not synced: what a test writes need not outlive the machine.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    if faults::verdict(true).is_some() {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    // SAFETY: `file` is of ours.
    unsafe {
        match content(file) {
            Some(bytes) => faults::record_sync(&table(file).path, bytes),
            None => return ffi::SQLITE_IOERR_READ,
        }
    }
    ffi::SQLITE_OK
}

/// All that is in a file.
///
/// # Safety
/// `file` was opened by [`open`] and not yet closed.
unsafe fn content(file: *mut ffi::sqlite3_file) -> Option<Vec<u8>> {
    // SAFETY: the buffer is as long as it is said to be.
    unsafe {
        let real = &*table(file).real;
        let mut length = 0;
        if real.xFileSize?(file, &raw mut length) != ffi::SQLITE_OK {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let length = c_int::try_from(length).ok()?;
        let done = real.xRead?(file, bytes.as_mut_ptr().cast(), length, 0);
        (done == ffi::SQLITE_OK).then_some(bytes)
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `file` is of ours; its table is freed once, and SQLite calls no method of a closed file.
    unsafe {
        let table = Box::from_raw((*file).pMethods.cast_mut().cast::<Table>());
        (*file).pMethods = table.real;
        let Some(close) = (*table.real).xClose else { return ffi::SQLITE_IOERR_CLOSE };
        let done = close(file);
        faults::record_close();
        done
    }
}
