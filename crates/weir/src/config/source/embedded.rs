//! Sources that the embedding program opened itself.

use std::fmt;
use std::sync::Arc;
use weir_engine::source::Source;

/// Open sources. A reload of the configuration keeps them.
#[derive(Clone, Default)]
pub struct EmbeddedSources(pub Vec<Arc<dyn Source>>);

impl fmt::Debug for EmbeddedSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|it| it.name())).finish()
    }
}
