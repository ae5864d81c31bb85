//! Services behind the graph, called over real sockets.

#[cfg(feature = "grpc")]
#[path = "../grpc_kit/mod.rs"]
mod grpc_kit;
mod http2_kit;
mod identifiers;
#[path = "../../../engine/tests/kit/mod.rs"]
mod kit;
#[path = "../../../engine/tests/port_kit/mod.rs"]
mod port_kit;
#[path = "../served_kit/mod.rs"]
mod served_kit;
#[path = "../wire_kit/mod.rs"]
mod wire_kit;

mod addresses;
mod alternatives;
mod answer_headers;
mod bodies;
mod call;
mod call_faults;
mod callers;
mod client_certificates;
mod errors;
mod graphql;
#[cfg(feature = "grpc")]
mod grpc;
mod import;
mod json_literals;
#[cfg(debug_assertions)]
mod key_hashes;
mod locals;
mod once;
mod released;
mod revalidation;
