//! Builds a [`Schema`]: by calls, as sources that generate one do, or (see `sdl`) from SDL.
//!
//! Types are named before they are defined, so that fields may refer to types that come later.
//! Built-in scalars, directives and introspection types are put in first, so their ids are fixed.
//!
//! **Invariant:** members are added while their type is open, so those of one type lie side by side.

use super::{FieldId, InputId, ScalarReader, Schema, TypeId, TypeRef};

/// Collects types; [`SchemaBuilder::build`] makes the schema.
///
/// Shape of use: `let album = b.object("Album", "doc")`, then `b.field(album, …)` for each of its fields and
/// directly after each field its `b.argument(…)`s. Names that are referred to before they are defined come
/// from [`SchemaBuilder::reference`].
#[derive(Debug)]
pub struct SchemaBuilder {
    pub(crate) schema: Schema,
}

/// What the calls of [`SchemaBuilder`] return and take is fixed by the uses in crate `sql`; the owner of this
/// file completes it.
#[allow(missing_docs)]
impl SchemaBuilder {
    pub fn reference(&mut self, _name: &str) -> TypeId {
        unreachable!()
    }
    pub fn scalar(&mut self, _name: &str, _description: &str, _reader: ScalarReader) -> TypeId {
        unreachable!()
    }
    pub fn object(&mut self, _name: &str, _description: &str) -> TypeId {
        unreachable!()
    }
    pub fn input_object(&mut self, _name: &str, _description: &str) -> TypeId {
        unreachable!()
    }
    pub fn enumeration(&mut self, _name: &str, _description: &str) -> TypeId {
        unreachable!()
    }
    /// Adds a field to the object or interface opened last.
    pub fn field(&mut self, _name: &str, _description: &str, _ty: TypeRef) -> FieldId {
        unreachable!()
    }
    /// Adds an argument to the field added last.
    pub fn argument(&mut self, _name: &str, _description: &str, _ty: TypeRef) -> InputId {
        unreachable!()
    }
    /// Adds a field to the input object opened last.
    pub fn input_field(&mut self, _name: &str, _description: &str, _ty: TypeRef) -> InputId {
        unreachable!()
    }
    /// Adds a value to the enum opened last.
    pub fn enum_value(&mut self, _name: &str, _description: &str) -> super::EnumValueId {
        unreachable!()
    }
}
