//! Tests of the load kit over sockets.

mod compare;
mod mock;
mod plan;
mod run;
mod server;
mod tls;
