//! The resolvers of a schema as a source of the engine.
//!
//! Fields with a leaf resolver, or that the record has itself, come with their object. Fields with any other resolver are separate
//! fetches: the engine gathers the parents of a step, at any depth, and asks once for all of them.
//!
//! **Invariant:** every field of an object type of the library has a resolver; [`crate::check`] saw that their types fit.

use crate::context::Data;
use crate::cost::Costs;
use crate::error::{ErrorMapping, internal};
use crate::fetch;
use crate::guard::Guard;
use crate::input::{Shape, Shapes};
use crate::leaf::Leaf;
use crate::loader::RegisteredLoader;
use crate::profile::Profiles;
use crate::resolver::{ParentType, Resolver};
use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::memory::{ProgramError, RecordHost};
use weir_engine::source::{
    FieldError, FieldResolution, FieldResolver, NodeId, OBJECT_KEY, PlanError, PlanNode, PreparedFetch,
    SeparateFetch, SeparateFetchId, Source,
};
use weir_language::schema::{FieldId, Schema, TypeId, Visibility};

/// A resolver at its field.
pub(crate) struct FieldEntry {
    pub(crate) resolver: Resolver,
    /// Of its arguments.
    pub(crate) shape: Shape,
    /// Its number among separate fetches.
    pub(crate) part: u32,
    /// Who may ask for it.
    pub(crate) guard: Option<Arc<Guard>>,
}

/// A separate fetch.
pub(crate) struct Part {
    keys: Vec<Box<str>>,
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
}

/// The library of one schema.
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) schema: Arc<Schema>,
    pub(crate) parts: Parts,
    pub(crate) loaders: HashMap<RustType, RegisteredLoader>,
    pub(crate) mappings: Vec<ErrorMapping>,
    pub(crate) data: Data,
    pub(crate) headers: Vec<Box<str>>,
    pub(crate) profiles: Profiles,
    pub(crate) costs: Costs,
}

impl Parts {
    /// Puts `resolver` at `field`.
    pub(crate) fn put(&mut self, field: FieldId, resolver: Resolver, shape: Shape) {
        let keys = resolver.keys.clone().unwrap_or_else(|| vec![OBJECT_KEY.into()]);
        let part = self.separate.len() as u32;
        self.separate.push(Part { keys });
        self.fields[field.index()] = Some(FieldEntry { resolver, shape, part, guard: None });
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
            Some(error) if error.cause().is_none() => error.told(),
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
                let (on, field) = (self.schema.field(field).parent, self.schema.field_name(field));
                let on = self.schema.type_name(on);
                Err(format!(
                    "the resolver of `{on}.{field}` takes `{name}`, but the objects are `{rust_name}`"
                ))
            }
            ParentType::Object(..) | ParentType::Unit | ParentType::Keys(_) => Ok(()),
        }
    }
}

/// The library as a source.
pub(crate) struct LibrarySource(pub(crate) Arc<Library>);

impl Source for LibrarySource {
    fn name(&self) -> &str {
        &self.0.name
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        fetch::prepare(&self.0, node)
    }
    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        Some(self)
    }
    fn separates_mutations(&self) -> bool {
        true
    }
    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.0.profiles.facts(identity, facts);
    }
    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        self.0.profiles.visibility(&self.0.schema, facts)
    }
}

/// The node of the separate fetch `part`.
fn fetch_node(part: u32) -> NodeId {
    NodeId(part + 1)
}

impl FieldResolver for LibrarySource {
    fn resolution(&self, node: NodeId, field: FieldId) -> FieldResolution {
        match self.0.parts.field(field) {
            // The node of the fetch itself brings the field; what is below it stands at the root again.
            Some(entry) if node == fetch_node(entry.part) => FieldResolution::Inline(NodeId::ROOT),
            Some(entry) => FieldResolution::Separate(SeparateFetchId(entry.part)),
            None => FieldResolution::Inline(NodeId::ROOT),
        }
    }
    fn separate_fetch(&self, id: SeparateFetchId) -> SeparateFetch<'_> {
        let keys = &self.0.parts.separate[id.0 as usize].keys;
        SeparateFetch { keys, required: keys.len(), node: fetch_node(id.0), is_together: false }
    }
    fn extended(&self) -> &[TypeId] {
        &self.0.parts.extended
    }
}
