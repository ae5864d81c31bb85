//! Tests of the whole server.

mod access;
mod across_sites;
mod faults;
