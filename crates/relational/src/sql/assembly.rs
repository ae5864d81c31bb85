//! One statement for several levels, and what is known of it while it is written: its arms and the parents of the topmost.

use super::slots::SlotValue;
use super::{ParentKey, Renderer};
use crate::catalog::postgres_types::oid;
use crate::catalog::{ColumnType, Relations, TableId};
use crate::dialect::Dialect;
use crate::dialect::postgres::Postgres;
use crate::plan::{Expr, Origin, Parameter, Plan};

/// Parents of the topmost levels.
#[derive(Clone, Copy, Debug)]
pub enum Parents<'p> {
    /// Nowhere: the levels are those of root fields.
    None,
    /// Keys in memory, with this many columns: [`Origin::Parent`] refers to them.
    Keys(usize),
    /// Rows in memory: those of their output columns ([`Origin::ParentColumn`]) that are keys, with the numbers of
    /// their types.
    Rows(&'p [(u16, u32)]),
    /// A single row in memory, with the same contents as `Rows`. Levels are read like root fields, with its values as parameters.
    Row(&'p [(u16, u32)]),
}

/// One statement for several levels.
///
/// With parents in memory the first parameters are lists, one per key column, and item `i` of each belongs to parent
/// `i`. An aggregate below parents gives a row for every one of them, also where a key is null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// The text.
    pub sql: String,
    /// Parameters that follow the lists of keys.
    pub parameters: Vec<Parameter>,
    /// The numbers of the types of all parameters.
    pub oids: Vec<u32>,
    /// The numbers of the types of the result's columns.
    pub columns: Vec<u32>,
    /// One per level, in the order of their rows.
    pub arms: Vec<Arm>,
    /// Every table it reads.
    pub tables: Vec<TableId>,
    /// A form of the statement that serves many requests at once, if there is one.
    pub merged: Option<MergedText>,
}

/// The rows of one level in a statement. Of one arm without parents, result columns are the level's output columns;
/// else the first is an `int2`, the place of the arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    pub level: u32,
    /// The result column of each output column of the level's query.
    pub columns: Vec<u16>,
    /// The result columns of the keys of its parent row, parallel to `Query::nest`. Where the parents are in memory,
    /// one column alone: an `int8`, the parent's place from one.
    pub keys: Vec<u16>,
}

/// A question asked for many keys, or sets of values: each parameter is a list, and the first result column is an `int8`, the
/// place in it from one; the others are those of the single question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedText {
    /// The text.
    pub sql: String,
    /// The numbers of the types of its parameters.
    pub oids: Vec<u32>,
}

/// The levels have more columns than a statement can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooWide;

/// The columns of the relation `p` of parents in memory, or the parameters of the only one.
fn key_columns(dialect: &Postgres, parents: Parents<'_>) -> Vec<ParentKey> {
    let key = |at: usize, origin, ty| ParentKey { origin, column: format!("p.k{at}"), ty };
    match parents {
        Parents::None => Vec::new(),
        Parents::Keys(keys) => (0..keys).map(|at| key(at, Origin::Parent(at as u32), None)).collect(),
        Parents::Rows(columns) => columns
            .iter()
            .enumerate()
            .map(|(at, &(column, ty))| key(at, Origin::ParentColumn(column), Some(ty)))
            .collect(),
        Parents::Row(columns) => columns
            .iter()
            .enumerate()
            .map(|(at, &(column, ty))| ParentKey {
                origin: Origin::ParentColumn(column),
                column: dialect.placeholder(at + 1),
                ty: Some(ty),
            })
            .collect(),
    }
}

/// A level on its way into the statement.
pub(super) struct Draft {
    pub(super) level: u32,
    pub(super) columns: Vec<SlotValue>,
    pub(super) keys: Vec<SlotValue>,
    /// `DISTINCT ON (…) `, or nothing.
    pub(super) distinct: String,
    /// Text from ` FROM` on.
    pub(super) rest: String,
    /// Ends with an order or a page, so that it has to stand in brackets.
    pub(super) bracketed: bool,
    /// A row may be there once for each spelling of its parents' key.
    pub(super) repeats: bool,
}

/// The levels that are already arms, and the renderer of the next one.
pub(super) struct Assembler<'a> {
    pub(super) dialect: &'a Postgres,
    pub(super) plan: &'a Plan,
    pub(super) renderer: Renderer<'a>,
    /// The common table expressions, in order.
    pub(super) ctes: Vec<String>,
    pub(super) arms: Vec<Draft>,
    pub(super) parents: Parents<'a>,
    /// True if there are arms beside those below one top level.
    pub(super) several: bool,
    /// Judges the patterns of levels below too, which are asked by statements of their own.
    pub(super) judges_below: bool,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(
        dialect: &'a Postgres,
        relations: &'a Relations,
        plan: &'a Plan,
        parents: Parents<'a>,
    ) -> Self {
        let keys = key_columns(dialect, parents);
        let mut renderer = Renderer::new(dialect, relations, keys.len());
        if matches!(parents, Parents::Row(_)) {
            let before = |it: &ParentKey| match it.origin {
                Origin::ParentColumn(column) => ParentKey { origin: Origin::Before(column), ..it.clone() },
                _ => it.clone(),
            };
            renderer.before = keys.iter().map(before).collect();
        }
        renderer.parents = keys;
        Self {
            dialect,
            plan,
            renderer,
            ctes: Vec::new(),
            arms: Vec::new(),
            parents,
            several: true,
            judges_below: false,
        }
    }

    /// The numbers of the types of a level's output columns.
    pub(super) fn types(&self, level: u32) -> Vec<u32> {
        let query = &self.plan.levels[level as usize].query;
        query.columns().iter().map(|it| self.shown_type(it, query.table())).collect()
    }

    /// The type of an output column. Aggregates of small numbers are small themselves, however wide their type.
    fn shown_type(&self, of: &Expr, table: TableId) -> u32 {
        let ty = self.renderer.shown_type(of, table);
        let small = match of {
            Expr::Count { .. } => true,
            Expr::Function(_, column) => {
                let ty = &self.renderer.relations.catalog.table(table).column(*column).ty;
                *ty == ColumnType::Real || ty.facts().bits.is_some_and(|it| it < 64)
            }
            _ => false,
        };
        match ty {
            oid::INT8 if small => oid::COUNT,
            oid::NUMERIC if small => oid::MEAN,
            oid::FLOAT8 if small => oid::RATIO,
            _ => ty,
        }
    }
}
