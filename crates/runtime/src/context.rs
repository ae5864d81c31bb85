//! Context of a resolver's call beside parents and arguments: data of the request and of the schema, the caller, the selection, loaders.
//!
//! **Invariant:** a context belongs to one step of one request; a future may hold it, as it owns what it refers to.
//!
//! **Cost:** one allocation per step that calls a resolver.

pub(crate) mod batch_loader;
pub(crate) mod data;
pub(crate) mod hook;
pub(crate) mod lookahead;
pub(crate) mod request_data;
pub(crate) mod turns;

use crate::context::batch_loader::{LoadKey, Loader, LoaderMemory, Loaders, RegisteredLoader};
use crate::context::data::Data;
use crate::context::hook::{CallHooks, CallScope};
use crate::context::lookahead::Lookahead;
use crate::resolve_error::ResolveError;
use std::any::{Any, TypeId as RustType};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::Caller;
use weir_engine::memory::RecordHost;

/// Context of a resolver's call. A clone counts one reference.
///
/// ```
/// use weir_runtime::{Context, Request, ResolveError, Schema, record, root};
///
/// struct Tenant(&'static str);
/// struct Prefix(&'static str);
/// struct Who { name: String }
/// record!(Who { name });
///
/// fn who(_: &(), context: &Context) -> Result<Who, ResolveError> {
///     let prefix = context.data::<Prefix>()?.0;
///     let tenant = context.find::<Tenant>().map_or("nobody", |it| it.0);
///     assert!(context.lookahead().selects("name") && context.header("x-tenant").is_none());
///     assert!(context.caller().role().is_empty() && context.deadline() > std::time::Instant::now());
///     Ok(Who { name: format!("{prefix} {tenant}") })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { who: Who } type Who { name: String! }")
///     .data(Prefix("Dr."))
///     .header("x-tenant")
///     .resolve("Query.who", root(who))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new("{ who { name } }").data(Tenant("Ada"))));
/// assert_eq!(answer.text(), r#"{"data":{"who":{"name":"Dr. Ada"}}}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Context(Arc<ContextParts>);

pub(crate) struct ContextParts {
    /// Values of the schema.
    pub(crate) data: Arc<Data>,
    pub(crate) loaders: Arc<Loaders>,
    pub(crate) host: Arc<dyn RecordHost>,
    pub(crate) request: Option<Arc<Data>>,
    pub(crate) memory: Arc<LoaderMemory>,
    pub(crate) caller: Caller,
    pub(crate) deadline: Instant,
    pub(crate) lookahead: Lookahead,
    /// Values of the headers that the schema declares.
    pub(crate) headers: Vec<(Box<str>, Box<[u8]>)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("field", &self.0.lookahead.response_name()).finish_non_exhaustive()
    }
}

impl Context {
    pub(crate) fn new(parts: ContextParts) -> Self {
        Self(Arc::new(parts))
    }
    /// The value of type `T` that the request has, or else the schema.
    #[must_use]
    pub fn find<T: Any>(&self) -> Option<&T> {
        let request = self.0.request.as_ref().and_then(|it| it.get());
        request.or_else(|| self.0.data.get())
    }
    /// The value of type `T`, like [`Context::find`].
    /// # Errors
    /// Neither request nor schema has one: a bug of the program; the client gets no details.
    pub fn data<T: Any>(&self) -> Result<&T, ResolveError> {
        self.find().ok_or_else(|| {
            let cause =
                format!("no `{}` in the data of the request and of the schema", std::any::type_name::<T>());
            std::io::Error::other(cause).into()
        })
    }
    /// The caller: role and claims.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }
    /// When the answer has to be there. The engine ends a step that takes longer.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.0.deadline
    }
    /// The selection below the field that is resolved.
    #[must_use]
    pub fn lookahead(&self) -> &Lookahead {
        &self.0.lookahead
    }
    /// The first value of a header that the schema declares ([`crate::SchemaBuilder::header`]).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.0.headers.iter().find(|it| *it.0 == *name)?;
        std::str::from_utf8(&found.1).ok()
    }
    /// Loads values by key. Keys that the request has loaded are not loaded again.
    /// # Errors
    /// An error of the loader, or the schema has no such loader.
    pub async fn load<L: Loader>(&self, keys: Vec<L::Key>) -> Result<Vec<Option<L::Value>>, ResolveError> {
        self.memory().register::<L>(keys.into_iter().map(LoadKey).collect()).load(self).await
    }

    pub(crate) fn host(&self) -> Arc<dyn RecordHost> {
        Arc::clone(&self.0.host)
    }
    pub(crate) fn memory(&self) -> &Arc<LoaderMemory> {
        &self.0.memory
    }
    /// The loader `L`, and the hooks of its calls.
    pub(crate) fn loader<L: Loader>(&self) -> Option<(Arc<L>, Option<&CallHooks>)> {
        let RegisteredLoader { loader, hooks, .. } = self.0.loaders.get(&RustType::of::<L>())?;
        Some((loader.downcast_ref::<Arc<L>>().cloned()?, hooks.as_ref()))
    }
    /// Scope of a call with `parents`, for hooks.
    pub(crate) fn call_scope(&self, parents: usize) -> CallScope {
        let ContextParts { request, caller, deadline, .. } = &*self.0;
        CallScope { data: request.clone(), caller: caller.clone(), parents, deadline: *deadline }
    }
}
