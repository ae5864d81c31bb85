//! Collects an SDL and its resolvers; [`SchemaBuilder::build`] finds everything that is wrong with them at once.
//!
//! **Invariant:** names are resolved here, once; what is built refers to fields by their ids.

use crate::check;
use crate::code_first::CodeFirst;
use crate::context::Context;
use crate::cost::{Cost, Costs, FieldCost};
use crate::data::Data;
use crate::error::{BuildError, ErrorMapping, ResolveError, mapping};
use crate::guard::{Guard, guard};
use crate::input::{InputBinder, Shape};
use crate::leaf::{Leaf, TypedLeaf};
use crate::library::{Library, Parts};
use crate::library_source::LibrarySource;
use crate::loader::{Loader, Loaders, RegisteredLoader};
use crate::places::Places;
use crate::profile::{Predicate, ProfileOf, Profiles, SchemaMember};
use crate::resolver::{ParentType, Resolver, TypedResolver};
use crate::schema::Schema;
use crate::validate::{self, Check};
use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::Settings;
use weir_engine::source::Source;
use weir_language::error::{Code, Error};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{self as language, EnumValueId, FieldId, InputId, TypeKind, sdl};

/// What resolves a field: a [`Resolver`] for all parents of a step, or a [`Leaf`] of one object.
pub enum AnyResolver {
    /// For all parents of a step.
    Step(Resolver),
    /// Of one object, synchronously.
    Leaf(Leaf),
}

impl<I, A> From<TypedResolver<I, A>> for AnyResolver {
    fn from(typed: TypedResolver<I, A>) -> Self {
        Self::Step(typed.resolver)
    }
}

impl<A: ?Sized> From<TypedLeaf<A>> for AnyResolver {
    fn from(typed: TypedLeaf<A>) -> Self {
        Self::Leaf(typed.leaf)
    }
}

/// Collects what a [`Schema`] is made of.
#[must_use = "nothing happens before `build`"]
pub struct SchemaBuilder {
    name: String,
    sdl: String,
    pub(crate) code: CodeFirst,
    resolvers: Vec<(String, AnyResolver)>,
    checks: Vec<(String, Check)>,
    rules: Vec<(String, Predicate)>,
    profile_of: Option<Box<ProfileOf>>,
    extended: Vec<String>,
    loaders: Loaders,
    mappings: Vec<ErrorMapping>,
    data: Data,
    headers: Vec<Box<str>>,
    guards: Vec<(String, Guard)>,
    costs: Vec<(String, Cost)>,
    complexity_max: Option<u64>,
    settings: Settings,
    sources: Vec<Arc<dyn Source>>,
    joins: Vec<Join>,
}

impl Schema {
    /// Begins with an SDL.
    ///
    /// ```
    /// use weir_runtime::{Context, Request, Schema, root};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { hello: String! }")
    ///     .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let response = runtime.block_on(schema.execute(Request::new("{ hello }")));
    /// assert_eq!(response.text(), r#"{"data":{"hello":"world"}}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(sdl: &str) -> SchemaBuilder {
        SchemaBuilder::new(sdl)
    }
}

impl SchemaBuilder {
    fn new(sdl: &str) -> Self {
        Self {
            name: "library".into(),
            sdl: sdl.into(),
            code: CodeFirst::default(),
            resolvers: Vec::new(),
            checks: Vec::new(),
            rules: Vec::new(),
            profile_of: None,
            extended: Vec::new(),
            loaders: HashMap::new(),
            mappings: Vec::new(),
            data: Data::new(),
            headers: Vec::new(),
            guards: Vec::new(),
            costs: Vec::new(),
            complexity_max: None,
            settings: Settings::STANDARD,
            sources: Vec::new(),
            joins: Vec::new(),
        }
    }
    /// Name of the library among the sources of its graph; default: `library`.
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }
    /// Resolves the field at `coordinate`: `User.posts`. A field may have a [`Leaf`] for each Rust type that its objects have.
    pub fn resolve(mut self, coordinate: &str, resolver: impl Into<AnyResolver>) -> Self {
        self.resolvers.push((coordinate.into(), resolver.into()));
        self
    }
    /// Checks an argument, `Query.users(first:)`, or an input field, `Filter.name`, before the resolver is called.
    pub fn validate(mut self, coordinate: &str, check: Check) -> Self {
        self.checks.push((coordinate.into(), check));
        self
    }
    /// Shows a type, field, argument, input field or enum value only to profiles for which `predicate` is true.
    pub fn visible_if(
        mut self,
        coordinate: &str,
        predicate: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.push((coordinate.into(), Box::new(predicate)));
        self
    }
    /// Names the profile of a caller; default: its role. There may be few profiles, as each has plans of its own.
    pub fn profile_of(mut self, name: impl Fn(&Identity) -> String + Send + Sync + 'static) -> Self {
        self.profile_of = Some(Box::new(name));
        self
    }
    /// Asks `allows`, once for all parents of a step, whether the caller may ask for the field; a refused field is the error
    /// `ACCESS_DENIED`. The field has a resolver of its own, no leaf.
    pub fn authorize<P: 'static>(
        mut self,
        coordinate: &str,
        allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
    ) -> Self {
        self.guards.push((coordinate.into(), guard(allows)));
        self
    }
    /// Says what a field costs; see [`SchemaBuilder::complexity_max`].
    pub fn cost(mut self, coordinate: &str, cost: Cost) -> Self {
        self.costs.push((coordinate.into(), cost));
        self
    }
    /// Refuses operations that cost more: `LIMIT_COMPLEXITY`. A field without a cost costs 1. The limit of depth is
    /// [`Settings::limits`].
    pub fn complexity_max(mut self, max: u64) -> Self {
        self.complexity_max = Some(max);
        self
    }
    /// Says that the object type `name` is another source's, to which this SDL adds fields. They are resolved by [`crate::keyed`].
    pub fn extends(mut self, name: &str) -> Self {
        self.extended.push(name.into());
        self
    }
    /// Adds a loader.
    pub fn loader<L: Loader>(mut self, loader: L) -> Self {
        let number = self.loaders.len() as u32;
        let loader = RegisteredLoader { loader: Box::new(Arc::new(loader)), number };
        self.loaders.insert(RustType::of::<L>(), loader);
        self
    }
    /// Says what clients are told of errors of type `E`. Without a mapping they are told `Internal error.`
    pub fn map_errors<E: std::error::Error + 'static>(
        mut self,
        map: impl Fn(&E) -> ResolveError + Send + Sync + 'static,
    ) -> Self {
        self.mappings.push(mapping(map));
        self
    }
    /// A value for all resolvers ([`crate::Context::data`]): a pool, a client.
    pub fn data<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.data = self.data.with(value);
        self
    }
    /// Lets resolvers read a header of requests ([`crate::Context::header`]); `name` is in lower case.
    pub fn header(mut self, name: &str) -> Self {
        self.headers.push(name.into());
        self
    }
    /// Limits, sizes of caches and the observer.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
    /// Adds another source to the graph: a database, services.
    pub fn source(mut self, source: Arc<dyn Source>) -> Self {
        self.sources.push(source);
        self
    }
    /// Adds a field that one source answers to a type of another.
    pub fn join(mut self, join: Join) -> Self {
        self.joins.push(join);
        self
    }

    /// The resolvers as a source, for a graph that somebody else composes.
    /// # Errors
    /// Everything that is wrong with the SDL and its resolvers.
    pub fn build_source(self) -> Result<Arc<dyn Source>, BuildError> {
        self.library().map(|it| Arc::new(LibrarySource(it.library)) as Arc<dyn Source>)
    }

    /// The schema.
    /// # Errors
    /// Everything that is wrong with the SDL and its resolvers, or with the graph of all sources.
    pub fn build(self) -> Result<Schema, BuildError> {
        let Built { library, sdl, settings, sources, joins } = self.library()?;
        let own: Arc<dyn Source> = Arc::new(LibrarySource(Arc::clone(&library)));
        let sources = std::iter::once(own).chain(sources).collect();
        let graph = Graph::compose(sources, &joins).map_err(|errors| {
            let error = |it: &weir_engine::compose::ComposeError| error(it.to_string(), None);
            BuildError::new(&sdl, errors.iter().map(error).collect())
        })?;
        Ok(Schema::new(library, graph, settings))
    }

    fn library(self) -> Result<Built, BuildError> {
        let Self { name, settings, sources, joins, .. } = self;
        let (sdl, conflicts) = self.code.sdl(&self.sdl);
        if !conflicts.is_empty() {
            return Err(BuildError::new(&sdl, conflicts.into_iter().map(|it| error(it, None)).collect()));
        }
        let read = read(&sdl).map_err(|errors| BuildError::new(&sdl, errors))?;
        let resolving = Resolving { schema: &read.schema, places: &read.places, errors: Vec::new() };
        let given = Given {
            resolvers: self.resolvers,
            checks: self.checks,
            rules: self.rules,
            extended: self.extended,
            guards: self.guards,
            costs: self.costs,
        };
        let (parts, rules, fields, errors) = resolving.run(given, &self.loaders);
        let profiles = Profiles { profile_of: self.profile_of, rules, ..Profiles::default() };
        let library = Arc::new(Library {
            name,
            schema: Arc::new(read.schema),
            parts,
            loaders: Arc::new(self.loaders),
            mappings: self.mappings,
            data: Arc::new(self.data),
            headers: self.headers,
            profiles,
            costs: Costs { max: self.complexity_max, fields },
        });
        let mut errors = errors;
        let misfits = if errors.is_empty() { check::check(&library) } else { Vec::new() };
        errors.extend(misfits.into_iter().map(|(field, message)| {
            let place = read.places.find(&coordinate(&library.schema, field));
            error(message, place)
        }));
        match errors.is_empty() {
            true => Ok(Built { library, sdl, settings, sources, joins }),
            false => Err(BuildError::new(&sdl, errors)),
        }
    }
}

/// A library, and what the graph is made of beside it.
struct Built {
    library: Arc<Library>,
    sdl: String,
    settings: Settings,
    sources: Vec<Arc<dyn Source>>,
    joins: Vec<Join>,
}

/// An SDL, read.
struct ReadSdl {
    schema: language::Schema,
    places: Places,
}

fn read(sdl: &str) -> Result<ReadSdl, Vec<Error>> {
    let document = parser::parse(sdl, &Limits::NONE).map_err(|error| vec![error])?;
    let needs =
        |name: &str| sdl.contains(&format!("@{name}")) && !sdl.contains(&format!("directive @{name}"));
    let own = if needs(validate::DIRECTIVE) { validate::DEFINITION } else { "" };
    let own = parser::parse(own, &Limits::NONE).ok().filter(|it| !it.definitions.is_empty());
    let places = Places::of(&document);
    let documents: Vec<_> = std::iter::once(document).chain(own).collect();
    let schema = sdl::from_documents(&documents)?;
    Ok(ReadSdl { schema, places })
}

pub(crate) fn coordinate(schema: &language::Schema, field: FieldId) -> String {
    format!("{}.{}", schema.type_name(schema.field(field).parent), schema.field_name(field))
}

fn error(message: String, place: Option<weir_language::span::Span>) -> Error {
    Error { message, spans: place.into_iter().collect(), code: Code::Schema }
}

/// What coordinates were resolved to.
type Resolved = (Parts, Vec<(SchemaMember, Predicate)>, HashMap<FieldId, FieldCost>, Vec<Error>);

/// What the builder was given by coordinate.
struct Given {
    resolvers: Vec<(String, AnyResolver)>,
    checks: Vec<(String, Check)>,
    rules: Vec<(String, Predicate)>,
    extended: Vec<String>,
    guards: Vec<(String, Guard)>,
    costs: Vec<(String, Cost)>,
}

/// Resolves coordinates to ids.
struct Resolving<'r> {
    schema: &'r language::Schema,
    places: &'r Places,
    errors: Vec<Error>,
}

impl Resolving<'_> {
    fn run(mut self, given: Given, loaders: &Loaders) -> Resolved {
        let mut parts = Parts::default();
        parts.fields.resize_with(self.schema.fields.len(), || None);
        let checks = self.checks(given.checks);
        for name in given.extended {
            match self.schema.type_by_name(&name) {
                Some(ty) => parts.extended.push(ty),
                None => self.complain(&name, format!("there is no type `{name}` to extend")),
            }
        }
        for (coordinate, resolver) in given.resolvers {
            let Some(field) = self.field(&coordinate) else { continue };
            match resolver {
                AnyResolver::Leaf(leaf) => self.leaf(&coordinate, field, leaf, &mut parts),
                AnyResolver::Step(resolver) => {
                    self.step(&coordinate, field, resolver, &checks, loaders, &mut parts);
                }
            }
        }
        self.roots(&parts);
        self.guards(given.guards, &mut parts);
        let costs = self.costs(given.costs);
        let rules = given.rules.into_iter();
        let rules: Vec<_> =
            rules.filter_map(|(coordinate, rule)| self.member(&coordinate).map(|it| (it, rule))).collect();
        (parts, rules, costs, self.errors)
    }

    fn guards(&mut self, guards: Vec<(String, Guard)>, parts: &mut Parts) {
        for (coordinate, guard) in guards {
            let Some(field) = self.field(&coordinate) else { continue };
            match parts.fields[field.index()].as_mut() {
                Some(entry) => entry.guard = Some(Arc::new(guard)),
                None => {
                    let message =
                        format!("`{coordinate}` comes with its object: resolve it by `each` to authorize it");
                    self.complain(&coordinate, message);
                }
            }
        }
    }

    fn costs(&mut self, costs: Vec<(String, Cost)>) -> HashMap<FieldId, FieldCost> {
        let mut found = HashMap::new();
        for (coordinate, cost) in costs {
            let Some(field) = self.field(&coordinate) else { continue };
            let arguments = self.schema.field(field).arguments;
            let page = cost.page_argument.map(|it| self.schema.input_by_name(arguments, it));
            if page == Some(None) {
                let name = cost.page_argument.unwrap_or_default();
                self.complain(&coordinate, format!("`{coordinate}` has no argument `{name}`"));
            }
            let (own, page_default) = (u64::from(cost.own), u64::from(cost.page_default));
            found.insert(field, FieldCost { own, page: page.flatten(), page_default });
        }
        found
    }

    fn complain(&mut self, coordinate: &str, message: String) {
        self.errors.push(error(message, self.places.find(coordinate)));
    }

    /// The field of an object type.
    fn field(&mut self, coordinate: &str) -> Option<FieldId> {
        let (on, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let ty = self.schema.type_by_name(on);
        let Some(ty) = ty.filter(|it| self.schema.ty(*it).kind == TypeKind::Object) else {
            self.complain(coordinate, format!("`{coordinate}` is resolved, but `{on}` is no object type"));
            return None;
        };
        let found = self.schema.field_by_name(ty, name);
        if found.is_none() {
            self.complain(
                coordinate,
                format!("`{coordinate}` is resolved, but `{on}` has no field `{name}`"),
            );
        }
        found
    }

    fn leaf(&mut self, coordinate: &str, field: FieldId, leaf: Leaf, parts: &mut Parts) {
        if self.schema.field(field).arguments.len > 0 {
            self.complain(
                coordinate,
                format!("`{coordinate}` has arguments, which a leaf does not see: use `each`"),
            );
        }
        if parts.leaves.contains_key(&(leaf.record, field)) {
            let name = leaf.record_name;
            self.complain(coordinate, format!("`{coordinate}` is resolved twice for `{name}`"));
        }
        parts.leaves.insert((leaf.record, field), leaf);
    }

    fn step(
        &mut self,
        coordinate: &str,
        field: FieldId,
        resolver: Resolver,
        checks: &HashMap<InputId, Vec<Check>>,
        loaders: &Loaders,
        parts: &mut Parts,
    ) {
        if parts.field(field).is_some() {
            self.complain(coordinate, format!("`{coordinate}` is resolved twice"));
        }
        if let Some((loader, name)) = resolver.resolve.loader()
            && !loaders.contains_key(&loader)
        {
            self.complain(
                coordinate,
                format!("`{coordinate}` loads by `{name}`, which is not among the loaders"),
            );
        }
        if let Err(message) = self.parent(field, &resolver, parts) {
            self.complain(coordinate, format!("`{coordinate}`: {message}"));
        }
        let mut binder = InputBinder { schema: self.schema, shapes: &mut parts.shapes, checks };
        let run = self.schema.field(field).arguments;
        match resolver.resolve.bind_arguments(&mut binder, run, coordinate.to_owned()) {
            Ok(shape) => parts.put(field, resolver, shape),
            Err(message) => {
                self.complain(coordinate, message);
                parts.put(field, resolver, Shape::LEAF);
            }
        }
    }

    /// Checks that the parents of `field` can be what its resolver takes.
    fn parent(&self, field: FieldId, resolver: &Resolver, parts: &Parts) -> Result<(), String> {
        let on = self.schema.field(field).parent;
        let is_root =
            [Some(self.schema.query), self.schema.mutation, self.schema.subscription].contains(&Some(on));
        let is_event = self.schema.subscription == Some(on);
        let name = self.schema.type_name(on);
        match (resolver.resolve.parent(), &resolver.keys) {
            _ if is_event != resolver.stream.is_some() => {
                Err("`stream` resolves the fields of the subscription root, and no others".into())
            }
            (ParentType::Unit, _) => Ok(()),
            (_, _) if is_root => {
                Err("a root field has no parent: resolve it by `root`, or take `&()`".into())
            }
            (ParentType::Object(..), _) if parts.extended.contains(&on) => {
                Err(format!("`{name}` is another source's, whose objects are rows: resolve it by `keyed`"))
            }
            (ParentType::Object(..), _) => Ok(()),
            (ParentType::Keys(columns), Some(keys)) if columns == keys.len() => Ok(()),
            (ParentType::Keys(columns), keys) => {
                let keys = keys.as_ref().map_or(0, Vec::len);
                Err(format!("the resolver reads {columns} keys, but {keys} are named"))
            }
        }
    }

    /// Every field of a root needs a resolver, as it has no object that could have it.
    fn roots(&mut self, parts: &Parts) {
        let roots = [Some(self.schema.query), self.schema.mutation, self.schema.subscription];
        let extended = parts.extended.iter().copied();
        for ty in roots.into_iter().flatten().chain(extended) {
            for field in self.schema.ty(ty).fields.range().map(|it| FieldId(it as u32)) {
                if parts.field(field).is_none() {
                    let coordinate = coordinate(self.schema, field);
                    self.complain(&coordinate, format!("`{coordinate}` has no resolver"));
                }
            }
        }
    }

    /// Checks by argument and input field: those of the SDL, and those that were given.
    fn checks(&mut self, given: Vec<(String, Check)>) -> HashMap<InputId, Vec<Check>> {
        let mut checks: HashMap<InputId, Vec<Check>> = HashMap::new();
        for (at, input) in self.schema.inputs.iter().enumerate() {
            for applied in &self.schema.applied[input.applied.range()] {
                if self.schema.str(applied.name) != validate::DIRECTIVE {
                    continue;
                }
                match validate::read(self.schema.str(applied.arguments)) {
                    Ok(read) => checks.entry(InputId(at as u32)).or_default().extend(read),
                    Err(message) => {
                        let name = self.schema.str(input.name);
                        self.complain(name, format!("@validate of `{name}`: {message}"));
                    }
                }
            }
        }
        for (coordinate, check) in given {
            match self.member(&coordinate) {
                Some(SchemaMember::Input(input)) => checks.entry(input).or_default().push(check),
                Some(SchemaMember::Type(_) | SchemaMember::Field(_) | SchemaMember::EnumValue(_)) => {
                    self.complain(&coordinate, format!("`{coordinate}` is no argument and no input field"));
                }
                None => {}
            }
        }
        checks
    }

    /// The member at any coordinate.
    fn member(&mut self, coordinate: &str) -> Option<SchemaMember> {
        let found = find(self.schema, coordinate);
        if found.is_none() {
            self.complain(coordinate, format!("the schema has no `{coordinate}`"));
        }
        found
    }
}

/// The member of `schema` at a coordinate.
///
/// Source: GraphQL specification, section 3.14.
fn find(schema: &language::Schema, coordinate: &str) -> Option<SchemaMember> {
    let (on, rest) = coordinate.split_once('.').unwrap_or((coordinate, ""));
    let ty = schema.type_by_name(on)?;
    if rest.is_empty() {
        return Some(SchemaMember::Type(ty));
    }
    let members = schema.ty(ty).members;
    match schema.ty(ty).kind {
        TypeKind::Enum => {
            let is_it = |it: &usize| schema.str(schema.enum_values[*it].name) == rest;
            members.range().find(is_it).map(|it| SchemaMember::EnumValue(EnumValueId(it as u32)))
        }
        TypeKind::Input { .. } => schema.input_by_name(members, rest).map(SchemaMember::Input),
        TypeKind::Object | TypeKind::Interface => match rest.split_once('(') {
            None => schema.field_by_name(ty, rest).map(SchemaMember::Field),
            Some((field, argument)) => {
                let field = schema.field_by_name(ty, field)?;
                let argument = argument.strip_suffix(":)")?;
                schema.input_by_name(schema.field(field).arguments, argument).map(SchemaMember::Input)
            }
        },
        TypeKind::Scalar(_) | TypeKind::Union => None,
    }
}
