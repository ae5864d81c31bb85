//! The example that serves a schema by plain hyper answers as it says.

#[path = "../examples/hyper/service.rs"]
mod service;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};

fn post(body: &str) -> (u16, String) {
    let schema = service::schema().unwrap_or_else(|error| panic!("{error}"));
    let request = Request::builder().method(Method::POST).uri("/graphql").header("user-agent", "test");
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let response = service::answer(&schema, request).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body in memory").to_bytes();
        (status, String::from_utf8(body.into()).expect("UTF-8"))
    })
}

#[test]
fn a_post_is_answered_with_its_variables_and_headers() {
    let body = r#"{"query": "query Q($no: Boolean!) { agent users @skip(if: $no) { name posts { title } } } query R { __typename }",
        "variables": {"no": false}, "operationName": "Q"}"#;
    assert_eq!(
        post(body),
        (
            200,
            r#"{"data":{"agent":"test","users":[{"name":"Ada","posts":[{"title":"post 0 of Ada"}]},{"name":"Bob","posts":[{"title":"post 1 of Bob"}]}]}}"#
                .to_owned()
        )
    );
}

#[test]
fn what_is_no_request_is_refused() {
    assert_eq!(post("{").0, 400);
    assert_eq!(post("{}").1, r#"{"errors":[{"message":"the body has no query"}]}"#);
    assert_eq!(post(r#"{"query": "{ nothing }"}"#).0, 400);
}
