//! Watches files by polling their state several times a second.
//!
//! Files are polled. Systems report changes per directory, because editors replace files; but a database in the same
//! directory would then cause a report for each of its writes, which took a sixth of the time of a mutation. Polling also
//! works on every file system, and where Kubernetes swaps whole directories behind a name.
//!
//! **Invariant:** a change is reported once, after two polls in a row have seen the same state: the writer is done by then.
//!
//! **Cost:** the facts of each file every [`PAUSE`]; no file is read.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Pause between two polls.
const PAUSE: Duration = Duration::from_millis(100);

/// Files with their state at the last poll.
#[derive(Debug, Default)]
pub(super) struct Watch {
    files: Vec<PathBuf>,
    /// State at the last change that was reported.
    told: Vec<Option<FileState>>,
    last: Vec<Option<FileState>>,
}

/// State of a file: two equal values mean that the file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    modified: Option<SystemTime>,
    bytes: u64,
    /// Detects a file that replaced another with equal time and length.
    inode: u64,
}

impl Watch {
    /// Adds `files` in their present state; files that are watched already keep their last state.
    pub(super) fn add(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let known: HashSet<PathBuf> = self.files.iter().cloned().collect();
        for file in files.into_iter().filter(|it| !known.contains(it)) {
            self.told.push(std::fs::metadata(&file).ok().map(|it| FileState::of(&it)));
            self.files.push(file);
        }
    }

    /// Waits until a file was created, removed or changed, and then stayed unchanged for one poll.
    pub(super) async fn await_change(&mut self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = self.look().await;
            if self.has_settled_change(now) {
                return;
            }
        }
    }

    fn has_settled_change(&mut self, now: Vec<Option<FileState>>) -> bool {
        let rests = now == self.last;
        self.last = now;
        let is_new = rests && self.last != self.told;
        if is_new {
            self.told.clone_from(&self.last);
        }
        is_new
    }

    async fn look(&self) -> Vec<Option<FileState>> {
        let mut facts = Vec::with_capacity(self.files.len());
        for file in &self.files {
            facts.push(tokio::fs::metadata(file).await.ok().map(|it| FileState::of(&it)));
        }
        facts
    }
}

impl FileState {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self { modified: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// A folder of the test's own, with a file `a` and a watch on it and on `b`, which is not there.
    fn watch_folder(name: &str) -> (PathBuf, Watch) {
        let folder = std::env::temp_dir().join(format!("weir-watch-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a"), "one").unwrap();
        let mut watch = Watch::default();
        watch.add([folder.join("a"), folder.join("b")]);
        (folder, watch)
    }

    /// Results of four polls.
    async fn looks(watch: &mut Watch) -> [bool; 4] {
        let mut told = [false; 4];
        for it in &mut told {
            let now = watch.look().await;
            *it = watch.has_settled_change(now);
        }
        told
    }

    fn put_in_place_of(file: &Path, text: &str) {
        let other = file.with_extension("new");
        fs::write(&other, text).unwrap();
        let modified = fs::metadata(file).unwrap().modified().unwrap();
        fs::File::options().append(true).open(&other).unwrap().set_modified(modified).unwrap();
        fs::rename(other, file).unwrap();
    }

    #[tokio::test]
    async fn what_is_written_replaced_made_or_removed_is_told_once() {
        let (folder, mut watch) = watch_folder("all");
        let a = folder.join("a");
        let b = folder.join("b");
        let once = [false, true, false, false];
        fs::write(&a, "three").unwrap();
        assert_eq!(looks(&mut watch).await, once, "written");
        put_in_place_of(&a, "seven");
        assert_eq!(looks(&mut watch).await, once, "replaced by one of the same time and length");
        fs::write(&b, "").unwrap();
        assert_eq!(looks(&mut watch).await, once, "made");
        fs::remove_file(&a).unwrap();
        assert_eq!(looks(&mut watch).await, once, "removed");
        fs::write(folder.join("c"), "beside").unwrap();
        assert_eq!(looks(&mut watch).await, [false; 4]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn what_is_being_written_is_told_when_it_rests() {
        let (folder, mut watch) = watch_folder("rest");
        for length in 4..12 {
            fs::write(folder.join("a"), "x".repeat(length)).unwrap();
            let now = watch.look().await;
            assert!(!watch.has_settled_change(now), "it is another at each look");
        }
        assert_eq!(looks(&mut watch).await, [true, false, false, false]);
        fs::remove_dir_all(folder).unwrap();
    }
}
