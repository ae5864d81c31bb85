//! Reads manifests and folders within the limits of the configuration.
//!
//! In a folder each file `.graphql` or `.gql` is a document, whose identifier is the name of the file; each file `.json` is a manifest.

use super::manifest::{FileDocument, read_manifest};
use crate::config::Persisted;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of a folder, beyond which no more are looked at.
const FILES_MAX: usize = 20_000;

/// Forms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileForm {
    Manifest,
    Document,
}

fn find_form(path: &Path) -> Option<FileForm> {
    match path.extension()?.to_str()? {
        "json" => Some(FileForm::Manifest),
        "graphql" | "gql" => Some(FileForm::Document),
        _ => None,
    }
}

/// `path`, and the files in it if it is a folder, in the order of their names. Other entries, such as pipes and links that lead nowhere, are
/// no files.
pub(super) fn list_files(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().take(FILES_MAX);
    let mut files: Vec<PathBuf> =
        entries.map(|it| it.path()).filter(|it| find_form(it).is_some() && it.is_file()).collect();
    files.sort();
    files.insert(0, path.to_path_buf());
    files
}

/// Reads files one after another, until the limits are reached.
pub(super) struct DocumentReader<'c> {
    settings: &'c Persisted,
    bytes: u64,
    documents: usize,
}

impl<'c> DocumentReader<'c> {
    pub(super) fn new(settings: &'c Persisted) -> Self {
        Self { settings, bytes: 0, documents: 0 }
    }

    /// Documents of a manifest or folder.
    /// # Errors
    /// A file cannot be read or is no manifest, or a limit is reached.
    pub(super) fn read(&mut self, path: &Path) -> Result<Vec<FileDocument>, String> {
        if !path.is_dir() {
            return self.read_file(path, find_form(path).unwrap_or(FileForm::Manifest));
        }
        let mut found = Vec::new();
        for file in list_files(path).into_iter().skip(1) {
            let form = find_form(&file).unwrap_or(FileForm::Document);
            found.extend(self.read_file(&file, form)?);
        }
        Ok(found)
    }

    fn read_file(&mut self, path: &Path, form: FileForm) -> Result<Vec<FileDocument>, String> {
        let fail = |reason: String| format!("{}: {reason}", path.display());
        let Persisted { bytes_max, documents_max, .. } = self.settings;
        let left = bytes_max.saturating_sub(self.bytes);
        // The other end of a pipe would be waited for.
        if path.exists() && !path.is_file() {
            return Err(fail("it is no file".into()));
        }
        let mut content = Vec::new();
        // One byte more than allowed tells a file that is too long, however it grows meanwhile.
        std::fs::File::open(path)
            .and_then(|it| it.take(left.saturating_add(1)).read_to_end(&mut content))
            .map_err(|it| fail(format!("it cannot be read: {it}")))?;
        self.bytes += content.len() as u64;
        if self.bytes > *bytes_max {
            let words = "the documents are longer than `operations.persisted.bytes_max`";
            return Err(fail(format!("{words}, {bytes_max} bytes")));
        }
        let found = match form {
            FileForm::Manifest => read_manifest(&content).map_err(fail)?,
            FileForm::Document => {
                let text = String::from_utf8(content).map_err(|_| fail("it is not in UTF-8".into()))?;
                let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                vec![FileDocument { id, name: None, text }]
            }
        };
        self.documents += found.len();
        if self.documents > *documents_max as usize {
            let words = "there are more documents than `operations.persisted.documents_max`";
            return Err(fail(format!("{words}, {documents_max}")));
        }
        Ok(found)
    }
}
