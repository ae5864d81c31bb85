//! One graph of many sources: merges their schemas, resolves extensions and joins, owns the clash rules.
//!
//! **Invariant:** every field of the graph has exactly one owner; a type that sources share has the first one's.

mod cost_rules;
mod entities;
mod extend;
mod federation;
mod graph_visibility;
mod join;
mod merge;
mod root_types;
mod shared_objects;
mod type_difference;

pub(crate) use entities::ResolvedLookup;
use federation::FEDERATION;
pub use federation::FederationSettings;
pub(crate) use join::Joined;
pub use join::join_keys;

use crate::caching::cache_control::{Hint, HintAt};

use crate::answer::field_error::PlanError;
use crate::request::demand::resolve_rules::ResolvedRules;
use crate::source::{self, Ids, Interceptor, PlanNode, PreparedFetch, Source};
use std::fmt;
use std::sync::Arc;
use weir_language::schema::{FieldId, Schema, TypeId, builtin};

/// A field added to a type of one source and answered by another (or the same).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The type that gets the field.
    pub on: String,
    /// The new field's name.
    pub name: String,
    /// Description of the field, or empty.
    pub description: String,
    /// The source that answers.
    pub source: String,
    /// The root query field of that source that is asked, e.g. `Album_by_pk` or `Album`.
    pub target: String,
    /// The argument literal of the target with `$this.field` for the parent's values, e.g.
    /// `(AlbumId: $this.albumId)` or `(where: {ArtistId: {_eq: $this.artistId}})`. Arguments of the target that are
    /// not named here are arguments of the new field.
    pub arguments: String,
}

/// Conflicts between sources that cannot form one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComposeError {
    /// Two sources bring types of one name that are not the same.
    TypeTwice {
        /// The type.
        name: String,
        /// The source that keeps the name.
        first: String,
        /// The other.
        second: String,
        /// The difference.
        reason: String,
    },
    /// Two sources bring a scalar of one name and read it differently.
    ScalarReaders {
        /// The scalar.
        name: String,
        /// The source that keeps the name.
        first: String,
        /// The other.
        second: String,
    },
    /// Two sources bring a root field of one name.
    RootFieldTwice {
        /// The root type.
        root: String,
        /// The field.
        name: String,
        /// The source that keeps it.
        first: String,
        /// The other.
        second: String,
    },
    /// Two sources have one name, or there is none.
    SourceNames {
        /// The name that stands twice; empty when there is no source at all.
        name: String,
    },
    /// A join is wrong.
    Join {
        /// `Type.field` of the join.
        place: String,
        /// The error.
        reason: String,
    },
    /// A source extends a type of another source in a way that is not possible.
    Extension {
        /// `Type.field`.
        place: String,
        /// The source that adds it.
        source: String,
        /// Why not.
        reason: String,
    },
    /// A cache hint names a type or field that does not exist.
    Hint {
        /// `Type` or `Type.field`.
        place: String,
        /// Position of the hint: file, line and column.
        written: String,
    },
    /// A weight or list size does not fit its place.
    Cost {
        /// Coordinate of the place.
        place: String,
        /// Position of the rule.
        written: String,
        /// The reason.
        reason: String,
    },
    /// The merged schema breaks a rule of the specification.
    Schema {
        /// Message of the schema builder.
        message: String,
    },
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TypeTwice { name, first, second, .. }
            | Self::RootFieldTwice { name, first, second, .. }
                if second == FEDERATION =>
            {
                write!(
                    f,
                    "source `{first}` has `{name}`, a name of federation's own: rename it there, or leave out the setting `federation`"
                )
            }
            Self::TypeTwice { name, first, second, reason } => write!(
                f,
                "sources `{first}` and `{second}` both have a type `{name}` ({reason}): `{first}` keeps the name; \
                 if `{second}` is a database, give it a `customization: {{type_names: {{prefix: {second}_}}}}`"
            ),
            Self::ScalarReaders { name, first, second } => {
                write!(f, "sources `{first}` and `{second}` read the scalar `{name}` differently")
            }
            Self::RootFieldTwice { root, name, first, second } => write!(
                f,
                "sources `{first}` and `{second}` both have the field `{root}.{name}`: `{first}` keeps it; \
                 if `{second}` is a database, give it a `customization: {{root_fields: {{prefix: {second}_}}}}`"
            ),
            Self::SourceNames { name } if name.is_empty() => f.write_str("there is no source"),
            Self::SourceNames { name } => write!(f, "there are two sources called `{name}`"),
            Self::Join { place, reason } => write!(f, "join `{place}`: {reason}"),
            Self::Extension { place, source, reason } => {
                write!(f, "source `{source}` adds the field `{place}`: {reason}")
            }
            Self::Hint { place, written } => {
                write!(f, "{written}: @cacheControl stands at `{place}`, which no source has: mend the name")
            }
            Self::Cost { place, written, reason } => write!(f, "{written}: cost of `{place}`: {reason}"),
            Self::Schema { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for ComposeError {}

/// The types of other sources to which `source` adds fields.
fn extended_types(source: &Arc<dyn Source>) -> &[TypeId] {
    source.field_resolver().map_or(&[], |it| it.extended_types())
}

/// True if the graph of `source` alone is its own schema.
fn is_graph_alone(source: &Arc<dyn Source>) -> bool {
    extended_types(source).is_empty()
        && source.namespace().is_none()
        && merge::live_queries(source).is_empty()
}

/// The source or join that answers a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The source at this place.
    Source(u16),
    /// The join at this place.
    Join(u16),
    /// No source: the field groups the root fields of one source.
    Namespace,
    /// The engine itself.
    Introspection,
}

/// A field of the graph and its owner.
pub struct Graph {
    schema: Arc<Schema>,
    sources: Vec<(Arc<dyn Source>, Arc<Ids>)>,
    /// By field of the schema; empty when the only source owns all.
    owners: Vec<Owner>,
    joins: Vec<Joined>,
    /// Fields that one source adds to a type of another, ascending.
    extensions: Vec<FieldId>,
    /// True if nodes may depend on members of other nodes.
    hangs: bool,
    /// By field of the schema; empty when there is none at all.
    hints: Vec<Option<Hint>>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    subgraph: Option<entities::Subgraph>,
    /// Weights and list sizes of sources and operators.
    cost_rules: Arc<ResolvedRules>,
}

impl Graph {
    /// Makes one graph of `sources`. A single one without joins keeps its ids and its schema is not copied.
    /// # Errors
    /// Everything that is in the way, naming the places and, where there is one, a way out.
    pub fn compose(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Result<Self, Vec<ComposeError>> {
        let (graph, mut errors) = Self::merge_sources(sources, joins)?.apply_hints();
        let (graph, wrong) = graph.apply_source_rules();
        errors.extend(wrong);
        if errors.is_empty() { Ok(graph) } else { Err(errors) }
    }

    /// Composes like [`Self::compose`] while sources are missing: hints for types that no source has yet are ignored.
    /// # Errors
    /// See [`Self::compose`].
    pub fn compose_some(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Result<Self, Vec<ComposeError>> {
        Ok(Self::merge_sources(sources, joins)?.apply_hints().0.apply_source_rules().0)
    }

    /// Composes like [`Self::compose`] a graph that is also a subgraph of Apollo Federation. If it `is_part`, see
    /// [`Self::compose_some`].
    /// # Errors
    /// See [`Self::compose`]; and types whose names no subgraph can have.
    pub fn compose_subgraph(
        sources: Vec<Arc<dyn Source>>,
        joins: &[Join],
        settings: &FederationSettings,
        is_part: bool,
    ) -> Result<Self, Vec<ComposeError>> {
        Self::check_sources(&sources)?;
        if sources.iter().any(|it| it.name() == FEDERATION) {
            let message =
                format!("beside the setting `federation` no source may be called `{FEDERATION}`: rename it");
            return Err(vec![ComposeError::Schema { message }]);
        }
        let (graph, mut errors) = Self::merge_subgraph(sources, joins, settings)?.apply_hints();
        let (graph, wrong) = graph.apply_source_rules();
        errors.extend(wrong);
        if !errors.is_empty() && !is_part {
            return Err(errors);
        }
        graph.publish_subgraph().map_err(|it| vec![it])?;
        Ok(graph)
    }

    fn check_sources(sources: &[Arc<dyn Source>]) -> Result<(), Vec<ComposeError>> {
        let mut names: Vec<&str> = sources.iter().map(|it| it.name()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(vec![ComposeError::SourceNames { name: pair[0].into() }]);
        }
        if sources.is_empty() {
            return Err(vec![ComposeError::SourceNames { name: String::new() }]);
        }
        Ok(())
    }

    fn merge_sources(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Result<Self, Vec<ComposeError>> {
        Self::check_sources(&sources)?;
        match sources.as_slice() {
            [only] if joins.is_empty() && is_graph_alone(only) => {
                let schema = Arc::clone(only.schema());
                let hangs = only.field_resolver().is_some();
                let sources = sources.into_iter().map(|it| (it, Arc::new(Ids::default()))).collect();
                Ok(Self {
                    schema,
                    sources,
                    owners: Vec::new(),
                    joins: Vec::new(),
                    extensions: Vec::new(),
                    hangs,
                    hints: Vec::new(),
                    interceptors: Vec::new(),
                    subgraph: None,
                    cost_rules: Arc::default(),
                })
            }
            _ => merge::merge(sources, joins, &[]),
        }
    }

    /// Adds interceptors for the steps of all plans; the first one is the outermost.
    #[must_use]
    pub fn with_interceptors(mut self, interceptors: Vec<Arc<dyn Interceptor>>) -> Self {
        self.interceptors = interceptors;
        self
    }

    /// Has the source at `at` get `node` ready.
    pub(crate) fn prepare(&self, at: u16, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let source = &self.sources[usize::from(at)].0;
        let fetch = source.prepare(node)?;
        Ok(source::intercepted(&self.interceptors, source.name(), node, fetch))
    }

    /// Resolves the cache hints of all sources: hints of fields, and hints of types for every field of that type. Also returns errors
    /// for hints that name nothing.
    fn apply_hints(mut self) -> (Self, Vec<ComposeError>) {
        let schema = &self.schema;
        let mut errors = Vec::new();
        let hints =
            self.sources.iter().flat_map(|(source, _)| source.hints().iter().map(move |it| (source, it)));
        let hints: Vec<(&Arc<dyn Source>, &HintAt)> = hints.collect();
        let mut found = vec![None; if hints.is_empty() { 0 } else { schema.fields.len() }];
        let (by_type, by_field): (Vec<_>, Vec<_>) = hints.into_iter().partition(|it| it.1.field.is_none());
        // A field's hint overrules its type's.
        for (source, at) in by_type.into_iter().chain(by_field) {
            let on = self.root_of(source, &at.on).or_else(|| schema.type_by_name(&at.on));
            let field = on.zip(at.field.as_deref()).and_then(|(on, field)| schema.field_by_name(on, field));
            match (on, &at.field, field) {
                (Some(on), None, _) => {
                    let gives = |it: &FieldId| schema.field(*it).ty.base == on;
                    let fields = (0..schema.fields.len() as u32).map(FieldId).filter(gives);
                    fields.for_each(|it| found[it.index()] = Some(at.hint));
                }
                (Some(_), Some(_), Some(field)) => found[field.index()] = Some(at.hint),
                (None, _, _) | (Some(_), Some(_), None) => errors.push(ComposeError::Hint {
                    place: at.field.as_ref().map_or_else(|| at.on.clone(), |it| format!("{}.{it}", at.on)),
                    written: at.written.clone(),
                }),
            }
        }
        self.hints = found;
        self.hint_live();
        (self, errors)
    }

    /// Gives the subscriptions to live queries the hints of the queries.
    fn hint_live(&mut self) {
        if self.hints.is_empty() {
            return;
        }
        for (source, ids) in &self.sources {
            // The root of queries is the first of the graph.
            let mut first = vec![None; source.schema().fields.len()];
            for (at, own) in ids.fields.iter().enumerate() {
                let Some(first) = first.get_mut(*own as usize) else { continue };
                match *first {
                    None => *first = Some(at),
                    Some(query) => self.hints[at] = self.hints[at].or(self.hints[query]),
                }
            }
        }
    }

    /// The graph's root type for the one that `source` calls `name`: merged roots may have another's name.
    fn root_of(&self, source: &Arc<dyn Source>, name: &str) -> Option<TypeId> {
        let kind = root_types::KINDS
            .into_iter()
            .find(|it| root_types::root_name(source.schema(), *it) == Some(name))?;
        match source.namespace() {
            Some(namespace) => self.schema.type_by_name(&root_types::namespace_type(namespace, kind)),
            None => self.schema.root(kind),
        }
    }

    /// The merged schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Hides `@defer` and `@stream` from all callers.
    pub(crate) fn hide_incremental_delivery(&mut self) {
        Arc::make_mut(&mut self.schema).hide_incremental_delivery();
    }
    /// The sources, in the order they were given, with their ids.
    pub fn sources(&self) -> &[(Arc<dyn Source>, Arc<Ids>)] {
        &self.sources
    }

    /// The owner of `field`.
    #[inline]
    pub(crate) fn owner(&self, field: FieldId) -> Owner {
        let meta = &self.schema.meta;
        if [meta.schema, meta.ty, meta.no_queries].contains(&field)
            || self.schema.field(field).parent.0 < builtin::TYPES
        {
            return Owner::Introspection;
        }
        self.owners.get(field.index()).copied().unwrap_or(Owner::Source(0))
    }

    /// True if `field` stands in a root and holds the root fields of one source.
    pub(crate) fn is_namespace(&self, field: FieldId) -> bool {
        self.owner(field) == Owner::Namespace
    }

    /// True if nodes may depend on members of other nodes: by joins, or in parts of a source.
    pub(crate) fn has_dependent_nodes(&self) -> bool {
        self.hangs
    }

    /// True if a source adds `field` to a type of another source.
    pub(crate) fn is_extension(&self, field: FieldId) -> bool {
        self.extensions.binary_search(&field).is_ok()
    }

    /// True if the source divides the fields below `field`, so that two places of one type differ.
    pub(crate) fn is_divided(&self, field: FieldId) -> bool {
        match self.owner(field) {
            Owner::Source(source) => {
                self.hangs && self.sources[usize::from(source)].0.field_resolver().is_some()
            }
            Owner::Join(_) | Owner::Namespace | Owner::Introspection => false,
        }
    }

    /// True if the graph has any cache hints.
    pub(crate) fn has_hints(&self) -> bool {
        !self.hints.is_empty()
    }

    /// The cache hint of `field`.
    pub(crate) fn hint(&self, field: FieldId) -> Option<Hint> {
        self.hints.get(field.index()).copied().flatten()
    }

    /// One join.
    pub(crate) fn join(&self, at: u16) -> &Joined {
        &self.joins[usize::from(at)]
    }
}
