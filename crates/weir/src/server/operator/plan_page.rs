//! `/admin/schema/plan`: what a migration of a native source to other types would do, as `weir migrate --plan` shows it.
//!
//! **Invariant:** nothing is changed, neither the store nor the file of types.
//! **Cost:** the plan counts the values that a change concerns, so it may read whole tables; one plan is made at a time.

use super::catalog_page::find_source;
use super::pages::{check_json, read_text};
use crate::config::source::types_file;
use crate::generation::Generation;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::sources::native::Native;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde_json::{Value, json as value};
use tokio::sync::Mutex;
use weir_language::json::JsonRef;
use weir_native::store::{Plan, Store, Types};

/// Names of data that one plan may allow to be lost.
const ALLOWED_MAX: usize = 1000;

/// Held while a plan is made.
static PLANNING: Mutex<()> = Mutex::const_new(());

/// New types of a source.
struct PlanQuestion {
    source: String,
    sdl: String,
    allowed: Vec<String>,
}

/// Plans the change in `{"source", "sdl", "allow_data_loss": [...]}`.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let question = {
        let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
        read_question(tape.root())?
    };
    let generation = context.worker.live.current();
    let turn = PLANNING.lock().await;
    let planning = tokio::task::spawn_blocking(move || {
        let planned = plan_change(&generation, &question);
        drop(turn);
        planned
    });
    let failed =
        |_| Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "a bug: the planning panicked"));
    let planned = planning.await.unwrap_or_else(failed)?;
    let body = ResponseBody::whole(planned.to_string().into_bytes());
    Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
}

fn read_question(asked: JsonRef<'_>) -> Result<PlanQuestion, Refusal> {
    let words =
        || Refusal::bad_request(format!("`allow_data_loss` has to be a list of up to {ALLOWED_MAX} texts"));
    let mut allowed = Vec::new();
    if let Some(list) = asked.get("allow_data_loss").filter(|it| !it.is_null()) {
        if !list.is_array() {
            return Err(words());
        }
        for name in list.items() {
            let name = name.as_str().filter(|_| allowed.len() < ALLOWED_MAX).ok_or_else(words)?;
            allowed.push(name.into_owned());
        }
    }
    Ok(PlanQuestion { source: read_text(asked, "source")?, sdl: read_text(asked, "sdl")?, allowed })
}

fn plan_change(generation: &Generation, question: &PlanQuestion) -> Result<Value, Refusal> {
    let source = find_source(generation, &question.source)?;
    let native = Native::of(source).map_err(Refusal::bad_request)?;
    let native = native
        .ok_or_else(|| Refusal::bad_request(format!("`{}` has no types of its own", question.source)))?;
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let invalid = |message: String| Refusal::new(status, "SCHEMA_INVALID", message);
    let sdl = types_file::sdl_of(question.sdl.clone()).map_err(invalid)?;
    let types = native.types_of(&sdl).map_err(invalid)?;
    let planned = Store::existing(&native.place).and_then(|mut it| it.plan(&types, &question.allowed));
    let plan = planned.map_err(|error| Refusal::new(status, "MIGRATION_FAILED", error.to_string()))?;
    Ok(write_plan(&plan, &types))
}

fn write_plan(plan: &Plan, types: &Types) -> Value {
    let refusals = plan.refusals.iter();
    let refusals = refusals.map(|it| value!({ "what": it.what, "mend": it.mend, "allow": it.allow }));
    let warnings = types.warnings.iter();
    let warnings = warnings
        .map(|it| value!({ "line": it.place.line, "column": it.place.column, "message": it.message }));
    value!({
        "nothing": plan.is_nothing,
        "changes": plan.changes,
        "builds": plan.builds,
        "refusals": refusals.collect::<Vec<_>>(),
        "statements": plan.statements,
        "warnings": warnings.collect::<Vec<_>>(),
    })
}
