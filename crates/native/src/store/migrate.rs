//! From two texts of types to a plan in words and statements, and from the plan to tables.
//!
//! **Invariant:** a migration is one transaction that ends by writing its version; whoever is killed in it leaves what was
//! there before.

mod convert;
mod data_check;
mod differences;
mod edge_moves;
mod key_length;
mod plan;
mod rebuild;
mod renames;
mod table_diff;
mod unique_keys;
mod unused_directives;

pub use plan::{Plan, Refusal};

use super::database::{Database, Value};
use super::{Error, Types, ddl, index_builds, versions};
use crate::layout::IndexKind;
use data_check::{DataCheck, Verdict};
use weir_relational::dialect::store::Extension;
use weir_relational::plan::ddl::Definition;
use weir_relational::sql::ddl::{render, render_all};

/// Maximum number of rows of a table whose indexes are built in the migration; larger ones are built in the background.
const ROWS_AT_ONCE_MAX: usize = 10_000;

/// A table in the database that no store makes, if there is one.
pub(super) fn foreign_table(database: &mut Database) -> Result<Option<String>, Error> {
    let sql = database.kind().store_dialect().any_table();
    let found = database.query_value(sql, &[])?;
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
    let mut refusals = unused_directives::check_allowed_names(&old.model, allowed);
    let found = differences::differences(old, new);
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
    let work = rebuild::plan_rebuild(old, new);
    let dialect = new.kind.store_dialect();
    plan.statements = render_all(dialect, &work.definitions);
    for (at, table) in work.indexes {
        index(database, &table, new, at, &mut plan)?;
    }
    plan.statements.extend(render_all(dialect, &work.views));
    let checks: Vec<Definition> = work.touched.into_iter().map(Definition::CheckReferences).collect();
    let checks = render_all(dialect, &checks);
    plan.checks = checks.len();
    plan.statements.extend(checks);
    Ok(plan)
}

/// The statements that make a store where there was none.
fn first_statements(database: &mut Database, types: &Types, plan: &mut Plan) -> Result<(), Error> {
    let mut later = Vec::new();
    for index in &types.layout.indexes {
        match index_builds::missing_extension(database, types.kind, index.kind)? {
            Some(extension) => later.push((index.name.as_str(), extension)),
            None => {
                let statement = ddl::prepare_index(database, index.kind)?;
                let new = statement.filter(|it| !plan.statements.contains(it));
                plan.statements.extend(new);
            }
        }
    }
    let mut definitions = versions::create(types.kind);
    definitions.extend(ddl::create_all(types, |index| later.iter().any(|it| it.0 == index.name)));
    plan.statements.extend(render_all(types.kind.store_dialect(), &definitions));
    plan.statements.extend(later.iter().map(|it| index_builds::begin(it.0)));
    plan.changes.extend(later.into_iter().map(|(name, extension)| waiting(name, &extension)));
    Ok(())
}

/// Message for an index that cannot be built.
fn waiting(name: &str, extension: &Extension) -> String {
    format!("index `{name}` waits for {}", extension.fix)
}

/// Plans an index of the table now called `table`: built in this migration, or later while the store is served.
fn index(database: &mut Database, table: &str, new: &Types, at: usize, plan: &mut Plan) -> Result<(), Error> {
    let index = &new.layout.indexes[at];
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {}) AS few",
        ddl::quote_identifier(table),
        ROWS_AT_ONCE_MAX + 1
    );
    let is_large = database.query_value(&sql, &[])?.int() > ROWS_AT_ONCE_MAX as i64;
    let dialect = new.kind.store_dialect();
    let defined = ddl::index(&new.layout, index);
    let make = render(dialect, &Definition::CreateIndex(defined.clone()));
    if let Some(extension) = index_builds::missing_extension(database, new.kind, index.kind)? {
        plan.statements.push(index_builds::begin(&index.name));
        plan.changes.push(waiting(&index.name, &extension));
        return Ok(());
    }
    let new = ddl::prepare_index(database, index.kind)?.filter(|it| !plan.statements.contains(it));
    plan.statements.extend(new);
    if is_large && index.kind != IndexKind::Unique {
        if dialect.index_is_table(index.kind) {
            plan.statements.extend(make);
        }
        plan.statements.push(index_builds::begin(&index.name));
        plan.builds.push(index.name.clone());
        return Ok(());
    }
    plan.statements.extend(make);
    plan.statements.extend(render(dialect, &Definition::FillIndex(defined)));
    Ok(())
}

/// Rebuilds indexes of words: a store of an earlier format holds the words as they are written. The store has the current format then.
pub(super) fn remake_words(database: &mut Database, new: &Types, plan: &mut Plan) -> Result<(), Error> {
    let checks = plan.statements.split_off(plan.statements.len() - plan.checks);
    let dialect = new.kind.store_dialect();
    let mut has_some = false;
    for (at, of) in new.layout.indexes.iter().enumerate() {
        let table = &new.layout.relations.catalog.table(of.table).name;
        let is_there = matches!(of.kind, IndexKind::Terms | IndexKind::Fulltext)
            && database.has_table(table)?
            && database.has_table(&of.name)?
            && !plan.statements.iter().any(|it| it.contains(&ddl::quote_identifier(&of.name)));
        if is_there {
            let old = Definition::DropIndex(ddl::index(&new.layout, of));
            plan.statements.extend(render(dialect, &old));
            index(database, table, new, at, plan)?;
            has_some = true;
        }
    }
    if has_some {
        plan.changes
            .push("indexes of words are made anew: `東京` finds `東京タワー`, `fine` finds `ﬁne`".into());
    } else if plan.changes.is_empty() {
        plan.changes.push("the tables stay as they are".into());
    }
    plan.is_nothing = false;
    plan.statements.push(format!("UPDATE weir_store SET format = {}", versions::FORMAT));
    plan.statements.extend(checks);
    Ok(())
}

fn ask(database: &mut Database, question: &DataCheck, allowed: &[String]) -> Result<Option<Refusal>, Error> {
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
                .map(
                    |row| {
                        if *by_id { format!("{:#x}", row[0].int()) } else { format!("{:?}", row[0].text()) }
                    },
                )
                .collect();
            (!rows.is_empty()).then(|| Refusal {
                what: format!("{what} ({})", named.join(", ")),
                mend: mend.clone(),
                allow: None,
            })
        }
        Verdict::Wordy { texts, name } => {
            let ids: Vec<i64> = rows.iter().map(|row| row[0].int()).collect();
            return key_length::check_words(database, &ids, texts, name);
        }
    })
}

/// See [`super::Store::migrate`].
pub(super) fn apply(database: &mut Database, types: &Types, plan: &Plan, before: i64) -> Result<(), Error> {
    // References are checked by the plan itself then.
    let suspending = types.kind.store_dialect().suspend_references();
    if let Some([suspend, _]) = suspending {
        database.execute(suspend, &[])?;
    }
    database.begin()?;
    let done = run(database, types, plan, before).and_then(|()| database.commit());
    if done.is_err() {
        database.rollback();
    }
    if let Some([_, resume]) = suspending {
        database.execute(resume, &[])?;
    }
    done
}

fn run(database: &mut Database, types: &Types, plan: &Plan, before: i64) -> Result<(), Error> {
    let now = versions::current(database)?.map_or(0, |it| it.number);
    if now != before {
        return Err(Error::Changed);
    }
    let (statements, checks) = plan.statements.split_at(plan.statements.len() - plan.checks);
    for statement in statements {
        if statement.starts_with("SELECT") {
            database.query(statement, &[], 1).map(drop)?
        } else {
            database.execute(statement, &[]).map(drop)?
        }
    }
    for check in checks {
        if let Some(row) = database.query(check, &[], 3)?.first() {
            let [table, row, target] = [0, 1, 2].map(|at| row[at].text());
            return Err(Error::Database(format!("row {row} of {table} refers to nothing in {target}")));
        }
    }
    versions::record(database, types, before + 1, &plan.changes)
}
