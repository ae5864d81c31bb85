//! Collects an SDL and its resolvers; [`SchemaBuilder::build`] finds everything that is wrong with them at once.
//!
//! **Invariant:** names are resolved here, once; what is built refers to fields by their ids.

use super::Schema;
use crate::context::Context;
use crate::context::batch_loader::{Loader, Loaders, RegisteredLoader};
use crate::context::data::Data;
use crate::context::hook::{ChooseCall, PlannedCall, StepHook, choose_hooks};
use crate::input::value_checks::Check;
use crate::library::coordinate_lookup::{Given, Resolving, coordinate, error, read};
use crate::library::request_hooks::{ChooseHook, Hooks, RequestHook};
use crate::library::schema_usage::UsageObserver;
use crate::library::visible_members::{ProfileOf, Profiles};
use crate::library::{Library, fit_checks};
use crate::resolve_error::{BuildError, ErrorMapping, ResolveError, mapping};
use crate::resolver::any_resolver::AnyResolver;
use crate::resolver::object_guard::guard;
use crate::rust_types::code_first::CodeFirst;
use crate::step::library_source::LibrarySource;
use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::demand::{CostRule, CostWeight, DemandControl, ListSize, Rule};
use weir_engine::engine::Settings;
use weir_engine::observer::Observer;
use weir_engine::source::{Interceptor, PlannedStep, Source};

/// Collects what a [`Schema`] is made of.
///
/// ```
/// use weir_runtime::{Check, Context, CostWeight, Identity, Limits, ListSize, Request, ResolveError, Schema, Settings};
/// use weir_runtime::{input, leaf_ref, record, root};
///
/// struct User { id: i32, mail: String }
/// record!(User { id });
/// struct Page { first: i32 }
/// input!(Page { first });
/// struct Mails(Vec<&'static str>);
///
/// fn users(page: &Page, context: &Context) -> Result<Vec<User>, ResolveError> {
///     let mails = context.data::<Mails>()?.0.iter().enumerate().take(page.first as usize);
///     Ok(mails.map(|(id, mail)| User { id: id as i32, mail: (*mail).to_owned() }).collect())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sdl = "type Query { users(first: Int! = 2): [User!]! bad: Int } type User { id: Int! mail: String }";
/// let schema = Schema::builder(sdl)
///     .name("people")
///     .data(Mails(vec!["ada@example.org", "bob@example.org"]))
///     .header("x-tenant")
///     .resolve("Query.users", root(users))
///     .resolve("Query.bad", root(|_: &(), _: &Context| "x".parse::<i32>().map_err(ResolveError::from)))
///     .resolve("User.mail", leaf_ref(|user: &User| user.mail.as_str()))
///     .validate("Query.users(first:)", Check::max("100")?)
///     .profile_of(|identity| identity.role.to_string())
///     .visible_if("User.mail", |profile| profile == "staff")
///     .cost("User", CostWeight::whole(2))
///     .list_size("Query.users", ListSize { slicing: vec!["first".into()], ..ListSize::default() })
///     .cost_max(100)
///     .settings(Settings { limits: Limits { depth_max: 8, ..Limits::STANDARD }, ..Settings::STANDARD })
///     .map_errors(|_: &std::num::ParseIntError| ResolveError::new("no number"))
///     .count_usage()
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let ask = |query, role: &str| {
///     let identity = Identity { role: role.into(), is_backend: false, is_anonymous: false, claims: Default::default() };
///     runtime.block_on(schema.execute(Request::new(query).identity(identity)))
/// };
/// let answer = ask("{ users { mail } bad }", "staff");
/// assert_eq!(answer.at("data.users.1.mail").as_deref(), Some("\"bob@example.org\""));
/// assert_eq!(answer.at("errors.0.message").as_deref(), Some("\"no number\""));
/// let hidden = ask("{ users { mail } }", "guest");
/// assert_eq!(hidden.status(), 400);
/// let dear = ask("{ users(first: 100) { id } }", "guest");
/// assert_eq!(dear.at("errors.0.extensions.code").as_deref(), Some("\"COST_ESTIMATED_TOO_EXPENSIVE\""));
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing happens before `build`"]
pub struct SchemaBuilder {
    name: String,
    sdl: String,
    pub(crate) code: CodeFirst,
    given: Given,
    profile_of: Option<Box<ProfileOf>>,
    loaders: Loaders,
    mappings: Vec<ErrorMapping>,
    data: Data,
    headers: Vec<Box<str>>,
    cost_max: Option<u64>,
    cost_rules: Vec<CostRule>,
    request_hooks: Vec<Arc<dyn RequestHook>>,
    step_hooks: Vec<ChooseHook>,
    call_hooks: Vec<ChooseCall>,
    counts_usage: bool,
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
            given: Given::default(),
            profile_of: None,
            loaders: HashMap::new(),
            mappings: Vec::new(),
            data: Data::new(),
            headers: Vec::new(),
            cost_max: None,
            cost_rules: Vec::new(),
            request_hooks: Vec::new(),
            step_hooks: Vec::new(),
            call_hooks: Vec::new(),
            counts_usage: false,
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
    /// Resolves the field at `coordinate`: `User.posts`. A field may have a [`Leaf`](crate::Leaf) for each Rust type that its objects have.
    pub fn resolve(mut self, coordinate: &str, resolver: impl Into<AnyResolver>) -> Self {
        self.given.resolvers.push((coordinate.into(), resolver.into()));
        self
    }
    /// Checks an argument, `Query.users(first:)`, or an input field, `Filter.name`, before the resolver is called, and after the checks
    /// of the SDL. The SDL does not show this check; it shows those that stand there as `@validate`, or at the field of a derived
    /// [`Input`](derive@crate::Input).
    pub fn validate(mut self, coordinate: &str, check: Check) -> Self {
        self.given.checks.push((coordinate.into(), check));
        self
    }
    /// Shows a type, field, argument, input field or enum value only to profiles for which `predicate` is true.
    pub fn visible_if(
        mut self,
        coordinate: &str,
        predicate: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.given.rules.push((coordinate.into(), Box::new(predicate)));
        self
    }
    /// Names the profile of a caller; default: its role. A profile has plans of its own, so a schema has at most 256, the first that
    /// are named: name them by role, not by user. Requests of callers with any other profile get the error `LIMIT_PROFILES`. Without
    /// [`SchemaBuilder::visible_if`] there are no profiles, and so no bound.
    pub fn profile_of(mut self, name: impl Fn(&Identity) -> String + Send + Sync + 'static) -> Self {
        self.profile_of = Some(Box::new(name));
        self
    }
    /// Asks `allows`, once for all parents of a step, whether the caller may ask for the field; a refused field is the error
    /// `ACCESS_DENIED`. The field has a resolver of its own, no leaf.
    ///
    /// ```
    /// use weir_runtime::{Context, Request, Schema, each, record, root};
    /// struct User { id: i32 }
    /// record!(User { id });
    /// fn users(_: &(), _: &Context) -> Vec<User> {
    ///     (1..=3).map(|id| User { id }).collect()
    /// }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { all: [User]! some: [User]! } type User { id: Int! mail: String }")
    ///     .resolve("Query.all", root(users))
    ///     .resolve("Query.some", root(users))
    ///     .resolve("User.mail", each(|user: &User, _: &(), _: &Context| format!("{}@example.org", user.id)))
    ///     .authorize("User.mail", |users: &[&User], _| users.iter().map(|it| it.id == 1).collect())
    ///     .authorize_type("User", |users: &[&User], _| users.iter().map(|it| it.id < 3).collect())
    ///     .filter("Query.some", |users: &[&User], _| users.iter().map(|it| it.id == 2).collect())
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let response = runtime.block_on(schema.execute(Request::new("{ all { id } some { mail } }")));
    /// assert_eq!(response.at("data.all").as_deref(), Some(r#"[{"id":1},{"id":2},null]"#));
    /// assert_eq!(response.at("data.some").as_deref(), Some(r#"[{"mail":null}]"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn authorize<P: 'static>(
        mut self,
        coordinate: &str,
        allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
    ) -> Self {
        self.given.guards.push((coordinate.into(), guard(allows)));
        self
    }
    /// Asks `allows` of all objects of the type `name` that a resolver gave, once per step, and before anything below them is
    /// resolved. A refused object is null with the error `ACCESS_DENIED`. The objects are of the Rust type `P`; others are refused.
    /// [`SchemaBuilder::authorize`] has an example.
    pub fn authorize_type<P: 'static>(
        mut self,
        name: &str,
        allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
    ) -> Self {
        self.given.type_guards.push((name.into(), guard(allows)));
        self
    }
    /// Asks `allows` of all items of a list, once per step; the others are left out before anything below them is resolved. The items
    /// are of the Rust type `P`, the enum where they are a union; null stays. [`SchemaBuilder::authorize`] has an example.
    pub fn filter<P: 'static>(
        mut self,
        coordinate: &str,
        allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
    ) -> Self {
        self.given.filters.push((coordinate.into(), guard(allows)));
        self
    }
    /// Sets the weight of a type, field, argument or input field, as `@cost` in the SDL does; see [`SchemaBuilder::cost_max`].
    pub fn cost(mut self, coordinate: &str, weight: CostWeight) -> Self {
        self.add_cost_rule(coordinate, Rule::Weight(weight));
        self
    }
    /// Sets the size of the lists of a field, as `@listSize` in the SDL does; see [`SchemaBuilder::cost_max`].
    pub fn list_size(mut self, coordinate: &str, size: ListSize) -> Self {
        self.add_cost_rule(coordinate, Rule::ListSize(size));
        self
    }
    /// Refuses operations that may cost more, `COST_ESTIMATED_TOO_EXPENSIVE`, before any source is asked. An object costs 1, a scalar
    /// nothing, a list its size times an item, a mutation 10 more. Limits of roles and other terms: [`Settings::demand`].
    pub fn cost_max(mut self, max: u64) -> Self {
        self.cost_max = Some(max);
        self
    }

    fn add_cost_rule(&mut self, coordinate: &str, rule: Rule) {
        self.cost_rules.push(CostRule { place: coordinate.into(), rule, written: "library".into() });
    }

    /// Adds an interceptor of requests. The first is the outermost. [`RequestHook`] has an example.
    pub fn intercept_requests(mut self, hook: impl RequestHook + 'static) -> Self {
        self.request_hooks.push(Arc::new(hook));
        self
    }
    /// Adds an interceptor of steps: of resolvers, and of calls of other sources. `choose` is called for each step when a plan is made;
    /// a step without an interceptor costs nothing. The first is the outermost. [`StepHook`] has an example.
    pub fn intercept_steps(
        mut self,
        choose: impl Fn(&PlannedStep<'_>) -> Option<Arc<dyn StepHook>> + Send + Sync + 'static,
    ) -> Self {
        self.step_hooks.push(Box::new(choose));
        self
    }
    /// Adds an interceptor of calls: of the functions of resolvers and loaders, of which a step may have several. `choose` is called for
    /// each resolver of a plan when the plan is made, and for each loader when the schema is built; calls for which it gives none cost
    /// nothing. The first is the outermost. Databases and services are called once per step: [`SchemaBuilder::intercept_steps`].
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    /// use weir_runtime::{Context, HookCall, PlannedCall, Request, ResolveError, Schema, StepHook, batch, record, root};
    ///
    /// struct User { id: i32 }
    /// record!(User { id });
    ///
    /// /// Counts the parents for which a resolver is called.
    /// struct Parents(Arc<AtomicUsize>);
    /// impl StepHook for Parents {
    ///     fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
    ///         self.0.fetch_add(call.parents(), Ordering::Relaxed);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let count = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&count);
    /// let schema = Schema::builder("type Query { users: [User!]! } type User { id: Int! double: Int! }")
    ///     .resolve("Query.users", root(|_: &(), _: &Context| vec![User { id: 1 }, User { id: 2 }]))
    ///     .resolve("User.double", batch(|users: &[&User], _: &(), _: &Context| users.iter().map(|it| it.id * 2).collect::<Vec<_>>()))
    ///     .intercept_calls(move |call| match call {
    ///         PlannedCall::Resolver("User.double") => Some(Arc::new(Parents(Arc::clone(&counted))) as Arc<dyn StepHook>),
    ///         PlannedCall::Resolver(_) | PlannedCall::Loader(_) => None,
    ///     })
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let response = runtime.block_on(schema.execute(Request::new("{ users { double } }")));
    /// assert_eq!(response.text(), r#"{"data":{"users":[{"double":2},{"double":4}]}}"#);
    /// assert_eq!(count.load(Ordering::Relaxed), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn intercept_calls(
        mut self,
        choose: impl Fn(PlannedCall<'_>) -> Option<Arc<dyn StepHook>> + Send + Sync + 'static,
    ) -> Self {
        self.call_hooks.push(Box::new(choose));
        self
    }
    /// Counts executions by operation, field and argument: [`Schema::usage`].
    pub fn count_usage(mut self) -> Self {
        self.counts_usage = true;
        self
    }
    /// Says that the object type `name` is another source's, to which this SDL adds fields. They are resolved by [`crate::keyed`].
    pub fn extends(mut self, name: &str) -> Self {
        self.given.extended.push(name.into());
        self
    }
    /// Adds a loader.
    pub fn loader<L: Loader>(mut self, loader: L) -> Self {
        let number = self.loaders.len() as u32;
        let name = std::any::type_name::<L>();
        let loader = RegisteredLoader { loader: Box::new(Arc::new(loader)), name, number, hooks: None };
        self.loaders.insert(RustType::of::<L>(), loader);
        self
    }
    /// Maps errors of type `E` to errors for clients. Without a mapping clients get `Internal error.`
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
    /// Limits, sizes of caches, and the observer, which receives each stage and fetch, for counters and spans.
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

    /// Returns the resolvers as a source, for a graph that another program composes.
    /// # Errors
    /// Everything that is wrong with the SDL and its resolvers.
    pub fn build_source(self) -> Result<Arc<dyn Source>, BuildError> {
        self.library().map(|it| Arc::new(LibrarySource(it.library)) as Arc<dyn Source>)
    }

    /// The schema.
    /// # Errors
    /// Everything that is wrong with the SDL and its resolvers, or with the graph of all sources.
    pub fn build(self) -> Result<Schema, BuildError> {
        let counts_usage = self.counts_usage;
        let Built { library, sdl, mut settings, sources, joins, request_hooks, step_hooks } =
            self.library()?;
        let own: Arc<dyn Source> = Arc::new(LibrarySource(Arc::clone(&library)));
        let sources = std::iter::once(own).chain(sources).collect();
        let graph = Graph::compose(sources, &joins).map_err(|errors| {
            let error = |it: &weir_engine::compose::ComposeError| error(it.to_string(), None);
            BuildError::new(&sdl, errors.iter().map(error).collect())
        })?;
        let hook = |choose| Arc::new(Hooks { choose, library: Arc::clone(&library) }) as Arc<dyn Interceptor>;
        let graph = graph.with_interceptors(step_hooks.into_iter().map(hook).collect());
        let usage = counts_usage.then(|| Arc::new(UsageObserver::new(settings.observer.take())));
        if let Some(usage) = &usage {
            settings.observer = Some(Arc::clone(usage) as Arc<dyn Observer>);
        }
        Ok(Schema::new(library, graph, settings, request_hooks, usage))
    }

    fn library(self) -> Result<Built, BuildError> {
        let Self { name, mut settings, sources, joins, request_hooks, step_hooks, .. } = self;
        if let Some(max) = self.cost_max {
            let control = settings.demand.as_deref().cloned().unwrap_or(DemandControl::STANDARD);
            settings.demand = Some(Arc::new(DemandControl { max: Some(max), ..control }));
        }
        let (sdl, conflicts) = self.code.sdl(&self.sdl);
        if !conflicts.is_empty() {
            return Err(BuildError::new(&sdl, conflicts.into_iter().map(|it| error(it, None)).collect()));
        }
        let read = read(&sdl).map_err(|errors| BuildError::new(&sdl, errors))?;
        let resolving = Resolving { schema: &read.schema, places: &read.places, errors: Vec::new() };
        let (parts, rules, errors) = resolving.run(self.given, &self.loaders);
        let mut loaders = self.loaders;
        let call_hooks = self.call_hooks;
        loaders
            .values_mut()
            .for_each(|it| it.hooks = choose_hooks(&call_hooks, PlannedCall::Loader(it.name)));
        let profiles = Profiles { profile_of: self.profile_of, rules, ..Profiles::default() };
        let library = Arc::new(Library {
            name,
            schema: Arc::new(read.schema),
            parts,
            loaders: Arc::new(loaders),
            mappings: self.mappings,
            data: Arc::new(self.data),
            headers: self.headers,
            profiles,
            cost_rules: read.cost_rules.into_iter().chain(self.cost_rules).collect(),
            call_hooks,
        });
        let mut errors = errors;
        let misfits = if errors.is_empty() { fit_checks::check(&library) } else { Vec::new() };
        errors.extend(misfits.into_iter().map(|(field, message)| {
            let place = read.places.find(&coordinate(&library.schema, field));
            error(message, place)
        }));
        if errors.is_empty() {
            Ok(Built { library, sdl, settings, sources, joins, request_hooks, step_hooks })
        } else {
            Err(BuildError::new(&sdl, errors))
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
    request_hooks: Vec<Arc<dyn RequestHook>>,
    step_hooks: Vec<ChooseHook>,
}
