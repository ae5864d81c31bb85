//! Transforms of requests and answers.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use weir_kriti::Value;
use weir_metadata::document::webhook::{RequestTransform, ResponseTransform};
use weir_metadata::{Json, read};
use weir_webhook::transform::{OriginalAnswer, OriginalRequest, TransformedRequest, read_body};
use weir_webhook::{RequestTransformer, ResponseTransformer, TransformErrors, WebhookUrl};

const BODY: &str = r#"{"action":{"name":"place"},"input":{"id":7,"sku":"a b/é","none":null,"amount":1.50}}"#;

fn members(text: &str) -> weir_metadata::json::Members {
    match read::value(text).expect("it is a text of JSON") {
        Json::Object(members) => members,
        _ => panic!("{text} is no object"),
    }
}

fn apply_to(url: &str, transform: &str) -> Result<TransformedRequest, TransformErrors> {
    let transform = RequestTransform::from_members(members(transform)).expect("it is a transform");
    let url = WebhookUrl::parse(url).expect("it is an address");
    RequestTransformer::parse(&transform)?.apply(OriginalRequest {
        method: Method::POST,
        url: &url,
        headers: vec![
            (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
            (HeaderName::from_static("x-key"), HeaderValue::from_static("k")),
        ],
        body: Bytes::from_static(BODY.as_bytes()),
        session_variables: read_body(br#"{"x-hasura-user-id":"4"}"#),
    })
}

fn apply(transform: &str) -> Result<TransformedRequest, TransformErrors> {
    apply_to("http://shop/orders/?a=b&c&d=%20+", transform)
}

fn check_url(transform: &str, expected: &str) {
    assert_eq!(apply(transform).expect("it is applied").url.text(), expected, "{transform}");
}

fn check_body(transform: &str, expected: &str) {
    assert_eq!(apply(transform).expect("it is applied").body, expected, "{transform}");
}

fn check_errors(transform: &str, expected: &str) {
    assert_eq!(apply(transform).expect_err("it fails").to_json(), expected, "{transform}");
}

fn headers(request: &TransformedRequest) -> Vec<(&str, &str)> {
    request.headers.iter().map(|it| (it.0.as_str(), it.1.to_str().unwrap_or_default())).collect()
}

#[test]
fn a_part_that_is_absent_or_null_stays() {
    for transform in [
        "{}",
        r#"{"version":2,"method":null,"url":null,"body":null,"query_params":null,"request_headers":null}"#,
    ] {
        let request = apply(transform).expect("it is applied");
        assert_eq!(request.url.text(), "http://shop/orders/?a=b&c&d=%20+");
        assert_eq!((request.method.as_str(), &*request.body), ("POST", BODY.as_bytes()));
        assert_eq!(headers(&request), [("content-type", "application/json"), ("x-key", "k")]);
    }
}

#[test]
fn addresses_are_absolute_and_not_encoded() {
    check_url(r#"{"url":"{{$base_url}}"}"#, "http://shop/orders/?a=b&c&d=%20+");
    check_url(r#"{"url":"http://other/{{$body.input.id}}"}"#, "http://other/7");
    check_url(
        r#"{"url":"http://other/{{escapeUri($body.input.sku)}}?x=1"}"#,
        "http://other/a%20b%2F%C3%A9?x=1",
    );
    check_url(r#"{"url":"http://other/?x=1","query_params":{}}"#, "http://other/");
    let message = r#"[{"error_code":"TransformationError","message":"Invalid URL: http://other/a b/é","value":"http://other/a b/é","template":"url"}]"#;
    check_errors(r#"{"url":"http://other/{{$body.input.sku}}"}"#, message);
    let message =
        r#"[{"error_code":"TransformationError","message":"Invalid URL: /a","value":"/a","template":"url"}]"#;
    check_errors(r#"{"url":"/a"}"#, message);
}

#[test]
fn parameters_replace_the_whole_query() {
    check_url(r#"{"query_params":{}}"#, "http://shop/orders/");
    check_url(
        r#"{"query_params":{"id":"{{$body.input.id}}","{{$body.action.name}}":"{{$body.input.sku}}","flag":null}}"#,
        "http://shop/orders/?id=7&place=a%20b%2F%C3%A9&flag",
    );
    check_url(
        r#"{"query_params":{"gone":"{{$body.input.none}}","{{null}}":"a","b":"c"}}"#,
        "http://shop/orders/?b=c",
    );
    check_url(r#"{"query_params":"x={{$body.input.id}}&y"}"#, "http://shop/orders/?x=7&y");
    check_url(
        r#"{"query_params":{"q":"{{$query_params}}"}}"#,
        "http://shop/orders/?q=%5B%5B%22a%22%2C%22b%22%5D%2C%5B%22c%22%2Cnull%5D%2C%5B%22d%22%2C%22%20%20%22%5D%5D",
    );
}

#[test]
fn bodies_of_both_versions() {
    check_body(r#"{"body":"{{$body.input}}"}"#, r#"{"id":7,"sku":"a b/é","none":null,"amount":1.50}"#);
    let template = r#"{"version":2,"body":{"action":"transform","template":"{\"n\": $body.input.amount, \"u\": $session_variables.x-hasura-user-id}"}}"#;
    check_body(template, r#"{"n":1.50,"u":"4"}"#);
    check_body(r#"{"version":2,"body":{"action":"remove"}}"#, "");
    let url =
        RequestTransform::from_members(members(r#"{"url":"{{$body.a b}}"}"#)).expect("its shape is right");
    let told = RequestTransformer::parse(&url).expect_err("its template is not").to_string();
    assert_eq!(told, "in `url`: Parse Error at line 1, column 11: Unexpected token 'b'.");
    let form = r#"{"version":2,"body":{"action":"x_www_form_urlencoded","form_template":{"sku":"{{$body.input.sku}}","gone":"{{$body.input.none}}","a b":"{{$body.input.id}}-"}}}"#;
    check_body(form, "sku=a%20b%2F%C3%A9&a%20b=7-");
}

#[test]
fn headers_are_removed_and_then_appended() {
    let request = apply(
        r#"{"method":"GET","request_headers":{"remove_headers":["Content-Type"],"add_headers":{"X-Key":"{{$body.input.id}}","content-type":"text/plain"}}}"#,
    )
    .expect("it is applied");
    assert_eq!(request.method, Method::GET);
    assert_eq!(&*request.body, BODY.as_bytes(), "GET does not drop the body");
    assert_eq!(headers(&request), [("x-key", "k"), ("x-key", "7"), ("content-type", "text/plain")]);
    let twice =
        apply(r#"{"request_headers":{"add_headers":{"content-type":"a/b"}}}"#).expect("it is applied");
    let types = headers(&twice).into_iter().filter(|it| it.0 == "content-type").count();
    assert_eq!(types, 2);
}

#[test]
fn no_part_sees_another_s_result() {
    let request = apply(
        r#"{"url":"http://other/","body":"{{$base_url}}","request_headers":{"add_headers":{"x-b":"{{$body.input.id}}"}}}"#,
    )
    .expect("it is applied");
    assert_eq!(&*request.body, br#""http://shop/orders/?a=b&c&d=%20+""#);
    assert_eq!(headers(&request).last(), Some(&("x-b", "7")));
}

#[test]
fn errors_of_all_parts_come_together() {
    check_errors(
        r#"{"url":"{{$body.x}}","body":"{{$nothing}}","request_headers":{"add_headers":{"a":"{{\"\\n\"}}"}}}"#,
        concat!(
            r#"[{"error_code":"Attribute Error","message":"'Object' has no attritubte 'x'.","source_position":{"start_line":0,"start_column":8,"end_line":0,"end_column":10},"template":"url"},"#,
            r#"{"error_code":"Name Error","message":"Variable '$nothing' not in scope","source_position":{"start_line":0,"start_column":2,"end_line":0,"end_column":10},"template":"body"},"#,
            r#"{"error_code":"TransformationError","message":"the header `a` cannot have this value","value":"\n","template":"request_headers.add_headers.a"}]"#
        ),
    );
}

#[test]
fn wrong_templates_are_told_when_they_are_parsed() {
    let transform = members(
        r#"{"method":"G T","url":"{{","body":"1 2","request_headers":{"add_headers":{"a b":"x"},"remove_headers":[""]}}"#,
    );
    let transform = RequestTransform::from_members(transform).expect("its shape is right");
    let errors = RequestTransformer::parse(&transform).expect_err("its templates are not");
    let told = errors.to_json();
    for template in
        ["method", "url", "body", "request_headers.add_headers.a b", "request_headers.remove_headers"]
    {
        assert_eq!(told.matches(&format!(r#""template":"{template}""#)).count(), 1, "{told}");
    }
    assert_eq!(errors.to_string(), "in `method`: the method is none of HTTP");
    let form = r#"{"version":2,"body":{"action":"x_www_form_urlencoded","form_template":{"a":"b\n{{"}},"query_params":{"q":"{{"}}"#;
    let form = RequestTransform::from_members(members(form)).expect("its shape is right");
    let told = RequestTransformer::parse(&form).expect_err("its templates are not");
    assert!(told.to_json().contains(r#""template":"query_params.q""#), "{}", told.to_json());
    assert!(
        told.to_string().starts_with("in `body.form_template.a`: Lex Error at line 2, column 3: "),
        "{told}"
    );
    assert!(errors.to_json().contains(r#"{"error_code":"Parse Error","message":"Unexpected token '2'.""#));
}

fn respond(transform: &str, status: u16, body: &str, request: Value) -> Result<Bytes, TransformErrors> {
    let transform = ResponseTransform::from_members(members(transform)).expect("it is a transform");
    let body = Bytes::copy_from_slice(body.as_bytes());
    ResponseTransformer::parse(&transform)?.apply(&OriginalAnswer {
        status: StatusCode::from_u16(status).expect("it is a status"),
        body: &body,
        session_variables: Value::Null,
        request,
    })
}

#[test]
fn answers_are_changed_for_every_status() {
    let check = |transform: &str, status, body: &str, expected: &str| {
        assert_eq!(respond(transform, status, body, Value::Null).expect("it is applied"), expected);
    };
    check("{}", 200, "no json", "no json");
    check(
        r#"{"body":"{\"s\": $response.status, \"b\": $body}"}"#,
        500,
        r#"{"a":1.0}"#,
        r#"{"s":500,"b":{"a":1.0}}"#,
    );
    check(r#"{"body":"[$body, $request, $session_variables]"}"#, 200, "no json", "[null,null,null]");
    check(r#"{"version":2,"body":{"action":"remove"}}"#, 200, "{}", "null");
    let form =
        r#"{"version":2,"body":{"action":"x_www_form_urlencoded","form_template":{"a":"{{$body.a}}"}}}"#;
    check(form, 200, r#"{"a":"b c"}"#, r#""a=b%20c""#);
    let strict = respond(r#"{"body":"{{$body.data}}"}"#, 422, r#"{"message":"no"}"#, Value::Null);
    assert!(
        strict
            .expect_err("an error has no data")
            .to_string()
            .starts_with("in `body`: Attribute Error at line 1, column ")
    );
}

#[test]
fn an_answer_s_transform_sees_the_request() {
    let request = apply("{}").expect("it is applied").context;
    let transform = r#"{"body":"[$request.body.body.input.id, $request.url.base_url, $request.method.session_variables.x-hasura-user-id]"}"#;
    let body = respond(transform, 200, "{}", request).expect("it is applied");
    assert_eq!(body, r#"[7,"http://shop/orders/?a=b&c&d=%20+","4"]"#);
}

fn trial(args: &str) -> Result<String, (&'static str, &'static str, String, Option<String>)> {
    let args = weir_language::json::Json::parse(args.as_bytes(), 50).expect("it is JSON");
    weir_webhook::transform::test_transform(args.root())
        .map_err(|it| (it.code, it.member, it.message, it.internal))
}

#[test]
fn a_trial_shows_the_request() {
    let shown = trial(
        r#"{"webhook_url":"{{HOST}}/a","env":{"HOST":"http://shop"},"body":{"n":1.0},"session_variables":{"X-Hasura-Role":"user"},
            "request_headers":[["Content-Type","application/json"],["X-Old","1"]],"response_transform":{"body":"{}"},
            "request_transform":{"version":2,"method":"PUT","url":"{{$base_url}}/{{$body.n}}","query_params":{"r":"{{getSessionVariable(\"x-hasura-role\")}}"},
            "body":{"action":"transform","template":"[$body]"},"request_headers":{"remove_headers":["x-old"],"add_headers":{"X-New":"2"}}}}"#,
    );
    let expected = concat!(
        r#"{"webhook_url":"http://shop/a/1.0?r=user","method":"PUT","headers":[["content-type","application/json"],["x-new","2"]],"#,
        r#""body":[{"n":1.0}]}"#
    );
    assert_eq!(shown.as_deref(), Ok(expected));
    let removed = r#"{"webhook_url":{"from_env":"A"},"env":{"A":"http://shop"},"body":1,"request_transform":{"version":2,"body":{"action":"remove"}}}"#;
    assert_eq!(
        trial(removed).as_deref(),
        Ok(r#"{"webhook_url":"http://shop","method":"POST","headers":[],"body":null}"#)
    );
    let form = r#"{"webhook_url":"http://shop","body":{"a":"b c"},"request_transform":{"version":2,"body":{"action":"x_www_form_urlencoded","form_template":{"k":"{{$body.a}}"}}}}"#;
    assert_eq!(
        trial(form).as_deref(),
        Ok(r#"{"webhook_url":"http://shop","method":"POST","headers":[],"body":"k=b%20c"}"#)
    );
}

#[test]
fn a_trial_reads_no_variables_and_tells_what_is_wrong() {
    for url in [r#""{{PATH}}/a""#, r#"{"from_env":"PATH"}"#] {
        let error = trial(&format!(r#"{{"webhook_url":{url},"body":1,"request_transform":{{}}}}"#));
        let (code, _, message, _) = error.expect_err("it is not given");
        assert_eq!(code, "not-found");
        assert!(message.starts_with("Missing Env Var: PATH. For security reasons "), "{message}");
    }
    let wrong = r#"{"webhook_url":"http://shop","body":1,"request_transform":{"body":"{{$body.x}}"}}"#;
    let (code, _, message, internal) = trial(wrong).expect_err("it fails");
    assert_eq!((code, message.as_str()), ("validation-failed", "request transform validation failed"));
    assert!(
        internal
            .expect("it has details")
            .starts_with(r#"[{"error_code":"Type Error","message":"Couldn't match"#)
    );
    let wrong = r#"{"webhook_url":"http://shop","body":1,"request_transform":{"version":3}}"#;
    let expected = ("parse-failed", ".request_transform", "expected 1 or 2, encountered 3".to_owned(), None);
    assert_eq!(trial(wrong), Err(expected));
}
