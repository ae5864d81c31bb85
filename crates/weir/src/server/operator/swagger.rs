//! `/api/swagger/json`: the OpenAPI document of the REST endpoints.

use crate::operations::openapi;
use crate::server::request::answer::Answer;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use hyper::StatusCode;

/// The document with all endpoints, as the admin sees them.
pub(crate) fn answer(context: &RequestContext) -> Answer {
    let generation = &context.generation;
    let document = openapi::document(&generation.operations.endpoints, generation.engine.schema());
    let body = document.to_string().into_bytes();
    Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(body)))
}
