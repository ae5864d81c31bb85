//! Tests of the load kit over sockets.

mod mock;
