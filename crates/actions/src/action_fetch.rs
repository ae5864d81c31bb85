//! A plan node of actions: calls of their handlers.
//!
//! Queries of one request are called together, mutations one after the other: each is a node of its own.

use crate::action_error::{ActionCode, ActionError};
use crate::answer::{AnswerColumns, MemberNames};
use crate::call::{BodyParts, HandlerCall, forwarded, session_variables};
use crate::schema::{ActionSchema, RootField};
use crate::source::Actions;
use futures_util::future::join_all;
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputArgument, OutputKind};
use weir_engine::rows::{Bitmap, CellError, Column, Table};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Ids, PlanNode, PreparedFetch,
    Protocol, SourceError, Tag,
};
use weir_http::call::push_trace_headers;
use weir_http::passthrough::Arguments;
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_language::string_value::write_json;

/// A prepared node.
pub(crate) struct ActionFetch {
    actions: Arc<Actions>,
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    kind: OperationKind,
    protocol: Protocol,
    /// The client's document.
    text: Box<str>,
    fields: Vec<ActionCall>,
    names: MemberNames,
}

/// A member of the node.
struct ActionCall {
    /// Position in the output plan.
    place: u32,
    /// The action; `None` if the member repeats an earlier one.
    action: Option<usize>,
    arguments: Vec<OutputArgument>,
}

impl ActionFetch {
    pub(crate) fn new(actions: Arc<Actions>, schema: &ActionSchema, node: &PlanNode<'_>) -> Self {
        let mut names = MemberNames::default();
        let fields = node.fields.iter().map(|&place| {
            let of = &node.output.fields[place as usize];
            let field = node.schema.field(of.field);
            let own = node.output.arguments(of).iter().copied();
            // Arguments of directives follow those of the field.
            let arguments = own.filter(|it| field.arguments.range().contains(&it.input.index())).collect();
            if let OutputKind::Object(set) = of.member {
                names.add(node, set);
            }
            let root = schema.roots.get(&node.ids.field(of.field)).filter(|_| of.same_as.is_none());
            let action = root.copied().map(RootField::action);
            ActionCall { place, action, arguments }
        });
        Self {
            fields: fields.collect(),
            actions,
            schema: Arc::clone(&schema.schema),
            ids: Arc::clone(node.ids),
            kind: node.kind,
            protocol: node.protocol,
            text: node.text.into(),
            names,
        }
    }

    /// The arguments of `call` as a JSON object, without those that were not given.
    fn input(&self, call: &ActionCall, input: &FetchInput<'_>) -> String {
        let values = Arguments { schema: &self.schema, ids: &self.ids, input, row: 0 };
        let mut out = b"{".to_vec();
        for argument in &call.arguments {
            let before = out.len();
            let mut name = String::new();
            write_json(self.schema.input_name(self.ids.input(argument.input)), &mut name);
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
            if values.write(*argument, &mut out) { out.push(b',') } else { out.truncate(before) }
        }
        out.pop_if(|it| *it == b',');
        out.push(b'}');
        String::from_utf8(out).unwrap_or_default()
    }

    /// Calls the handler of `call`, and makes a column of its answer.
    async fn call(&self, call: &ActionCall, input: &FetchInput<'_>) -> Result<Column, ActionError> {
        let Some(action) = call.action.and_then(|it| self.actions.model.actions.get(it)) else {
            return Ok(Column::default());
        };
        let definition = &action.entry.definition;
        let arguments = self.input(call, input);
        let session = session_variables(input.caller.claims());
        let mut client_headers = match definition.forward_client_headers {
            true => forwarded(input.headers, definition.ignored_client_headers.as_deref()),
            false => Vec::new(),
        };
        let template = || definition.handler.clone();
        let span = push_trace_headers(input.span, input.headers, &mut client_headers, template);
        let parts = BodyParts {
            action: &action.entry.name,
            input: &arguments,
            session_variables: &session,
            request_query: Some(&self.text),
        };
        let settings = &self.actions.settings;
        let deadline = input.deadline;
        let answer = HandlerCall { action, settings, parts, client_headers, deadline, span }.send().await?;
        let columns = AnswerColumns {
            schema: &self.schema,
            ids: &self.ids,
            output: input.output,
            names: &self.names,
            protocol: self.protocol,
        };
        let mut column = answer.read(settings.nesting_max, |it| columns.root(call.place, it))?;
        match column.errors.pop() {
            None => {
                answer.note_cookies(input.headers.notes());
                Ok(column)
            }
            Some(wrong) => {
                let error = ActionError::new(ActionCode::Answer, wrong.error.message);
                Err(error.with_internal(answer.internal))
            }
        }
    }

    /// The error of `call` as the caller sees it.
    fn show(&self, error: ActionError, input: &FetchInput<'_>) -> FieldError {
        error.for_caller(input.caller, self.protocol, self.actions.shows_internal, input.headers.notes())
    }

    async fn answer(&self, input: &FetchInput<'_>) -> Result<FetchResult, SourceError> {
        let mut columns = Vec::with_capacity(self.fields.len());
        if self.kind == OperationKind::Mutation {
            for call in &self.fields {
                let failed =
                    |error| SourceError::Rejected { error: self.show(error, input), field: Some(call.place) };
                columns.push(self.call(call, input).await.map_err(failed)?);
            }
        } else {
            let calls = join_all(self.fields.iter().map(|it| self.call(it, input))).await;
            columns.extend(
                calls.into_iter().map(|it| it.unwrap_or_else(|error| failed_column(self.show(error, input)))),
            );
        }
        let table = Table { rows: 1, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None })
    }
}

/// A column whose only value failed.
fn failed_column(error: FieldError) -> Column {
    let mut nulls = Bitmap::default();
    nulls.set(0);
    Column { nulls, errors: vec![CellError { row: 0, error }], ..Column::default() }
}

impl PreparedFetch for ActionFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move { self.answer(&input).await })
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn reads_untagged(&self) -> bool {
        true
    }

    /// A handler may do anything.
    fn may_change_data(&self) -> bool {
        true
    }

    fn reads_claims(&self) -> &[Box<str>] {
        &self.actions.reads_claims
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        for action in self.fields.iter().filter_map(|it| self.actions.model.actions.get(it.action?)) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "POST {}", action.entry.definition.handler);
        }
    }
}
