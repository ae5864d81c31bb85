//! Calls of real receivers on loopback.

mod calls;
mod receiver;
mod transforms;
