//! Division of a source: fields that come with an answer, and fields that are fetched separately once keys are known.
//!
//! A service gives an object with some of its fields; others take a call of their own, with fields of the object as keys. The
//! planner walks down what was selected with the source's nodes in hand; each member is *given* where it stands or belongs
//! to a *part*. The members that come together are one node, asked once for all the objects, however many and
//! wherever they are.
//!
//! A member whose keys come with a part hangs below that part's node, which then has a [`OutputKind::Foreign`] among its own.
//!
//! **Invariant:** a part's keys are fields of the type it stands on. Each comes as one column of leaves; an object or a list that is a key
//! is one leaf of JSON.

#[cfg(doc)]
use crate::plan::output_plan::OutputKind;
use weir_language::schema::{FieldId, TypeId};

/// A place in what a source gives: of two objects of one type one may come with fields that the other lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node of root fields, and of the fields by which a source extends types of others.
    pub const ROOT: Self = Self(0);
}

/// One of a source's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeparateFetchId(pub u32);

/// Resolution of a field: inline or separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldResolution {
    /// With the object; what is below it stands at this node.
    Inline(NodeId),
    /// By a call of its own.
    Separate(SeparateFetchId),
}

/// A separate fetch.
#[derive(Clone, Copy, Debug)]
pub struct SeparateFetch<'p> {
    /// The fields of the type whose values it is asked by, in order.
    pub keys: &'p [Box<str>],
    /// An object without one of the first so many keys is not asked for; the keys behind them may be null.
    pub required: usize,
    /// The node of its members.
    pub node: NodeId,
    /// True if one fetch brings all its members; else each is a node of its own.
    pub is_together: bool,
}

/// A source's division. All ids are those of its own schema.
pub trait FieldResolver: Send + Sync {
    /// The resolution of `field` on objects at `node`.
    fn resolution(&self, node: NodeId, field: FieldId) -> FieldResolution;
    /// One part.
    fn separate_fetch(&self, id: SeparateFetchId) -> SeparateFetch<'_>;
    /// Object types of other sources to which this one adds fields: in its schema they have only these, each of which
    /// is apart at [`NodeId::ROOT`].
    fn extended(&self) -> &[TypeId];
    /// True if `field` is hidden from clients: a query field that exists only because every schema needs one.
    fn is_hidden(&self, field: FieldId) -> bool {
        let _ = field;
        false
    }
}
