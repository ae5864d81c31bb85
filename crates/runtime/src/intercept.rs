//! Interceptors of requests and of plan steps.
//!
//! A step is one call of one source: of resolvers at one place of the query, of a database, of a service. Its interceptor is chosen
//! when the plan is made, so a step without one costs nothing.
//!
//! **Invariant:** `after` is called once for each `before` that agreed, also if the call is given up.

use crate::data::Data;
use crate::error::ResolveError;
use crate::library::Library;
use crate::request_data::RequestData;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::{Caller, Identity};
use weir_engine::engine::Outcome;
use weir_engine::memory::{AnswerError, RecordHost};
use weir_engine::observer::FetchOutcome;
use weir_engine::source::{FieldError, Interceptor, PlannedStep, StepCall, StepInterceptor};

/// A request that is executed or subscribed to.
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

/// Sees each request before and after its execution.
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

/// One run of a step.
#[derive(Clone, Copy)]
pub struct HookCall<'c>(StepCall<'c>);

impl HookCall<'_> {
    /// The value of type `T` that the request has.
    #[must_use]
    pub fn find<T: Any>(&self) -> Option<&T> {
        self.0.headers.data()?.downcast_ref::<RequestData>()?.data.get()
    }
    /// The caller: role and claims.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.0.caller
    }
    /// Number of parents whose keys differ; 1 at the root.
    #[must_use]
    pub fn parents(&self) -> usize {
        self.0.parents
    }
    /// When the answer has to be there.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.0.deadline
    }
}

/// Sees each run of the steps for which it was chosen.
pub trait StepHook: Send + Sync {
    /// Before the call.
    /// # Errors
    /// The step is refused: nothing is called, and this error stands for its fields.
    fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
        let _ = call;
        Ok(())
    }
    /// After the call.
    fn after(&self, call: &HookCall<'_>, outcome: FetchOutcome, took: Duration) {
        let _ = (call, outcome, took);
    }
}

/// Chooses the hook of a step.
pub(crate) type ChooseHook = Box<dyn Fn(&PlannedStep<'_>) -> Option<Arc<dyn StepHook>> + Send + Sync>;

/// A choice of hooks as the engine asks for it.
pub(crate) struct Hooks {
    pub(crate) choose: ChooseHook,
    /// Says what clients are told of errors.
    pub(crate) library: Arc<Library>,
}

impl Interceptor for Hooks {
    fn bind(&self, step: &PlannedStep<'_>) -> Option<Box<dyn StepInterceptor>> {
        let (hook, library) = ((self.choose)(step)?, Arc::clone(&self.library));
        Some(Box::new(BoundHook { hook, library }))
    }
}

struct BoundHook {
    hook: Arc<dyn StepHook>,
    library: Arc<Library>,
}

impl StepInterceptor for BoundHook {
    fn before(&self, call: &StepCall<'_>) -> Result<(), FieldError> {
        let refused = |error: ResolveError| error.field_error(Some(&*self.library as &dyn RecordHost));
        self.hook.before(&HookCall(*call)).map_err(refused)
    }
    fn after(&self, call: &StepCall<'_>, outcome: FetchOutcome, took: Duration) {
        self.hook.after(&HookCall(*call), outcome, took);
    }
}

/// A request under way. Its end is told when this is ended or dropped.
pub(crate) struct RequestUnderWay<'r> {
    call: RequestCall<'r>,
    /// Those that agreed.
    hooks: &'r [Arc<dyn RequestHook>],
    began: Instant,
    pub(crate) outcome: Outcome,
}

impl<'r> RequestUnderWay<'r> {
    /// Begins a request; `None`: nobody listens.
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
