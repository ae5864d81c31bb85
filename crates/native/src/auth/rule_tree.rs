//! Rules over leaves, the tables of the objects that they are about, and the states of their leaves for one caller.

use super::Right;
use crate::model::TypeId;
use hashbrown::HashMap;
use std::sync::Arc;
use weir_relational::catalog::{ColumnId, Relations, RelationshipId, TableId};
use weir_relational::plan::Filter;

/// A rule over leaves.
#[derive(Debug)]
pub(crate) enum RuleTree {
    All(Vec<RuleTree>),
    Any(Vec<RuleTree>),
    Not(Box<RuleTree>),
    /// Place of the leaf.
    Leaf(u32),
}

/// The condition of a query: on rows of a table, which hold objects of a type.
#[derive(Clone, Debug)]
pub(crate) struct FoundRows {
    pub(crate) on: TypeId,
    pub(crate) table: TableId,
    pub(crate) filter: Filter,
}

/// Rules of one type, by operation.
pub(crate) type TypeRules = [Option<RuleTree>; 5];

/// Rows of a table as objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowsOfType {
    pub(crate) ty: TypeId,
    /// For an abstract type: the column with the object type of a row.
    pub(crate) kind: Option<ColumnId>,
}

/// A member of an abstract type.
#[derive(Clone, Debug)]
pub(crate) struct AbstractMember {
    pub(crate) ty: TypeId,
    pub(crate) name: Box<str>,
    /// Relationship from the abstract type's rows to the member's.
    pub(crate) by: RelationshipId,
}

/// Tables of objects and the ways between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleTables {
    pub(crate) relations: Relations,
    pub(crate) rows: HashMap<TableId, RowsOfType>,
    /// By table of an abstract type.
    pub(crate) members: HashMap<TableId, Vec<AbstractMember>>,
    /// Relationship from an object type's table to the rows of one of its interfaces.
    pub(crate) to_abstract: HashMap<(TypeId, TableId), RelationshipId>,
}

/// The verdict of callers' facts on a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeafState<'r> {
    /// Whether the test of a claim holds.
    Claim(bool),
    /// A query whose claims are there, and the rows that it finds.
    Query(&'r FoundRows),
    /// A query without its claims.
    Unclaimed,
}

/// The rules of all types, with the states of their leaves for callers with equal facts.
pub(super) struct DecidedRules<'r> {
    pub(super) types: &'r [TypeRules],
    pub(super) tables: &'r Arc<RuleTables>,
    pub(super) leaves: Vec<LeafState<'r>>,
    /// True if the token was refused.
    pub(super) is_refused: bool,
}

impl Right {
    /// The rule of `ty` for it.
    pub(super) fn select_rule(self, ty: &TypeRules) -> Option<&RuleTree> {
        ty[self as usize].as_ref()
    }
}
