//! Batch loading by key, with a memory per request: what DataLoader does, without timers.
//!
//! A field that is resolved by [`crate::load`] registers its keys at once. All fields of a level that use the same loader register
//! theirs before the first of them waits, so one call loads them all; a key is loaded once per request, at whatever level.
//!
//! **Invariant:** a key is pending, in flight with one batch, or known; a batch takes all pending keys of its loader.
//!
//! A load keeps a reference to the state that has its keys, so clearing the memory loses none.
//!
//! **Cost:** one hash per key and one lock per step.

use super::Context;
use super::hook::{CallHooks, CallUnderWay};
use crate::resolve_error::ResolveError;
use futures_util::FutureExt;
use futures_util::future::Shared;
use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A future on the heap that owns all it uses.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Loads values by keys, all at once.
///
/// ```
/// use std::collections::HashMap;
/// use weir_runtime::{BoxFuture, Context, Loader, ResolveError};
/// struct NameById(HashMap<i32, String>);
/// impl Loader for NameById {
///     type Key = i32;
///     type Value = String;
///     fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<Result<Vec<Option<String>>, ResolveError>> {
///         let names = keys.iter().map(|key| self.0.get(key).cloned()).collect();
///         Box::pin(std::future::ready(Ok(names)))
///     }
/// }
/// ```
pub trait Loader: Send + Sync + 'static {
    /// Values are found by it.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// The value of a key. It is cloned for each place where it stands: an `Arc`, if it is large.
    type Value: Clone + Send + Sync + 'static;
    /// The values of `keys`, which are distinct, in their order; `None` where there is none.
    fn load(&self, keys: Vec<Self::Key>, context: Context) -> BoxFuture<LoaderReply<Self>>;
    /// A key of this loader.
    fn key(key: Self::Key) -> LoadKey<Self>
    where
        Self: Sized,
    {
        LoadKey(key)
    }
}

/// Result of a loader's call.
pub type LoaderReply<L> = Result<Vec<Option<<L as Loader>::Value>>, ResolveError>;

/// A key of the loader `L`. [`Loader`] has an example.
pub struct LoadKey<L: Loader>(pub L::Key);

impl<L: Loader> Clone for LoadKey<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A loader in a schema.
pub(crate) struct RegisteredLoader {
    /// An `Arc` of the loader.
    pub(crate) loader: Box<dyn Any + Send + Sync>,
    /// Name of its Rust type.
    pub(crate) name: &'static str,
    /// Number of its calls, by which fetches find others that use the same loader.
    pub(crate) number: u32,
    /// Hooks of its calls.
    pub(crate) hooks: Option<CallHooks>,
}

/// The loaders of a schema, by their Rust types.
pub(crate) type Loaders = HashMap<RustType, RegisteredLoader>;

type Batch = Shared<BoxFuture<()>>;

enum Slot<V> {
    Pending,
    InFlight(Batch),
    Known(Option<V>),
    Failed(ResolveError),
}

struct Slots<L: Loader> {
    by_key: HashMap<L::Key, Slot<L::Value>>,
    /// Keys whose slot is pending, in the order they were said.
    pending: Vec<L::Key>,
}

struct LoaderState<L: Loader>(Mutex<Slots<L>>);

/// Keys that are registered, with the state that has them: clearing the memory does not lose them.
pub(crate) struct RegisteredKeys<L: Loader> {
    keys: Vec<LoadKey<L>>,
    state: Arc<LoaderState<L>>,
}

impl<L: Loader> LoaderState<L> {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Slots { by_key: HashMap::new(), pending: Vec::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, Slots<L>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads what is pending.
    fn flush(self: &Arc<Self>, context: &Context) {
        let mut slots = self.lock();
        let keys = std::mem::take(&mut slots.pending);
        if keys.is_empty() {
            return;
        }
        // The batch holds the state weakly, as the state holds the batch; tasks that wait for the batch keep the state alive.
        let state = Arc::downgrade(self);
        let asked = keys.clone();
        let context = context.clone();
        let batch: BoxFuture<()> = Box::pin(async move {
            let reply = call_loader::<L>(&asked, &context).await;
            if let Some(state) = state.upgrade() {
                state.fill(asked, reply);
            }
        });
        let batch = batch.shared();
        for key in keys {
            slots.by_key.insert(key, Slot::InFlight(batch.clone()));
        }
    }

    fn fill(&self, keys: Vec<L::Key>, reply: LoaderReply<L>) {
        let mut slots = self.lock();
        match reply {
            Ok(values) => slots.by_key.extend(keys.into_iter().zip(values.into_iter().map(Slot::Known))),
            Err(error) => slots.by_key.extend(keys.into_iter().map(|key| (key, Slot::Failed(error.clone())))),
        }
    }
}

/// Calls the loader `L`, whose hooks see the call.
async fn call_loader<L: Loader>(keys: &[L::Key], context: &Context) -> LoaderReply<L> {
    let (loader, hooks) = context.loader::<L>().ok_or_else(|| broken::<L>("is not registered"))?;
    let begin = |hooks: &CallHooks| CallUnderWay::begin(hooks, context.call_scope(keys.len()));
    let under_way = hooks.map(begin).transpose()?;
    let call = async { loader.load(keys.to_vec(), context.clone()).await };
    let reply = std::panic::AssertUnwindSafe(call).catch_unwind().await;
    let reply = match reply {
        Ok(Ok(values)) if values.len() != keys.len() => {
            Err(broken::<L>(&format!("gave {} values for {} keys", values.len(), keys.len())))
        }
        Ok(reply) => reply,
        Err(_) => Err(broken::<L>("panicked")),
    };
    if let Some(under_way) = under_way {
        under_way.end(reply.as_ref().err().map(ResolveError::stable_code));
    }
    reply
}

/// A loader that breaks its contract.
fn broken<L>(what: &str) -> ResolveError {
    std::io::Error::other(format!("the loader `{}` {what}", std::any::type_name::<L>())).into()
}

/// Memory of the loaders of one request.
#[derive(Default)]
pub(crate) struct LoaderMemory(Mutex<HashMap<RustType, Arc<dyn Any + Send + Sync>>>);

impl fmt::Debug for LoaderMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoaderMemory").finish_non_exhaustive()
    }
}

impl LoaderMemory {
    fn state<L: Loader>(&self) -> Arc<LoaderState<L>> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = states.entry(RustType::of::<L>()).or_insert_with(|| LoaderState::<L>::new());
        Arc::clone(state).downcast().unwrap_or_else(|_| LoaderState::new())
    }

    /// Forgets all values: a mutation may have made them stale. A load in progress keeps its state.
    pub(crate) fn clear(&self) {
        let states = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(states);
    }

    /// Makes keys pending that are not known.
    pub(crate) fn register<L: Loader>(&self, keys: Vec<LoadKey<L>>) -> RegisteredKeys<L> {
        let state = self.state::<L>();
        let mut slots = state.lock();
        for LoadKey(key) in &keys {
            if !slots.by_key.contains_key(key) {
                slots.by_key.insert(key.clone(), Slot::Pending);
                slots.pending.push(key.clone());
            }
        }
        drop(slots);
        RegisteredKeys { keys, state }
    }
}

impl<L: Loader> RegisteredKeys<L> {
    /// Values of the keys, loaded together with all other pending keys.
    pub(crate) async fn load(self, context: &Context) -> Result<Vec<Option<L::Value>>, ResolveError> {
        let Self { keys, state } = self;
        state.flush(context);
        while let Some(batch) = next_batch(&state, &keys) {
            batch.await;
        }
        let slots = state.lock();
        keys.iter()
            .map(|LoadKey(key)| match slots.by_key.get(key) {
                Some(Slot::Known(value)) => Ok(value.clone()),
                Some(Slot::Failed(error)) => Err(error.clone()),
                Some(Slot::Pending | Slot::InFlight(_)) | None => Err(broken::<L>("was not asked")),
            })
            .collect()
    }
}

/// State of one request, dropped with its last holder.
#[derive(Debug, Default)]
pub(crate) struct RequestMemory(pub(crate) Arc<LoaderMemory>);

impl Drop for RequestMemory {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// A batch that one of `keys` waits for.
fn next_batch<L: Loader>(state: &LoaderState<L>, keys: &[LoadKey<L>]) -> Option<Batch> {
    let slots = state.lock();
    keys.iter().find_map(|LoadKey(key)| match slots.by_key.get(key) {
        Some(Slot::InFlight(batch)) => Some(batch.clone()),
        Some(Slot::Pending | Slot::Known(_) | Slot::Failed(_)) | None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubled;

    impl Loader for Doubled {
        type Key = i32;
        type Value = i32;
        fn load(&self, keys: Vec<i32>, _: Context) -> BoxFuture<LoaderReply<Self>> {
            Box::pin(std::future::ready(Ok(keys.iter().map(|key| Some(key * 2)).collect())))
        }
    }

    #[test]
    fn keys_that_are_registered_stay_pending_after_the_memory_is_cleared() {
        let memory = LoaderMemory::default();
        let registered = memory.register(vec![Doubled::key(1), Doubled::key(2)]);
        memory.clear();
        assert_eq!(registered.state.lock().pending, [1, 2]);
        let later = memory.register(vec![Doubled::key(2)]);
        assert_eq!(later.state.lock().pending, [2]);
    }
}
