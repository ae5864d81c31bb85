//! Values by their Rust types.

use std::any::{Any, TypeId as RustType};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Values by their Rust types. A clone shares them.
///
/// ```
/// use weir_runtime::Data;
/// struct UserId(u64);
/// let data = Data::new().with(UserId(7));
/// assert_eq!(data.get::<UserId>().map(|it| it.0), Some(7));
/// ```
#[derive(Clone, Default)]
pub struct Data(HashMap<RustType, Arc<dyn Any + Send + Sync>>);

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data").field("values", &self.0.len()).finish()
    }
}

impl Data {
    /// Empty data.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds `value`, replacing an earlier one of its type.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.0.insert(RustType::of::<T>(), Arc::new(value));
        self
    }
    /// The value of type `T`.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get(&RustType::of::<T>())?.downcast_ref()
    }
}
