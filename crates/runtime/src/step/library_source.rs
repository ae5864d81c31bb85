//! The resolvers of a schema as a source of the engine.
//!
//! Fields with a leaf resolver, or that the record has itself, come with their object. Fields with any other resolver are separate
//! fetches: the engine gathers the parents of a step, at any depth, and asks once for all of them.

use crate::library::Library;
use crate::step;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::demand::CostRule;
use weir_engine::source::{
    FieldResolution, FieldResolver, NodeId, PlanError, PlanNode, PreparedFetch, SeparateFetch,
    SeparateFetchId, Source,
};
use weir_language::schema::{FieldId, Schema, TypeId, Visibility};

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
        step::prepare(&self.0, node)
    }
    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        Some(self)
    }
    fn cost_rules(&self) -> &[CostRule] {
        &self.0.cost_rules
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
    fn extended_types(&self) -> &[TypeId] {
        &self.0.parts.extended
    }
}
