//! Settings of one caller that hold until the end of a transaction, as `SET LOCAL` makes them.
//!
//! They are a statement of their own before those of the caller: a `set_config` in a common table expression may never run, and a
//! trigger or policy reads the setting while the statement beside it runs. Names are constants of this process; values are bound.
//!
//! **Invariant:** a transaction that is sent with settings begins with them, so that it never sees those of another caller.

use super::statement::{Format, Parameters, Statement};
use std::sync::Arc;
use weir_relational::catalog::postgres_types::oid;
use weir_relational::quoting::literal;

/// The names of settings, with the statement that sets them.
#[derive(Debug)]
pub struct SettingNames {
    statement: Arc<Statement>,
}

impl SettingNames {
    /// Settings that are set together, in this order. `role` is that of `SET ROLE`.
    pub fn new(names: &[&str]) -> Self {
        let set = |(at, name): (usize, &&str)| {
            // The value would come back: it is compared instead.
            format!("set_config({}, ${}, true) IS NULL", literal(name), at + 1)
        };
        let columns: Vec<String> = names.iter().enumerate().map(set).collect();
        let sql = format!("SELECT {}", columns.join(", "));
        let types = vec![oid::TEXT; names.len()];
        Self { statement: Statement::new(sql, types, vec![Format::Text; names.len()], [], None) }
    }

    /// The settings with their values, in the order of the names; a null is an empty text.
    pub fn with_values(&self, values: Parameters) -> Arc<LocalSettings> {
        Arc::new(LocalSettings { statement: Arc::clone(&self.statement), values })
    }
}

/// Settings of one caller.
#[derive(Debug)]
pub struct LocalSettings {
    pub(crate) statement: Arc<Statement>,
    pub(crate) values: Parameters,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_values_are_bound() {
        let names = SettingNames::new(&["hasura.user", "it's"]);
        assert_eq!(
            &*names.statement.sql,
            "SELECT set_config('hasura.user', $1, true) IS NULL, set_config('it''s', $2, true) IS NULL"
        );
    }
}
