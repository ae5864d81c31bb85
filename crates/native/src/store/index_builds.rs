//! Builds indexes while the store is served.
//!
//! An index of words or boxes is filled in steps of some thousand rows, each a transaction of its own that also says how
//! far it got; what is written meanwhile gets there by the triggers. Other indexes are one statement.
//!
//! **Invariant:** an index that is being built has a row in `weir_builds`; nothing may be searched through it until that
//! row is gone. Who is killed goes on where it was, and two who build take turns, each from where the other got.

use super::database::{Database, Value};
use super::ddl::{self, quote_identifier};
use super::{Error, Store, Types};
use crate::layout::{self, Index, IndexKind, index_kind};
use crate::model::{FieldId, Model};
use weir_relational::dialect::store::Extension;
use weir_relational::plan::ddl::Definition;

/// Other users of the store while an index is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A server runs; its writers wait for each step.
    Beside,
    /// Nobody.
    Alone,
}

impl Pace {
    /// Rows that are put into an index in one transaction.
    const fn step_rows(self) -> i64 {
        match self {
            Self::Beside => 5000,
            Self::Alone => 250_000,
        }
    }
}

/// An index that is being built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Building {
    /// Name of the index.
    pub name: String,
    pub field: Option<FieldId>,
    pub kind: IndexKind,
    /// Only it knows what is searched: words are told apart by a separate index alone. Without any other, rows are looked at
    /// one by one.
    pub is_needed: bool,
    /// Set if the index cannot be built yet: what has to be done first.
    pub waits_for: Option<&'static str>,
}

/// Stands in `weir_builds` for how far an index is that the data does not allow.
const UNFIT: i64 = -2;

/// Fix for data that prevents an index.
const MEND_DATA: &str =
    "values that fit, as the log or `weir migrate` said; mend them and run `weir migrate`";

/// The extension that an index needs and that neither exists nor can be created.
pub(super) fn missing_extension(
    database: &mut Database,
    kind: layout::Database,
    index: IndexKind,
) -> Result<Option<Extension>, Error> {
    let Some(extension) = kind.store_dialect().extension(index) else { return Ok(None) };
    Ok((database.query_value(extension.is_there, &[])?.int() == 0).then_some(extension))
}

impl Types {
    /// The types without the indexes in `building`: nothing uses these indexes, and filters that need one of them are left
    /// out.
    #[must_use]
    pub fn exclude_indexes(mut self, building: &[Building]) -> Self {
        let root = |model: &Model, mut field: FieldId| {
            while let Some(from) = model.field(field).inherited_from {
                field = from;
            }
            field
        };
        for (field, kind) in
            building.iter().filter(|it| it.is_needed).filter_map(|it| Some((it.field?, it.kind)))
        {
            // A search of an interface's field is one of all its types'.
            let wanted = root(&self.model, field);
            let all = (0..self.model.fields.len() as u32).map(FieldId);
            for other in all.filter(|it| root(&self.model, *it) == wanted).collect::<Vec<_>>() {
                self.model.fields[other.index()].search.retain(|it| index_kind(*it) != kind);
            }
        }
        self.layout.indexes.retain(|index| building.iter().all(|it| it.name != index.name));
        self
    }
}

/// The statement that says that an index has to be built.
pub(super) fn begin(name: &str) -> String {
    format!(
        "INSERT INTO weir_builds (name, done) VALUES ({}, -1) ON CONFLICT (name) DO UPDATE SET done = -1",
        ddl::literal(name)
    )
}

impl Store {
    /// The indexes of `types` that are not there yet.
    /// # Errors
    /// The database cannot be asked.
    pub fn building(&mut self, types: &Types) -> Result<Vec<Building>, Error> {
        let rows = self.database.query("SELECT name, done FROM weir_builds ORDER BY name", &[], 2)?;
        let find = |row: &Vec<Value>| {
            let name = row[0].text();
            Some((types.layout.indexes.iter().find(|it| it.name == name)?, row[1].int()))
        };
        let dialect = types.kind.store_dialect();
        let missing = missing_extension(&mut self.database, types.kind, IndexKind::Trigrams)?;
        let waits_for = |kind, done| match done {
            UNFIT => Some(MEND_DATA),
            _ => missing.filter(|it| dialect.extension(kind) == Some(*it)).map(|it| it.fix),
        };
        Ok(rows
            .iter()
            .filter_map(find)
            .map(|(it, done)| Building {
                name: it.name.clone(),
                field: it.field,
                kind: it.kind,
                waits_for: waits_for(it.kind, done),
                is_needed: dialect.index_is_table(it.kind)
                    && matches!(it.kind, IndexKind::Terms | IndexKind::Fulltext),
            })
            .collect())
    }

    /// Has the indexes tried again that the data did not allow.
    /// # Errors
    /// The database refused it.
    pub fn retry_builds(&mut self) -> Result<(), Error> {
        let sql = "UPDATE weir_builds SET done = -1 WHERE done = $1";
        self.database.execute(sql, &[UNFIT.into()]).map(drop)
    }

    /// Builds one of the missing indexes; `false` when there is none. `progress` receives the index's name, the
    /// rows done and all rows, and returns false to stop.
    /// # Errors
    /// The database refused the index; [`Error::Unfit`] if the data does not allow it, so that a retry would fail too.
    pub fn build_next(
        &mut self,
        types: &Types,
        pace: Pace,
        progress: &mut dyn FnMut(&str, u64, u64) -> bool,
    ) -> Result<bool, Error> {
        let waiting = self.building(types)?.into_iter().filter(|it| it.waits_for.is_some());
        let waiting: Vec<String> = waiting.map(|it| it.name).collect();
        let rows = self.database.query("SELECT name, done FROM weir_builds ORDER BY name", &[], 2)?;
        let row = rows.iter().find(|row| !waiting.contains(&row[0].text()));
        let Some(row) = row else { return Ok(false) };
        let name = row[0].text();
        let done = row[1].int();
        let Some(index) = types.layout.indexes.iter().find(|it| it.name == name) else {
            // A record of an index that is no longer wanted.
            self.database.execute("DELETE FROM weir_builds WHERE name = $1", &[name.as_str().into()])?;
            return Ok(true);
        };
        if ddl::is_virtual(types.kind, index.kind) {
            fill(&mut self.database, types, index, done, pace.step_rows(), progress)
        } else {
            make(&mut self.database, types, index, progress)
        }
    }
}

/// Takes away the indexes of tables without rows, so that a load builds them when all rows are there.
pub(crate) fn defer_indexes(types: &Types, database: &mut Database) -> Result<(), Error> {
    for index in &types.layout.indexes {
        let table = &types.layout.relations.catalog.table(index.table).name;
        let is_empty = database
            .query_value(&format!("SELECT 1 FROM {} LIMIT 1", quote_identifier(table)), &[])?
            == Value::Null;
        // Unique indexes stay: without one duplicates would not be noticed.
        if index.kind == IndexKind::Unique || !is_empty || !database.has_table(&index.name)? {
            continue;
        }
        let dropped = Definition::DropIndex(ddl::index(&types.layout, index));
        database.define(&dropped)?;
        database.execute(&begin(&index.name), &[])?;
    }
    Ok(())
}

/// Fills an index from where it was left.
fn fill(
    database: &mut Database,
    types: &Types,
    index: &Index,
    done: i64,
    step_rows: i64,
    progress: &mut dyn FnMut(&str, u64, u64) -> bool,
) -> Result<bool, Error> {
    database.begin()?;
    if let Err(error) = make_virtual(database, types, index).and_then(|()| database.commit()) {
        database.rollback();
        return Err(error);
    }
    let table = types.layout.relations.catalog.table(index.table);
    let name = Value::from(index.name.as_str());
    let key = ddl::row_key(table);
    let table_name = quote_identifier(&table.name);
    let all = database.query_value(&format!("SELECT count(*) FROM {table_name}"), &[])?.int() as u64;
    let before = format!("SELECT count(*) FROM {table_name} WHERE {key} <= $1");
    let mut count = database.query_value(&before, &[done.into()])?.int() as u64;
    let put = types.kind.store_dialect().fill_index(&ddl::index(&types.layout, index)).unwrap_or_default();
    let last = format!(
        "SELECT max({key}) FROM (SELECT {key} FROM {table_name} WHERE {key} > $1 ORDER BY {key} LIMIT $2)"
    );
    while progress(&index.name, count.min(all), all) {
        database.begin()?;
        let stepped = (|| {
            let reached = database
                .query_value("SELECT done FROM weir_builds WHERE name = $1", std::slice::from_ref(&name))?;
            if reached == Value::Null {
                // Somebody else has built it.
                database.commit()?;
                return Ok(Value::Null);
            }
            let step = [Value::from(reached.int()), Value::from(step_rows)];
            let end = database.query_value(&last, &step)?;
            if end == Value::Null {
                database.execute("DELETE FROM weir_builds WHERE name = $1", std::slice::from_ref(&name))?;
            } else {
                database.execute(&put, &step)?;
                let values = [Value::from(end.int()), name.clone()];
                database.execute("UPDATE weir_builds SET done = $1 WHERE name = $2", &values)?;
            }
            database.commit()?;
            Ok(end)
        })();
        match stepped {
            Ok(Value::Null) => return Ok(true),
            Ok(_) => {}
            Err(error) => {
                database.rollback();
                return Err(error);
            }
        }
        count += step_rows as u64;
    }
    Ok(false)
}

/// Makes the table and the triggers of an index that a load took away.
fn make_virtual(database: &mut Database, types: &Types, index: &Index) -> Result<(), Error> {
    if database.has_table(&index.name)? {
        return Ok(());
    }
    database.define(&Definition::CreateIndex(ddl::index(&types.layout, index)))
}

/// Removes the remains of an index that failed; records it if a retry cannot succeed.
fn give_up(database: &mut Database, types: &Types, index: &Index, error: Error) -> Error {
    let Error::Unfit(cause) = error else { return error };
    let mark = format!("UPDATE weir_builds SET done = {UNFIT} WHERE name = $1");
    let dropped = database.define(&Definition::DropIndex(ddl::index(&types.layout, index)));
    let done = dropped.and_then(|()| database.execute(&mark, &[index.name.as_str().into()]));
    match done {
        Ok(_) => Error::Unfit(format!("index `{}` cannot be built: {cause}", index.name)),
        Err(error) => error,
    }
}

/// Creates an index by one statement, without blocking writers if the database supports that.
fn make(
    database: &mut Database,
    types: &Types,
    index: &Index,
    progress: &mut dyn FnMut(&str, u64, u64) -> bool,
) -> Result<bool, Error> {
    if !progress(&index.name, 0, 1) {
        return Ok(false);
    }
    if let Some(statement) = ddl::prepare_index(database, index.kind)? {
        database.execute(&statement, &[])?;
    }
    let made = ddl::index(&types.layout, index);
    // Removes the rest of an interrupted build.
    database.define(&Definition::DropIndex(made.clone()))?;
    if let Err(error) = database.define(&Definition::CreateIndexBeside(made)) {
        return Err(give_up(database, types, index, error));
    }
    database.execute("DELETE FROM weir_builds WHERE name = $1", &[index.name.as_str().into()])?;
    progress(&index.name, 1, 1);
    Ok(true)
}
