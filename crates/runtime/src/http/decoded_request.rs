//! One request over HTTP: its parameters are read, it runs, and its answer gets the form that the client takes.

use super::{BodyError, ClientHeaders, HttpBody, HttpOptions, reply};
#[cfg(feature = "uploads")]
use crate::input::uploaded_file::Upload;
use crate::request::Request;
use crate::rust_types::uploads::Uploads;
use crate::schema::Schema;
use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use weir_engine::engine::Outcome;
use weir_engine::errors::error_text::error_body;
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonRef};
use weir_transport::list::{check_list, item_params};
use weir_transport::media::{self, Media, StreamForm};
use weir_transport::parameters::{Params, Unusable, params, url_params};
use weir_transport::refusal::Refusal;

/// Upper bound of the nesting of a body.
const BODY_DEPTH_MAX: u32 = 200;

/// A request without its body, and how it is answered.
pub(super) struct Asked<'a> {
    pub(super) schema: &'a Schema,
    pub(super) head: &'a Parts,
    pub(super) headers: ClientHeaders<'a>,
    pub(super) options: &'a HttpOptions,
    /// Media type of whole answers; `None`: the client takes events alone.
    pub(super) media: Option<Media>,
}

/// The text as JSON.
fn json(text: &[u8]) -> Result<Json<'_>, Refusal> {
    Json::parse(text, BODY_DEPTH_MAX)
        .map_err(|error| Refusal::bad_request(format!("the body is not valid JSON: {error}")))
}

/// The refusal of a body that cannot be read to its end.
fn unread_body(error: &BodyError) -> Refusal {
    if error.is::<LengthLimitError>() {
        return Refusal::too_long("the body is too long");
    }
    Refusal::bad_request("the body was cut off")
}

impl Asked<'_> {
    /// Media type of answers that are no stream.
    fn whole_media(&self) -> Media {
        self.media.unwrap_or(Media::GraphqlResponse)
    }

    /// A request without variables.
    fn request<'t>(&'t self, query: &'t str, operation: Option<&'t str>) -> Request<'t> {
        let request = Request::new(query).headers(&self.headers);
        match operation {
            Some(name) => request.operation(name),
            None => request,
        }
    }

    fn request_of<'t>(&'t self, params: &'t Params<'t>) -> Request<'t> {
        let request = self.request(&params.query, params.operation_name.as_deref());
        match params.variables {
            Some(variables) => request.json_variables(variables),
            None => request,
        }
    }

    /// Runs `request` and answers in the form that the client takes.
    async fn respond(&self, request: Request<'_>) -> Result<Response<HttpBody>, Refusal> {
        let headers = &self.head.headers;
        if let Some(form) = media::stream(headers)
            && self.schema.is_subscription(&request).await
        {
            return match self.schema.subscribe(request, self.options.patience).await {
                Ok(results) => Ok(reply::results(results, form)),
                Err(refused) => Ok(reply::only_result(&refused, form)),
            };
        }
        let answer = match media::increments(headers) {
            None => self.schema.execute(request).await,
            Some((shape, form)) => {
                let answer = self.schema.execute_incremental(request, shape).await;
                if answer.has_next {
                    return Ok(reply::parts(answer, form));
                }
                answer.first
            }
        };
        if let Outcome::MethodNotAllowed(kind) = answer.outcome {
            return Err(Refusal::method(
                "POST",
                match kind {
                    OperationKind::Subscription => "a subscription by GET needs `accept: text/event-stream`",
                    OperationKind::Query | OperationKind::Mutation => {
                        "a GET can only run queries; send a mutation by POST"
                    }
                },
            ));
        }
        match self.media {
            Some(media) => Ok(reply::whole(answer, media)),
            None => Ok(reply::only_result(&answer, StreamForm::Events)),
        }
    }

    /// The answer to a well-formed body without a usable request in it.
    fn unusable(&self, unusable: &Unusable) -> Result<Response<HttpBody>, Refusal> {
        let Some(code) = unusable.persisted_code() else {
            return Err(Refusal::bad_request(unusable.message()));
        };
        let media = self.whole_media();
        let body = error_body(unusable.message(), code, None);
        Ok(reply::whole_response(media.refused_status(), media.content_type(), body))
    }

    pub(super) async fn by_get(
        self,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        let sent = self.head.uri.query().unwrap_or_default();
        if sent.len() > self.options.body_bytes_max {
            return Err(Refusal::new(StatusCode::URI_TOO_LONG, "LIMIT_URL", "the URL is too long"));
        }
        let url = url_params(sent, &[])?;
        let url_json = url.json(json)?;
        match url.params(&url_json) {
            Ok(params) => self.respond(prepare(self.request_of(&params).queries_only())).await,
            Err(unusable) => self.unusable(&unusable),
        }
    }

    pub(super) async fn by_post(
        self,
        body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        let headers = &self.head.headers;
        #[cfg(feature = "uploads")]
        if self.options.uploads.is_some() && media::is_form(headers) {
            return Box::pin(self.by_multipart(body, prepare)).await;
        }
        let is_text = !media::is_json(headers);
        if is_text && !media::is_graphql(headers) {
            return Err(Refusal::media_type());
        }
        let body = Limited::new(body, self.options.body_bytes_max).collect().await;
        let body = body.map_err(|error| unread_body(&error))?.to_bytes();
        if is_text {
            let query = std::str::from_utf8(&body);
            let query = query.map_err(|_| Refusal::bad_request("the operation is not in UTF-8"))?;
            return self.respond(prepare(self.request(query, None))).await;
        }
        let json = json(&body)?;
        if json.root().is_array() {
            return self.by_list(json.root(), prepare(Request::new(""))).await;
        }
        match params(json.root()) {
            Ok(params) => self.respond(prepare(self.request_of(&params))).await,
            Err(unusable) => self.unusable(&unusable),
        }
    }

    /// Answers the requests of a list one after another; all have what `prepared` has.
    async fn by_list(&self, list: JsonRef<'_>, prepared: Request<'_>) -> Result<Response<HttpBody>, Refusal> {
        check_list(list.items().count(), self.options.batch_max)?;
        let mut out = Vec::new();
        for item in list.items() {
            out.push(if out.is_empty() { b'[' } else { b',' });
            match item_params(item) {
                Ok(params) => {
                    let request = self.request_of(&params).prepared_as(&prepared);
                    out.extend_from_slice(&self.schema.execute(request).await.body);
                }
                Err(refused) => out.extend_from_slice(&refused),
            }
        }
        out.push(b']');
        Ok(reply::whole_response(StatusCode::OK, self.whole_media().content_type(), out))
    }

    #[cfg(feature = "uploads")]
    async fn by_multipart(
        self,
        body: impl Body<Data = Bytes, Error: Into<BodyError>> + Send,
        prepare: impl for<'r> FnOnce(Request<'r>) -> Request<'r>,
    ) -> Result<Response<HttpBody>, Refusal> {
        use weir_transport::multipart::{self, Form, FormFile};
        let Some(limits) = &self.options.uploads else { return Err(Refusal::media_type()) };
        let bytes_max = self.options.body_bytes_max;
        let form = multipart::read(&self.head.headers, body, limits, bytes_max).await?;
        let Form { query, operation_name, variables, files } = form;
        let upload = |it: FormFile| {
            let FormFile { paths, file_name, content_type, content, .. } = it;
            (Upload { file_name, content_type, content }, paths)
        };
        let files = files.into_iter().map(upload).collect();
        let uploads = Uploads::new(&variables, files).map_err(Refusal::bad_request)?;
        let request = self.request(&query, operation_name.as_deref()).uploads(&uploads);
        self.respond(prepare(request)).await
    }
}
