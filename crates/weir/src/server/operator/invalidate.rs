//! `/v1/invalidate`: invalidates cached answers by tag.

use super::pages::check_json;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::sources::services;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use weir_engine::source::Tag;
use weir_language::json::JsonRef;

/// Limits of one request: number of tags, and bytes of a tag.
const TAGS_MAX: usize = 1000;
const TAG_BYTES_MAX: usize = 1024;

/// Invalidates cached answers with one of the tags, in all processes that share the cache.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let bytes = receive::body(context, &head.headers, body).await?;
    let limits = &context.generation.config.limits;
    let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
    let tags = tags(tape.root()).ok_or_else(|| {
        Refusal::bad_request(format!(
            "write `{{\"tags\": [\"name\"]}}`, with 1 to {TAGS_MAX} names of 1 to {TAG_BYTES_MAX} bytes"
        ))
    })?;
    services::changes().invalidate(&tags);
    let body = format!("{{\"invalidated\":{}}}", tags.len()).into_bytes();
    Ok(Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(body))))
}

/// Tags in `{"tags": […]}`.
fn tags(sent: JsonRef<'_>) -> Option<Vec<Tag>> {
    let list = sent.get("tags").filter(|it| it.is_array())?;
    let fits = |it: &str| (1..=TAG_BYTES_MAX).contains(&it.len());
    let one = |it: JsonRef<'_>| it.as_str().filter(|it| fits(it)).map(|it| Tag(it.into()));
    let tags: Vec<Tag> = list.items().map(one).collect::<Option<_>>()?;
    (1..=TAGS_MAX).contains(&tags.len()).then_some(tags)
}
