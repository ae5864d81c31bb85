//! From two texts of types to a plan in words and statements, and from the plan to tables.
//!
//! **Invariant:** a migration is one transaction that ends by writing its version; whoever is killed in it leaves what was
//! there before.

use super::bounds;
use super::build;
use super::changes::{self, Question, Verdict};
use super::database::{Database, Value};
use super::ddl;
use super::rebuild;
use super::stale;
use super::upgrade;
use super::{Error, Types, versions};
use crate::layout;

/// Indexes of tables with at most so many rows are made with the tables; others in the background.
const ROWS_AT_ONCE_MAX: usize = 10_000;

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
    /// Indexes that are built when the store is served already.
    pub builds: Vec<String>,
    /// The values are of an earlier format and are written anew after the statements.
    pub upgrades: bool,
}

/// Why the data does not allow a change, and what to do about it.
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

/// A table in the database that no store makes, if there is one.
pub(super) fn foreign_table(database: &mut Database) -> Result<Option<String>, Error> {
    let sql = match database.kind() {
        layout::Database::Sqlite => {
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1"
        }
        layout::Database::Postgres => {
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') LIMIT 1"
        }
    };
    let found = database.one(sql, &[])?;
    Ok((found != Value::Null).then(|| found.text()))
}

/// See [`super::Store::plan`].
pub(super) fn plan(
    database: &mut Database,
    old: Option<&Types>,
    new: &Types,
    allowed: &[String],
) -> Result<Plan, Error> {
    let Some(old) = old else {
        let kinds = new.model.types.iter().map(|it| format!("add `{}`", it.name));
        let mut plan = Plan { changes: kinds.collect(), ..Plan::default() };
        first_statements(database, new, &mut plan)?;
        return Ok(plan);
    };
    // A repeated command may name data that is gone already.
    if old.sdl == new.sdl {
        return Ok(Plan { is_nothing: true, ..Plan::default() });
    }
    let mut refusals = stale::allowed(&old.model, allowed);
    let found = changes::differences(old, new);
    for question in found.iter().flat_map(|it| &it.questions) {
        if let Some(refusal) = ask(database, question, allowed)? {
            // Two indexes of one field are refused in the same words.
            let is_told = |it: &Refusal| *it == refusal || (it.allow.is_some() && it.allow == refusal.allow);
            if !refusals.iter().any(is_told) {
                refusals.push(refusal);
            }
        }
    }
    let words = found.into_iter().map(|it| it.words).filter(|it| !it.contains("keeps its type"));
    let mut plan = Plan { changes: words.collect(), refusals, ..Plan::default() };
    if plan.changes.is_empty() {
        plan.changes.push("the tables stay as they are".into());
    }
    let work = rebuild::work(old, new);
    plan.statements = work.statements;
    for (at, table) in work.indexes {
        index(database, &table, new, at, &mut plan)?;
    }
    plan.statements.extend(work.views);
    plan.statements.extend(check_references(new, &work.touched));
    Ok(plan)
}

/// The statements that make a store where there was none.
fn first_statements(database: &mut Database, types: &Types, plan: &mut Plan) -> Result<(), Error> {
    let mut later = Vec::new();
    for index in &types.layout.indexes {
        match build::waits(database, types.kind, index.kind)? {
            true => later.push(index.name.as_str()),
            false => plan.statements.extend(ddl::prepare_index(types.kind, index.kind)),
        }
    }
    plan.statements.dedup();
    plan.statements.extend(versions::create(types.kind).iter().map(|it| (*it).to_owned()));
    plan.statements.extend(ddl::create_all(types, |index| later.contains(&index.name.as_str())));
    plan.statements.extend(later.iter().map(|it| build::begin(it)));
    plan.changes.extend(later.into_iter().map(waiting));
    Ok(())
}

/// Message for an index that cannot be built.
fn waiting(name: &str) -> String {
    format!("index `{name}` waits for {}", build::MEND)
}

/// Has an index of what is called `table` before the migration made now, or when the store is served.
fn index(database: &mut Database, table: &str, new: &Types, at: usize, plan: &mut Plan) -> Result<(), Error> {
    let index = &new.layout.indexes[at];
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {}) AS few",
        ddl::quoted(table),
        ROWS_AT_ONCE_MAX + 1
    );
    let is_large = database.one(&sql, &[])?.int() > ROWS_AT_ONCE_MAX as i64;
    let make = ddl::create_index(new.kind, &new.layout, index);
    let is_virtual = ddl::is_virtual(new.kind, index.kind);
    if build::waits(database, new.kind, index.kind)? {
        plan.statements.push(build::begin(&index.name));
        plan.changes.push(waiting(&index.name));
        return Ok(());
    }
    plan.statements.extend(ddl::prepare_index(new.kind, index.kind));
    if is_large && index.kind != layout::IndexKind::Unique {
        if is_virtual {
            plan.statements.extend(make);
        }
        plan.statements.push(build::begin(&index.name));
        plan.builds.push(index.name.clone());
        return Ok(());
    }
    plan.statements.extend(make);
    if is_virtual {
        let table = new.layout.relations.catalog.table(index.table);
        plan.statements.push(ddl::fill(table, index).replace("$1", "-1").replace("$2", "-1"));
    }
    Ok(())
}

/// On SQLite references are not looked at while tables are rebuilt, so they are at the end.
fn check_references(types: &Types, touched: &[String]) -> Vec<String> {
    match types.kind {
        layout::Database::Postgres => Vec::new(),
        layout::Database::Sqlite => {
            touched.iter().map(|it| format!("PRAGMA foreign_key_check({})", ddl::quoted(it))).collect()
        }
    }
}

fn ask(database: &mut Database, question: &Question, allowed: &[String]) -> Result<Option<Refusal>, Error> {
    let rows = database.query(&question.sql, &[], 1)?;
    Ok(match &question.verdict {
        Verdict::Lost(name) => {
            let count = rows.first().map_or(0, |row| row[0].int());
            let is_allowed = allowed.iter().any(|it| it == name);
            (count > 0 && !is_allowed).then(|| Refusal {
                what: format!("{count} values or objects of `{name}` would be lost"),
                mend: format!("allow it by `--allow-data-loss {name}`"),
                allow: Some(name.clone()),
            })
        }
        Verdict::Forbidden { what, mend, by_id } => {
            let named: Vec<String> = rows
                .iter()
                .map(|row| match by_id {
                    true => format!("{:#x}", row[0].int()),
                    false => format!("{:?}", row[0].text()),
                })
                .collect();
            (!rows.is_empty()).then(|| Refusal {
                what: format!("{what} ({})", named.join(", ")),
                mend: mend.clone(),
                allow: None,
            })
        }
        Verdict::Wordy { texts, name } => {
            let ids: Vec<i64> = rows.iter().map(|row| row[0].int()).collect();
            return bounds::check_words(database, &ids, texts, name);
        }
    })
}

/// See [`super::Store::migrate`].
pub(super) fn apply(database: &mut Database, types: &Types, plan: &Plan, before: i64) -> Result<(), Error> {
    let is_sqlite = types.kind == layout::Database::Sqlite;
    if is_sqlite {
        // Has an effect outside of transactions only; references are checked by the plan itself.
        database.execute("PRAGMA foreign_keys = OFF", &[])?;
    }
    database.begin()?;
    let done = run(database, types, plan, before).and_then(|()| database.commit());
    if done.is_err() {
        database.rollback();
    }
    if is_sqlite {
        database.execute("PRAGMA foreign_keys = ON", &[])?;
    }
    done
}

fn run(database: &mut Database, types: &Types, plan: &Plan, before: i64) -> Result<(), Error> {
    let now = versions::current(database)?.map_or(0, |it| it.number);
    if now != before {
        return Err(Error::Changed);
    }
    for statement in &plan.statements {
        if statement.starts_with("PRAGMA foreign_key_check") {
            if let Some(row) = database.query(statement, &[], 3)?.first() {
                let words = format!(
                    "row {} of {} refers to nothing in {}",
                    row[1].text(),
                    row[0].text(),
                    row[2].text()
                );
                return Err(Error::Database(words));
            }
        } else if statement.starts_with("SELECT") {
            database.query(statement, &[], 1)?;
        } else {
            database.execute(statement, &[])?;
        }
    }
    if plan.upgrades {
        upgrade::values(database, types)?;
    }
    versions::record(database, types, before + 1, &plan.changes)
}
