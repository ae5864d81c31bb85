//! A plan with its statements rendered, and where it may run.
//!
//! **Invariant:** statement `i` is level `i` of the plan.

use crate::exec::plans::prepared_plan::PreparedPlan;
use rusqlite::Connection;
use std::sync::atomic::AtomicU32;
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{Relations, Storage, TableId};
use weir_relational::dialect::sqlite::Sqlite;
use weir_relational::dialect::sqlite_storage::TRUTH_WORDS;
use weir_relational::plan::write::Change;
use weir_relational::plan::{Level, MemberKind, Origin, Output, Parameter, Plan, Reader};
use weir_relational::sql::write::{ChangeStatement, render_change};
use weir_relational::sql::{Statement, render};

/// Maximum number of rows of a page that is read on the event loop.
pub(super) const PAGE_ROWS_MAX: i64 = 100;
/// A statement whose text is longer is prepared and run in the side pool: SQLite takes milliseconds to read it.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Maximum number of levels that may be read on the event loop.
const LEVELS_MAX: usize = 6;

/// Long runs in a row after which a plan counts as long; a single one can be the machine's fault.
pub(super) const SLOW_RUNS_MAX: u32 = 3;

/// A plan ready to run.
#[derive(Debug)]
pub(crate) struct SqlitePlan {
    pub(super) plan: Plan,
    pub(super) statements: Vec<ReadyStatement>,
    /// Parallel to the plan's changes.
    pub(super) changes: Vec<ChangeStatement>,
    /// Parallel to the changes: see [`ReadyStatement::of_bytes`].
    pub(super) changes_of_bytes: Vec<Option<String>>,
    /// Thread that runs it.
    pub(super) class: Class,
    /// Number of consecutive slow runs on the event loop: at [`SLOW_RUNS_MAX`] it leaves the loop for good.
    pub(super) slow_runs: AtomicU32,
}

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
    /// True if it has a row also below a parent with a null key: an aggregate over no rows.
    pub(super) has_row_always: bool,
}

/// Threads that run plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// On the event loop, if these limits are at most [`PAGE_ROWS_MAX`].
    Short(Vec<Parameter>),
    /// In the side pool.
    Long,
}

impl SqlitePlan {
    pub(super) fn new(relations: &Relations, plan: Plan, connection: Option<&Connection>) -> Self {
        let statements: Vec<ReadyStatement> = plan
            .levels
            .iter()
            .map(|level| {
                let statement = render(&Sqlite::USUAL, relations, &level.query);
                let of_bytes = asks_texts(&statement.parameters)
                    .then(|| render(&Sqlite::OF_BYTES, relations, &level.query).sql)
                    .filter(|sql| *sql != statement.sql);
                ReadyStatement::new(level, statement, of_bytes)
            })
            .collect();
        let changes: Vec<ChangeStatement> =
            plan.changes.iter().map(|it| render_change(&Sqlite::USUAL, relations, it)).collect();
        let of_bytes = |(change, statement): (&Change, &ChangeStatement)| {
            let has_texts = asks_texts(&statement.parameters) || sets_texts(relations, change);
            let sql = has_texts.then(|| render_change(&Sqlite::OF_BYTES, relations, change).sql);
            sql.filter(|sql| *sql != statement.sql)
        };
        let changes_of_bytes = plan.changes.iter().zip(&changes).map(of_bytes).collect();
        let class = connection.map_or(Class::Long, |it| classify(it, &plan, &statements));
        Self { plan, statements, changes, changes_of_bytes, class, slow_runs: AtomicU32::new(0) }
    }
}

impl PreparedPlan for SqlitePlan {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn statement_count(&self) -> usize {
        self.statements.len() + self.changes.len()
    }

    fn tables(&self) -> Vec<TableId> {
        let read = self.statements.iter().flat_map(|it| &it.statement.tables);
        read.chain(self.changes.iter().flat_map(|it| &it.tables)).copied().collect()
    }

    fn statements(&self, relations: &Relations) -> Vec<(String, &str)> {
        let table = |it: &Change| relations.catalog.table(it.table()).name.clone();
        let changes = self.changes.iter().zip(&self.plan.changes);
        let changes = changes.map(|(it, of)| (table(of), it.sql.as_str()));
        let levels = self.plan.levels_in_order().into_iter();
        let levels =
            levels.map(|at| (self.plan.levels[at].path.clone(), self.statements[at].statement.sql.as_str()));
        changes.chain(levels).collect()
    }
}

impl ReadyStatement {
    fn new(level: &Level, statement: Statement, of_bytes: Option<String>) -> Self {
        let has_row_always = matches!(level.query.output, Output::Aggregate(_));
        let mut fixed = Vec::new();
        let mut keys = Vec::new();
        for (at, parameter) in statement.parameters.iter().enumerate() {
            match parameter.origin {
                Origin::ParentColumn(column) => keys.push((at, column)),
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
                | Origin::Before(_)
                | Origin::Bound(_) => {
                    fixed.push(at);
                }
            }
        }
        Self { statement, of_bytes, fixed, keys, has_row_always }
    }
}

/// True if some of `parameters` is compared with a column of texts, or becomes one.
fn asks_texts(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|it| match &it.reader {
        Reader::Column(ty) | Reader::Each(ty) | Reader::Gathered { ty, .. } => ty.facts().cell == Cell::Text,
        _ => false,
    })
}

/// True if a new row has texts in columns that may hold bytes.
fn sets_texts(relations: &Relations, change: &Change) -> bool {
    let Change::Insert(insert) = change else { return false };
    let table = relations.catalog.table(insert.scan.table());
    insert.columns.iter().any(|it| table.column(*it).storage == Storage::Texts)
}

/// Short is what reads rows by keys and indexes, or one page of a table in its own or an index's order.
fn classify(connection: &Connection, plan: &Plan, statements: &[ReadyStatement]) -> Class {
    let mut limits = Vec::new();
    let is_large = |it: &ReadyStatement| it.statement.sql.len() > TEXT_BYTES_MAX;
    if plan.levels.len() > LEVELS_MAX || statements.iter().any(is_large) {
        return Class::Long;
    }
    for (at, (level, ready)) in plan.levels.iter().zip(statements).enumerate() {
        let single = plan.members.iter().any(|it| it.kind == MemberKind::One(at as u32));
        match reach(connection, level, ready, single) {
            Reach::Few => {}
            Reach::Page(limit) => limits.push(limit),
            Reach::Many => return Class::Long,
        }
    }
    Class::Short(limits)
}

enum Reach {
    Few,
    Page(Parameter),
    Many,
}

fn reach(connection: &Connection, level: &Level, ready: &ReadyStatement, single: bool) -> Reach {
    let Ok(steps) = steps(connection, &ready.statement.sql) else { return Reach::Many };
    // The words of a truth are few.
    let truths = format!("SCAN {TRUTH_WORDS} ");
    let scans = steps.iter().any(|it| it.starts_with("SCAN") && !it.starts_with(&truths));
    let sorts = steps.iter().any(|it| it.contains("TEMP B-TREE") || it.contains("MATERIALIZE"));
    let limit = level.query.page.limit.clone();
    let rows = matches!(level.query.output, Output::Rows(_));
    let nested = !level.query.nest.is_empty();
    match (scans, limit) {
        _ if sorts || steps.len() > 4 => Reach::Many,
        (false, _) if nested || (single && rows) => Reach::Few,
        (true, _)
            if nested
                || !rows
                || !level.query.filter.is_true()
                || level.query.scan.is_restricted()
                || level.query.page.offset.is_some() =>
        {
            Reach::Many
        }
        (_, Some(limit)) if rows => Reach::Page(limit),
        _ => Reach::Many,
    }
}

fn steps(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = statement.raw_query();
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(row.get(3)?);
    }
    Ok(out)
}
