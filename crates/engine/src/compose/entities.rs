//! A graph as a subgraph: the field `_entities` and the lookups behind it.

use super::federation::subgraph_text::subgraph_text;
use super::federation::{ENTITIES, FederationSettings, FederationSource, SERVICE};
use super::join::{self, Joined};
use super::merge::merge;
use super::{ComposeError, Graph, Join};
use crate::caller::{Claims, Identity};
use crate::source::{EntityLookup, Ids, NodeId, Source};
use std::sync::Arc;
use weir_language::schema::{FieldId, Schema, SchemaView, TypeId, Visibility};

/// The part of a graph that makes it a subgraph.
pub(super) struct Subgraph {
    /// The source of `_service` and `_entities`.
    source: Arc<FederationSource>,
    /// The field `_entities`, if any type has a key.
    entities: Option<FieldId>,
    /// The lookups by type.
    lookups: Vec<(TypeId, ResolvedLookup)>,
}

/// A lookup, its names resolved.
#[derive(Debug)]
pub(crate) enum ResolvedLookup {
    /// A field returns the object.
    Field(Joined),
    /// Separate fetches return the fields of the object.
    Separate {
        /// Place of the source that has the type.
        source: u16,
        /// Position of an object of which only the key is known.
        node: NodeId,
        /// Fields of the key.
        keys: Vec<FieldId>,
    },
}

impl ResolvedLookup {
    /// Fields of the key.
    pub(crate) fn keys(&self) -> &[FieldId] {
        match self {
            Self::Field(joined) => &joined.keys,
            Self::Separate { keys, .. } => keys,
        }
    }
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
        let text = subgraph_text(self, self.subgraph_visibility(subgraph));
        subgraph.source.publish(text.map_err(|message| ComposeError::Schema { message })?);
        Ok(())
    }

    /// True if the text of the subgraph has no field beside those of federation: its role is unknown, or sees nothing.
    pub fn is_subgraph_empty(&self) -> bool {
        let Some(subgraph) = &self.subgraph else { return false };
        let seen = self.subgraph_visibility(subgraph);
        let view = SchemaView::new(&self.schema, seen.as_ref());
        let own = [ENTITIES, SERVICE].map(|it| self.schema.field_by_name(self.schema.query, it));
        let mut shown = view.fields(view.query());
        !shown.any(|it| !own.contains(&Some(it)))
            && subgraph.lookups.iter().all(|it| self.lookups_of(it.0, view).next().is_none())
    }

    /// Visibility of the schema for the role of `subgraph`.
    fn subgraph_visibility(&self, subgraph: &Subgraph) -> Option<Visibility> {
        let role: Arc<str> = subgraph.source.settings().role.clone().into();
        let claims = Arc::new(Claims::default());
        let facts = self.facts(&Identity { role, is_backend: false, is_anonymous: false, claims });
        self.visibility(facts.each())
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
    ) -> impl Iterator<Item = &'g ResolvedLookup> + use<'g> {
        let all = self.subgraph.iter().flat_map(|it| &it.lookups);
        let of_type = all.filter(move |it| it.0 == ty).map(|it| &it.1);
        let is_seen = move |parent: TypeId, field: FieldId| {
            view.field_by_name(parent, view.field_name(field)) == Some(field)
        };
        let is_target_seen = move |it: &ResolvedLookup| match it {
            ResolvedLookup::Field(joined) => {
                is_seen(joined.root, joined.target)
                    && joined.arguments.iter().all(|argument| view.has_input(argument.0))
            }
            ResolvedLookup::Separate { .. } => true,
        };
        of_type.filter(move |it| is_target_seen(it) && it.keys().iter().all(|key| is_seen(ty, *key)))
    }
}

/// Finds what `lookup`, of the source at `at`, names in the merged schema.
fn resolve(
    schema: &Schema,
    (at, source, ids): (usize, &Arc<dyn Source>, &Ids),
    lookup: &EntityLookup,
) -> Result<(TypeId, ResolvedLookup), ComposeError> {
    let Some(target) = &lookup.target else { return resolve_separate(schema, (at, source, ids), lookup) };
    let arguments = lookup.keys.iter().map(|it| format!("{}: $this.{}", it.argument, it.field));
    let join = Join {
        on: lookup.on.to_string(),
        name: ENTITIES.to_owned(),
        description: String::new(),
        source: source.name().to_owned(),
        target: target.to_string(),
        arguments: format!("({})", arguments.collect::<Vec<_>>().join(", ")),
    };
    let resolved = join::resolve_lookup(schema, (at, source, ids), &join);
    resolved.map(|(on, joined)| (on, ResolvedLookup::Field(joined)))
}

/// Finds the position and the keys of a lookup without a target.
fn resolve_separate(
    schema: &Schema,
    (at, source, ids): (usize, &Arc<dyn Source>, &Ids),
    lookup: &EntityLookup,
) -> Result<(TypeId, ResolvedLookup), ComposeError> {
    let wrong = |reason: &str| ComposeError::Join { place: lookup.on.to_string(), reason: reason.to_owned() };
    let on = schema.type_by_name(&lookup.on).ok_or_else(|| wrong("there is no such type"))?;
    let node = source.field_resolver().and_then(|it| it.entity_node(ids.ty(on)));
    let node = node.ok_or_else(|| wrong("no fetch returns its fields by a key"))?;
    let keys = lookup.keys.iter().map(|it| schema.field_by_name(on, &it.field)).collect::<Option<_>>();
    let keys = keys.ok_or_else(|| wrong("a field of its key is not there"))?;
    Ok((on, ResolvedLookup::Separate { source: at as u16, node, keys }))
}
