//! The resolvers of a schema, and all that they share.
//!
//! **Invariant:** every field of an object type of the library has a resolver; [`crate::library::fit_checks`] saw that their types fit.

pub(crate) mod coordinate_lookup;
pub(crate) mod fit_checks;
pub(crate) mod member_places;
pub(crate) mod request_hooks;
pub(crate) mod schema_usage;
pub(crate) mod visible_members;

use crate::context::batch_loader::Loaders;
use crate::context::data::Data;
use crate::context::hook::ChooseCall;
use crate::input::{Shape, Shapes};
use crate::library::visible_members::Profiles;
use crate::resolve_error::{ErrorMapping, internal};
use crate::resolver::leaf_resolver::Leaf;
use crate::resolver::object_guard::Guard;
use crate::resolver::{ParentType, Resolver};
use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::demand::CostRule;
use weir_engine::memory::{ProgramError, RecordHost};
use weir_engine::source::{FieldError, OBJECT_KEY};
use weir_language::schema::{FieldId, Schema, TypeId};

/// A resolver at its field.
pub(crate) struct FieldEntry {
    pub(crate) resolver: Resolver,
    /// Shape of its arguments.
    pub(crate) shape: Shape,
    /// Number of its separate fetch.
    pub(crate) part: u32,
    /// Guard of the field.
    pub(crate) guard: Option<Arc<Guard>>,
    /// Filter of the items of its list.
    pub(crate) filter: Option<Arc<Guard>>,
}

/// A separate fetch.
pub(crate) struct Part {
    pub(crate) keys: Vec<Box<str>>,
}

/// A schema's resolvers and all they share.
#[derive(Default)]
pub(crate) struct Parts {
    /// By field of the schema.
    pub(crate) fields: Vec<Option<FieldEntry>>,
    pub(crate) separate: Vec<Part>,
    pub(crate) leaves: HashMap<(RustType, FieldId), Leaf>,
    pub(crate) shapes: Shapes,
    pub(crate) extended: Vec<TypeId>,
    /// Guards by object type.
    pub(crate) type_guards: HashMap<TypeId, Arc<Guard>>,
}

/// The library of one schema.
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) schema: Arc<Schema>,
    pub(crate) parts: Parts,
    pub(crate) loaders: Arc<Loaders>,
    pub(crate) mappings: Vec<ErrorMapping>,
    pub(crate) data: Arc<Data>,
    pub(crate) headers: Vec<Box<str>>,
    pub(crate) profiles: Profiles,
    /// Weights and list sizes of the SDL and the builder.
    pub(crate) cost_rules: Vec<CostRule>,
    pub(crate) call_hooks: Vec<ChooseCall>,
}

impl Parts {
    /// Puts `resolver` at `field`.
    pub(crate) fn put(&mut self, field: FieldId, resolver: Resolver, shape: Shape) {
        let keys = resolver.keys.clone().unwrap_or_else(|| vec![OBJECT_KEY.into()]);
        let part = self.separate.len() as u32;
        self.separate.push(Part { keys });
        self.fields[field.index()] = Some(FieldEntry { resolver, shape, part, guard: None, filter: None });
    }

    /// The resolver of `field`.
    pub(crate) fn field(&self, field: FieldId) -> Option<&FieldEntry> {
        self.fields.get(field.index())?.as_ref()
    }
}

impl RecordHost for Library {
    fn leaf(&self, record: RustType, field: FieldId) -> Option<&(dyn Any + Send + Sync)> {
        self.parts.leaves.get(&(record, field)).map(|it| &*it.resolve)
    }

    fn field_error(&self, cause: &ProgramError) -> FieldError {
        match self.mappings.iter().find_map(|it| it(cause)) {
            Some(error) if error.cause().is_none() => error.to_field_error(),
            Some(_) | None => {
                tracing::error!(error = cause as &dyn std::error::Error, "a resolver failed");
                internal()
            }
        }
    }

    fn check_parent(&self, record: RustType, rust_name: &'static str, field: FieldId) -> Result<(), String> {
        let Some(entry) = self.parts.field(field) else { return Ok(()) };
        match entry.resolver.resolve.parent() {
            ParentType::Object(expected, name) if expected != record => {
                let on = self.schema.field(field).parent;
                let field = self.schema.field_name(field);
                let on = self.schema.type_name(on);
                Err(format!(
                    "the resolver of `{on}.{field}` takes `{name}`, but the objects are `{rust_name}`"
                ))
            }
            ParentType::Object(..) | ParentType::Unit | ParentType::Keys(_) => Ok(()),
        }
    }
}
