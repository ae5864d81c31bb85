//! Names of a server's types and fields where they differ from those of the source's schema.

use foldhash::HashMap;
use weir_language::schema::{FieldId, Schema, TypeId};

/// The server's names where they differ from those of the source's schema.
#[derive(Debug, Default)]
pub(crate) struct ServerNames {
    pub(super) types: HashMap<TypeId, Box<str>>,
    pub(super) fields: HashMap<FieldId, Box<str>>,
}

impl ServerNames {
    /// The server's name of a type of `schema`, the source's.
    pub(super) fn type_name<'n>(&'n self, schema: &'n Schema, id: TypeId) -> &'n str {
        self.types.get(&id).map(AsRef::as_ref).unwrap_or_else(|| schema.type_name(id))
    }

    /// The server's name of a field of `schema`, the source's.
    pub(super) fn field_name<'n>(&'n self, schema: &'n Schema, id: FieldId) -> &'n str {
        self.fields.get(&id).map(AsRef::as_ref).unwrap_or_else(|| schema.field_name(id))
    }

    /// The field of `parent` that the server calls `own`.
    pub(super) fn find_field(&self, schema: &Schema, parent: TypeId, own: &str) -> Option<FieldId> {
        let mut fields = schema.ty(parent).fields.range().map(|it| FieldId(it as u32));
        fields.find(|it| self.field_name(schema, *it) == own)
    }

    /// The type that the server calls `own`.
    pub(super) fn find_type(&self, schema: &Schema, own: &str) -> Option<TypeId> {
        (0..schema.types.len() as u32).map(TypeId).find(|it| self.type_name(schema, *it) == own)
    }
}
