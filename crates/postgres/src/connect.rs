//! The way to a connection: hosts in their order, encryption, settings, and room at the server.

pub(crate) mod dial;
pub(crate) mod proof;
pub(crate) mod room;
pub(crate) mod tls;
