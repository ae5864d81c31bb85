//! The tools of one caller: saved operations whose documents fit the caller's view and which the caller may send, and tools over the schema.
//!
//! **Invariant:** a list depends on the role and the profile alone, which are its key.
//! **Cost:** one validation per operation for the first caller of a profile; a look into a cache for others.

use super::host::ToolHost;
use super::json_schema::{data_schema, into_object, variables_schema};
use super::listed_tool::{ListedTool, ToolAction, ToolList};
use super::saved_tool::SavedTool;
use crate::config::{Mcp, SchemaTool, ToolOverride};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::ADMIN;
use weir_engine::engine::Request;
use weir_engine::source::Protocol;
use weir_language::ast::{Definition, Document, Operation, OperationKind, Selection};
use weir_language::coerce::Reading;
use weir_language::parser::{self, Edition};
use weir_language::schema::SchemaView;
use weir_language::validate::{self, Options};

/// Longest schema of an answer, in bytes; a longer one costs agents more than it tells them.
const OUTPUT_BYTES_MAX: usize = 32 * 1024;

/// The list of the host's caller.
pub(super) fn find_list(host: &impl ToolHost) -> Arc<ToolList> {
    let caller = host.caller();
    let key = (caller.role().into(), caller.profile().number());
    host.catalog().find_list(key, || make_list(host))
}

fn make_list(host: &impl ToolHost) -> ToolList {
    let settings = &host.config().operations.mcp;
    let saved = host.catalog().tools.iter().filter(|it| host.allows(&it.text));
    let mut tools: Vec<ListedTool> = saved.filter_map(|it| list_saved_tool(host, it)).collect();
    let schema_tools = settings.schema_tools.iter().filter(|it| is_for_caller(host, **it));
    tools.extend(schema_tools.map(|it| list_schema_tool(settings, *it)));
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    tools.dedup_by(|one, other| one.name == other.name);
    ToolList { tools }
}

/// True if the caller may use a tool over the schema.
fn is_for_caller(host: &impl ToolHost, tool: SchemaTool) -> bool {
    match tool {
        SchemaTool::Search | SchemaTool::Introspect => host.caller().profile().may_introspect(),
        SchemaTool::Execute => {
            host.caller().role() == ADMIN || !host.config().operations.persisted.require_id
        }
    }
}

/// The tool of a saved operation; `None` if its document does not fit the view, or changes what no tool may.
fn list_saved_tool(host: &impl ToolHost, saved: &Arc<SavedTool>) -> Option<ListedTool> {
    let view = host.view();
    let config = host.config();
    let settings = &config.operations.mcp;
    let limits = config.limits.document();
    let (edition, reading) = match saved.protocol {
        Protocol::GraphqlOverHttp => (Edition::September2026, Reading::Strict),
        Protocol::Hasura => (Edition::September2025, Reading::Lenient),
    };
    let document = parser::parse_edition(&saved.text, &limits, edition).ok()?;
    let edition_2026 = edition == Edition::September2026;
    let options = Options { limits, suggestions: false, edition_2026, subscriptions_beside: false };
    validate::validate_for(view, &document, &options, reading).ok()?;
    let operation = find_operation(&document, saved.operation_name.as_deref())?;
    let is_read_only = !may_change_data(host, saved);
    if !is_read_only && !settings.mutations {
        return None;
    }
    let output = settings.output_schemas.then(|| data_schema(view, &document, operation)).flatten();
    // An object of any members, because clients of the handshake era take nothing but objects.
    let output = output.map(|it| {
        let is_long = serde_json::to_string(&it).is_ok_and(|it| it.len() > OUTPUT_BYTES_MAX);
        if is_long { into_object(json!({ "type": "object" })) } else { it }
    });
    let input = variables_schema(view, &document, operation, settings.input_depth_max);
    let description = match &saved.description {
        Some(description) => description.to_string(),
        None => describe_operation(view, &document, operation),
    };
    let hints =
        ToolAnnotations::new().read_only(is_read_only).destructive(!is_read_only).idempotent(is_read_only);
    let has_output_schema = output.is_some();
    let tool = make_tool(&saved.name, description, input, output, hints);
    let said = settings.overrides.get(&*saved.name).cloned().unwrap_or_default();
    Some(listed(&overrule(tool, said), ToolAction::Saved(Arc::clone(saved)), has_output_schema))
}

/// True if the operation may change data: a mutation, or a query that calls what changes some, with whatever variables.
fn may_change_data(host: &impl ToolHost, saved: &SavedTool) -> bool {
    let request = Request {
        operation_name: saved.operation_name.as_deref(),
        protocol: saved.protocol,
        ..Request::new(&saved.text, Instant::now())
    };
    saved.is_mutation || host.engine().may_change_data(request, host.caller())
}

fn make_tool(
    name: &str,
    description: String,
    input: JsonObject,
    output: Option<JsonObject>,
    hints: ToolAnnotations,
) -> Tool {
    let mut tool = Tool::new(name.to_owned(), description, input);
    tool.output_schema = output.map(Arc::new);
    tool.annotations = Some(hints);
    tool
}

/// The tool with what the operator says of it.
fn overrule(mut tool: Tool, said: ToolOverride) -> Tool {
    tool.title = said.title.or(tool.title);
    tool.description = said.description.map(Into::into).or(tool.description);
    if let Some(hints) = &mut tool.annotations {
        hints.read_only_hint = said.read_only.or(hints.read_only_hint);
        hints.destructive_hint = said.destructive.or(hints.destructive_hint);
        hints.idempotent_hint = said.idempotent.or(hints.idempotent_hint);
        hints.open_world_hint = said.open_world.or(hints.open_world_hint);
    }
    tool
}

fn listed(tool: &Tool, action: ToolAction, has_output_schema: bool) -> ListedTool {
    // Keys of the protocol's types are texts, so they can be written.
    let json = serde_json::to_string(tool).unwrap_or_default().into();
    ListedTool { name: (*tool.name).into(), json, action, has_output_schema }
}

/// The operation of a tool.
fn find_operation<'d>(document: &'d Document<'_>, name: Option<&str>) -> Option<&'d Operation> {
    document.definitions.iter().find_map(|it| match it {
        Definition::Operation(operation) if name.is_none_or(|it| it == document.str(operation.name)) => {
            Some(operation)
        }
        Definition::Operation(_)
        | Definition::Fragment(_)
        | Definition::Schema(_)
        | Definition::Type(_)
        | Definition::Directive(_) => None,
    })
}

/// Description of an operation that has none of its own: its root fields, with their descriptions.
fn describe_operation(view: SchemaView<'_>, document: &Document<'_>, operation: &Operation) -> String {
    let root = view.root(operation.kind);
    let mut lines = Vec::new();
    for selection in document.list(operation.selections) {
        let Selection::Field(field) = selection else { continue };
        let name = document.str(field.name);
        let found = root.and_then(|it| view.field_by_name(it, name));
        let description = found.map(|it| view.str(view.field(it).description)).unwrap_or_default();
        lines.push(if description.is_empty() { name.to_owned() } else { format!("{name}: {description}") });
    }
    let verb = match operation.kind {
        OperationKind::Mutation => "Changes",
        OperationKind::Query | OperationKind::Subscription => "Reads",
    };
    format!("{verb} {}", lines.join("; "))
}

/// A tool over the schema.
fn list_schema_tool(settings: &Mcp, kind: SchemaTool) -> ListedTool {
    let closed = |properties: Value, required: &str| {
        into_object(json!({
            "type": "object",
            "properties": properties,
            "required": [required],
            "additionalProperties": false,
        }))
    };
    let (description, input) = match kind {
        SchemaTool::Search => (
            "Finds fields and types of the GraphQL schema by words, the best first. Ask this before `introspect` and `execute`.",
            closed(
                json!({
                    "terms": { "type": "string", "description": "Words, as `album title`" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": SEARCH_LINES_MAX, "default": SEARCH_LINES },
                }),
                "terms",
            ),
        ),
        SchemaTool::Introspect => (
            "Prints a type of the GraphQL schema as SDL, with the types that it leads to.",
            closed(
                json!({
                    "type": { "type": "string", "description": "Name of the type" },
                    "depth": { "type": "integer", "minimum": 0, "maximum": DEPTH_MAX, "default": 0,
                               "description": "Steps to further types" },
                }),
                "type",
            ),
        ),
        SchemaTool::Execute => (
            if settings.execute_mutations {
                "Runs a GraphQL document, a query or a mutation, and answers its data as JSON. Pass values as variables, and ask for few rows."
            } else {
                "Runs a GraphQL query and answers its data as JSON. Pass values as variables, and ask for few rows."
            },
            closed(
                json!({
                    "query": { "type": "string", "description": "The document" },
                    "variables": { "type": "object", "description": "Values of its variables by name" },
                    "operationName": { "type": "string", "description": "The operation to run, if there are several" },
                }),
                "query",
            ),
        ),
    };
    let is_read_only = kind != SchemaTool::Execute || !settings.execute_mutations;
    let hints = ToolAnnotations::new()
        .read_only(is_read_only)
        .destructive(!is_read_only)
        .idempotent(is_read_only)
        .open_world(kind == SchemaTool::Execute);
    let tool = make_tool(kind.name(), description.to_owned(), input, None, hints);
    let said = settings.overrides.get(kind.name()).cloned().unwrap_or_default();
    listed(&overrule(tool, said), ToolAction::Schema(kind), false)
}

/// Lines that `search` answers without and with a limit, and steps of `introspect`.
pub(super) const SEARCH_LINES: u32 = 20;
pub(super) const SEARCH_LINES_MAX: u32 = 50;
pub(super) const DEPTH_MAX: u32 = 3;
