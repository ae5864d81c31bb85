//! From parcels to tables: rows, the edges that wait for their objects, and how far a load got.

mod bulk_rows;
pub(crate) mod checkpoint;
pub(crate) mod deferred_edges;
pub(crate) mod import_lock;
pub(crate) mod required;
pub(crate) mod sink;
pub(crate) mod unknown;
