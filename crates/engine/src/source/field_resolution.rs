//! Division of a source: fields that come with an answer, and fields that are fetched separately once keys are known.
//!
//! A service returns an object with some of its fields; others take a call of their own, with fields of the object as keys. The
//! planner walks down the selection with the source's [`NodeId`]s; each member is [`FieldResolution::Inline`] with its object or
//! [`FieldResolution::Separate`]. Members of one separate fetch form one plan node, which is fetched once for all objects, wherever
//! they are.
//!
//! A member whose keys come with a separate fetch is fetched below that fetch's node and becomes an [`OutputKind::Foreign`] there.
//!
//! **Invariant:** the keys of a separate fetch are fields of the parent's type. Each key is one column of leaves; an object or list
//! key is one leaf of JSON.

#[cfg(doc)]
use crate::answer::output_plan::OutputKind;
use weir_language::schema::{FieldId, TypeId};

/// Position in a source's results: an object may come with fields that another object of the same type lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Position of root fields, and of fields that extend types of other sources.
    pub const ROOT: Self = Self(0);
}

/// Number of a separate fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeparateFetchId(pub u32);

/// Resolution of a field: inline or separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldResolution {
    /// The field comes with the object; fields below it stand at this position.
    Inline(NodeId),
    /// The field needs a fetch of its own.
    Separate(SeparateFetchId),
}

/// A separate fetch.
#[derive(Clone, Copy, Debug)]
pub struct SeparateFetch<'p> {
    /// Key fields of the parent's type, in order.
    pub keys: &'p [Box<str>],
    /// Number of leading keys that must not be null, else the object is not fetched; later keys may be null.
    pub required: usize,
    /// Position of its members.
    pub node: NodeId,
    /// True if one call returns all members; else each member is a plan node of its own.
    pub is_together: bool,
}

/// Divides a source's fields into inline and separate ones. All ids are those of the source's own schema.
pub trait FieldResolver: Send + Sync {
    /// The resolution of `field` on objects at `node`.
    fn resolution(&self, node: NodeId, field: FieldId) -> FieldResolution;
    /// The separate fetch `id`.
    fn separate_fetch(&self, id: SeparateFetchId) -> SeparateFetch<'_>;
    /// Object types of other sources that this source extends. In its own schema they have only the added fields, each of which is
    /// separate at [`NodeId::ROOT`].
    fn extended_types(&self) -> &[TypeId];
    /// Position of an object of type `ty` of which only a key is known, if separate fetches return its fields.
    fn entity_node(&self, ty: TypeId) -> Option<NodeId> {
        let _ = ty;
        None
    }
    /// True if `field` is hidden from clients: a query field that exists only because every schema needs one.
    fn is_hidden(&self, field: FieldId) -> bool {
        let _ = field;
        false
    }
}
