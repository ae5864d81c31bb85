//! HTTP/1.1 and HTTP/2 messages: heads and bodies, written and read within limits.

pub(crate) mod body;
pub(crate) mod decode;
pub(crate) mod headers;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod response;
