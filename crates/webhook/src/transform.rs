//! Transforms of requests and answers: templates are parsed when metadata is loaded, and evaluated for each call.
//!
//! Every part of a request is made from the original request; no part sees another's result. The errors of all parts are told
//! together.
//!
//! **Invariant:** a text of a template cannot end a header or a request: results are read as addresses, names and values of HTTP.

mod request;
mod response;
mod templates;
mod transform_error;
mod trial;

pub use request::{OriginalRequest, RequestTransformer, TransformedRequest};
pub use response::{OriginalAnswer, ResponseTransformer};
pub use transform_error::{TransformError, TransformErrors};
pub use trial::{TrialError, test_transform};

pub use weir_kriti::Value;

use weir_language::json::Json;

/// Maximum depth of bodies in templates.
const BODY_DEPTH_MAX: u32 = 200;

/// The value of a body in templates; null if it is no JSON.
pub fn read_body(body: &[u8]) -> Value {
    Json::parse(body, BODY_DEPTH_MAX).map_or(Value::Null, |it| Value::from_json(it.root()))
}
