//! Statements whose predicates are no fields of their objects: they are skipped, counted per predicate, and reported.
//!
//! Dgraph keeps what a field held when the field leaves the schema, and exports it: such an object is as whole as any other.
//!
//! **Invariant:** the counts are written with the parcel that they are of, so that an interrupted load counts each once.

use crate::store::Error;
use crate::store::database::{Database, Value};
use crate::transfer::file_line::DeferredTable;
use crate::transfer::parcel::UnknownCount;

/// Marks a predicate in the table of deferred edges: no edge has such a name.
pub(crate) const MARK: char = '?';

/// Statements of a load with one predicate that is no field of their objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub predicate: String,
    /// Number of statements.
    pub statements: u64,
    /// The file of the first.
    pub file: String,
    /// The line of the first.
    pub line: u64,
}

/// Notes the counts of a parcel.
pub(crate) fn note(
    database: &mut Database,
    deferred: DeferredTable<'_>,
    counts: &[UnknownCount],
) -> Result<(), Error> {
    let sql = format!("INSERT INTO {} (field, owner, file, line) VALUES ($1, $2, $3, $4)", deferred.name);
    for count in counts {
        let from = deferred.find_line(count.line);
        let name = format!("{}{MARK}", count.predicate);
        let values =
            [name.as_str().into(), count.statements.into(), from.file.into(), Value::Int(from.line as i64)];
        database.execute(&sql, &values)?;
    }
    Ok(())
}

/// The counts of the whole load.
pub(crate) fn count(database: &mut Database, table: &str) -> Result<Vec<Unknown>, Error> {
    let sql = format!(
        "SELECT field, owner, file, line FROM {table} WHERE field LIKE '%{MARK}' ORDER BY field, file, line"
    );
    let mut found: Vec<Unknown> = Vec::new();
    for row in database.query(&sql, &[], 4)? {
        let field = row[0].text();
        let predicate = field.trim_end_matches(MARK);
        let statements = row[1].int() as u64;
        match found.last_mut().filter(|it| it.predicate == predicate) {
            Some(last) => last.statements += statements,
            None => found.push(Unknown {
                predicate: predicate.to_owned(),
                statements,
                file: row[2].text(),
                line: row[3].int() as u64,
            }),
        }
    }
    Ok(found)
}
