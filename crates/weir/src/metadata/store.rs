//! Writes metadata: a file by rename, a folder by exchanging it as a whole.
//!
//! **Invariant:** who reads the folder or file sees the old document or the new one, never a part; a failure leaves the old one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use weir_metadata::export::Export;

/// Maximum number of unrelated files in the folder that are kept.
const KEPT_FILES_MAX: usize = 1000;
const KEPT_BYTES_MAX: u64 = 64 << 20;
/// Maximum depth of folders.
const DEPTH_MAX: usize = 16;

/// Writes `export` to `path`, a folder or a file. `read` are the files of the previous document.
/// # Errors
/// The reason why it cannot be written.
pub(crate) fn write(path: &Path, export: &Export, read: &[PathBuf]) -> Result<(), String> {
    let fail = |cause: io::Error| format!("the metadata at {} cannot be written: {cause}", path.display());
    if path.is_dir() {
        return folder(path, &export.folder(), read).map_err(fail);
    }
    let is_json = path.extension().is_some_and(|it| it == "json");
    let text = if is_json { export.json()? } else { export.yaml() };
    let path = path.canonicalize().map_err(fail)?;
    let draft = hidden_sibling(&path, "weir-new");
    let written = put(&draft, &text).and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        // The draft may not exist.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(fail)
}

/// A hidden file name beside `path`.
fn hidden_sibling(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!(".{name}.{ending}"))
}

/// Writes and syncs a file.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes a new folder beside the old one and exchanges them.
fn folder(path: &Path, files: &[(PathBuf, String)], read: &[PathBuf]) -> io::Result<()> {
    let real = path.canonicalize()?;
    let draft = hidden_sibling(&real, "weir-new");
    let before = hidden_sibling(&real, "weir-old");
    for leftover in [&draft, &before] {
        if leftover.exists() {
            fs::remove_dir_all(leftover)?;
        }
    }
    let made = fill(path, &draft, files, read).and_then(|()| {
        fs::rename(&real, &before)?;
        fs::rename(&draft, &real).inspect_err(|_| {
            // Restore the old folder. An error here would hide the first one.
            let _ = fs::rename(&before, &real);
        })
    });
    match made {
        // The new document is in place; leftovers are removed by the next change.
        Ok(()) => _ = fs::remove_dir_all(&before),
        Err(_) => _ = fs::remove_dir_all(&draft),
    }
    made
}

/// Fills the new folder with `files`, and with unrelated files of the old one.
fn fill(old: &Path, new: &Path, files: &[(PathBuf, String)], read: &[PathBuf]) -> io::Result<()> {
    fs::create_dir(new)?;
    for (name, text) in files {
        let file = new.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        put(&file, text)?;
    }
    let mut count = 0;
    let mut bytes = 0;
    let mut open = vec![(old.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let Ok(name) = path.strip_prefix(old) else { continue };
            if path.is_dir() && depth < DEPTH_MAX {
                open.push((path, depth + 1));
                continue;
            }
            if read.contains(&path) || files.iter().any(|it| it.0 == name) {
                continue;
            }
            count += 1;
            bytes += fs::metadata(&path)?.len();
            if count > KEPT_FILES_MAX || bytes > KEPT_BYTES_MAX {
                let words = "the folder holds too much that is no metadata: keep it elsewhere";
                return Err(io::Error::other(words));
            }
            let copy = new.join(name);
            copy.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::copy(&path, &copy)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_metadata::{Aside, Metadata, read};

    /// A folder that goes with the test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("weir-store-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder can be made");
            Self(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn document(table: &str) -> Metadata {
        let text = format!(
            r#"{{"version":3,"sources":[{{"name":"a","kind":"sqlite","tables":[{{"table":"{table}"}}]}}]}}"#
        );
        read::text(&text, Path::new("m.json")).expect("it is metadata").document
    }

    fn export(table: &str) -> Export {
        Export::of(&document(table), &Aside::default()).expect("it can be written")
    }

    #[test]
    fn a_folder_is_exchanged_and_other_files_stay() {
        let place = Place::new("folder");
        let folder = place.0.join("metadata");
        fs::create_dir(&folder).expect("a folder can be made");
        put(&folder.join("README.md"), "mine").expect("it is written");
        write(&folder, &export("boat"), &[]).expect("it is written");
        let first = read::path(&folder).expect("it is read");
        assert_eq!(first.document, document("boat"));
        write(&folder, &export("crew"), &first.watched).expect("it is written");
        let second = read::path(&folder).expect("it is read");
        assert_eq!(second.document, document("crew"));
        assert!(second.watched.iter().all(|it| !it.ends_with("boat.yaml")));
        assert_eq!(fs::read_to_string(folder.join("README.md")).expect("it is there"), "mine");
        let names: Vec<_> =
            fs::read_dir(&place.0).expect("it is read").flatten().map(|it| it.file_name()).collect();
        assert_eq!(names, ["metadata"]);
    }

    #[test]
    fn a_file_keeps_its_form() {
        let place = Place::new("file");
        for name in ["m.json", "m.yaml"] {
            let file = place.0.join(name);
            put(&file, "{}").expect("it is written");
            write(&file, &export("boat"), &[]).expect("it is written");
            assert_eq!(read::path(&file).expect("it is read").document, document("boat"), "{name}");
        }
        assert!(fs::read_to_string(place.0.join("m.json")).expect("it is there").starts_with('{'));
        assert!(fs::read_to_string(place.0.join("m.yaml")).expect("it is there").starts_with("version: 3"));
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old() {
        let place = Place::new("failure");
        let error = write(&place.0.join("none.json"), &export("boat"), &[]);
        assert!(error.is_err_and(|it| it.contains("cannot be written")));
    }
}
