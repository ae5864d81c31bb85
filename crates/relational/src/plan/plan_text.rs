//! The text form of a plan, for people: levels with their scans, conditions and columns, then the writes.
//!
//! ```text
//! level 0 Album: root rows of Album
//!   where Title like literal
//!   order Title
//!   columns Title, AlbumId
//! level 1 Album.Tracks: related rows of Track, AlbumId = column 1 of level 0
//!   columns Name
//! ```
//!
//! A condition that a policy adds is a line of its own, `policy of sailor: owner = x-hasura-user-id`; inside another condition it stands
//! in parentheses. Values of a request are not part of a plan: a parameter is printed as the place where its value is found.

use super::operators::{Aggregation, Comparison, Statistic};
use super::write::{Assign, Change, Conflict, Given, Operator, Step, Work, Write as PlanWrite};
use super::{
    Call, EncodedPart, Expr, Filter, Order, Origin, Output, Parameter, Plan, Query, Reader, RowAt, Scan, Tie,
};
use crate::catalog::{ColumnId, ColumnType, Relations, RelationshipId, TableId};
use crate::values::geometry::Placed;
use crate::values::text_search::Words;
use std::fmt::Write;

/// Appends the text form of `plan`; its ids are those of `relations`. `machine` appends the statements that the program of
/// a write may run, a line each.
pub fn describe(
    plan: &Plan,
    relations: &Relations,
    machine: &dyn Fn(&PlanWrite, &mut String),
    out: &mut String,
) {
    let order = plan.levels_in_order();
    let number = |level: usize| order.iter().position(|it| *it == level).unwrap_or(level);
    let numbers = (0..plan.levels.len()).map(number).collect();
    let policy = match &*plan.policy {
        "" => "policy".to_owned(),
        name => format!("policy of {name}"),
    };
    let text = Text { relations, numbers, policy };
    for at in &order {
        text.level(*at, plan, out);
    }
    for path in &plan.elided {
        let _ = writeln!(out, "elided {path}: the parent's row holds its columns");
    }
    for write in &plan.writes {
        let _ = writeln!(out, "write {}", write.path);
        for work in &write.works {
            text.write_work(work, plan, out);
            if let Work::Program { .. } = work {
                machine(write, out);
            }
        }
    }
}

/// The text form of a condition on rows of `table`.
pub fn describe_condition(relations: &Relations, filter: &Filter, table: TableId) -> String {
    Text { relations, numbers: Vec::new(), policy: "policy".to_owned() }.filter(filter, table)
}

/// Names for the ids of a plan.
struct Text<'t> {
    relations: &'t Relations,
    /// By level: its number among the printed levels, parents before children.
    numbers: Vec<usize>,
    /// Words for the policy.
    policy: String,
}

impl Text<'_> {
    fn level(&self, at: usize, plan: &Plan, out: &mut String) {
        let level = &plan.levels[at];
        let query = &level.query;
        let _ = write!(out, "level {} {}: ", self.numbers[at], level.path);
        self.scan(&query.scan, "rows", out);
        if let Some(call) = &query.call {
            let _ = write!(out, " from {}", self.call(call));
        }
        let above = (0..plan.levels.len()).find(|it| plan.levels_of(*it as u32).contains(&(at as u32)));
        let above =
            above.map_or_else(|| "the row above".to_owned(), |it| format!("level {}", self.numbers[it]));
        let tied = query.through.as_ref().map_or(query.table(), |(through, _)| through.table);
        for (tie, column) in &query.nest {
            let ours = match tie {
                Tie::Column(ours) => self.column(tied, *ours),
                Tie::Row => "the row".to_owned(),
            };
            let _ = write!(out, ", {ours} = column {column} of {above}");
        }
        if let Some((through, ours)) = &query.through {
            let pairs = self.table(through.table);
            let theirs = self.column(through.table, through.theirs);
            let _ = write!(out, " through {pairs} by {} = {theirs}", self.column(query.table(), *ours));
        }
        out.push('\n');
        self.query(query, out);
        let hidden: Vec<String> = level.hidden.iter().map(|it| it.column.to_string()).collect();
        if !hidden.is_empty() {
            let _ = writeln!(out, "  hidden columns {}", hidden.join(", "));
        }
    }

    fn query(&self, query: &Query, out: &mut String) {
        let table = query.table();
        self.conditions(&query.scan, &query.filter, out);
        let columns = |list: &[ColumnId]| self.columns(table, list);
        let (list, having) = match &query.output {
            Output::Rows(list) | Output::Aggregate(list) => (list, None),
            Output::Groups { by, columns: list, having } => {
                let _ = writeln!(out, "  group by {}", columns(by));
                (list, Some(having).filter(|it| !it.is_true()))
            }
        };
        if let Some(having) = having {
            let _ = writeln!(out, "  having {}", self.filter(having, table));
        }
        if !query.distinct_on.is_empty() {
            let _ = writeln!(out, "  distinct on {}", columns(&query.distinct_on));
        }
        if !query.order.is_empty() {
            let terms: Vec<String> = query.order.iter().map(|it| self.order(it, table)).collect();
            let _ = writeln!(out, "  order {}", terms.join(", "));
        }
        let page = [("limit", &query.page.limit), ("offset", &query.page.offset)];
        for (name, value) in page {
            if let Some(value) = value {
                let end = if query.page.from_end { " from the end" } else { "" };
                let most = match &value.reader {
                    Reader::Capped { rows_max, .. } => format!(", at most {rows_max} by the {}", self.policy),
                    Reader::Limit if matches!(value.origin, Origin::Constant(_)) => {
                        format!(" by the {}", self.policy)
                    }
                    _ => String::new(),
                };
                let _ = writeln!(out, "  {name} {}{end}{most}", parameter(value));
            }
        }
        let list: Vec<String> = list.iter().map(|it| self.expr(it, table)).collect();
        let _ = writeln!(out, "  columns {}", list.join(", "));
    }

    fn conditions(&self, scan: &Scan, filter: &Filter, out: &mut String) {
        if let Some(policy) = scan.policy() {
            let _ = writeln!(out, "  {}: {}", self.policy, self.filter(policy, scan.table()));
        }
        if !filter.is_true() {
            let _ = writeln!(out, "  where {}", self.filter(filter, scan.table()));
        }
        for cell in scan.cells() {
            let column = self.column(scan.table(), cell.column);
            let shown_if = self.filter(&cell.shown_if, scan.table());
            let _ = writeln!(out, "  {} shows {column} if {shown_if}", self.policy);
        }
        for call in scan.calls() {
            let (_, function) = self.relations.function(call.function);
            let shown_if = self.filter(&call.shown_if, scan.table());
            let _ = writeln!(out, "  {} shows {}() if {shown_if}", self.policy, function.name);
        }
    }

    /// The condition on rows as they are written.
    fn check(&self, scan: &Scan, out: &mut String) {
        if let Some(check) = scan.check() {
            let _ = writeln!(out, "  {} checks {}", self.policy, self.filter(check, scan.table()));
        }
    }

    fn set(&self, table: TableId, set: &[(ColumnId, Assign)]) -> String {
        let set = set.iter().map(|(column, value)| {
            let column = self.column(table, *column);
            match value {
                Assign::Null => format!("{column} = null"),
                Assign::Kept => format!("{column} = {column}"),
                Assign::Value(value) => format!("{column} = {}", parameter(value)),
                Assign::Operator(operator, value) => {
                    format!("{column} = {}", render_assignment(*operator, &column, &parameter(value)))
                }
            }
        });
        set.collect::<Vec<_>>().join(", ")
    }

    fn write_work(&self, work: &Work, plan: &Plan, out: &mut String) {
        let mut steps = |steps: &[Step]| {
            for (at, step) in steps.iter().enumerate() {
                self.step(at, step, plan, out);
            }
        };
        match work {
            Work::Nothing => out.push_str("  nothing\n"),
            Work::Change(at) => self.change(&plan.changes[*at as usize], out),
            Work::Insert(list) => steps(list),
            Work::Each { slot, steps: list } => {
                steps(list);
                let _ = writeln!(out, "  for each object of structural variable {slot}");
            }
            Work::Program { find: Some(level), .. } => {
                let _ =
                    writeln!(out, "  machine over the objects of level {}", self.numbers[*level as usize]);
            }
            Work::Program { find: None, .. } => out.push_str("  machine\n"),
        }
    }

    fn step(&self, at: usize, step: &Step, plan: &Plan, out: &mut String) {
        let _ = write!(out, "  step {at}");
        let change = &plan.changes[step.change as usize];
        let Change::Insert(insert) = change else { return self.change(change, out) };
        let table = insert.scan.table();
        let values: Vec<String> = insert
            .columns
            .iter()
            .zip(&step.values)
            .map(|(column, value)| format!("{} = {}", self.column(table, *column), render_given(value)))
            .collect();
        let _ = write!(out, ": ");
        self.scan(&insert.scan, "a row", out);
        let _ = writeln!(out, " ({})", values.join(", "));
        self.check(&insert.scan, out);
        if let Some(conflict) = &insert.conflict {
            self.conflict(conflict, out);
        }
        self.returning(change, out);
    }

    fn conflict(&self, conflict: &Conflict, out: &mut String) {
        let update = self.columns(conflict.scan.table(), &conflict.update);
        let action = if update.is_empty() { "nothing".to_owned() } else { format!("update {update}") };
        let key = conflict.arbiter.as_ref().map_or("any key", |it| &it.name);
        let _ = writeln!(out, "  on conflict with {key}: {action}");
        self.conditions(&conflict.scan, &conflict.filter, out);
        if !conflict.presets.is_empty() {
            let _ = writeln!(out, "  and set {}", self.set(conflict.scan.table(), &conflict.presets));
        }
        self.check(&conflict.scan, out);
    }

    fn change(&self, change: &Change, out: &mut String) {
        out.push_str("  ");
        match change {
            Change::Insert(insert) => {
                self.scan(&insert.scan, "a row", out);
                out.push('\n');
            }
            Change::Update(update) => {
                let table = update.scan.table();
                out.push_str("update ");
                self.scan(&update.scan, "rows", out);
                let _ = writeln!(out, " ({})", self.set(table, &update.set));
                self.conditions(&update.scan, &update.filter, out);
                self.check(&update.scan, out);
            }
            Change::Delete(delete) => {
                out.push_str("delete ");
                self.scan(&delete.scan, "rows", out);
                out.push('\n');
                self.conditions(&delete.scan, &delete.filter, out);
            }
            Change::Call(query) => {
                let _ =
                    writeln!(out, "call {}", query.call.as_ref().map_or(String::new(), |it| self.call(it)));
                return self.query(query, out);
            }
        }
        self.returning(change, out);
    }

    fn returning(&self, change: &Change, out: &mut String) {
        let list: Vec<String> = change.returning().iter().map(|it| self.expr(it, change.table())).collect();
        if !list.is_empty() {
            let _ = writeln!(out, "  returning {}", list.join(", "));
        }
    }

    fn scan(&self, scan: &Scan, rows: &str, out: &mut String) {
        let _ = write!(out, "{} {rows} of {}", scan.purpose().name(), self.table(scan.table()));
    }

    /// A condition that rows meet if it is true: unknown is as good as false.
    fn filter(&self, filter: &Filter, table: TableId) -> String {
        self.condition(filter, table, false)
    }

    /// `has_unknown`: true below a `not`, where unknown and false differ.
    fn condition(&self, filter: &Filter, table: TableId, has_unknown: bool) -> String {
        let join = |parts: &[Filter], word: &str, empty: &str| {
            let needed = parts.iter().filter(|it| has_unknown || word != AND || !is_implied(it, parts));
            let mut parts: Vec<String> = needed.map(|it| self.condition(it, table, has_unknown)).collect();
            match parts.len() {
                0 => empty.to_owned(),
                1 => parts.remove(0),
                _ => format!("({})", parts.join(word)),
            }
        };
        let column = |it: &ColumnId| self.column(table, *it);
        match filter {
            Filter::All(all) => join(all, AND, "true"),
            Filter::Any(any) => join(any, " or ", "false"),
            Filter::Not(not) => format!("not {}", self.condition(not, table, true)),
            Filter::NotTrue(not) => format!("{} is not true", self.filter(not, table)),
            Filter::Behind { filter, is_halved: _, loses_index } => {
                let index = if *loses_index { ", without an index" } else { "" };
                format!("{} (behind the policy{index})", self.condition(filter, table, has_unknown))
            }
            Filter::Named { of, names } => format!("{} is one of {}", column(of), names.join(", ")),
            Filter::Words { of, kind, with, .. } => {
                format!("{} has {} {}", column(of), words(*kind), parameter(with))
            }
            Filter::Each { with, filter } => {
                format!("each of {}: {}", parameter(with), self.condition(filter, table, has_unknown))
            }
            Filter::Place { of, by, with, .. } => {
                let with: Vec<String> = with.iter().map(parameter).collect();
                format!("({}) {} {}", self.columns(table, of), placement_word(*by), with.join(", "))
            }
            Filter::Null { of, is: true } => format!("{} is null", self.expr(of, table)),
            Filter::Null { of, is: false } => format!("{} is not null", self.expr(of, table)),
            Filter::Missing { with, is: true, .. } => format!("{} is null", parameter(with)),
            Filter::Missing { with, is: false, .. } => format!("{} is not null", parameter(with)),
            Filter::Among { query, .. } => self.first_rows(query),
            Filter::Compare { of, by, with } => {
                format!("{} {} {}", self.expr(of, table), by.plan_text(), parameter(with))
            }
            Filter::Measure { of, by, with } => {
                let with: Vec<String> = with.iter().flatten().map(parameter).collect();
                format!("{} {} {}", self.expr(of, table), by.plan_text(), with.join(", "))
            }
            Filter::Columns { of, by, row, with } => {
                let (of, with) = (
                    self.expr(of, table),
                    match row {
                        RowAt::Here => self.column(table, *with),
                        RowAt::Root(root) => format!("{} of the restricted row", self.column(*root, *with)),
                    },
                );
                format!("{of} {} {with}", by.text())
            }
            Filter::Somewhere { scan, filter } => format!("exists({})", self.rows(scan, filter)),
            Filter::Exists { by, scan, filter } => {
                let there = self.related_rows(*by, scan, filter);
                format!("exists({there})")
            }
        }
    }

    fn expr(&self, expr: &Expr, table: TableId) -> String {
        match expr {
            Expr::Column(column) | Expr::Key(column) => self.column(table, *column),
            Expr::JsonPath(of, path) => format!("{} at {}", self.expr(of, table), parameter(path)),
            Expr::Computed(call) => self.call(call),
            Expr::Row => "the row".to_owned(),
            Expr::Snapshot => "the snapshot".to_owned(),
            Expr::Null => "null".to_owned(),
            Expr::Count { columns, distinct } => {
                let columns = if columns.is_empty() { "*".to_owned() } else { self.columns(table, columns) };
                format!("count({}{columns})", if *distinct { "distinct " } else { "" })
            }
            Expr::Function(function, column) => function_of(*function, &self.column(table, *column)),
            Expr::Instant { function, text, .. } => function_of(*function, &self.column(table, *text)),
            Expr::Statistic { function, columns, distinct } => {
                let columns = self.columns(table, columns);
                let columns = if *distinct { format!("distinct {columns}") } else { columns };
                match function {
                    Statistic::Of(function) => function_of(*function, &columns),
                    Statistic::Corr => format!("corr({columns})"),
                    Statistic::CovarSamp => format!("covar_samp({columns})"),
                }
            }
            Expr::Related { by, scan, filter, of } => {
                format!("{} of ({})", self.expr(of, scan.table()), self.related_rows(*by, scan, filter))
            }
            Expr::Cast(of, to) => format!("{} as {}", self.expr(of, table), to.plan_text()),
        }
    }

    /// The rows that a condition looks for its own among.
    fn first_rows(&self, query: &Query) -> String {
        let table = query.table();
        let terms: Vec<String> = query.order.iter().map(|it| self.order(it, table)).collect();
        let limit = query.page.limit.as_ref().map_or_else(String::new, parameter);
        let rows = self.rows(&query.scan, &query.filter);
        format!("among the first {limit} by {} of ({rows})", terms.join(", "))
    }

    /// The rows along a relationship.
    fn related_rows(&self, by: RelationshipId, scan: &Scan, filter: &Filter) -> String {
        let mut out = String::new();
        self.scan(scan, "rows", &mut out);
        let _ = write!(out, " by {}", self.relations.relationship(by).name);
        self.restrictions(scan, filter, &mut out);
        out
    }

    /// Rows of any table.
    fn rows(&self, scan: &Scan, filter: &Filter) -> String {
        let mut out = String::new();
        self.scan(scan, "rows", &mut out);
        self.restrictions(scan, filter, &mut out);
        out
    }

    fn restrictions(&self, scan: &Scan, filter: &Filter, out: &mut String) {
        if let Some(policy) = scan.policy() {
            let _ = write!(out, " ({}: {})", self.policy, self.filter(policy, scan.table()));
        }
        if !filter.is_true() {
            let _ = write!(out, " where {}", self.filter(filter, scan.table()));
        }
    }

    fn order(&self, term: &Order, table: TableId) -> String {
        let direction = if term.descending { " desc" } else { "" };
        let nulls = match (term.nullable, term.nulls_first) {
            (false, _) => "",
            (true, true) => " nulls first",
            (true, false) => " nulls last",
        };
        format!("{}{direction}{nulls}", self.expr(&term.of, table))
    }

    fn table(&self, table: TableId) -> &str {
        &self.relations.catalog.table(table).name
    }

    fn column(&self, table: TableId, column: ColumnId) -> String {
        self.relations.catalog.table(table).column(column).name.clone()
    }

    fn columns(&self, table: TableId, list: &[ColumnId]) -> String {
        let names: Vec<String> = list.iter().map(|it| self.column(table, *it)).collect();
        names.join(", ")
    }

    fn call(&self, call: &Call) -> String {
        let arguments: Vec<String> = call
            .arguments
            .iter()
            .map(|(_, value)| value.as_ref().map_or_else(|| "null".to_owned(), parameter))
            .collect();
        format!("{}({})", self.relations.function(call.function).1.name, arguments.join(", "))
    }
}

/// The word between the parts of a conjunction.
const AND: &str = " and ";

/// True if `part` says that a value is not null which another of `parts` equates with something.
fn is_implied(part: &Filter, parts: &[Filter]) -> bool {
    let Filter::Null { of, is: false } = part else { return false };
    let equates =
        |it: &Filter| matches!(it, Filter::Compare { of: other, by: Comparison::Eq, .. } if other == of);
    parts.iter().any(equates)
}

fn function_of(function: Aggregation, columns: &str) -> String {
    format!("{}({columns})", function.plan_text())
}

/// Renders the new value of `column`.
fn render_assignment(operator: Operator, column: &str, value: &str) -> String {
    match operator {
        Operator::Increment => format!("{column} + {value}"),
        Operator::Append => format!("{column} || {value}"),
        Operator::Prepend => format!("{value} || {column}"),
        Operator::DeleteKey => format!("{column} without key {value}"),
        Operator::DeleteElem => format!("{column} without element {value}"),
        Operator::DeleteAtPath => format!("{column} without path {value}"),
    }
}

const fn placement_word(by: Placed) -> &'static str {
    match by {
        Placed::Near => "near",
        Placed::Within => "within",
        Placed::Contains | Placed::Covers => "contains",
        Placed::Intersects => "intersects",
    }
}

const fn words(kind: Words) -> &'static str {
    match kind {
        Words::Plain => "the words of",
        Words::Stems => "the stems of",
        Words::Trigrams => "the trigrams of",
    }
}

fn render_given(value: &Given) -> String {
    match value {
        Given::Null => "null".to_owned(),
        Given::Parameter(value) => parameter(value),
        Given::Returned { step, column } => format!("column {column} of step {step}"),
    }
}

/// The place of a value.
fn parameter(parameter: &Parameter) -> String {
    match &parameter.origin {
        Origin::Literal(_) => "literal".to_owned(),
        Origin::Variable(variable) => format!("variable {variable}"),
        Origin::Inside { slot, leaf } => format!("leaf {leaf} of structural variable {slot}"),
        Origin::Parent(column) => format!("key {column} of the parent"),
        Origin::Shown => "the objects that are shown".to_owned(),
        Origin::LookedUp(at) => format!("the object that lookup {at} found"),
        Origin::ParentColumn(column) => format!("column {column} of the parent"),
        Origin::Before(column) => format!("column {column} of the row read before"),
        Origin::Bound(at) => format!("value {at}"),
        Origin::Encoded(encoded) => match &encoded.part {
            EncodedPart::Cursor { paths, at, .. } => {
                format!("{} of the cursor", paths[usize::from(*at)].join("."))
            }
            EncodedPart::Identifier { column, .. } => format!("{column} of the identifier"),
        },
        Origin::Position(position) => {
            format!("{} of the position", position.paths[usize::from(position.at)].join("."))
        }
        Origin::Claim(name) => name.to_string(),
        Origin::Session => "the session".to_owned(),
        Origin::Constant(text) => match parameter.reader {
            Reader::Limit
            | Reader::First
            | Reader::Column(
                ColumnType::SmallInt
                | ColumnType::Int
                | ColumnType::BigInt
                | ColumnType::Numeric
                | ColumnType::Boolean,
            ) => text.to_string(),
            _ => format!("{text:?}"),
        },
    }
}
