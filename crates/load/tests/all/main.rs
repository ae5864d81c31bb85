//! Tests of the load kit over sockets.

mod capacity;
mod compare;
mod mock;
mod plan;
mod report;
mod run;
mod server;
#[path = "../../../engine/tests/service_kit/mod.rs"]
mod service_kit;
mod tls;
