//! Tests of the load kit over sockets.

mod capacity;
mod mock;
mod report;
