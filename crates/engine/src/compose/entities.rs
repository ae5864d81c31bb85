//! A graph as a subgraph: the field `_entities` and the lookups behind it.

use super::federation::subgraph_text::subgraph_text;
use super::federation::{ENTITIES, FederationSettings, FederationSource};
use super::join::{self, Joined};
use super::merge::merge;
use super::{ComposeError, Graph, Join};
use crate::caller::{Claims, Identity};
use crate::source::{EntityLookup, Ids, Source};
use std::sync::Arc;
use weir_language::schema::{FieldId, Schema, SchemaView, TypeId};

/// The part of a graph that makes it a subgraph.
pub(super) struct Subgraph {
    /// The source of `_service` and `_entities`.
    source: Arc<FederationSource>,
    /// The field `_entities`, if any type has a key.
    entities: Option<FieldId>,
    /// The lookups by type.
    lookups: Vec<(TypeId, Joined)>,
}

impl Graph {
    /// Makes one graph of `sources` that is a subgraph too.
    pub(super) fn merge_subgraph(
        mut sources: Vec<Arc<dyn Source>>,
        joins: &[Join],
        settings: &FederationSettings,
    ) -> Result<Self, Vec<ComposeError>> {
        let lookups = sources.iter().flat_map(|it| it.entity_lookups().iter().cloned()).collect();
        let wording = sources.first().map(|it| it.schema().wording).unwrap_or_default();
        let source = FederationSource::new(settings.clone(), lookups, wording).map_err(|errors| {
            let of = |it: weir_language::error::Error| ComposeError::Schema { message: it.message };
            errors.into_iter().map(of).collect::<Vec<_>>()
        })?;
        let source = Arc::new(source);
        sources.push(Arc::<FederationSource>::clone(&source));
        let mut graph = merge(sources, joins, source.lookups())?;
        let schema = Arc::clone(&graph.schema);
        let entities = schema.field_by_name(schema.query, ENTITIES);
        let mut found = Vec::new();
        for (at, (source, ids)) in graph.sources.iter().enumerate() {
            for lookup in source.entity_lookups() {
                found.push(resolve(&schema, (at, source, ids), lookup).map_err(|it| vec![it])?);
            }
        }
        graph.hangs |= entities.is_some();
        graph.subgraph = Some(Subgraph { source, entities, lookups: found });
        Ok(graph)
    }

    /// Makes the text of the subgraph.
    /// # Errors
    /// A type has a name that no subgraph can have.
    pub(super) fn publish_subgraph(&self) -> Result<(), ComposeError> {
        let Some(subgraph) = &self.subgraph else { return Ok(()) };
        let role: Arc<str> = subgraph.source.settings().role.clone().into();
        let claims = Arc::new(Claims::default());
        let identity = Identity { role, is_backend: false, is_anonymous: false, claims };
        let facts = self.facts(&identity);
        let text = subgraph_text(self, self.visibility(facts.each()));
        subgraph.source.publish(text.map_err(|message| ComposeError::Schema { message })?);
        Ok(())
    }

    /// True for the field `_entities`.
    pub(crate) fn is_entities(&self, field: FieldId) -> bool {
        self.subgraph.as_ref().is_some_and(|it| it.entities == Some(field))
    }

    /// The lookups of the type `ty` whose keys and targets `view` shows.
    pub(crate) fn lookups_of<'g>(
        &'g self,
        ty: TypeId,
        view: SchemaView<'g>,
    ) -> impl Iterator<Item = &'g Joined> + use<'g> {
        let all = self.subgraph.iter().flat_map(|it| &it.lookups);
        let of_type = all.filter(move |it| it.0 == ty).map(|it| &it.1);
        let is_seen = move |parent: TypeId, field: FieldId| {
            view.field_by_name(parent, view.field_name(field)) == Some(field)
        };
        of_type.filter(move |it| {
            is_seen(it.root, it.target)
                && it.keys.iter().all(|key| is_seen(ty, *key))
                && it.arguments.iter().all(|argument| view.has_input(argument.0))
        })
    }
}

/// Finds what `lookup`, of the source at `at`, names in the merged schema.
fn resolve(
    schema: &Schema,
    (at, source, ids): (usize, &Arc<dyn Source>, &Ids),
    lookup: &EntityLookup,
) -> Result<(TypeId, Joined), ComposeError> {
    let arguments = lookup.keys.iter().map(|it| format!("{}: $this.{}", it.argument, it.field));
    let join = Join {
        on: lookup.on.to_string(),
        name: ENTITIES.to_owned(),
        description: String::new(),
        source: source.name().to_owned(),
        target: lookup.target.to_string(),
        arguments: format!("({})", arguments.collect::<Vec<_>>().join(", ")),
    };
    join::resolve_lookup(schema, (at, source, ids), &join)
}
