//! One attempt at a call: a connection to the next address, kept or opened, one exchange, redirects within the host.

use super::addresses::{Addresses, Endpoint, Lookup};
use super::connection::{FailedAttempt, Kept, Sent};
use super::decode::ACCEPTED;
use super::dial::Dialer;
use super::error::CallError;
use super::headers::may_be_sent;
use super::pool::Pool;
use super::redirect::{self, REDIRECTS_MAX, Redirect};
use super::{Answer, Ask, CallPolicy};
use http::header::{ACCEPT_ENCODING, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri, Version};
use http_body_util::Full;
use std::sync::Arc;
use tokio::time::Instant;

/// The ways to a service.
pub(super) struct ServiceRoutes {
    dialer: Dialer,
    addresses: Arc<Addresses>,
    host: HeaderValue,
    pool: Pool,
    body_bytes_max: usize,
}

/// The address that an attempt calls, once it is known.
pub(super) type CalledEndpoint = Option<Arc<Endpoint>>;

impl ServiceRoutes {
    pub(super) fn new(dialer: Dialer, policy: &CallPolicy, lookup: Arc<dyn Lookup>) -> Self {
        let host = HeaderValue::from_str(dialer.authority.as_str());
        let host = host.unwrap_or_else(|_| HeaderValue::from_static("invalid"));
        let addresses = Addresses::new(&dialer.host, dialer.port, lookup);
        let (pool, body_bytes_max) = (Pool::new(policy.calls_max), policy.body_bytes_max);
        Self { dialer, addresses, host, pool, body_bytes_max }
    }

    /// Scheme, host and port of the service.
    pub(super) fn service(&self) -> (&str, &str, u16) {
        (self.dialer.scheme.as_str(), &self.dialer.host, self.dialer.port)
    }

    /// Asks once, and goes where the answer redirects to within the host.
    pub(super) async fn ask(&self, ask: &Ask, called: &mut CalledEndpoint) -> Result<Answer, FailedAttempt> {
        let own = (&self.dialer.scheme, &self.dialer.authority);
        let mut path = ask.path_and_query.clone();
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.ask_at(ask, &path, called).await?;
            match redirect::of((answer.status, &answer.headers), &ask.method, own, &path) {
                Redirect::None => return Ok(answer),
                Redirect::Follow(next) => path = next,
                Redirect::Refuse => break,
            }
        }
        Err(CallError::Redirected.into())
    }

    /// An attempt at `called` took too long: a connection that this runtime's questions share may lead nowhere.
    pub(super) fn doubt(&self, called: &Endpoint) {
        self.pool.retire(called.address);
        called.timed_out(Instant::now());
    }

    /// Asks over a connection that was kept, if there is one.
    ///
    /// A service may close a kept connection at the moment it is used. If so nothing of an answer has come, and an idempotent request,
    /// or one that never left, goes again over a connection of its own.
    async fn ask_at(
        &self,
        ask: &Ask,
        path: &PathAndQuery,
        called: &mut CalledEndpoint,
    ) -> Result<Answer, FailedAttempt> {
        let may_repeat = ask.idempotent || ask.method.is_safe();
        let unsent = |error| FailedAttempt { error, is_unsent: true, is_unanswered: true };
        let endpoint = &*called.insert(self.addresses.next(Instant::now()).await.map_err(unsent)?);
        if let Some(kept) = self.kept(endpoint).await {
            match self.exchange(kept, ask, path).await {
                Err(failure) if failure.is_unsent || failure.is_unanswered && may_repeat => {}
                done => return done,
            }
        }
        // Boxed, as is the exchange over HTTP/2: what few calls need would make the future of all of them large.
        let opened = Box::pin(self.dialer.open(&self.addresses.starting_with(endpoint))).await;
        let opened = opened.map_err(unsent)?;
        let endpoint = Arc::clone(called.insert(Arc::clone(&opened.opened().endpoint)));
        if let Kept::Http2(connection) = &opened {
            self.pool.share(connection.clone());
        }
        let done = self.exchange(opened, ask, path).await;
        // One that is kept may be closed at any time; a new one that breaks says something of the address.
        if let Err(FailedAttempt { error: error @ CallError::Unavailable(..), is_unanswered: true, .. }) =
            &done
        {
            endpoint.failed(Instant::now(), error);
        }
        done
    }

    /// A connection to `endpoint` that was used before and looks open.
    async fn kept(&self, endpoint: &Endpoint) -> Option<Kept> {
        if let Some(shared) = self.pool.shared(endpoint.address) {
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
                let (answer, stays) =
                    connection.exchange((ask, path), &self.host, self.body_bytes_max).await?;
                connection.opened.endpoint.answered();
                if stays {
                    self.pool.put(connection);
                }
                Ok(answer)
            }
            Kept::Http2(mut connection) => {
                let request = self.request_of_http2(ask, path);
                let answer = Box::pin(connection.exchange(request, self.body_bytes_max)).await;
                match &answer {
                    Ok(_) => connection.opened.endpoint.answered(),
                    Err(_) => self.pool.retire(connection.opened.address()),
                }
                answer
            }
        }
    }

    fn request_of_http2(&self, ask: &Ask, path: &PathAndQuery) -> Request<Sent> {
        let mut headers = HeaderMap::with_capacity(ask.headers.len() + 2);
        // gRPC requires this announcement that trailers are read.
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(ACCEPT_ENCODING, ACCEPTED);
        for (name, value) in ask.headers.iter().filter(|it| may_be_sent(&it.0)) {
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
