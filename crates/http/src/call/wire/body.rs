//! Reads the body of an HTTP/2 response, with a size limit.
//!
//! The bytes are copied once into memory of their own: slices of the connection's buffer would keep all of it alive for as long
//! as a cache keeps a small answer.

use crate::call::call_error::{CallError, Cause};
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

/// Maximum size allocated for an announced body length before any byte has arrived.
const TRUSTED_BYTES: usize = 64 * 1024;

/// Reads `body` to its end, including trailers.
/// # Errors
/// It is longer than `bytes_max`, or the connection broke.
pub(crate) async fn read(mut body: Incoming, bytes_max: usize) -> Result<(Bytes, HeaderMap), CallError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > bytes_max {
        return Err(CallError::TooLarge { bytes_max });
    }
    let mut bytes = Vec::with_capacity(announced.min(TRUSTED_BYTES));
    let mut trailers = HeaderMap::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|cause| CallError::unavailable(Cause::Connection, &cause))?;
        match frame.into_data() {
            Ok(data) if data.len() > bytes_max - bytes.len() => {
                return Err(CallError::TooLarge { bytes_max });
            }
            Ok(data) => bytes.extend_from_slice(&data),
            Err(frame) => trailers.extend(frame.into_trailers().unwrap_or_default()),
        }
    }
    Ok((bytes.into(), trailers))
}
