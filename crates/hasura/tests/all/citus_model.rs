//! A model of Citus' planner: says of a statement whether Citus takes it, and how many shards it asks.
//!
//! It knows the rules that were found on a cluster of Citus 13: a correlated sub-select has to be tied to its outer row by the
//! distribution columns of one colocation, or read a reference table; sharded tables in one FROM have to be tied so too; nothing
//! is LATERAL; a join with a list of keys says the list again, for the shards to be known; no change sets a distribution column; a
//! function takes no row as a whole; an upsert's condition has no sub-select; what a change returns is immutable.
//! A sub-select that a key is looked for in has an OFFSET if both are distribution columns of different colocations, or one of the
//! tables has one shard elsewhere: else the planner joins the tables. To rows that a function gives no sub-select of shards is tied.
//! A statement whose sharded tables all have the same constant goes to one shard as it is, and may be anything but what is said of
//! changes, functions and LATERAL.

#![allow(unreachable_pub, reason = "a module of tests")]

use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, Expr, FromTable, JoinConstraint, JoinOperator, ObjectName,
    OnConflictAction, OnInsert, Query, Select, SelectItem, SetExpr, Statement, TableFactor, TableWithJoins,
    Value, Visit, Visitor, visit_expressions,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use std::collections::HashMap;
use std::ops::ControlFlow;
use weir_relational::catalog::{Catalog, Placement};

/// Shards that a statement asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None: reference and local tables alone.
    Coordinator,
    /// Those of one value: a parameter's text, or the placeholder's.
    One(String),
    /// Any number.
    Several,
}

/// The tables of a catalog by name.
pub struct Model<'c> {
    tables: HashMap<&'c str, Sharding>,
}

/// Distribution of a table.
#[derive(Clone, Debug)]
enum Sharding {
    Local,
    Reference,
    By(String, u32),
    Single(u32),
}

type Column = (String, String);

/// One SELECT, or the changing statement itself.
#[derive(Default)]
struct Frame {
    own: Vec<String>,
    /// Table by alias; a sub-select has none.
    tables: HashMap<String, Option<String>>,
    read: Vec<String>,
    pins: Vec<(Column, String)>,
    ties: Vec<(Column, Column)>,
    /// Names of lists of keys that are joined.
    lists: Vec<String>,
    /// Columns that are compared with a list.
    listed: Vec<Column>,
}

/// One statement.
struct Check<'m> {
    model: &'m Model<'m>,
    values: &'m dyn Fn(&str) -> String,
    frames: Vec<Frame>,
    /// Aliases of sharded tables, and the value that each is tied to.
    pinned: Vec<(String, Option<String>)>,
    /// Rules that hold for every statement.
    broken: Vec<String>,
    /// Rules that hold for those that ask several shards.
    spread: Vec<String>,
}

impl<'c> Model<'c> {
    pub fn new(catalog: &'c Catalog) -> Self {
        let sharding = |table: &weir_relational::catalog::Table| match table.placement {
            Placement::Local => Sharding::Local,
            Placement::Reference => Sharding::Reference,
            Placement::Single { colocation } => Sharding::Single(colocation),
            Placement::Sharded { column, colocation } => {
                Sharding::By(table.column(column).name.clone(), colocation)
            }
        };
        Self { tables: catalog.tables.iter().map(|it| (it.name.as_str(), sharding(it))).collect() }
    }

    /// The shards that `sql` asks; `values`: the text that is bound to a placeholder.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub fn check(&self, sql: &str, values: &dyn Fn(&str) -> String) -> Result<Reach, Vec<String>> {
        let statements =
            Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        let mut check = Check {
            model: self,
            values,
            frames: vec![Frame::default()],
            pinned: Vec::new(),
            broken: Vec::new(),
            spread: Vec::new(),
        };
        let _ = statements.visit(&mut check);
        check.close();
        check.end()
    }
}

impl Check<'_> {
    fn end(mut self) -> Result<Reach, Vec<String>> {
        let mut values: Vec<&Option<String>> = self.pinned.iter().map(|it| &it.1).collect();
        values.dedup();
        let reach = match values.as_slice() {
            [] => Reach::Coordinator,
            [Some(value)] => Reach::One(value.clone()),
            _ => Reach::Several,
        };
        if reach == Reach::Several {
            self.broken.append(&mut self.spread);
        }
        if self.broken.is_empty() { Ok(reach) } else { Err(self.broken) }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a statement is open")
    }

    /// The table that `alias` is of in `frame`, which is not among those around it.
    fn table<'f>(&'f self, frame: &'f Frame, alias: &str) -> Option<&'f str> {
        let around = self.frames.iter().rev();
        [frame].into_iter().chain(around).find_map(|it| it.tables.get(alias))?.as_deref()
    }

    fn sharding(&self, frame: &Frame, alias: &str) -> Option<&Sharding> {
        self.model.tables.get(self.table(frame, alias)?)
    }

    fn distribution(&self, frame: &Frame, alias: &str) -> Option<(Column, u32)> {
        match self.sharding(frame, alias)? {
            Sharding::By(column, colocation) => Some(((alias.to_owned(), column.clone()), *colocation)),
            Sharding::Local | Sharding::Reference | Sharding::Single(_) => None,
        }
    }

    /// The place of a table whose rows are all on one shard.
    fn single(&self, frame: &Frame, alias: &str) -> Option<u32> {
        match self.sharding(frame, alias)? {
            Sharding::Single(colocation) => Some(*colocation),
            Sharding::Local | Sharding::Reference | Sharding::By(..) => None,
        }
    }

    /// True if the rows of two sharded tables are on one node.
    fn are_tied(&self, frame: &Frame, one: &str, other: &str) -> bool {
        let (Some((one, here)), Some((other, there))) =
            (self.distribution(frame, one), self.distribution(frame, other))
        else {
            return false;
        };
        let is_tie = |tie: &(Column, Column)| {
            tie == &(one.clone(), other.clone()) || tie == &(other.clone(), one.clone())
        };
        here == there && frame.ties.iter().any(is_tie)
    }

    /// Judges a SELECT, or the statement.
    fn close(&mut self) {
        let frame = self.frames.pop().expect("a SELECT is open");
        let outer: Vec<String> = frame.read.iter().filter(|it| !frame.own.contains(it)).cloned().collect();
        let sharded: Vec<String> =
            frame.own.iter().filter(|it| self.distribution(&frame, it).is_some()).cloned().collect();
        let locals =
            frame.own.iter().filter(|it| matches!(self.sharding(&frame, it), Some(Sharding::Local))).count();
        for alias in &sharded {
            let (column, _) = self.distribution(&frame, alias).expect("it is sharded");
            let value = frame.pins.iter().find(|it| it.0 == column).map(|it| it.1.clone());
            let is_found = value.is_some() || frame.listed.contains(&column);
            let is_of_list = |it: &(Column, Column)| it.0 == column && frame.lists.contains(&it.1.0);
            if !is_found && frame.ties.iter().any(is_of_list) {
                self.spread.push(format!("{alias} is joined to keys, and not found by them"));
            }
            self.pinned.push((alias.clone(), value));
        }
        for (at, one) in sharded.iter().enumerate().skip(1) {
            if !sharded[..at].iter().any(|other| self.are_tied(&frame, one, other)) {
                self.spread.push(format!("{one} is joined to a table of other shards"));
            }
        }
        if locals > 0 && !sharded.is_empty() {
            self.spread.push("a local table is joined to a sharded one".to_owned());
        }
        self.close_singles(&frame, &outer, locals, !sharded.is_empty());
        let is_called = |it: &&String| self.frames.iter().any(|frame| frame.lists.contains(it));
        let mut outer_rows = outer.iter().filter(|it| !frame.lists.contains(it));
        if let Some(called) = outer_rows.find(is_called).filter(|_| !sharded.is_empty()) {
            self.spread.push(format!("a sub-select of shards is tied to {called}, which a function gives"));
        }
        let correlates = outer.iter().any(|it| self.table(&frame, it).is_some());
        if correlates {
            for alias in &sharded {
                let is_near = outer.iter().any(|it| self.are_tied(&frame, alias, it));
                if !is_near && sharded.len() == 1 {
                    self.spread.push(format!("{alias} is looked for row by row of {outer:?}"));
                }
            }
        }
        if locals > 0 && outer.iter().any(|it| self.distribution(&frame, it).is_some()) {
            self.spread.push(format!("a local table is looked for row by row of {outer:?}"));
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.read.extend(outer);
            // The ORDER BY of a SELECT is visited after it.
            for (alias, table) in frame.tables {
                parent.tables.entry(alias).or_insert(table);
            }
        }
    }

    /// Judges the tables of a SELECT that have one shard.
    fn close_singles(&mut self, frame: &Frame, outer: &[String], locals: usize, has_sharded: bool) {
        let mut places: Vec<u32> = frame.own.iter().filter_map(|it| self.single(frame, it)).collect();
        places.dedup();
        self.pinned.extend(places.iter().map(|it| (String::new(), Some(format!("shard {it}")))));
        if places.len() > 1 || (!places.is_empty() && (has_sharded || locals > 0)) {
            self.spread.push("a table of one shard is joined to one elsewhere".to_owned());
        }
        let is_far = |it: &String| {
            let there = self.single(frame, it);
            let is_elsewhere = |here: &u32| there != Some(*here);
            self.table(frame, it).is_some() && places.iter().any(is_elsewhere)
                || there.is_some() && (has_sharded || locals > 0)
        };
        if outer.iter().any(is_far) {
            self.spread.push(format!("a table of one shard is looked for row by row of {outer:?}"));
        }
    }

    /// A key that is looked for in a sub-select: the planner joins the tables, unless the sub-select is planned by itself.
    fn key_among(&mut self, key: &Expr, among: &Query) {
        let SetExpr::Select(select) = &*among.body else { return };
        let Some(SelectItem::UnnamedExpr(there)) = select.projection.first() else { return };
        let (Some(here), Some(there)) = (column(key), column(there)) else { return };
        if among.limit_clause.is_some() {
            return;
        }
        let mut below = Frame::default();
        std::mem::swap(self.frame(), &mut below);
        let frame = below;
        self.frames.push(Frame::default());
        select.from.iter().for_each(|it| self.joins(it));
        let below = self.frames.pop().expect("it was pushed");
        let is_apart = match (self.sharding(&frame, &here.0), self.sharding(&below, &there.0)) {
            (Some(Sharding::By(ours, one)), Some(Sharding::By(theirs, other))) => {
                one != other && *ours == here.1 && *theirs == there.1
            }
            (Some(Sharding::Single(one)), Some(Sharding::Single(other))) => one != other,
            (Some(Sharding::Single(_)), Some(Sharding::By(..) | Sharding::Local))
            | (Some(Sharding::By(..) | Sharding::Local | Sharding::Reference), Some(Sharding::Single(_))) => {
                true
            }
            _ => false,
        };
        *self.frame() = frame;
        if is_apart {
            self.spread.push(format!("{here:?} is looked for in {there:?}, which asks for a join of shards"));
        }
    }

    /// Refuses what Citus does not take in the RETURNING of a distributed table.
    fn check_returned(&mut self, table: &str, returning: Option<&Vec<SelectItem>>) {
        if matches!(self.model.tables.get(table), None | Some(Sharding::Local)) {
            return;
        }
        let mut unsteady = Vec::new();
        let Some(returning) = returning else { return };
        let _ = visit_expressions(returning, |of: &Expr| {
            if let Expr::Cast { data_type, .. } = of
                && !["int4", "int8", "text", "json"].contains(&data_type.to_string().to_lowercase().as_str())
            {
                unsteady
                    .push(format!("a change returns what is cast to {data_type}, which is not immutable"));
            }
            ControlFlow::<()>::Continue(())
        });
        self.broken.append(&mut unsteady);
    }

    /// Notes what the conjuncts of a condition say.
    fn conjuncts(&mut self, of: &Expr) {
        match of {
            Expr::Nested(of) => self.conjuncts(of),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.conjuncts(left);
                self.conjuncts(right);
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
                if let (Some(column), Some(_)) = (column(left), placeholder(right)) {
                    self.frame().listed.push(column);
                }
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => match (column(left), column(right)) {
                (Some(one), Some(other)) => self.frame().ties.push((one, other)),
                (Some(column), None) => {
                    if let Some(value) = placeholder(right) {
                        let value = (self.values)(&value);
                        self.frame().pins.push((column, value));
                    }
                }
                (None, _) => {}
            },
            _ => {}
        }
    }

    fn joins(&mut self, from: &TableWithJoins) {
        let mut relations = vec![&from.relation];
        for join in &from.joins {
            relations.push(&join.relation);
            if let JoinOperator::Join(JoinConstraint::On(on))
            | JoinOperator::Inner(JoinConstraint::On(on))
            | JoinOperator::Left(JoinConstraint::On(on))
            | JoinOperator::LeftOuter(JoinConstraint::On(on)) = &join.join_operator
            {
                self.conjuncts(on);
            }
        }
        for relation in relations {
            match relation {
                TableFactor::NestedJoin { table_with_joins, .. } => self.joins(table_with_joins),
                TableFactor::Table { name, alias: Some(alias), .. } => {
                    self.frame().tables.insert(alias.name.value.clone(), Some(last(name)));
                }
                TableFactor::Derived { alias: Some(alias), .. } => {
                    self.frame().tables.insert(alias.name.value.clone(), None);
                }
                _ => {}
            }
        }
    }

    fn changes(&mut self, table: &str, columns: impl Iterator<Item = String>) {
        let Some(Sharding::By(distribution, _)) = self.model.tables.get(table) else { return };
        for column in columns.filter(|it| it == distribution) {
            self.broken.push(format!("{table}.{column} is set, which says on which shard the row is"));
        }
    }
}

impl Visitor for Check<'_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        match statement {
            Statement::Update(update) => {
                let TableFactor::Table { name, .. } = &update.table.relation else {
                    panic!("an update of no table")
                };
                let table = last(name);
                self.check_returned(&table, update.returning.as_ref());
                self.changes(&table, update.assignments.iter().filter_map(|it| assigned(&it.target)));
                update.selection.iter().for_each(|it| self.conjuncts(it));
            }
            Statement::Delete(delete) => {
                let FromTable::WithFromKeyword(from) = &delete.from else { panic!("a delete without FROM") };
                if let Some(TableFactor::Table { name, .. }) = from.first().map(|it| &it.relation) {
                    self.check_returned(&last(name), delete.returning.as_ref());
                }
                from.iter().for_each(|it| self.joins(it));
                delete.selection.iter().for_each(|it| self.conjuncts(it));
            }
            Statement::Insert(insert) => {
                let table = insert.table.to_string();
                let table = table.rsplit('.').next().unwrap_or_default().trim_matches('"').to_owned();
                self.check_returned(&table, insert.returning.as_ref());
                if let Some(OnInsert::OnConflict(conflict)) = &insert.on
                    && let OnConflictAction::DoUpdate(update) = &conflict.action
                {
                    self.changes(&table, update.assignments.iter().filter_map(|it| assigned(&it.target)));
                    if update.selection.as_ref().is_some_and(|it| it.to_string().contains("SELECT")) {
                        self.broken.push("the condition of an upsert has a sub-select".to_owned());
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.frames.push(Frame::default());
        select.from.iter().for_each(|it| self.joins(it));
        select.selection.iter().for_each(|it| self.conjuncts(it));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.close();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias: Some(alias), args: None, .. } => {
                let alias = alias.name.value.clone();
                self.frame().tables.insert(alias.clone(), Some(last(name)));
                self.frame().own.push(alias);
            }
            TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::Table { alias: Some(alias), args: Some(_), .. } => {
                let alias = alias.name.value.clone();
                self.frame().lists.push(alias);
            }
            TableFactor::Derived { lateral, alias, .. } => {
                if *lateral {
                    self.broken.push("a sub-select is LATERAL".to_owned());
                }
                for alias in alias.iter().map(|it| it.name.value.clone()) {
                    self.frame().tables.insert(alias.clone(), None);
                    self.frame().own.push(alias);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, of: &Expr) -> ControlFlow<()> {
        match of {
            Expr::CompoundIdentifier(parts) => {
                let alias = parts[0].value.clone();
                self.frame().read.push(alias);
            }
            Expr::InSubquery { expr, subquery, .. } => self.key_among(expr, subquery),
            Expr::Function(call) => {
                let text = call.args.to_string();
                if text.contains(".*") && !call.name.to_string().eq_ignore_ascii_case("count") {
                    self.broken.push(format!("{} takes a row as a whole", call.name));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn last(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|it| it.as_ident());
    part.map(|it| it.value.clone()).unwrap_or_default()
}

fn assigned(target: &AssignmentTarget) -> Option<String> {
    match target {
        AssignmentTarget::ColumnName(name) => Some(last(name)),
        AssignmentTarget::Tuple(_) => None,
    }
}

fn column(of: &Expr) -> Option<Column> {
    match of {
        Expr::CompoundIdentifier(parts) if parts.len() == 2 => {
            Some((parts[0].value.clone(), parts[1].value.clone()))
        }
        _ => None,
    }
}

fn placeholder(of: &Expr) -> Option<String> {
    match of {
        Expr::Nested(of) => placeholder(of),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => Some(name.clone()),
            _ => None,
        },
        Expr::Cast { expr, .. } => placeholder(expr),
        _ => None,
    }
}

/// A catalog of the distribution column `k` of tables `a`, `b` and `far`, a reference table and a local one.
fn check(sql: &str) -> Result<Reach, Vec<String>> {
    let ddl = "CREATE TABLE a (k INTEGER NOT NULL, x INTEGER, PRIMARY KEY (k)); CREATE TABLE b (k INTEGER, x INTEGER);
               CREATE TABLE far (k INTEGER, x INTEGER); CREATE TABLE one (x INTEGER); CREATE TABLE beside (x INTEGER);
               CREATE TABLE other (x INTEGER); CREATE TABLE everywhere (x INTEGER); CREATE TABLE home (x INTEGER);";
    let mut catalog = crate::texts::catalog(ddl);
    for table in &mut catalog.tables {
        let column = table.find("k");
        table.placement = match table.name.as_str() {
            "a" | "b" => Placement::Sharded { column: column.unwrap(), colocation: 1 },
            "far" => Placement::Sharded { column: column.unwrap(), colocation: 2 },
            "one" | "beside" => Placement::Single { colocation: 7 },
            "other" => Placement::Single { colocation: 8 },
            "everywhere" => Placement::Reference,
            _ => Placement::Local,
        };
    }
    Model::new(&catalog).check(sql, &str::to_owned)
}

/// Statements that a cluster took.
const TAKEN: &[&str] = &[
    // Forms A, B, C and E, in what Citus took.
    "SELECT t0.x FROM s.everywhere AS t0 WHERE (t0.x IN (SELECT t1.x FROM s.a AS t1 WHERE t1.x > $1))",
    "SELECT t0.x FROM s.home AS t0 WHERE NOT (t0.x IN (SELECT t1.x FROM s.a AS t1 WHERE t1.x IS NOT NULL))",
    "SELECT t0.x FROM s.a AS t0 WHERE ((t0.x, t0.k) IN (SELECT t1.x, t1.k FROM s.far AS t1 WHERE t1.x IN (SELECT t2.x FROM s.b AS t2)))",
    "DELETE FROM s.a AS t0 WHERE (t0.x IN (SELECT t1.x FROM s.far AS t1)) RETURNING 1",
    "SELECT t0.x FROM (s.a AS t0 LEFT JOIN (SELECT t1.x AS k0, count(*) AS value FROM s.far AS t1 GROUP BY t1.x) AS t2 ON t2.k0 = t0.x) WHERE coalesce(t2.value, 0) > $1",
    "SELECT t0.x FROM (s.a AS t0 LEFT JOIN (SELECT t1.k AS k0, t3.value AS value FROM (s.far AS t1 LEFT JOIN (SELECT t4.k AS k0, t4.x AS value FROM s.b AS t4 OFFSET 0) AS t3 ON t3.k0 = t1.x) OFFSET 0) AS t2 ON t2.k0 = t0.x) ORDER BY t2.value",
    "SELECT s.f(ROW(t0.k, t0.x)::s.a) FROM s.a AS t0",
    "INSERT INTO s.a AS t0 (k, x) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET x = excluded.x WHERE t0.x > $3 RETURNING k",
    "SELECT t0.x FROM s.a AS t0 WHERE EXISTS (SELECT 1 FROM s.b AS t1 WHERE t1.k = t0.k)",
    "SELECT t0.x FROM s.a AS t0 WHERE EXISTS (SELECT 1 FROM s.everywhere AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.a AS t0 WHERE t0.x IN (SELECT t1.x FROM s.far AS t1)",
    "SELECT t0.x FROM (s.a AS t0 LEFT JOIN (SELECT t1.x AS k0, count(*) AS value FROM s.far AS t1 GROUP BY t1.x) AS t2 ON t2.k0 = t0.x) ORDER BY t2.value",
    "SELECT t0.x FROM s.home AS t0 WHERE EXISTS (SELECT 1 FROM s.everywhere AS t1 WHERE t1.x = t0.x)",
    "UPDATE s.a AS t0 SET x = $1 WHERE t0.k = $2 RETURNING x",
    "SELECT p.n, t0.x FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN s.a AS t0 ON t0.k = p.k0 AND t0.k = ANY($1)",
    "SELECT p.n, t0.x FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN s.a AS t0 ON t0.x = p.k0",
    "UPDATE s.a AS t0 SET x = $1 WHERE t0.k = $2 RETURNING x, (CASE WHEN t0.x > $3 THEN NULL ELSE 'broken' END)::int4",
    "SELECT t0.x FROM s.a AS t0 WHERE t0.k IN (SELECT t1.k FROM s.far AS t1 WHERE t1.x > $1 OFFSET 0)",
    "SELECT t0.x FROM s.a AS t0 WHERE t0.x IN (SELECT t1.k FROM s.far AS t1)",
    "UPDATE s.a AS t0 SET x = $1 WHERE t0.k IN (SELECT t1.k FROM s.far AS t1 OFFSET 0) RETURNING 1",
    "SELECT t0.x FROM s.one AS t0 WHERE EXISTS (SELECT 1 FROM s.beside AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.one AS t0 JOIN s.beside AS t1 ON t1.x = t0.x",
    "SELECT t0.x FROM s.one AS t0 WHERE t0.x IN (SELECT t1.x FROM s.other AS t1 OFFSET 0)",
    "SELECT t0.x FROM s.one AS t0 WHERE EXISTS (SELECT 1 FROM s.everywhere AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.f($1) AS t0 WHERE t0.x IN (SELECT t1.x FROM s.a AS t1)",
];

/// Statements that a cluster refused.
const REFUSED: &[&str] = &[
    "SELECT t0.x FROM s.home AS t0 WHERE EXISTS (SELECT 1 FROM s.a AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.a AS t0 WHERE (SELECT count(*) FROM s.far AS t1 WHERE t1.k = t0.k) > $1",
    "SELECT t0.x FROM s.a AS t0 ORDER BY (SELECT count(*) FROM s.far AS t1 WHERE t1.k = t0.k)",
    "SELECT t0.x FROM s.a AS t0 ORDER BY (SELECT (SELECT t2.x FROM s.far AS t2 WHERE t2.k = t1.x LIMIT 1) FROM s.b AS t1 WHERE t1.k = t0.k LIMIT 1)",
    "UPDATE s.a AS t0 SET x = $1 WHERE EXISTS (SELECT 1 FROM s.far AS t1 WHERE t1.k = t0.k) RETURNING 1",
    "DELETE FROM s.a AS t0 WHERE EXISTS (SELECT 1 FROM s.far AS t1 WHERE t1.k = t0.k) RETURNING 1",
    "INSERT INTO s.a AS t0 (k, x) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET x = excluded.x WHERE EXISTS (SELECT 1 FROM s.b AS t1 WHERE t1.k = t0.k) RETURNING k",
    "INSERT INTO s.a AS t0 (k, x) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET k = excluded.k RETURNING k",
    "SELECT t0.x FROM s.a AS t0 WHERE EXISTS (SELECT 1 FROM s.far AS t1 WHERE t1.k = t0.k)",
    "SELECT t0.x FROM s.a AS t0 WHERE EXISTS (SELECT 1 FROM s.b AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.everywhere AS t0 WHERE EXISTS (SELECT 1 FROM s.a AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.a AS t0 ORDER BY (SELECT t1.x FROM s.far AS t1 WHERE t1.k = t0.k LIMIT 1)",
    "SELECT t0.x FROM s.a AS t0 JOIN s.far AS t1 ON t1.k = t0.k",
    "SELECT t0.x FROM s.a AS t0 CROSS JOIN LATERAL (SELECT t1.x FROM s.b AS t1 WHERE t1.k = t0.k LIMIT 1) AS y",
    "UPDATE s.a AS t0 SET k = $1 WHERE t0.k = $2 RETURNING x",
    "SELECT s.f(t0.*) FROM s.a AS t0",
    "SELECT p.n, t0.x FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN s.a AS t0 ON t0.k = p.k0",
    "UPDATE s.a AS t0 SET x = $1 WHERE t0.k = $2 RETURNING x, (CASE WHEN t0.x > $3 THEN NULL ELSE 'broken' END)::timestamptz",
    "INSERT INTO s.a AS t0 (k) VALUES ($1) RETURNING (CASE WHEN t0.x > $2 THEN NULL ELSE 'broken' END)::timestamptz",
    "DELETE FROM s.a AS t0 WHERE t0.k = $1 RETURNING x::date",
    "SELECT t0.x FROM s.a AS t0 WHERE t0.k IN (SELECT t1.k FROM s.far AS t1 WHERE t1.x > $1)",
    "UPDATE s.a AS t0 SET x = $1 WHERE t0.k IN (SELECT t1.k FROM s.far AS t1) RETURNING 1",
    "SELECT t0.x FROM s.one AS t0 WHERE EXISTS (SELECT 1 FROM s.other AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.one AS t0 JOIN s.other AS t1 ON t1.x = t0.x",
    "SELECT t0.x FROM s.one AS t0 WHERE t0.x IN (SELECT t1.x FROM s.other AS t1)",
    "SELECT t0.x FROM s.a AS t0 WHERE t0.x IN (SELECT t1.x FROM s.one AS t1)",
    "SELECT t0.x FROM s.one AS t0 WHERE EXISTS (SELECT 1 FROM s.a AS t1 WHERE t1.x = t0.x)",
    "SELECT t0.x FROM s.f($1) AS t0 WHERE EXISTS (SELECT 1 FROM s.a AS t1 WHERE t1.k = t0.x)",
];

#[test]
fn the_model_takes_and_refuses_what_a_cluster_did() {
    for sql in TAKEN {
        assert!(check(sql).is_ok(), "{sql}: {:?}", check(sql));
    }
    for sql in REFUSED {
        assert!(check(sql).is_err(), "{sql}: {:?}", check(sql));
    }
}

#[test]
fn the_model_counts_shards() {
    let reach = |sql: &str| check(sql).unwrap();
    assert_eq!(reach("SELECT t0.x FROM s.everywhere AS t0"), Reach::Coordinator);
    assert_eq!(reach("SELECT t0.x FROM s.a AS t0 WHERE (t0.k = $1 AND t0.x > $2)"), Reach::One("$1".into()));
    assert_eq!(reach("SELECT t0.x FROM s.a AS t0 WHERE (t0.k = $1 OR t0.x > $2)"), Reach::Several);
    let one = "SELECT t0.x FROM s.a AS t0 WHERE t0.k = $1 AND EXISTS (SELECT 1 FROM s.b AS t1 WHERE t1.k = t0.k AND t1.k = $1)";
    assert_eq!(reach(one), Reach::One("$1".into()));
    assert_eq!(reach(&one.replace(" AND t1.k = $1", "")), Reach::Several);
    assert_eq!(reach(&one.replace("t1.k = $1", "t1.k = $2")), Reach::Several);
    assert_eq!(reach("SELECT t0.x FROM s.one AS t0"), Reach::One("shard 7".into()));
}
