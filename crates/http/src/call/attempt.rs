//! One attempt of a call: a pooled or new connection to the next address, one exchange, redirects within the host.

use super::addresses::{Addresses, Lookup};
use super::call_error::{CallError, Cause};
use super::connection::{FailedAttempt, Kept, Sent, Stream};
use super::dial::{CONNECT_TIMEOUT, Dialer};
use super::endpoint::{Endpoint, EndpointCall};
use super::pool::Pool;
use super::wire::decode::ACCEPTED;
use super::wire::headers::may_be_sent_to;
use super::wire::redirect::{REDIRECTS_MAX, Redirect, RequestTarget, find_redirect};
use super::{Answer, Ask, CallPolicy, Peer};
use futures_util::future::join_all;
use http::header::{ACCEPT_ENCODING, IF_MODIFIED_SINCE, IF_NONE_MATCH, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri, Version};
use http_body_util::Full;
use std::sync::Arc;
use tokio::time::{Instant, timeout};
use weir_engine::source::AddressCheck;

/// Connections and addresses of a service.
pub(super) struct ServiceRoutes {
    dialer: Dialer,
    addresses: Arc<Addresses>,
    host: HeaderValue,
    pool: Pool,
    body_bytes_max: usize,
}

/// The address of an attempt, once one was chosen.
pub(super) type CalledEndpoint = Option<EndpointCall>;

/// The call without conditions: they are about what was at its own address, not about what another address has.
fn without_conditions(ask: &Ask) -> Ask {
    let mut followed = ask.clone();
    followed.headers.retain(|it| it.0 != IF_NONE_MATCH && it.0 != IF_MODIFIED_SINCE);
    followed
}

impl ServiceRoutes {
    pub(super) fn new(dialer: Dialer, policy: &CallPolicy, lookup: Arc<dyn Lookup>) -> Self {
        let host = HeaderValue::from_str(dialer.authority.as_str());
        let host = host.unwrap_or_else(|_| HeaderValue::from_static("invalid"));
        let addresses = Addresses::new(&dialer.host, dialer.port, lookup);
        let pool = Pool::new(policy.calls_max);
        let body_bytes_max = policy.body_bytes_max;
        Self { dialer, addresses, host, pool, body_bytes_max }
    }

    /// Scheme, host and port of the service.
    pub(super) fn service(&self) -> (&str, &str, u16) {
        (self.dialer.scheme.as_str(), &self.dialer.host, self.dialer.port)
    }

    /// Opens a byte stream to the service.
    pub(super) async fn open_stream(&self) -> Result<Stream, CallError> {
        let endpoint = self.addresses.next(Instant::now()).await?;
        self.dialer.open_stream(&self.addresses.starting_with(&endpoint)).await
    }

    /// Sends the request, and follows redirects within the host.
    pub(super) async fn ask(&self, ask: &Ask, called: &mut CalledEndpoint) -> Result<Answer, FailedAttempt> {
        let mut path = ask.path_and_query.clone();
        let mut followed = None;
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.ask_at(followed.as_ref().unwrap_or(ask), &path, called).await?;
            if ask.peer == Peer::Webhook {
                return Ok(answer);
            }
            let target = RequestTarget {
                method: &ask.method,
                scheme: &self.dialer.scheme,
                authority: &self.dialer.authority,
                path: &path,
            };
            match find_redirect(answer.status, &answer.headers, target) {
                Redirect::None => return Ok(answer),
                Redirect::Follow(next) => {
                    path = next;
                    followed = Some(without_conditions(ask));
                }
                Redirect::Refuse => break,
            }
        }
        Err(CallError::Redirected.into())
    }

    /// Opens a connection to each address, and closes it. The pauses of those that take it end; those that do not are left out.
    /// # Errors
    /// The name has no address.
    pub(super) async fn check_addresses(&self) -> Result<Vec<AddressCheck>, CallError> {
        let endpoints = timeout(CONNECT_TIMEOUT, self.addresses.all(Instant::now())).await;
        let endpoints =
            endpoints.map_err(|_| CallError::unavailable(Cause::Name, &"it is not found in time"))??;
        Ok(join_all(endpoints.iter().map(|it| self.check_address(it))).await)
    }

    async fn check_address(&self, endpoint: &Arc<Endpoint>) -> AddressCheck {
        let begun = Instant::now();
        let opened = self.dialer.open(std::slice::from_ref(endpoint)).await;
        let now = Instant::now();
        if opened.is_ok() {
            endpoint.note_connection(now);
        }
        AddressCheck {
            address: endpoint.address,
            error: opened.err().map(|it| it.to_string()),
            took: now - begun,
            state: endpoint.state(now),
            in_flight: endpoint.in_flight(),
            latency: endpoint.latency(now),
        }
    }

    /// Records that an attempt at `called` timed out, and retires the shared HTTP/2 connection to it, which may be dead.
    pub(super) fn note_timeout(&self, called: &Endpoint) {
        self.pool.retire(called.address);
        called.note_timeout(Instant::now());
    }

    /// Sends the request over a pooled connection, or a new one if there is none.
    ///
    /// A service may close a pooled connection at the moment it is used. Then no byte of a response arrives, and the request is repeated
    /// over a new connection if it is idempotent or was never sent.
    async fn ask_at(
        &self,
        ask: &Ask,
        path: &PathAndQuery,
        called: &mut CalledEndpoint,
    ) -> Result<Answer, FailedAttempt> {
        let may_repeat = ask.idempotent || ask.method.is_safe();
        let unsent = |error| FailedAttempt { error, is_unsent: true, is_unanswered: true };
        let endpoint = self.addresses.next(Instant::now()).await.map_err(unsent)?;
        *called = Some(EndpointCall::begin(Arc::clone(&endpoint)));
        if let Some(kept) = self.take_pooled(&endpoint).await {
            match self.exchange(kept, ask, path).await {
                Err(failure) if failure.is_unsent || failure.is_unanswered && may_repeat => {}
                done => return done,
            }
        }
        // A boxed future, like the HTTP/2 exchange: few calls need it, and without the box it would enlarge all of them.
        let opened = Box::pin(self.dialer.open(&self.addresses.starting_with(&endpoint))).await;
        let opened = opened.map_err(unsent)?;
        let endpoint = Arc::clone(&opened.opening().endpoint);
        *called = Some(EndpointCall::begin(Arc::clone(&endpoint)));
        if let Kept::Http2(connection) = &opened {
            self.pool.share(connection.clone());
        }
        let done = self.exchange(opened, ask, path).await;
        // Only a new connection that breaks is evidence against the address; a pooled one may be closed at any time.
        if let Err(FailedAttempt { error: error @ CallError::Unavailable(..), is_unanswered: true, .. }) =
            &done
        {
            endpoint.note_failure(Instant::now(), error);
        }
        done
    }

    /// Returns an open pooled connection to `endpoint`.
    async fn take_pooled(&self, endpoint: &Endpoint) -> Option<Kept> {
        if let Some(shared) = self.pool.shared_http2(endpoint.address) {
            return Some(Kept::Http2(shared));
        }
        while let Some(mut connection) = self.pool.take(endpoint.address) {
            if connection.is_open().await {
                return Some(Kept::Http1(connection));
            }
        }
        None
    }

    async fn exchange(&self, over: Kept, ask: &Ask, path: &PathAndQuery) -> Result<Answer, FailedAttempt> {
        match over {
            Kept::Http1(mut connection) => {
                let (answer, stays) = connection.exchange(ask, path, &self.host, self.body_bytes_max).await?;
                if stays {
                    self.pool.put(connection);
                }
                Ok(answer)
            }
            Kept::Http2(mut connection) => {
                let request = self.request_of_http2(ask, path);
                let answer = Box::pin(connection.exchange(request, self.body_bytes_max)).await;
                if answer.is_err() {
                    self.pool.retire(connection.opened.address());
                }
                answer
            }
        }
    }

    fn request_of_http2(&self, ask: &Ask, path: &PathAndQuery) -> Request<Sent> {
        let mut headers = HeaderMap::with_capacity(ask.headers.len() + 2);
        // gRPC requires `te: trailers`.
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(ACCEPT_ENCODING, ACCEPTED);
        for (name, value) in ask.headers.iter().filter(|it| may_be_sent_to(ask.peer, &it.0)) {
            headers.append(name.clone(), value.clone());
        }
        let dialer = &self.dialer;
        let parts = Uri::builder().scheme(dialer.scheme.clone()).authority(dialer.authority.clone());
        let mut request = Request::new(Full::new(ask.body.clone()));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = parts.path_and_query(path.clone()).build().unwrap_or_default();
        *request.version_mut() = Version::HTTP_2;
        *request.headers_mut() = headers;
        request
    }
}
