//! Further APIs of the graph, Relay's form and that of a subgraph; and the canary that gets a share of the reads.

mod federation;
mod mirror;
mod relay;

pub use federation::Federation;
pub use mirror::Mirror;
pub use relay::Relay;
