//! Hooks of plan steps and of calls: what they see, and how the beginning and the end of a call reach them.
//!
//! A step asks one source. A call is one function of the library: a resolver, or a loader. A step at the root makes a call for each of
//! its fields, and a loader is called once for all steps of a level. Hooks are chosen before anything runs: those of a step and of a
//! resolver when the plan is made, those of a loader when the schema is built.
//!
//! **Invariant:** `after` is called once for each `before` that succeeded, also if the call is dropped.
//!
//! **Cost:** without a hook none. With one two readings of the clock and two dynamic calls per call, nothing per row.

use super::data::Data;
use crate::resolve_error::ResolveError;
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Caller;
use weir_engine::observer::FetchOutcome;

/// One run of a step, or one call of a resolver or loader. [`StepHook`] has an example.
#[derive(Clone, Copy)]
pub struct HookCall<'c> {
    pub(crate) data: Option<&'c Data>,
    pub(crate) caller: &'c Caller,
    pub(crate) parents: usize,
    pub(crate) deadline: Instant,
}

impl HookCall<'_> {
    /// The value of type `T` that the request has.
    #[must_use]
    pub fn find<T: Any>(&self) -> Option<&T> {
        self.data?.get()
    }
    /// The caller: role and claims.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.caller
    }
    /// Number of parents; 1 at the root. A step counts parents whose keys differ, a loader counts the keys that it loads.
    #[must_use]
    pub fn parents(&self) -> usize {
        self.parents
    }
    /// When the answer has to be there.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

/// Hook of the runs of steps, or of the calls, for which it was chosen.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use weir_runtime::{Context, FetchOutcome, HookCall, Request, ResolveError, Schema, StepHook, root};
///
/// struct Viewer(&'static str);
///
/// struct Audit;
/// impl StepHook for Audit {
///     fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
///         let viewer = call.find::<Viewer>().ok_or_else(|| ResolveError::new("log in first"))?;
///         println!("{} asks for {}, until {:?}: {}", viewer.0, call.parents(), call.deadline(), call.caller().role());
///         Ok(())
///     }
///     fn after(&self, _: &HookCall<'_>, outcome: FetchOutcome, took: Duration) {
///         println!("{outcome:?} after {took:?}");
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { secret: Int }")
///     .resolve("Query.secret", root(|_: &(), _: &Context| 42))
///     .intercept_steps(|step| step.is_root.then(|| Arc::new(Audit) as Arc<dyn StepHook>))
///     .build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let refused = runtime.block_on(schema.execute(Request::new("{ secret }")));
/// assert_eq!(refused.at("errors.0.message").as_deref(), Some("\"log in first\""));
/// let answer = runtime.block_on(schema.execute(Request::new("{ secret }").data(Viewer("Ada"))));
/// assert_eq!(answer.text(), r#"{"data":{"secret":42}}"#);
/// # Ok(())
/// # }
/// ```
pub trait StepHook: Send + Sync {
    /// Before the call.
    /// # Errors
    /// The call is refused: nothing is called, and its fields fail with this error.
    fn before(&self, call: &HookCall<'_>) -> Result<(), ResolveError> {
        let _ = call;
        Ok(())
    }
    /// After the call.
    fn after(&self, call: &HookCall<'_>, outcome: FetchOutcome, took: Duration) {
        let _ = (call, outcome, took);
    }
}

/// A call for which hooks are chosen. [`SchemaBuilder::intercept_calls`](crate::SchemaBuilder::intercept_calls) has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedCall<'c> {
    /// The resolver at this coordinate: `User.posts`. For a subscription: the call that opens its stream.
    Resolver(&'c str),
    /// The loader with this Rust type, as [`std::any::type_name`] writes it.
    Loader(&'c str),
}

/// Chooses the hook of a call.
pub(crate) type ChooseCall = Box<dyn Fn(PlannedCall<'_>) -> Option<Arc<dyn StepHook>> + Send + Sync>;

/// Hooks of one call. The first is the outermost.
pub(crate) type CallHooks = Arc<[Arc<dyn StepHook>]>;

/// Chooses the hooks of `call`; `None` without hooks.
pub(crate) fn choose_hooks(choices: &[ChooseCall], call: PlannedCall<'_>) -> Option<CallHooks> {
    let hooks: CallHooks = choices.iter().filter_map(|choose| choose(call)).collect();
    (!hooks.is_empty()).then_some(hooks)
}

/// A call as hooks see it, owned: futures hold it.
pub(crate) struct CallScope {
    pub(crate) data: Option<Arc<Data>>,
    pub(crate) caller: Caller,
    pub(crate) parents: usize,
    pub(crate) deadline: Instant,
}

impl CallScope {
    fn call(&self) -> HookCall<'_> {
        let Self { data, caller, parents, deadline } = self;
        HookCall { data: data.as_deref(), caller, parents: *parents, deadline: *deadline }
    }
}

/// A call in progress. Ending or dropping it calls `after` on its hooks.
pub(crate) struct CallUnderWay {
    hooks: CallHooks,
    /// Number of hooks whose `before` succeeded.
    agreed: usize,
    scope: CallScope,
    began: Instant,
    outcome: FetchOutcome,
}

impl CallUnderWay {
    /// Begins a call.
    /// # Errors
    /// A hook refuses it.
    pub(crate) fn begin(hooks: &CallHooks, scope: CallScope) -> Result<Self, ResolveError> {
        let began = Instant::now();
        let outcome = FetchOutcome::Abandoned;
        let mut begun = Self { hooks: Arc::clone(hooks), agreed: 0, scope, began, outcome };
        for hook in hooks.iter() {
            if let Err(error) = hook.before(&begun.scope.call()) {
                begun.outcome = FetchOutcome::Failed(error.stable_code());
                return Err(error);
            }
            begun.agreed += 1;
        }
        Ok(begun)
    }

    /// Ends the call; `failed`: code of the error, if no value was returned.
    pub(crate) fn end(mut self, failed: Option<&'static str>) {
        self.outcome = failed.map_or(FetchOutcome::Answered, FetchOutcome::Failed);
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let call = self.scope.call();
        self.hooks[..self.agreed].iter().rev().for_each(|it| it.after(&call, self.outcome, took));
    }
}
