//! Native queries of a source, as its metadata has them.

use weir_metadata::document::logical_model::LogicalModelEntry;
use weir_metadata::document::native_query::NativeQueryEntry;

/// Native queries with the models of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeQueries {
    /// The queries.
    pub queries: Vec<NativeQueryEntry>,
    /// The models.
    pub models: Vec<LogicalModelEntry>,
    /// True if nobody looks at the columns that the queries give.
    pub are_trusted: bool,
}
