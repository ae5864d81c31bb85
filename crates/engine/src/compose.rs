//! One graph of many sources: merges their schemas, resolves extensions and joins, owns the clash rules.
//!
//! **Invariant:** every field of the graph has exactly one owner.

use crate::source::{Ids, Source};
use std::sync::Arc;
use weir_language::schema::Schema;

/// A field added to a type of one source and answered by another (or the same).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The type that gets the field.
    pub on: String,
    /// The new field's name.
    pub name: String,
    /// Its description, or empty.
    pub description: String,
    /// The source that answers.
    pub source: String,
    /// The root query field of that source that is asked, e.g. `Album_by_pk` or `Album`.
    pub target: String,
    /// The argument literal of the target with `$this.field` for the parent's values, e.g.
    /// `(AlbumId: $this.albumId)` or `(where: {ArtistId: {_eq: $this.artistId}})`.
    pub arguments: String,
}

/// A field of the graph and who answers it.
pub struct Graph {
    schema: Arc<Schema>,
    sources: Vec<(Arc<dyn Source>, Arc<Ids>)>,
}

impl Graph {
    /// The merged schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    /// The sources, in the order they were given, with their ids.
    #[must_use]
    pub fn sources(&self) -> &[(Arc<dyn Source>, Arc<Ids>)] {
        &self.sources
    }
}
