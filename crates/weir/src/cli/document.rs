//! `weir explain` and `weir schema`: tools for authors of documents.

use super::print;
use super::serve::json_option::{json_of, read};
use super::serve::{environment, origin};
use crate::config::source::address;
use crate::generation::{Generation, Overrides};
use crate::session;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use weir_engine::engine::Request;
use weir_engine::source::Protocol;
use weir_language::json::Json;
use weir_language::schema::print::{self as schema_text, Order};

/// Opens `target` without serving it.
fn open(target: &str) -> Result<Generation, String> {
    let overrides = Overrides { environment: environment()?, ..Overrides::default() };
    let config = origin(address::target(target)?, overrides)?.read()?;
    Generation::build_whole(config)
}

/// The caller that a command assumes.
#[derive(Clone, Copy)]
pub(super) struct AssumedCaller<'c> {
    pub(super) role: Option<&'c str>,
    /// Claims as JSON.
    pub(super) claims: Option<&'c str>,
}

/// Prints plan and SQL of a document.
pub(super) fn explain(
    query: &str,
    target: &str,
    variables: Option<&str>,
    operation: Option<&str>,
    caller: AssumedCaller<'_>,
) -> Result<ExitCode, String> {
    let AssumedCaller { role, claims } = caller;
    let name = name_of(query);
    let query = text_of(query)?;
    let generation = open(target)?;
    let nesting_max = generation.config.limits.nesting_max;
    let variables = variables.map(|it| json_of("--variables", it)).transpose()?;
    let variables = variables
        .as_ref()
        .map(|text| Json::parse(text.as_bytes(), nesting_max))
        .transpose()
        .map_err(|error| format!("--variables: {error}"))?;
    let claims = claims.map(|it| json_of("--claims", it)).transpose()?;
    let claims = claims
        .as_ref()
        .map(|text| Json::parse(text.as_bytes(), nesting_max))
        .transpose()
        .map_err(|error| format!("--claims: {error}"))?;
    let identity = session::assume_identity(role, claims.as_ref().map(Json::root))?;
    let identity = generation.native_auth.with_values(identity);
    let request = Request {
        query: &query,
        operation_name: operation,
        variables: variables.as_ref().map(Json::root),
        protocol: Protocol::GraphqlOverHttp,
        queries_only: false,
        increments: None,
        shows_cost: false,
        spent: None,
        headers: &weir_engine::source::NoHeaders,
        deadline: Instant::now() + Duration::from_secs(30),
    };
    match generation.engine.explain(request, &generation.engine.caller(&identity)) {
        Ok(explanation) => {
            let mut text = explanation.plan;
            for (source, asked) in &explanation.steps {
                text.push_str(&format!("\n-- {source}\n{}\n", asked.trim_end()));
            }
            print(&text)
        }
        Err(errors) => Err(in_words(name, &errors)),
    }
}

/// Errors of a JSON response, one per line, in the format of `weir validate`.
fn in_words(name: &str, errors: &[u8]) -> String {
    let answer: serde_json::Value = serde_json::from_slice(errors).unwrap_or_default();
    let line = |error: &serde_json::Value| {
        let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().replace('\n', " ");
        let place = match (error["locations"][0]["line"].as_u64(), error["locations"][0]["column"].as_u64()) {
            (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
            (None | Some(_), _) => name.to_owned(),
        };
        format!("{place}: {} [{}]", text(&error["message"]), text(&error["extensions"]["code"]))
    };
    let lines: Vec<String> = answer["errors"].as_array().into_iter().flatten().map(line).collect();
    lines.join("\n")
}

/// The name of a document in messages: its file, `standard input` or `query`.
fn name_of(argument: &str) -> &str {
    if argument == "-" { "standard input" } else { argument.strip_prefix('@').unwrap_or("query") }
}

/// A document argument: the text itself, `@FILE`, or `-`.
fn text_of(argument: &str) -> Result<String, String> {
    if argument == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|cause| format!("standard input: {cause}"))?;
        return Ok(text);
    }
    match argument.strip_prefix('@') {
        Some(file) => read(Path::new(file)),
        None => Ok(argument.to_string()),
    }
}

/// Prints the schema in SDL.
pub(super) fn schema(target: &str) -> Result<ExitCode, String> {
    print(&schema_text::print(open(target)?.engine.schema(), Order::Defined))
}
