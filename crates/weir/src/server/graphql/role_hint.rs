//! Hint for an admin who tests a role: only the role is the reason for a refusal.
//!
//! **Invariant:** only who could ask as the admin gets it, so no hidden name is told to anybody else.
//!
//! **Cost:** one more plan for a refused request of such a caller, nothing for all others.

use super::execute::execute;
use crate::server::request::context::RequestContext;
use hyper::HeaderMap;
use serde_json::Value;
use weir_engine::engine::{Body, Outcome, Request, Response};
use weir_engine::source::Caller;

/// Executes `request`. If it is refused but the admin role would get an answer, errors get `extensions.hint`.
pub(super) async fn execute_with_hint(
    context: &RequestContext,
    headers: &HeaderMap,
    request: Request<'_>,
    caller: &Caller,
) -> Response {
    let mut made = execute(context, request, caller).await;
    if made.outcome == Outcome::Refused && context.generation.authenticator.is_admin_in_role(headers) {
        Box::pin(add_hint(context, request, &mut made)).await;
    }
    made
}

async fn add_hint(context: &RequestContext, request: Request<'_>, made: &mut Response) {
    let admin = context.engine().caller(context.generation.authenticator.admin());
    if context.engine().bind(request, &admin).await.is_err() {
        return;
    }
    let Body::Whole(bytes) = &mut made.body else { return };
    let Ok(mut answer) = serde_json::from_slice::<Value>(bytes) else { return };
    let errors = answer["errors"].as_array_mut().into_iter().flatten();
    // Rates, costs and limits say themselves what is too much.
    let is_limit = |it: &Value| {
        let code = it["extensions"]["code"].as_str();
        code.is_some_and(|it| it.starts_with("LIMIT_") || it.starts_with("COST_"))
    };
    for error in errors.filter(|it| !is_limit(it)) {
        error["extensions"]["hint"] =
            "the admin's role is answered: the permissions of this role, or its list of allowed documents, lack something".into();
    }
    *bytes = answer.to_string().into_bytes();
}
