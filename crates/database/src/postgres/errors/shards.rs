//! Rewrites errors of a sharded database as a single node would report them.
//!
//! Citus passes on what a worker says: names of shards (`"Artist_pkey_102041"`) in the message, and no fields beside it. Its planner says
//! what it cannot do in words about its own workings. Source: Citus 13, `ReportResultError` and the planner's messages.

use super::rejection;
use crate::exec::plans::shard_refusals::CODES;
use std::borrow::Cow;
use weir_engine::source::{Protocol, SourceError};
use weir_postgres::error::{DatabaseError, Error};
use weir_relational::catalog::{Catalog, Placement, Relations, RelationshipId, Table};
use weir_relational::plan::write::{Change, Work};
use weir_relational::plan::{Children, Expr, Filter, Plan, Query};

/// Shard numbers begin at 102008.
const DIGITS_MIN: usize = 5;

/// Hexadecimal digits that Citus inserts when it shortens a name that is too long with the shard's number.
const HASH_DIGITS: usize = 8;

fn quoted_names(message: &str) -> impl Iterator<Item = &str> {
    message.split('"').skip(1).step_by(2)
}

/// A name and the number of the shard behind it.
fn split(name: &str) -> Option<(&str, &str)> {
    let (stem, number) = name.rsplit_once('_')?;
    let is_number = number.len() >= DIGITS_MIN && number.bytes().all(|it| it.is_ascii_digit());
    (is_number && !stem.is_empty()).then_some((stem, number))
}

/// True if `stem`, from which a number was taken, is `name` or its shortened form.
fn is_stem_of(stem: &str, name: &str) -> bool {
    let is_cut = || {
        stem.rsplit_once('_').is_some_and(|(prefix, hash)| {
            let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|it| it.is_ascii_hexdigit());
            is_hash && prefix.len() > 20 && name.starts_with(prefix)
        })
    };
    stem == name || is_cut()
}

/// The table that has `name` in the catalog, or of which `name` is a shard.
fn table<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Table> {
    let own = catalog.tables.iter().find(|it| it.name == name);
    own.or_else(|| {
        let (stem, _) = split(name)?;
        catalog.tables.iter().find(|it| is_stem_of(stem, &it.name))
    })
}

/// The names of a table's keys.
fn constraints(table: &Table) -> impl Iterator<Item = &String> {
    let keys = table.primary_key.iter().chain(&table.unique_keys).map(|it| &it.name);
    keys.chain(table.foreign_keys.iter().map(|it| &it.name))
}

/// The constraint of which `name` is a shard's, and its table.
fn constraint<'c>(catalog: &'c Catalog, name: &str) -> Option<(&'c Table, &'c str)> {
    let (stem, _) = split(name)?;
    catalog.tables.iter().find_map(|table| {
        let found = constraints(table).find(|it| is_stem_of(stem, it))?;
        Some((table, found.as_str()))
    })
}

/// `name` without the number of a shard.
fn plain<'n>(catalog: &'n Catalog, name: &'n str) -> Cow<'n, str> {
    let Some((stem, _)) = split(name) else { return name.into() };
    if let Some(table) = table(catalog, name) {
        return table.name.as_str().into();
    }
    let is_known = catalog.tables.iter().any(|it| constraints(it).any(|it| it == name));
    match constraint(catalog, name) {
        _ if is_known => name.into(),
        Some((_, found)) => found.into(),
        None => stem.into(),
    }
}

/// The constraint `name` without the number of a shard. The name of a long table begins as those of its keys do.
fn plain_constraint<'n>(catalog: &'n Catalog, name: &'n str) -> Cow<'n, str> {
    let is_known = catalog.tables.iter().any(|it| constraints(it).any(|it| it == name));
    match constraint(catalog, name).filter(|_| !is_known) {
        Some((_, found)) => found.into(),
        None => plain(catalog, name),
    }
}

/// Tells an error of a worker as one of the server's own: with the names of tables, and the fields that belong to them.
pub(crate) fn on_one_node(error: Error, plan: Option<(&Plan, u32)>, relations: &Relations) -> Error {
    let Error::Database { mut error, statement } = error else { return error };
    if is_without_tenant(&error) {
        missing_tenant(&mut error, plan, relations);
    } else if quoted_names(&error.message).any(|it| split(it).is_some()) {
        name_tables(&mut error, &relations.catalog);
    }
    Error::Database { error, statement }
}

fn name_tables(error: &mut DatabaseError, catalog: &Catalog) {
    let names: Vec<&str> = quoted_names(&error.message).collect();
    let name = |at: usize| names.get(at).copied();
    let (of_table, of_constraint, of_column) = match &error.sqlstate {
        b"23502" => (name(1), None, name(0)),
        b"23503" => (name(2).or(name(0)), name(1), None),
        b"23514" => (name(0), name(1), None),
        b"23505" | b"23P01" => (None, name(names.len().wrapping_sub(1)), None),
        _ => (None, None, None),
    };
    let by_constraint = of_constraint.and_then(|it| constraint(catalog, it)).map(|it| it.0);
    let found = of_table.and_then(|it| table(catalog, it)).or(by_constraint);
    let constraint = of_constraint.map(|it| plain_constraint(catalog, it).into_owned());
    // A table that is not known is named to no one.
    let unknown = of_table.or(of_constraint).map(|it| plain(catalog, it).into_owned());
    let column = of_column.map(str::to_owned);
    let message: String = error
        .message
        .split('"')
        .enumerate()
        .map(|(at, part)| match at % 2 {
            0 => Cow::Borrowed(part),
            _ if of_constraint == Some(part) => format!("\"{}\"", plain_constraint(catalog, part)).into(),
            _ => format!("\"{}\"", plain(catalog, part)).into(),
        })
        .collect();
    error.message = message.into();
    if let Some(table) = found {
        (error.schema, error.table) = (table.schema.as_str().into(), table.name.as_str().into());
    } else if let Some(unknown) = unknown {
        error.table = unknown.into();
    }
    error.constraint = constraint.map_or_else(|| std::mem::take(&mut error.constraint), Into::into);
    error.column = column.map_or_else(|| std::mem::take(&mut error.column), Into::into);
}

/// An inserted row has no value that says to which shard it belongs.
fn is_without_tenant(error: &DatabaseError) -> bool {
    let words = ["with NULL in the partition column", "without a partition column value"];
    words.iter().any(|it| error.message.contains(it))
}

/// Tells it as the missing value that it is, by the table of the field's inserts.
fn missing_tenant(error: &mut DatabaseError, plan: Option<(&Plan, u32)>, relations: &Relations) {
    let inserts = plan.into_iter().flat_map(|(plan, field)| {
        let works = plan.writes.iter().filter(move |it| it.field == field).flat_map(|it| &it.works);
        let steps = works.flat_map(|it| match it {
            Work::Insert(steps) | Work::Each { steps, .. } => steps.as_slice(),
            Work::Nothing | Work::Change(_) | Work::Program { .. } => &[],
        });
        steps.map(|it| &plan.changes[it.change as usize])
    });
    let mut tables: Vec<_> = inserts.map(Change::table).collect();
    tables.dedup();
    error.sqlstate = *b"23502";
    error.message = "null value in the distribution column violates not-null constraint".into();
    let [table] = tables.as_slice() else { return };
    let table = relations.catalog.table(*table);
    if let Placement::Sharded { column, .. } = table.placement {
        let name = &table.name;
        let column = &table.column(column).name;
        let message =
            format!("null value in column \"{column}\" of relation \"{name}\" violates not-null constraint");
        error.message = message.into();
        (error.schema, error.table) = (table.schema.as_str().into(), name.as_str().into());
        error.column = column.as_str().into();
    }
}

/// The answer where the planner of shards refuses a statement of `plan`.
pub(crate) fn refusal(
    error: &Error,
    plan: Option<&Plan>,
    relations: &Relations,
    protocol: Protocol,
    field: u32,
) -> Option<SourceError> {
    let Error::Database { error, .. } = error else { return None };
    let message = &*error.message;
    let detail = &*error.detail;
    let is_planners = (&error.sqlstate == b"0A000" && !error.is_type_change())
        || (&error.sqlstate == b"XX000" && message.contains("repartition"));
    let has_shard = || {
        quoted_names(message)
            .filter_map(split)
            .any(|(stem, _)| relations.catalog.tables.iter().any(|it| is_stem_of(stem, &it.name)))
    };
    let words = match &error.sqlstate {
        b"42883" if has_shard() => ROW_OF_SHARD.to_owned(),
        _ if !is_planners || is_without_tenant(error) => return None,
        _ if [message, detail].iter().any(|it| it.contains("SQL functions")) => SQL_FUNCTION.to_owned(),
        _ if message.contains("partition value") => MOVED.to_owned(),
        _ if message.contains("within INSERT queries") => READING_INSERT.to_owned(),
        _ if ![message, detail].iter().any(|it| is_about_shards(it)) => return None,
        _ => cross_shard_message(&plan.map_or_else(Vec::new, |it| cross_shard_relationships(it, relations))),
    };
    tracing::warn!(%error, "the planner of shards refused a statement");
    Some(rejection(protocol, Some(field), CODES.0, CODES.1, &words))
}

/// True for words of the planner of shards about tables on several nodes. What else has the state 0A000 may fail on one node too.
fn is_about_shards(words: &str) -> bool {
    const WORDS: [&str; 13] = [
        "shard",
        "distribut",
        "pushdown",
        "push down",
        "join",
        "subquer",
        "subselect",
        "correlated",
        "repartition",
        "reference table",
        "located",
        "partition column",
        "router",
    ];
    let words = words.to_ascii_lowercase();
    WORDS.iter().any(|it| words.contains(it))
}

const SQL_FUNCTION: &str = "the database runs no function in SQL that reads distributed tables and takes arguments: write it in PL/pgSQL";
const ROW_OF_SHARD: &str = "the function takes the row of a distributed table, whose shards have rows of other types: let it take the columns that it needs, or a copy of the row in a type of its own";
const MOVED: &str = "a change cannot set the distribution column of a table: leave it out, or delete the row and insert it anew";
const READING_INSERT: &str = "an insert into a distributed table cannot read other tables: let the permission to insert compare columns of the row alone, or the session's variables";

/// Message if a request relates rows of several tables that may be on different nodes.
fn cross_shard_message(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().take(4).map(|it| format!("`{it}`")).collect();
    let what = match names.as_slice() {
        [] => "the database cannot answer this from several shards at once".to_owned(),
        names => {
            format!(
                "the database cannot relate rows of different shards in this request, along {}",
                names.join(", ")
            )
        }
    };
    format!(
        "{what}: distribute both tables by the columns of the relationship and colocate them, make one a reference table, ask by one \
         value of the distribution column, or answer it by a function in PL/pgSQL"
    )
}

/// Names of the relationships that the client's part of `plan` follows to rows that may be on other nodes.
fn cross_shard_relationships<'r>(plan: &Plan, relations: &'r Relations) -> Vec<&'r str> {
    let mut found = Followed { by: Vec::new() };
    plan.levels.iter().for_each(|it| {
        found.by.extend(it.by);
        found.query(&it.query);
    });
    for change in &plan.changes {
        match change {
            Change::Insert(insert) => {
                insert.conflict.iter().for_each(|it| found.filter(&it.filter));
            }
            Change::Update(update) => found.filter(&update.filter),
            Change::Delete(delete) => found.filter(&delete.filter),
            Change::Call(query) => found.query(query),
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for by in found.by.into_iter().filter(|it| !relations.is_colocated(*it)) {
        let name = relations.relationship(by).name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Relationships of a request; those of the policy are no one's business.
struct Followed {
    by: Vec<RelationshipId>,
}

impl Followed {
    fn query(&mut self, query: &Query) {
        self.filter(&query.filter);
        query.order.iter().for_each(|it| self.expr(&it.of));
        query.columns().iter().for_each(|it| self.expr(it));
    }

    fn filter(&mut self, filter: &Filter) {
        self.children(filter.children());
    }

    fn expr(&mut self, of: &Expr) {
        self.children(of.children());
    }

    fn children(&mut self, below: Children<'_>) {
        self.by.extend(below.by);
        below.filters.iter().for_each(|it| self.filter(it));
        below.of.into_iter().for_each(|it| self.expr(it));
        below.query.into_iter().for_each(|it| self.query(it));
    }
}

#[cfg(test)]
mod tests;
