//! The difference between the triggers of a database and those of the metadata.

/// Triggers to make and to drop, or that were made and dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureDifference {
    /// Names of triggers that are missing.
    pub made: Vec<String>,
    /// Names of triggers whose text differs.
    pub replaced: Vec<String>,
    /// Names of triggers that the metadata does not have.
    pub dropped: Vec<String>,
    /// Triggers of the metadata that cannot be made before something is mended, with the reason.
    pub failed: Vec<(String, String)>,
    /// Triggers of the metadata that cannot be made just now, with the reason, which passes.
    pub delayed: Vec<(String, String)>,
    /// Names of triggers that the metadata does not have and that cannot be dropped, with the reason.
    pub kept: Vec<(String, String)>,
    /// Triggers that do not see all changes, or more of them than one would think, with the reason.
    pub warned: Vec<(String, String)>,
}

impl CaptureDifference {
    /// True if the database has what the metadata says.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty() && self.replaced.is_empty() && self.dropped.is_empty()
    }

    /// Notes that nothing was done about the trigger `name`.
    pub(super) fn take_back(&mut self, name: &str) {
        for list in [&mut self.made, &mut self.replaced, &mut self.dropped] {
            list.retain(|it| it != name);
        }
    }

    /// The names in one line: `made a, b; dropped c`. Empty without a difference.
    pub fn words(&self) -> String {
        self.list(["made", "replaced", "dropped"])
    }

    /// The names in one line, of what is to be done: `make a, b; drop c`. Empty without a difference.
    pub fn plan(&self) -> String {
        self.list(["make", "replace", "drop"])
    }

    fn list(&self, words: [&str; 3]) -> String {
        let lists = words.into_iter().zip([&self.made, &self.replaced, &self.dropped]);
        let lists = lists.filter(|it| !it.1.is_empty());
        lists.map(|(word, names)| format!("{word} {}", names.join(", "))).collect::<Vec<_>>().join("; ")
    }
}

/// Treatment of triggers that the metadata does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They are dropped.
    Drop,
    /// They stay: parts of the metadata are left out, perhaps theirs.
    Keep,
}
