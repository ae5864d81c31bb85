//! Replaces `/mcp` in a build without the feature `mcp`, whose configurations cannot have it.

use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::context::RequestContext;
use hyper::body::Incoming;
use hyper::http::request::Parts;

/// There is nothing.
pub(crate) async fn answer(_: &RequestContext, _: &Parts, _: Incoming) -> Result<Answer, Refusal> {
    Err(Refusal::not_found())
}
