//! PostgreSQL's protocol on one connection: bytes, messages, statements and rows.

pub mod array_literal;
pub mod connection;
pub mod cursor;
pub(crate) mod facts;
pub mod local_settings;
pub(crate) mod message;
pub(crate) mod prepared_cache;
pub mod rows;
pub(crate) mod single_turn;
pub mod statement;
pub(crate) mod stream;
pub mod transaction;
