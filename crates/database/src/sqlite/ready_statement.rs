//! A statement of a level, and how SQLite runs it.

use rusqlite::Connection;
use weir_relational::plan::{Level, Origin, Output};
use weir_relational::sql::Statement;

/// A statement and its parameters, by the time they are bound.
#[derive(Debug)]
pub(super) struct ReadyStatement {
    pub(super) statement: Statement,
    /// The text for values that may stand for bytes in a column of texts, if that is another.
    pub(super) of_bytes: Option<String>,
    /// Placeholders bound once per run.
    pub(super) fixed: Vec<usize>,
    /// Placeholders bound for each parent, and the parent's column.
    pub(super) keys: Vec<(usize, u16)>,
    /// Placeholders of the ends of a range, by their numbers.
    pub(super) bounds: Vec<(usize, u16)>,
    /// True if it has a row also below a parent with a null key: an aggregate over no rows.
    pub(super) has_row_always: bool,
}

impl ReadyStatement {
    pub(super) fn new(level: &Level, statement: Statement, of_bytes: Option<String>) -> Self {
        let has_row_always = matches!(level.query.output, Output::Aggregate(_));
        let mut fixed = Vec::new();
        let mut keys = Vec::new();
        let mut bounds = Vec::new();
        for (at, parameter) in statement.parameters.iter().enumerate() {
            match parameter.origin {
                Origin::ParentColumn(column) => keys.push((at, column)),
                Origin::Bound(number) => bounds.push((at, number)),
                Origin::Claim(_)
                | Origin::Session
                | Origin::Constant(_)
                | Origin::Encoded(_)
                | Origin::Position(_)
                | Origin::Literal(_)
                | Origin::Variable(_)
                | Origin::Inside { .. }
                | Origin::Parent(_)
                | Origin::Shown
                | Origin::LookedUp(_)
                | Origin::Before(_) => {
                    fixed.push(at);
                }
            }
        }
        Self { statement, of_bytes, fixed, keys, bounds, has_row_always }
    }
}

/// What SQLite does for `sql`, a line for each step.
pub(super) fn steps(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = statement.raw_query();
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(row.get(3)?);
    }
    Ok(out)
}
