//! Interceptors of requests, and of plan steps in the engine's form. Interceptors of calls are bound in
//! [`crate::step::intercepted_call`].
//!
//! A step asks one source: the resolvers at one place of the query, a database, a service. Its interceptor is chosen when the plan is
//! made, so a step without one costs nothing.
//!
//! **Invariant:** `after` is called once for each `before` that succeeded, also if the call is dropped.

use super::Library;
use crate::context::data::Data;
use crate::context::hook::{HookCall, StepHook};
use crate::context::request_data::RequestData;
use crate::resolve_error::ResolveError;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Outcome;
use weir_engine::memory::{AnswerError, RecordHost};
use weir_engine::observer::FetchOutcome;
use weir_engine::source::{FieldError, Interceptor, PlannedStep, StepCall, StepInterceptor};

/// A request that is executed or subscribed to. [`RequestHook`] has an example.
#[derive(Clone, Copy)]
pub struct RequestCall<'c> {
    /// The document.
    pub query: &'c str,
    /// The operation to run, of several.
    pub operation_name: Option<&'c str>,
    /// The caller's role and claims.
    pub identity: Option<&'c Identity>,
    /// The data of the request.
    pub data: &'c Data,
}

/// Hook that sees each request before and after its execution.
///
/// ```
/// use weir_runtime::{Context, Request, RequestCall, RequestHook, ResolveError, Schema, root};
///
/// struct Named;
/// impl RequestHook for Named {
///     fn before(&self, call: &RequestCall<'_>) -> Result<(), ResolveError> {
///         match call.operation_name {
///             Some(_) => Ok(()),
///             None => Err(ResolveError::new("an operation needs a name")),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { hello: String! }")
///     .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
///     .intercept_requests(Named)
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let refused = runtime.block_on(schema.execute(Request::new("{ hello }")));
/// assert_eq!(refused.at("errors.0.message").as_deref(), Some("\"an operation needs a name\""));
/// let answer = runtime.block_on(schema.execute(Request::new("query Q { hello }").operation("Q")));
/// assert!(answer.is_ok());
/// # Ok(())
/// # }
/// ```
pub trait RequestHook: Send + Sync {
    /// Before anything of the request is read.
    /// # Errors
    /// The request is refused with this error.
    fn before(&self, call: &RequestCall<'_>) -> Result<(), ResolveError> {
        let _ = call;
        Ok(())
    }
    /// After the response, or the first of several.
    fn after(&self, call: &RequestCall<'_>, outcome: Outcome, took: Duration) {
        let _ = (call, outcome, took);
    }
}

/// Chooses the hook of a step.
pub(crate) type ChooseHook = Box<dyn Fn(&PlannedStep<'_>) -> Option<Arc<dyn StepHook>> + Send + Sync>;

/// Adapts a choice of hooks to the engine's [`Interceptor`].
pub(crate) struct Hooks {
    pub(crate) choose: ChooseHook,
    /// Maps errors to errors for clients.
    pub(crate) library: Arc<Library>,
}

impl Interceptor for Hooks {
    fn bind(&self, step: &PlannedStep<'_>) -> Option<Box<dyn StepInterceptor>> {
        let hook = (self.choose)(step)?;
        let library = Arc::clone(&self.library);
        Some(Box::new(BoundHook { hook, library }))
    }
}

struct BoundHook {
    hook: Arc<dyn StepHook>,
    library: Arc<Library>,
}

/// A run of a step as hooks see it.
fn hook_call<'c>(call: &StepCall<'c>) -> HookCall<'c> {
    let StepCall { caller, headers, parents, deadline } = *call;
    let data = headers.data().and_then(|it| it.downcast_ref::<RequestData>());
    HookCall { data: data.map(|it| &*it.data), caller, parents, deadline }
}

impl StepInterceptor for BoundHook {
    fn before(&self, call: &StepCall<'_>) -> Result<(), FieldError> {
        let refused = |error: ResolveError| error.field_error(Some(&*self.library as &dyn RecordHost));
        self.hook.before(&hook_call(call)).map_err(refused)
    }
    fn after(&self, call: &StepCall<'_>, outcome: FetchOutcome, took: Duration) {
        self.hook.after(&hook_call(call), outcome, took);
    }
}

/// A request in progress. Ending or dropping it calls `after` on its hooks.
pub(crate) struct RequestUnderWay<'r> {
    call: RequestCall<'r>,
    /// Hooks whose `before` succeeded.
    hooks: &'r [Arc<dyn RequestHook>],
    began: Instant,
    pub(crate) outcome: Outcome,
}

impl<'r> RequestUnderWay<'r> {
    /// Begins a request; `None` without hooks.
    /// # Errors
    /// A hook refuses it.
    pub(crate) fn begin(
        hooks: &'r [Arc<dyn RequestHook>],
        call: RequestCall<'r>,
    ) -> Result<Option<Self>, ResolveError> {
        if hooks.is_empty() {
            return Ok(None);
        }
        let mut begun = Self { call, hooks: &[], began: Instant::now(), outcome: Outcome::Refused };
        for (at, hook) in hooks.iter().enumerate() {
            hook.before(&call)?;
            begun.hooks = &hooks[..=at];
        }
        Ok(Some(begun))
    }
}

impl Drop for RequestUnderWay<'_> {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.hooks.iter().rev().for_each(|it| it.after(&self.call, self.outcome, took));
    }
}
