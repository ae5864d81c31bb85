//! One attempt at a call: a connection that is kept or opened, one exchange, redirects within the host.

use super::connection::{Failure, Kept, Sent};
use super::dial::Dialer;
use super::error::CallError;
use super::headers::may_be_sent;
use super::pool::Pool;
use super::redirect::{self, REDIRECTS_MAX, Redirect};
use super::{Answer, Ask, Policy};
use http::header::{ACCEPT_ENCODING, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri, Version};
use http_body_util::Full;

/// The ways to a service.
pub(super) struct Line {
    dialer: Dialer,
    host: HeaderValue,
    pool: Pool,
    body_bytes_max: usize,
}

impl Line {
    pub(super) fn new(dialer: Dialer, policy: &Policy) -> Self {
        let host = HeaderValue::from_str(dialer.authority.as_str());
        let host = host.unwrap_or_else(|_| HeaderValue::from_static("invalid"));
        Self { dialer, host, pool: Pool::new(policy.calls_max), body_bytes_max: policy.body_bytes_max }
    }

    /// Asks once, and goes where the answer redirects to within the host.
    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, Failure> {
        let own = (&self.dialer.scheme, &self.dialer.authority);
        let mut path = ask.path_and_query.clone();
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.ask_at(ask, &path).await?;
            match redirect::of((answer.status, &answer.headers), &ask.method, own, &path) {
                Redirect::None => return Ok(answer),
                Redirect::Follow(next) => path = next,
                Redirect::Refuse => break,
            }
        }
        Err(CallError::Redirected.into())
    }

    /// An attempt over the connection that this runtime's questions share took too long: it may lead nowhere.
    pub(super) fn doubt(&self) {
        self.pool.retire();
    }

    /// Asks over a connection that was kept, if there is one.
    ///
    /// A service may close a kept connection at the moment it is used. If so nothing of an answer has come, and an idempotent request,
    /// or one that never left, goes again over a connection of its own.
    async fn ask_at(&self, ask: &Ask, path: &PathAndQuery) -> Result<Answer, Failure> {
        let may_repeat = ask.idempotent || ask.method.is_safe();
        if let Some(kept) = self.kept().await {
            match self.exchange(kept, ask, path).await {
                Err(failure) if failure.is_unsent || failure.is_unanswered && may_repeat => {}
                done => return done,
            }
        }
        // Boxed, as is the exchange over HTTP/2: what few calls need would make the future of all of them large.
        let opened = Box::pin(self.dialer.open()).await;
        let opened = opened.map_err(|error| Failure { error, is_unsent: true, is_unanswered: true })?;
        if let Kept::Http2(connection) = &opened {
            self.pool.share(connection.clone());
        }
        self.exchange(opened, ask, path).await
    }

    /// A connection that was used before and looks open.
    async fn kept(&self) -> Option<Kept> {
        if let Some(shared) = self.pool.shared() {
            return Some(Kept::Http2(shared));
        }
        while let Some(mut connection) = self.pool.take() {
            if connection.is_open().await {
                return Some(Kept::Http1(connection));
            }
        }
        None
    }

    async fn exchange(&self, over: Kept, ask: &Ask, path: &PathAndQuery) -> Result<Answer, Failure> {
        match over {
            Kept::Http1(mut connection) => {
                let (answer, stays) =
                    connection.exchange((ask, path), &self.host, self.body_bytes_max).await?;
                if stays {
                    self.pool.put(connection);
                }
                Ok(answer)
            }
            Kept::Http2(mut connection) => {
                self.pool.share(connection.clone());
                let request = self.request_of_http2(ask, path);
                let answer = Box::pin(connection.exchange(request, self.body_bytes_max)).await;
                answer.inspect_err(|_| self.pool.retire())
            }
        }
    }

    fn request_of_http2(&self, ask: &Ask, path: &PathAndQuery) -> Request<Sent> {
        let mut headers = HeaderMap::with_capacity(ask.headers.len() + 2);
        // What comes after a body is read, which gRPC insists to know.
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
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
