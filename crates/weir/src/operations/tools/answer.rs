//! Answers the messages of agents: the methods of both eras.
//!
//! **Invariant:** a tool that the caller does not have is answered as one that does not exist.

use super::fault::{Era, RpcFault, agree_on_version, supported_versions};
use super::host::{ToolHost, ToolOperation};
use super::listed_tool::{ListedTool, ToolAction};
use super::message::AgentRequest;
use super::outcome::{ToolOutcome, read_response};
use super::reply::{members_reply, server_info, value_reply};
use super::schema_search::search;
use super::schema_text::write_types;
use super::tool_list::{DEPTH_MAX, SEARCH_LINES, SEARCH_LINES_MAX, find_list};
use crate::config::SchemaTool;
use rmcp::model::{CacheScope, DiscoverResult, InitializeResult, ServerCapabilities, ToolsCapability};
use std::borrow::Cow;
use weir_engine::errors::error_text::string;
use weir_engine::source::Protocol;
use weir_language::ast::OperationKind;
use weir_language::json::JsonRef;

/// Tools of one page.
const PAGE_TOOLS: usize = 100;

/// Time for which clients may keep a list, in milliseconds: lists change with the configuration.
const LIST_TTL_MS: u64 = 60_000;

/// Longest text of the schema in one answer, in bytes.
const SCHEMA_BYTES_MAX: usize = 48 * 1024;

/// Answers `request`, which is of `era`.
/// # Errors
/// The method or its parameters are wrong.
pub(crate) async fn answer(
    host: &impl ToolHost,
    era: Era,
    request: &AgentRequest<'_>,
) -> Result<Vec<u8>, RpcFault> {
    match (&*request.method, era) {
        ("tools/list", _) => {
            host.count("", None).await.map_err(RpcFault::crowded)?;
            list_tools(host, era, request)
        }
        ("tools/call", _) => call_tool(host, era, request).await,
        ("server/discover", Era::Stateless) => Ok(value_reply(request.id, &discover_result(host))),
        ("initialize", Era::Handshake) => {
            let asked = request.param("protocolVersion").and_then(JsonRef::as_str);
            let asked = asked.ok_or_else(|| RpcFault::params("`protocolVersion` has to be a string"))?;
            Ok(value_reply(request.id, &initialize_result(host, &asked)))
        }
        // Levels of the log are those of the server; clients of this era may insist on setting one.
        ("ping" | "logging/setLevel", Era::Handshake) => Ok(value_reply(request.id, &serde_json::Map::new())),
        (method, _) => Err(RpcFault::unknown_method(method)),
    }
}

fn capabilities() -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    capabilities
}

/// The answer to a handshake.
fn initialize_result(host: &impl ToolHost, asked: &str) -> InitializeResult {
    let mut result = InitializeResult::new(capabilities())
        .with_server_info(server_info())
        .with_protocol_version(agree_on_version(asked));
    result.instructions = host.config().operations.mcp.instructions.clone();
    result
}

fn discover_result(host: &impl ToolHost) -> DiscoverResult {
    let mut result = DiscoverResult::new(supported_versions().to_vec(), capabilities())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private)
        .with_server_info(server_info());
    result.instructions = host.config().operations.mcp.instructions.clone();
    result
}

/// One page of the caller's tools. A cursor is the name of the last tool of the page before.
fn list_tools(host: &impl ToolHost, era: Era, request: &AgentRequest<'_>) -> Result<Vec<u8>, RpcFault> {
    let list = find_list(host);
    let start = match request.param("cursor").filter(|it| !it.is_null()) {
        None => 0,
        Some(cursor) => {
            let place = cursor.as_str().and_then(|it| list.place(&it));
            place.ok_or_else(|| RpcFault::params("this cursor is not one of the list as it is now"))? + 1
        }
    };
    let page = &list.tools[start..(start + PAGE_TOOLS).min(list.tools.len())];
    let has_more = start + page.len() < list.tools.len();
    Ok(members_reply(request.id, era, |out| {
        out.extend_from_slice(b"\"tools\":[");
        for (at, tool) in page.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(tool.json.as_bytes());
        }
        out.push(b']');
        if let Some(last) = page.last().filter(|_| has_more) {
            out.extend_from_slice(b",\"nextCursor\":");
            string(out, &last.name);
        }
        if era == Era::Stateless {
            let hints = format!(",\"ttlMs\":{LIST_TTL_MS},\"cacheScope\":\"private\"");
            out.extend_from_slice(hints.as_bytes());
        }
    }))
}

async fn call_tool(host: &impl ToolHost, era: Era, request: &AgentRequest<'_>) -> Result<Vec<u8>, RpcFault> {
    let name = request.param("name").and_then(JsonRef::as_str);
    let name = name.ok_or_else(|| RpcFault::params("`name` has to be a string"))?;
    let arguments = request.param("arguments").filter(|it| !it.is_null());
    if arguments.is_some_and(|it| !it.is_object()) {
        return Err(RpcFault::params("`arguments` has to be an object"));
    }
    let list = find_list(host);
    let tool = list.find(&name);
    let (text, operation_name) = tool.map(|it| read_document(it, arguments)).unwrap_or_default();
    let refused = host.count(&text, operation_name.as_deref()).await.err();
    let Some(tool) = tool else {
        let unknown = || RpcFault::params(format!("there is no tool `{name}`"));
        return Err(refused.map_or_else(unknown, RpcFault::crowded));
    };
    let outcome = match refused {
        Some(words) => ToolOutcome::Failed(words),
        None => run_tool(host, tool, arguments).await,
    };
    if host.config().log.access {
        let role = host.caller().role();
        tracing::info!(tool = &*tool.name, role, failed = outcome.is_error(), "an agent called a tool");
    }
    Ok(members_reply(request.id, era, |out| outcome.write(tool.has_output_schema, out)))
}

/// The document that a call of `tool` runs, which rates may read, and the name of its operation; empty if it runs none.
fn read_document<'t>(
    tool: &'t ListedTool,
    arguments: Option<JsonRef<'t>>,
) -> (Cow<'t, str>, Option<Cow<'t, str>>) {
    match &tool.action {
        ToolAction::Saved(saved) => {
            (Cow::Borrowed(&saved.text), saved.operation_name.as_deref().map(Cow::Borrowed))
        }
        ToolAction::Schema(SchemaTool::Execute) => {
            let name = read_text(arguments, "operationName").filter(|it| !it.is_empty());
            (read_text(arguments, "query").unwrap_or_default(), name)
        }
        ToolAction::Schema(SchemaTool::Search | SchemaTool::Introspect) => Default::default(),
    }
}

/// Runs `tool`. What goes wrong in it is told to the model, not to its program.
async fn run_tool(host: &impl ToolHost, tool: &ListedTool, arguments: Option<JsonRef<'_>>) -> ToolOutcome {
    let known = known_arguments(tool);
    let unknown = arguments.and_then(|it| it.members().find(|it| !known.iter().any(|name| *name == it.0)));
    if let Some((name, _)) = unknown {
        let words = format!("there is no argument `{name}`; those of this tool are: {}", known.join(", "));
        return ToolOutcome::Failed(words);
    }
    match &tool.action {
        ToolAction::Saved(saved) => {
            let operation = ToolOperation {
                text: &saved.text,
                operation_name: saved.operation_name.as_deref(),
                variables: arguments,
                protocol: saved.protocol,
                queries_only: !saved.is_mutation,
            };
            execute(host, operation).await
        }
        ToolAction::Schema(SchemaTool::Execute) => execute_document(host, arguments).await,
        ToolAction::Schema(SchemaTool::Search) => search_schema(host, arguments),
        ToolAction::Schema(SchemaTool::Introspect) => print_types(host, arguments),
    }
}

async fn execute(host: &impl ToolHost, operation: ToolOperation<'_>) -> ToolOutcome {
    read_response(host.execute(operation).await, host.config().operations.mcp.answer_bytes_max).await
}

/// A text among `arguments`.
fn read_text<'t>(arguments: Option<JsonRef<'t>>, name: &str) -> Option<Cow<'t, str>> {
    arguments?.get(name)?.as_str()
}

/// An argument; one that is null is absent.
fn find_argument<'t>(arguments: Option<JsonRef<'t>>, name: &str) -> Option<JsonRef<'t>> {
    arguments?.get(name).filter(|it| !it.is_null())
}

/// A number among `arguments`; `None` if it is none.
fn read_number(arguments: Option<JsonRef<'_>>, name: &str, default: u32) -> Option<u32> {
    match find_argument(arguments, name) {
        None => Some(default),
        Some(value) => value.as_number()?.parse().ok(),
    }
}

async fn execute_document(host: &impl ToolHost, arguments: Option<JsonRef<'_>>) -> ToolOutcome {
    let Some(query) = read_text(arguments, "query") else { return missing("query", "a string") };
    let variables = find_argument(arguments, "variables");
    if variables.is_some_and(|it| !it.is_object()) {
        return missing("variables", "an object");
    }
    let name = find_argument(arguments, "operationName").map(JsonRef::as_str);
    if name == Some(None) {
        return missing("operationName", "a string");
    }
    if !host.allows(&query) {
        let words = "the allow list does not have this document: use the tools of saved operations";
        return ToolOutcome::Failed(words.into());
    }
    let name = name.flatten().filter(|it| !it.is_empty());
    let queries_only = !host.config().operations.mcp.execute_mutations;
    let operation = ToolOperation {
        text: &query,
        operation_name: name.as_deref(),
        variables,
        protocol: Protocol::GraphqlOverHttp,
        queries_only,
    };
    if queries_only && host.may_change_data(operation).await {
        let words = "this query calls what may change data, and only what reads is run here";
        return ToolOutcome::Failed(words.into());
    }
    execute(host, operation).await
}

fn search_schema(host: &impl ToolHost, arguments: Option<JsonRef<'_>>) -> ToolOutcome {
    let Some(terms) = read_text(arguments, "terms") else { return missing("terms", "a string") };
    let Some(limit) = read_number(arguments, "limit", SEARCH_LINES) else {
        return missing("limit", "an integer");
    };
    let left_out: &[OperationKind] = if host.config().operations.mcp.execute_mutations {
        &[OperationKind::Subscription]
    } else {
        &[OperationKind::Subscription, OperationKind::Mutation]
    };
    let lines = search(host.view(), &terms, limit.min(SEARCH_LINES_MAX) as usize, left_out);
    let found = if lines.is_empty() { "nothing has these words".to_owned() } else { lines.join("\n") };
    ToolOutcome::Text(found)
}

fn print_types(host: &impl ToolHost, arguments: Option<JsonRef<'_>>) -> ToolOutcome {
    let Some(name) = read_text(arguments, "type") else { return missing("type", "a string") };
    let Some(depth) = read_number(arguments, "depth", 0) else { return missing("depth", "an integer") };
    let view = host.view();
    match view.type_by_name(&name) {
        Some(id) => ToolOutcome::Text(write_types(view, id, depth.min(DEPTH_MAX), SCHEMA_BYTES_MAX)),
        None => {
            let root = view.type_name(view.query());
            ToolOutcome::Failed(format!("there is no type `{name}`; queries begin at `{root}`"))
        }
    }
}

fn missing(name: &str, kind: &str) -> ToolOutcome {
    ToolOutcome::Failed(format!("the argument `{name}` has to be {kind}"))
}

/// Names of the arguments of `tool`.
fn known_arguments(tool: &ListedTool) -> Vec<&str> {
    match &tool.action {
        ToolAction::Saved(saved) => saved.arguments.iter().map(|it| &**it).collect(),
        ToolAction::Schema(SchemaTool::Search) => vec!["terms", "limit"],
        ToolAction::Schema(SchemaTool::Introspect) => vec!["type", "depth"],
        ToolAction::Schema(SchemaTool::Execute) => vec!["query", "variables", "operationName"],
    }
}
