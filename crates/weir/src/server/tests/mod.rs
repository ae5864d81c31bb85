//! Tests of the whole server.

mod access;
mod faults;
