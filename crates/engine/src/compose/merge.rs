//! Builds the merged schema and the tables from its ids to those of the sources.
//!
//! **Invariant:** what a source calls a field, argument or value the graph calls the same; only root types may be
//! renamed.

use super::federation::ENTITY;
use super::join::{self, Joined};
use super::root_types::{KINDS, namespace_type, root_name};
use super::type_difference::TypeIn;
use super::{ComposeError, Graph, Join, Owner, extend, extended_types, shared_objects, type_difference};
use crate::source::{EntityLookup, Ids, Source};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use weir_language::ast::OperationKind;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{
    Applied, FieldId, InputId, Run, ScalarReader, Schema, Type, TypeId, TypeKind, TypeRef, Wording, builtin,
};
use weir_language::wraps::Wraps;

const NONE: u32 = u32::MAX;

/// Merges the schemas of `sources` and adds the fields of `joins`. The types of `lookups` are those of [`ENTITY`].
pub(super) fn merge(
    sources: Vec<Arc<dyn Source>>,
    joins: &[Join],
    lookups: &[EntityLookup],
) -> Result<Graph, Vec<ComposeError>> {
    let mut errors = extend::find_types(&sources);
    if !errors.is_empty() {
        return Err(errors);
    }
    let Merged { mut builder, errors: clashes, mut owners, mut ids } =
        Merger::new(&sources, joins, lookups).merge_types_and_roots();
    // A source may lack queries, so the merged schema may too; sources that need a query root have checked their own.
    builder.may_lack_queries();
    errors.extend(clashes);
    let schema = match builder.build() {
        Ok(mut schema) => {
            schema.wording = common_wording(&sources);
            schema
        }
        Err(wrong) => {
            errors.extend(wrong.into_iter().map(|it| ComposeError::Schema { message: it.message }));
            return Err(errors);
        }
    };
    owners.resize(schema.fields.len(), Owner::Introspection);
    ids.iter_mut().for_each(|it| it.cover(&schema));
    let mut joined: Vec<Joined> = Vec::new();
    for (at, join) in joins.iter().enumerate() {
        match join::resolve(&schema, (&sources, &ids), join) {
            Ok((field, resolved)) => {
                owners[field.index()] = Owner::Join(at as u16);
                joined.push(resolved);
            }
            Err(error) => errors.push(error),
        }
    }
    let extensions = extend::check(&schema, &sources, &ids, &mut errors);
    if errors.is_empty() {
        let joins = joins.iter().zip(&joined);
        errors = extend::check_owners(&schema, &sources, (&owners, &extensions), joins);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let hangs = !joins.is_empty() || sources.iter().any(|it| it.field_resolver().is_some());
    let sources = sources.into_iter().zip(ids).map(|(source, ids)| (source, Arc::new(ids))).collect();
    Ok(Graph {
        schema: Arc::new(schema),
        sources,
        owners,
        joins: joined,
        extensions,
        hangs,
        hints: Vec::new(),
        interceptors: Vec::new(),
        subgraph: None,
        cost_rules: Arc::default(),
    })
}

/// Wording of errors: the one that all sources share, else the default.
fn common_wording(sources: &[Arc<dyn Source>]) -> Wording {
    let mut all = sources.iter().map(|it| it.schema().wording);
    let first = all.next().unwrap_or_default();
    if all.all(|it| it == first) { first } else { Wording::default() }
}

/// Result of merging.
struct Merged {
    builder: SchemaBuilder,
    owners: Vec<Owner>,
    ids: Vec<Ids>,
    errors: Vec<ComposeError>,
}

/// The source that first defined a type.
#[derive(Clone, Copy)]
struct Home {
    source: usize,
    ty: TypeId,
    /// The graph's place of its first value or input field.
    members: u32,
}

struct Merger<'m> {
    sources: &'m [Arc<dyn Source>],
    joins: &'m [Join],
    lookups: &'m [EntityLookup],
    builder: SchemaBuilder,
    /// The first source of each type.
    homes: HashMap<&'m str, Home>,
    directives: HashSet<&'m str>,
    /// By name: the source that first has a directive, and its arguments there.
    first_directives: Vec<(&'m str, usize, Run)>,
    root_names: [Option<&'m str>; 3],
    /// By source: the types that hold its root fields instead of the graph's roots, if it has a namespace.
    namespace_types: Vec<Option<[String; 3]>>,
    owners: Vec<Owner>,
    ids: Vec<Ids>,
    errors: Vec<ComposeError>,
}

impl<'m> Merger<'m> {
    fn new(sources: &'m [Arc<dyn Source>], joins: &'m [Join], lookups: &'m [EntityLookup]) -> Self {
        let root_names = KINDS.map(|kind| {
            let names = || sources.iter().filter_map(move |it| root_name(it.schema(), kind));
            names().find(|name| name.ends_with("_root")).or_else(|| names().next())
        });
        let [query, mutation, subscription] = root_names;
        let is_live = |it: &Arc<dyn Source>| !live_queries(it).is_empty();
        let usual = || match query {
            Some(name) if name.ends_with("_root") => "subscription_root",
            Some(_) | None => "Subscription",
        };
        let subscription = subscription.or_else(|| sources.iter().any(is_live).then(usual));
        let root_names = [query, mutation, subscription];
        let ids = sources.iter().map(|_| Ids::default()).collect();
        let types = |name: &str| KINDS.map(|kind| namespace_type(name, kind));
        let namespace_types = sources.iter().map(|it| it.namespace().map(types)).collect();
        Self {
            sources,
            joins,
            lookups,
            builder: SchemaBuilder::new(),
            homes: HashMap::new(),
            directives: HashSet::new(),
            first_directives: Vec::new(),
            root_names,
            namespace_types,
            owners: Vec::new(),
            ids,
            errors: Vec::new(),
        }
    }

    fn merge_types_and_roots(mut self) -> Merged {
        self.types();
        self.roots();
        Merged { builder: self.builder, owners: self.owners, ids: self.ids, errors: self.errors }
    }

    fn types(&mut self) {
        for source in 0..self.sources.len() {
            let schema: &'m Schema = self.sources[source].schema();
            for id in 0..builtin::TYPES {
                set(&mut self.ids[source].types, id, id);
            }
            self.built_in_members(source, schema);
            for at in builtin::TYPES..schema.types.len() as u32 {
                self.ty(source, schema, TypeId(at));
            }
            for directive in schema.directives.iter().filter(|it| !it.built_in) {
                let name = schema.str(directive.name);
                if self.directives.insert(name) {
                    let words = schema.str(directive.description);
                    self.builder.directive(name, words, directive.repeatable, directive.places);
                    if let Some(reason) = directive.deprecated {
                        self.builder.deprecate(schema.str(reason));
                    }
                    self.inputs(source, schema, directive.arguments, SchemaBuilder::argument);
                    self.first_directives.push((name, source, directive.arguments));
                } else {
                    self.same_directive(source, schema, name, directive.arguments);
                }
            }
        }
    }

    /// A directive that an earlier source has too: arguments of one name are the same.
    fn same_directive(&mut self, source: usize, schema: &Schema, name: &str, arguments: Run) {
        let Some(&(_, first, theirs)) = self.first_directives.iter().find(|it| it.0 == name) else { return };
        let first_schema = self.sources[first].schema();
        for own in arguments.range() {
            let named = |it: &usize| {
                first_schema.input_name(InputId(*it as u32)) == schema.input_name(InputId(own as u32))
            };
            let Some(their) = theirs.range().find(named) else { continue };
            let graph = self.ids[first].inputs.iter().position(|&it| it == their as u32);
            if let Some(graph) = graph {
                set(&mut self.ids[source].inputs, graph as u32, own as u32);
            }
        }
    }

    /// Members of built-in types have the same places in every schema.
    fn built_in_members(&mut self, source: usize, schema: &Schema) {
        let ids = &mut self.ids[source];
        set(&mut ids.fields, schema.meta.typename.0, schema.meta.typename.0);
        for ty in &schema.types[..builtin::TYPES as usize] {
            for at in ty.fields.range() {
                set(&mut ids.fields, at as u32, at as u32);
            }
            if ty.kind == TypeKind::Enum {
                for at in ty.members.range() {
                    set(&mut ids.enum_values, at as u32, at as u32);
                }
            }
        }
    }

    fn ty(&mut self, source: usize, schema: &'m Schema, id: TypeId) {
        let ty = schema.ty(id);
        let name = schema.str(ty.name);
        if let Some(at) = KINDS.iter().position(|&kind| schema.root(kind) == Some(id)) {
            let graph = match &self.namespace_types[source] {
                Some(types) => self.builder.reference(&types[at]),
                None => self.builder.reference(self.root_names[at].unwrap_or(name)),
            };
            set(&mut self.ids[source].types, graph.0, id.0);
            return;
        }
        if extended_types(&self.sources[source]).contains(&id) {
            let graph = self.builder.reference(name);
            set(&mut self.ids[source].types, graph.0, id.0);
            return;
        }
        if schema.join_roots.contains(&id) {
            self.join_root(source, schema, id);
            return;
        }
        if let Some(&home) = self.homes.get(name) {
            self.merge_same_name(source, schema, id, home);
            return;
        }
        let words = schema.str(ty.description);
        let graph = match ty.kind {
            TypeKind::Scalar(reader) => self.builder.scalar(name, words, reader),
            TypeKind::Object => self.builder.object(name, words),
            TypeKind::Interface => self.builder.interface(name, words),
            TypeKind::Union => self.builder.union(name, words),
            TypeKind::Enum => self.builder.enumeration(name, words),
            TypeKind::Input { .. } => self.builder.input_object(name, words),
        };
        set(&mut self.ids[source].types, graph.0, id.0);
        if ty.specified_by.len > 0 {
            self.builder.specified_by(schema.str(ty.specified_by));
        }
        if ty.kind == (TypeKind::Input { one_of: true }) {
            self.builder.one_of();
        }
        if ty.is_sequence {
            self.builder.sequence();
        }
        self.copy_directives(schema, ty.applied);
        self.members(source, schema, ty);
        let table = self.table_of_members(source, ty.kind);
        // Members have ids one after another, and these are the last that were given.
        let members = table.map_or(0, |it| it.len() as u32 - ty.members.len);
        self.homes.insert(name, Home { source, ty: id, members });
    }

    /// A type with fields that only joins ask: each is one of its own, whatever other sources call theirs.
    fn join_root(&mut self, source: usize, schema: &'m Schema, id: TypeId) {
        let graph = self.builder.join_root();
        set(&mut self.ids[source].types, graph.0, id.0);
        for at in schema.ty(id).fields.range() {
            self.field(source, schema, FieldId(at as u32));
        }
    }

    /// The table of `source` for members of types of `kind`.
    fn table_of_members(&mut self, source: usize, kind: TypeKind) -> Option<&mut Vec<u32>> {
        let ids = &mut self.ids[source];
        match kind {
            TypeKind::Enum => Some(&mut ids.enum_values),
            TypeKind::Input { .. } => Some(&mut ids.inputs),
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => None,
        }
    }

    /// Merges a type whose name another source has already. Equal scalars, enums and inputs share the name; other types are an error.
    fn merge_same_name(&mut self, source: usize, schema: &Schema, id: TypeId, home: Home) {
        let sources = self.sources;
        let theirs = sources[home.source].schema();
        let name = schema.type_name(id).to_owned();
        let graph = self.builder.reference(&name);
        set(&mut self.ids[source].types, graph.0, id.0);
        let first = sources[home.source].name().to_owned();
        let second = sources[source].name().to_owned();
        let ty = schema.ty(id);
        if let (TypeKind::Scalar(one), TypeKind::Scalar(other)) = (theirs.ty(home.ty).kind, ty.kind) {
            // A server of which only the scalar's name is known takes whatever the first source reads.
            if one != other && other != ScalarReader::Json {
                self.errors.push(ComposeError::ScalarReaders { name, first, second });
            }
            return;
        }
        let own = TypeIn { schema, ty: id };
        let other = TypeIn { schema: theirs, ty: home.ty };
        let is_object = matches!(ty.kind, TypeKind::Object | TypeKind::Interface | TypeKind::Union);
        if is_object && sources[home.source].shares_objects() && sources[source].shares_objects() {
            // The home is an earlier source.
            let (before, from) = self.ids.split_at_mut(source);
            if let Err(reason) = shared_objects::share(own, &mut from[0], other, &before[home.source]) {
                self.errors.push(ComposeError::TypeTwice { name, first, second, reason });
            }
            return;
        }
        match type_difference::members(own, other) {
            Ok(places) => {
                let Some(table) = self.table_of_members(source, ty.kind) else { return };
                for (own, place) in (ty.members.start..).zip(places) {
                    set(table, home.members + place, own);
                }
            }
            Err(reason) => self.errors.push(ComposeError::TypeTwice { name, first, second, reason }),
        }
    }

    fn members(&mut self, source: usize, schema: &'m Schema, ty: &Type) {
        match ty.kind {
            TypeKind::Scalar(_) => {}
            TypeKind::Object | TypeKind::Interface => {
                for interface in &schema.type_lists[ty.interfaces.range()] {
                    let graph = self.builder.reference(schema.type_name(*interface));
                    self.builder.implement(graph);
                }
                for at in ty.fields.range() {
                    self.field(source, schema, FieldId(at as u32));
                }
                self.join_fields(schema.str(ty.name));
                self.extension_fields(schema.str(ty.name));
            }
            TypeKind::Union if schema.str(ty.name) == ENTITY && !self.lookups.is_empty() => {
                let names = self.lookups.iter().map(|it| &*it.on);
                for name in names.collect::<BTreeSet<&str>>() {
                    let graph = self.builder.reference(name);
                    self.builder.member(graph);
                }
            }
            TypeKind::Union => {
                for member in &schema.type_lists[ty.possible.range()] {
                    let graph = self.builder.reference(schema.type_name(*member));
                    self.builder.member(graph);
                }
            }
            TypeKind::Enum => {
                for at in ty.members.range() {
                    let value = &schema.enum_values[at];
                    let id = self.builder.enum_value(schema.str(value.name), schema.str(value.description));
                    set(&mut self.ids[source].enum_values, id.0, at as u32);
                    if let Some(reason) = value.deprecated {
                        self.builder.deprecate(schema.str(reason));
                    }
                    self.copy_directives(schema, value.applied);
                }
            }
            TypeKind::Input { .. } => {
                self.inputs(source, schema, ty.members, SchemaBuilder::input_field);
            }
        }
    }

    fn field(&mut self, source: usize, schema: &'m Schema, id: FieldId) {
        let field = schema.field(id);
        let ty = self.type_ref(source, schema, field.ty);
        let graph = self.builder.field(schema.str(field.name), schema.str(field.description), ty);
        set(&mut self.ids[source].fields, graph.0, id.0);
        set_owner(&mut self.owners, graph, Owner::Source(source as u16));
        if let Some(reason) = field.deprecated {
            self.builder.deprecate(schema.str(reason));
        }
        self.copy_directives(schema, field.applied);
        self.inputs(source, schema, field.arguments, SchemaBuilder::argument);
    }

    /// The fields that joins add to type `on`. What is wrong with a join is said when it is resolved.
    fn join_fields(&mut self, on: &str) {
        for join in self.joins.iter().filter(|it| it.on == on) {
            let Some(at) = self.sources.iter().position(|it| it.name() == join.source) else { continue };
            let schema: &'m Schema = self.sources[at].schema();
            let Some(target) = join::find_target(schema, &join.target) else { continue };
            let target = schema.field(target);
            let ty = TypeRef { wraps: target.ty.wraps.nullable(), ..target.ty };
            let ty = self.type_ref(at, schema, ty);
            let id = self.builder.field(&join.name, &join.description, ty);
            // Until it is resolved the field is no one's; any owner does.
            set_owner(&mut self.owners, id, Owner::Introspection);
            let given = join::argument_names(&join.arguments);
            for at in target.arguments.range() {
                let input = InputId(at as u32);
                if !given.iter().any(|it| it == schema.input_name(input)) {
                    self.input(schema, input, SchemaBuilder::argument);
                }
            }
        }
    }

    /// The fields that other sources add to type `on`.
    fn extension_fields(&mut self, on: &str) {
        for source in 0..self.sources.len() {
            let schema: &'m Schema = self.sources[source].schema();
            let stub = extended_types(&self.sources[source]).iter().find(|&&it| schema.type_name(it) == on);
            let Some(&stub) = stub else { continue };
            for at in schema.ty(stub).fields.range() {
                self.field(source, schema, FieldId(at as u32));
            }
        }
    }

    fn inputs(
        &mut self,
        source: usize,
        schema: &Schema,
        run: Run,
        add: fn(&mut SchemaBuilder, &str, &str, TypeRef) -> InputId,
    ) {
        for at in run.range() {
            let id = self.input(schema, InputId(at as u32), add);
            set(&mut self.ids[source].inputs, id.0, at as u32);
        }
    }

    fn input(
        &mut self,
        schema: &Schema,
        id: InputId,
        add: fn(&mut SchemaBuilder, &str, &str, TypeRef) -> InputId,
    ) -> InputId {
        let input = schema.input(id);
        let ty = TypeRef { base: self.builder.reference(schema.type_name(input.ty.base)), ..input.ty };
        let graph = add(&mut self.builder, schema.str(input.name), schema.str(input.description), ty);
        if let Some(default) = input.default {
            self.builder.default(schema.str(default.literal));
        }
        if input.is_wide {
            self.builder.wide();
        }
        if let Some(reason) = input.deprecated {
            self.builder.deprecate(schema.str(reason));
        }
        self.copy_directives(schema, input.applied);
        graph
    }

    fn copy_directives(&mut self, schema: &Schema, run: Run) {
        for Applied { name, arguments } in &schema.applied[run.range()] {
            self.builder.apply(schema.str(*name), schema.str(*arguments));
        }
    }

    /// The root types, with the fields of all sources. A source with a namespace has types of its own for them.
    fn roots(&mut self) {
        for (at, kind) in KINDS.into_iter().enumerate() {
            let Some(name) = self.root_names[at] else { continue };
            let has_root = |it: &Arc<dyn Source>| {
                it.schema().root(kind).is_some()
                    || kind == OperationKind::Subscription && !live_queries(it).is_empty()
            };
            let homes = (0..self.sources.len()).filter(|&it| has_root(&self.sources[it]));
            let homes: Vec<usize> = homes.collect();
            let first: &'m Schema = self.sources[homes[0]].schema();
            let words = first.root(kind).map_or("", |root| first.str(first.ty(root).description));
            for &source in &homes {
                self.namespace(source, at);
            }
            let graph = self.builder.object(name, words);
            self.builder.root(kind, graph);
            let mut known = HashMap::<&str, usize>::new();
            for source in homes {
                if self.namespace_types[source].is_none() {
                    self.live_root(source, at, graph);
                }
                self.root_fields(source, at, name, &mut known);
            }
        }
    }

    /// The type that holds the root fields of `source`, which has a namespace, for the kind at `kind`.
    fn namespace(&mut self, source: usize, kind: usize) {
        let schema: &'m Schema = self.sources[source].schema();
        let Some(types) = self.namespace_types[source].as_ref() else { return };
        let words = schema.root(KINDS[kind]).map_or("", |root| schema.str(schema.ty(root).description));
        let graph = self.builder.object(&types[kind], words);
        self.live_root(source, kind, graph);
        for field in fields_of_root(&self.sources[source], KINDS[kind]) {
            self.field(source, schema, field);
        }
    }

    /// Lets the graph's type `graph` be the query root of `source`, if it holds what is live of it.
    fn live_root(&mut self, source: usize, kind: usize, graph: TypeId) {
        let schema = self.sources[source].schema();
        if schema.root(KINDS[kind]).is_none() {
            set(&mut self.ids[source].types, graph.0, schema.query.0);
        }
    }

    /// The fields that `source` adds to the root `name` of the kind at `kind`: its own, or the one that holds them.
    fn root_fields(&mut self, source: usize, kind: usize, name: &str, known: &mut HashMap<&'m str, usize>) {
        let origin: &'m Arc<dyn Source> = &self.sources[source];
        let schema: &'m Schema = origin.schema();
        if let Some((namespace, types)) = origin.namespace().zip(self.namespace_types[source].as_ref()) {
            let base = self.builder.reference(&types[kind]);
            if self.is_first(source, name, namespace, known) {
                let ty = TypeRef { base, wraps: Wraps::NON_NULL };
                let field = self.builder.field(namespace, "", ty);
                set_owner(&mut self.owners, field, Owner::Namespace);
            }
            return;
        }
        // Two live fields of one name are two query fields of one name, which the query root reports.
        let is_live = schema.root(KINDS[kind]).is_none();
        for id in fields_of_root(origin, KINDS[kind]) {
            let field = schema.field_name(id);
            if !(is_live && known.contains_key(field)) && self.is_first(source, name, field, known) {
                self.field(source, schema, id);
            }
        }
    }

    /// Takes the name of a root field for `source`; a name that is taken is an error.
    fn is_first(
        &mut self,
        source: usize,
        root: &str,
        name: &'m str,
        known: &mut HashMap<&'m str, usize>,
    ) -> bool {
        let first = *known.entry(name).or_insert(source);
        if first != source {
            self.errors.push(ComposeError::RootFieldTwice {
                root: root.into(),
                name: name.into(),
                first: self.sources[first].name().into(),
                second: self.sources[source].name().into(),
            });
        }
        first == source
    }

    fn type_ref(&mut self, source: usize, schema: &Schema, ty: TypeRef) -> TypeRef {
        let root = KINDS.iter().position(|&kind| schema.root(kind) == Some(ty.base));
        let own = root.and_then(|at| Some(self.namespace_types[source].as_ref()?[at].as_str()));
        let graph = || root.and_then(|at| self.root_names[at]);
        let name = own.or_else(graph).unwrap_or_else(|| schema.type_name(ty.base));
        TypeRef { base: self.builder.reference(name), wraps: ty.wraps }
    }
}

/// The fields of `source` for the graph's root of `kind`.
fn fields_of_root(source: &Arc<dyn Source>, kind: OperationKind) -> Vec<FieldId> {
    let schema = source.schema();
    let Some(root) = schema.root(kind) else {
        return if kind == OperationKind::Subscription { live_queries(source) } else { Vec::new() };
    };
    let is_hidden = |it: &FieldId| source.field_resolver().is_some_and(|fields| fields.is_hidden(*it));
    schema.ty(root).fields.range().map(|it| FieldId(it as u32)).filter(|it| !is_hidden(it)).collect()
}

/// The queries of a source without a root of subscriptions that may be subscribed to.
pub(super) fn live_queries(source: &Arc<dyn Source>) -> Vec<FieldId> {
    if source.schema().subscription.is_some() {
        return Vec::new();
    }
    let queries = fields_of_root(source, OperationKind::Query);
    queries.into_iter().filter(|it| source.is_live(*it)).collect()
}

fn set(table: &mut Vec<u32>, graph: u32, own: u32) {
    if table.len() <= graph as usize {
        table.resize(graph as usize + 1, NONE);
    }
    table[graph as usize] = own;
}

fn set_owner(owners: &mut Vec<Owner>, field: FieldId, owner: Owner) {
    if owners.len() <= field.index() {
        owners.resize(field.index() + 1, Owner::Introspection);
    }
    owners[field.index()] = owner;
}
