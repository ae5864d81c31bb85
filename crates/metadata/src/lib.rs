//! Hasura's metadata: read from one file or from the CLI's folder, checked for its shape, and written again.
//!
//! [`read`] makes a tree of nodes with places, [`document`] has the types of the entries, [`check`] finds what their types
//! cannot say, [`export`] writes them, with what [`aside`] keeps of the files. The types also serve the entries of `sources[].tables` in `weir.yaml`.
//!
//! **Invariant:** a number has the digits of its file; an entry of a document has a file, a line and a path.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod aside;
pub mod check;
pub mod document;
pub mod edit;
pub mod export;
pub mod inconsistent;
pub mod json;
pub mod names;
pub mod places;
pub mod read;
pub mod tree;

pub use aside::Aside;
pub use document::Metadata;
pub use inconsistent::{Inconsistent, inconsistent};
pub use json::Json;
pub use places::{Fault, Places, Step};
pub use read::Loaded;
pub use tree::{Node, Place, Value};
