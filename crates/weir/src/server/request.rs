//! Steps that all handlers share: request context, authentication, negotiation, body, response.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod auth_throttle;
pub(crate) mod client_headers;
pub(crate) mod context;
pub(crate) mod cors;
pub(crate) mod engine_request;
pub(crate) mod hasura_error;
pub(crate) mod known_callers;
pub(crate) mod rate_fields;
pub(crate) mod receive;
pub(crate) mod request_id;
pub(crate) mod reserved_streams;
pub(crate) mod response;
pub(crate) mod span;

pub(crate) use weir_transport::media as negotiate;
