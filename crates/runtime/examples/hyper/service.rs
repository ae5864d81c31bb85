//! GraphQL over HTTP by POST, in one function that any server can call: hyper, a tower service, a test.

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use weir_language::json::Json;
use weir_runtime::{Context, Headers, Schema, batch, record, root};

/// Bytes of a request's body.
const BODY_BYTES_MAX: usize = 1 << 20;

#[derive(Clone)]
struct User {
    id: i32,
    name: String,
}
record!(User { id, name });

struct Post {
    title: String,
}
record!(Post { title });

/// The schema that is served.
pub(crate) fn schema() -> Result<Schema, weir_runtime::BuildError> {
    let sdl = "type Query { users: [User!]! agent: String }
        type User { id: Int! name: String! posts: [Post!]! } type Post { title: String! }";
    Schema::builder(sdl)
        .header("user-agent")
        .resolve(
            "Query.users",
            root(|_: &(), _: &Context| {
                let user = |(at, name): (usize, &str)| User { id: at as i32, name: name.to_owned() };
                ["Ada", "Bob"].into_iter().enumerate().map(user).collect::<Vec<_>>()
            }),
        )
        .resolve(
            "Query.agent",
            root(|_: &(), context: &Context| context.header("user-agent").map(str::to_owned)),
        )
        .resolve(
            "User.posts",
            batch(|users: &[&User], _: &(), _: &Context| {
                users
                    .iter()
                    .map(|user| vec![Post { title: format!("post {} of {}", user.id, user.name) }])
                    .collect::<Vec<_>>()
            }),
        )
        .build()
}

/// hyper's headers as resolvers see them.
struct HyperHeaders(HeaderMap);

impl Headers for HyperHeaders {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.get_all(name).iter().for_each(|value| take(value.as_bytes()));
    }
}

fn respond(status: StatusCode, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("application/graphql-response+json");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn refuse(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    respond(status, format!("{{\"errors\":[{{\"message\":\"{message}\"}}]}}").into_bytes())
}

/// Answers one request: `{"query", "variables", "operationName"}` in its body.
pub(crate) async fn answer<B>(schema: &Schema, request: Request<B>) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    if head.method != Method::POST || head.uri.path() != "/graphql" {
        return refuse(StatusCode::NOT_FOUND, "POST to /graphql");
    }
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or was cut off");
    };
    let body = body.to_bytes();
    let Ok(json) = Json::parse(&body, 200) else {
        return refuse(StatusCode::BAD_REQUEST, "the body is no JSON");
    };
    let member = |name: &str| json.root().get(name);
    let Some(query) = member("query").and_then(|it| it.as_str()) else {
        return refuse(StatusCode::BAD_REQUEST, "the body has no query");
    };
    let operation = member("operationName").and_then(|it| it.as_str());
    let headers = HyperHeaders(head.headers);
    let mut request = weir_runtime::Request::new(&query).headers(&headers);
    if let Some(name) = &operation {
        request = request.operation(name);
    }
    if let Some(variables) = member("variables") {
        request = request.json_variables(variables);
    }
    let response = schema.execute(request).await;
    respond(StatusCode::from_u16(response.status()).unwrap_or(StatusCode::OK), response.body)
}
