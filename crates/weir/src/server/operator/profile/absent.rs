//! Replaces `/admin/profile` in a build without the feature `profile`.

use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use hyper::StatusCode;
use hyper::http::request::Parts;

/// Refuses the request.
pub(crate) async fn answer(_: &Parts) -> Result<Answer, Refusal> {
    let message = "this program was built without the feature `profile`";
    Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, "NOT_SUPPORTED", message))
}
