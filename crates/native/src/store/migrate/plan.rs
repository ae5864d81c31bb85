//! The plan of a migration, and why the data does not allow it.

/// Plan of a migration, and its refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Nothing has to be done.
    pub is_nothing: bool,
    /// Changes for users of the types, a line each.
    pub changes: Vec<String>,
    /// Reasons for a refusal.
    pub refusals: Vec<Refusal>,
    /// Statements in their order, run in one transaction.
    pub statements: Vec<String>,
    /// Number of statements at the end that are queries for rows which refer to nothing.
    pub checks: usize,
    /// Indexes that are built when the store is served already.
    pub builds: Vec<String>,
}

/// Reason why the data does not allow a change, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Lost data, or the conflict.
    pub what: String,
    /// The fix.
    pub mend: String,
    /// The name that has to be allowed, where that is all.
    pub allow: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.mend)
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_nothing {
            return f.write_str("nothing changes\n");
        }
        for line in &self.changes {
            writeln!(f, "{line}")?;
        }
        for name in &self.builds {
            writeln!(f, "build index `{name}` in the background")?;
        }
        for refusal in &self.refusals {
            writeln!(f, "refused: {refusal}")?;
        }
        Ok(())
    }
}
