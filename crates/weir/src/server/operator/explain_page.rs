//! `/v1/explain`: the plan of an operation.

use super::pages::check_json;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::{Refusal, string};
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::session;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use weir_engine::engine::Explanation;
use weir_engine::source::Protocol;

/// Plan of an operation with its statements and calls, without running it; for the admin, or for `role` and `claims` of the body.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
    let params = receive::params(tape.root()).map_err(|it| Refusal::bad_request(it.message()))?;
    let client = context.client(&head.headers)?;
    let request = engine_request(context, &params, &client, Protocol::GraphqlOverHttp, false);
    let role = tape.root().get("role").filter(|it| !it.is_null());
    let role = role.map(|it| it.as_str().ok_or_else(|| Refusal::bad_request("`role` must be a string")));
    let role = role.transpose()?;
    let identity = session::assume_identity(role.as_deref(), tape.root().get("claims"));
    let identity = identity.map_err(Refusal::bad_request)?;
    let identity = context.generation.native_auth.with_values(identity);
    let engine = &context.generation.engine;
    let (status, body) = match engine.explain(request, &engine.caller(&identity)) {
        Ok(explanation) => (StatusCode::OK, explanation_json(&explanation)),
        Err(errors) => (StatusCode::BAD_REQUEST, errors),
    };
    Ok(Answer::page(json(status, Media::Json, ResponseBody::whole(body))))
}

/// Writes `{"plan": …, "steps": [{"source": …, "text": …}]}`; `pieces` beside it is the key of version 0.2.
fn explanation_json(explanation: &Explanation) -> Vec<u8> {
    let mut steps = Vec::new();
    for (place, (source, text)) in explanation.steps.iter().enumerate() {
        if place > 0 {
            steps.push(b',');
        }
        steps.extend_from_slice(b"{\"source\":");
        string(&mut steps, source);
        steps.extend_from_slice(b",\"text\":");
        string(&mut steps, text);
        steps.push(b'}');
    }
    let mut out = b"{\"plan\":".to_vec();
    string(&mut out, &explanation.plan);
    for key in ["steps", "pieces"] {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":[");
        out.extend_from_slice(&steps);
        out.push(b']');
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(steps: &[(&str, &str)], expected: &str) {
        let steps = steps.iter().map(|(source, text)| ((*source).into(), (*text).into())).collect();
        let found = explanation_json(&Explanation { plan: "fetch\n".into(), steps });
        let expected = format!(r#"{{"plan":"fetch\n","steps":{expected},"pieces":{expected}}}"#);
        assert_eq!(std::str::from_utf8(&found), Ok(expected.as_str()));
    }

    #[test]
    fn an_explanation_lists_its_steps() {
        check(&[], "[]");
        check(
            &[("a", "SELECT \"x\""), ("b", "")],
            r#"[{"source":"a","text":"SELECT \"x\""},{"source":"b","text":""}]"#,
        );
    }
}
