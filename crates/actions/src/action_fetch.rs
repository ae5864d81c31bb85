//! A plan node of actions: calls of their handlers.
//!
//! Queries of one request are called together, mutations one after the other: each is a node of its own.

use crate::action_error::{ActionCode, ActionError};
use crate::actions::Actions;
use crate::answer::{AnswerColumns, MemberNames};
use crate::asynchronous::{ActionLog, ActionLogError, NewCall, write_headers, write_result};
use crate::call::{BodyParts, HandlerCall, session_variables};
use crate::model::Action;
use crate::schema::{ActionSchema, RootField};
use futures_util::future::join_all;
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::caller::ADMIN;
use weir_engine::plan::output_plan::{OutputArgument, OutputKind};
use weir_engine::rows::{Bitmap, CellError, Column, Data, Table, Texts};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Ids, PlanNode, PreparedFetch,
    Protocol, SourceError, Tag,
};
use weir_http::call::push_trace_headers;
use weir_http::passthrough::{Arguments, collect_forwarded_headers};
use weir_language::ast::OperationKind;
use weir_language::json::Json;
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
    /// Meaning of the member; `None` if it repeats an earlier one.
    action: Option<RootField>,
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
            ActionCall { place, action: root.copied(), arguments }
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

    /// Answers `call`.
    async fn answer_field(&self, call: &ActionCall, input: &FetchInput<'_>) -> Result<Column, ActionError> {
        let action = |at: usize| &self.actions.model.actions[at];
        match call.action {
            Some(RootField::Call(at)) => self.call_handler(call, action(at), input).await,
            Some(RootField::Start(at)) => self.store_call(call, action(at), input).await,
            Some(RootField::Result(at)) => self.read_result(call, action(at), input).await,
            None => Ok(Column::default()),
        }
    }

    /// Calls the handler of `action`, and makes a column of its answer.
    async fn call_handler(
        &self,
        call: &ActionCall,
        action: &Action,
        input: &FetchInput<'_>,
    ) -> Result<Column, ActionError> {
        let definition = &action.entry.definition;
        let arguments = self.input(call, input);
        let session = session_variables(input.caller.claims());
        let mut client_headers = if definition.forward_client_headers {
            collect_forwarded_headers(input.headers, definition.ignored_client_headers.as_deref())
        } else {
            Vec::new()
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
        let has_details = self.actions.shows_internal && input.caller.role() == ADMIN;
        let call_to_make =
            HandlerCall { action, settings, parts, client_headers, deadline, span, has_details };
        let answer = call_to_make.send().await?;
        let columns = self.columns(input);
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

    fn columns<'a>(&'a self, input: &FetchInput<'a>) -> AnswerColumns<'a> {
        AnswerColumns {
            schema: &self.schema,
            ids: &self.ids,
            output: input.output,
            names: &self.names,
            protocol: self.protocol,
        }
    }

    /// Stores a call of `action`; its id is the column.
    async fn store_call(
        &self,
        call: &ActionCall,
        action: &Action,
        input: &FetchInput<'_>,
    ) -> Result<Column, ActionError> {
        let new = NewCall {
            action: action.entry.name.clone(),
            input: self.input(call, input),
            headers: write_headers(input.headers),
            session_variables: session_variables(input.caller.claims()),
        };
        let id = self.log()?.insert(new).await.map_err(log_error)?;
        let mut texts = Texts::default();
        texts.push(id.as_bytes());
        Ok(Column { data: Data::Text(texts), ..Column::default() })
    }

    /// Reads what became of a stored call of `action`.
    async fn read_result(
        &self,
        call: &ActionCall,
        action: &Action,
        input: &FetchInput<'_>,
    ) -> Result<Column, ActionError> {
        let arguments = self.input(call, input);
        let id = Json::parse(arguments.as_bytes(), 8)
            .ok()
            .and_then(|it| Some(it.root().get("id")?.as_str()?.to_ascii_lowercase()));
        let logged = match &id {
            Some(id) if is_uuid(id) => self.log()?.find(&action.entry.name, id).await.map_err(log_error)?,
            Some(_) | None => None,
        };
        let is_open = logged.as_ref().is_some_and(|it| it.response.is_none() && it.errors.is_none());
        let session = session_variables(input.caller.claims());
        let shown = logged.zip(id).and_then(|(logged, id)| {
            write_result(&id, &logged, input.caller, &session, self.actions.shows_internal)
        });
        if let Some(notes) = input.headers.notes().filter(|_| shown.is_none() || !is_open) {
            notes.set_final();
        }
        let text = shown.as_deref().unwrap_or("null");
        let json = Json::parse(text.as_bytes(), self.actions.settings.nesting_max.saturating_add(2));
        let json = json.map_err(|_| ActionError::new(ActionCode::Answer, "the stored result is no JSON"))?;
        Ok(self.columns(input).root(call.place, json.root()))
    }

    fn log(&self) -> Result<&dyn ActionLog, ActionError> {
        let missing = || ActionError::new(ActionCode::Unavailable, "calls of this action cannot be stored");
        self.actions.log.as_deref().ok_or_else(missing)
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
                columns.push(self.answer_field(call, input).await.map_err(failed)?);
            }
        } else {
            let calls = join_all(self.fields.iter().map(|it| self.answer_field(it, input))).await;
            columns.extend(
                calls.into_iter().map(|it| it.unwrap_or_else(|error| failed_column(self.show(error, input)))),
            );
        }
        let table = Table { rows: 1, columns, hidden: Vec::new() };
        Ok(FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None })
    }
}

/// True for 32 hexadecimal digits in groups.
fn is_uuid(text: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_right)
}

/// The error of a log that cannot be used, whose cause is told to the operator, or of one that waits for him.
fn log_error(error: ActionLogError) -> ActionError {
    if error.waits_for_operator {
        return ActionError::new(ActionCode::Unavailable, error.message);
    }
    tracing::error!(%error, "the log of asynchronous actions cannot be used");
    ActionError::new(ActionCode::Unavailable, "the log of asynchronous actions cannot be used")
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
        let actions = self.fields.iter().filter_map(|it| self.actions.model.actions.get(it.action?.action()));
        for action in actions {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "POST {}", action.entry.definition.handler);
        }
    }
}
