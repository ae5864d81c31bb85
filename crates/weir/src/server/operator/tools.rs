//! Endpoints for Hasura's tools: `/v1alpha1/config` and `/v1/graphql/explain`.

use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::hasura_error::HasuraError;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::server::telemetry::metrics::Endpoint;
use crate::session;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde_json::json as value;
use weir_engine::source::Protocol;
use weir_language::json::{Json, JsonBuffer};
use weir_metadata::document::customization::NamingConvention;

/// The version that tools check: the last free one of Hasura. Weir's own version is reported beside it.
pub(crate) use weir_webhook::HASURA_VERSION;

/// Settings for Hasura's console.
pub(crate) fn config(context: &RequestContext) -> Answer {
    let config = &context.generation.config;
    let format = |it: &crate::config::Jwt| {
        value!({
            "claims_namespace": it.claims_namespace.as_deref().unwrap_or("https://hasura.io/jwt/claims"),
            "claims_format": value!(it.claims_format),
            "claims_map": null,
        })
    };
    let no_null = config.no_null_unbound_variable_default.then_some("no_null_unbound_variable_default");
    let body = value!({
        "version": HASURA_VERSION,
        "weir_version": env!("CARGO_PKG_VERSION"),
        "is_function_permissions_inferred": config.infer_function_permissions.unwrap_or(true),
        "is_remote_schema_permissions_enabled": config.webhooks.remote_schema_permissions,
        "is_admin_secret_set": config.has_secret(),
        "is_auth_hook_set": config.auth.webhook.is_some(),
        "is_jwt_set": !config.auth.jwt.is_empty(),
        "jwt": config.auth.jwt.iter().map(format).collect::<Vec<_>>(),
        "is_allow_list_enabled": config.operations.allow_list,
        "live_queries": { "batch_size": 100, "refetch_delay": 1 },
        "streaming_queries": { "batch_size": 100, "refetch_delay": 1 },
        "console_assets_dir": null,
        "experimental_features": Vec::from_iter(no_null),
        "is_prometheus_metrics_enabled": true,
        "default_naming_convention": config.naming_convention.unwrap_or(NamingConvention::HasuraDefault),
        "feature_flags": [],
        "is_apollo_federation_enabled": config.federation.is_some(),
    });
    Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(body.to_string().into_bytes())))
}

/// Plan of `{"query": {"query", "variables", "operationName"}, "user": {…}}`: a list with one entry per source.
pub(crate) async fn explain(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    let bytes = receive::body(context, &head.headers, body).await?;
    let limits = &context.generation.config.limits;
    let tape = receive::json(JsonBuffer::default(), &bytes, limits)?;
    let failed = |code: &str, path: &str, message: String| {
        Ok(HasuraError::new(code, path, message).answer(Endpoint::Other))
    };
    let Some(query) = tape.root().get("query").filter(|it| it.is_object()) else {
        return failed("parse-failed", "$", "key \"query\" not found".into());
    };
    let params = match receive::params(query) {
        Ok(params) => params,
        Err(unusable) => return failed("parse-failed", "$.query", unusable.message().to_owned()),
    };
    let identity = match session::assume_identity(None, tape.root().get("user")) {
        Ok(identity) => context.generation.native_auth.with_values(identity),
        Err(message) => return failed("parse-failed", "$.user", message),
    };
    let client = context.client(&head.headers)?;
    let request = engine_request(context, &params, &client, Protocol::Hasura, false);
    let engine = &context.generation.engine;
    match engine.explain(request, &engine.caller(&identity)) {
        Ok(explanation) => {
            let plan: Vec<&str> = explanation.plan.lines().collect();
            let one =
                |(source, text): &(String, String)| value!({ "field": source, "sql": text, "plan": plan });
            let body = value!(explanation.steps.iter().map(one).collect::<Vec<_>>());
            let body = ResponseBody::whole(body.to_string().into_bytes());
            Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
        }
        Err(errors) => {
            let told = Json::parse(&errors, u32::MAX).ok();
            let first = told.as_ref().and_then(|it| it.root().get("errors")?.items().next());
            let text = |key: &str| first?.get(key)?.as_str().map(std::borrow::Cow::into_owned);
            let extensions = first.and_then(|it| it.get("extensions"));
            let extension = |key: &str| extensions?.get(key)?.as_str().map(std::borrow::Cow::into_owned);
            let code = extension("code").unwrap_or_else(|| "unexpected".into());
            let path = extension("path").unwrap_or_else(|| "$".into());
            failed(&code, &path, text("message").unwrap_or_default())
        }
    }
}
