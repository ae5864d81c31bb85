//! Calls the receiver of an event.

use super::invocation::{self, Invocation, LogVersion};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use std::time::{Duration, Instant};
use weir_metadata::document::webhook::{HeaderEntry, WebhookAddress};
use weir_webhook::environment::{Environment, resolve_address, resolve_headers};
use weir_webhook::headers::{event_headers, write_event_headers};
use weir_webhook::{EnvironmentError, WebhookClient, WebhookError, WebhookRequest, WebhookUrl};

/// Longest time of a call, whatever its trigger says.
const WHOLE_MAX: Duration = Duration::from_secs(30 * 60);

/// The webhook that gets events.
#[derive(Clone, Debug)]
pub struct Receiver {
    url: WebhookUrl,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Names and values of `headers` for the log, as JSON text.
    logged_headers: String,
    timeout: Duration,
    version: LogVersion,
}

impl Receiver {
    /// Resolves the variables of an address and headers.
    /// # Errors
    /// A variable is not set, or the address is none.
    pub fn new(
        address: &WebhookAddress,
        headers: &[HeaderEntry],
        timeout: Duration,
        version: LogVersion,
        environment: &Environment<'_>,
    ) -> Result<Self, String> {
        let words = |error: EnvironmentError| error.to_string();
        let url = WebhookUrl::parse(&resolve_address(address, environment).map_err(words)?)?;
        let mut logged_headers = String::new();
        write_event_headers(headers, &mut logged_headers);
        let headers = event_headers(resolve_headers(headers, environment).map_err(words)?);
        Ok(Self { url, headers, logged_headers, timeout: timeout.min(WHOLE_MAX), version })
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// True if the event is delivered.
    pub is_success: bool,
    /// True if the receiver answered, with whatever status.
    pub is_answered: bool,
    /// The pause that the receiver asks for.
    pub retry_after: Option<Duration>,
    /// The row of the log.
    pub row: Invocation,
}

/// Calls `receiver` with `body`, a JSON text.
pub async fn attempt(client: &WebhookClient, receiver: &Receiver, body: String) -> Attempt {
    let request = WebhookRequest {
        method: Method::POST,
        url: receiver.url.clone(),
        headers: receiver.headers.clone(),
        body: Bytes::copy_from_slice(body.as_bytes()),
        timeout: receiver.timeout,
        span: None,
    };
    let answered = client.send(&request, Instant::now() + receiver.timeout).await;
    let version = receiver.version;
    let logged = invocation::write_request(version, &body, &receiver.logged_headers);
    match answered {
        Ok(answer) => {
            let response = invocation::write_answer(version, &answer, &answer.body);
            let status = invocation::status_of(answer.status);
            Attempt {
                is_success: answer.is_success(),
                is_answered: true,
                retry_after: answer.retry_after(),
                row: Invocation { status, request: logged, response },
            }
        }
        Err(error) => {
            let is_whole = error == WebhookError::Timeout && receiver.timeout >= WHOLE_MAX;
            let status = is_whole.then_some(500);
            let response = invocation::write_error(version, &error);
            Attempt {
                is_success: false,
                is_answered: false,
                retry_after: None,
                row: Invocation { status, request: logged, response },
            }
        }
    }
}
