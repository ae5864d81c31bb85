//! Further APIs of the graph: Relay's form, and that of a subgraph.

mod federation;
mod relay;

pub use federation::Federation;
pub use relay::Relay;
