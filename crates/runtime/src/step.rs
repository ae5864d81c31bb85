//! One step of a plan: calls the resolvers of its fields and turns what they give into bytes or rows.
//!
//! **Invariant:** objects whose fields are fetched separately are kept until the request is over, so that a step below sees them
//! again; a step calls each of its resolvers once.
//!
//! **Cost:** per step a few allocations; per object none beyond the resolver's own.

pub(crate) mod intercepted_call;
pub(crate) mod library_source;
pub(crate) mod member_calls;
pub(crate) mod subscription_events;
pub(crate) mod type_guard;

use crate::context::batch_loader::{LoaderMemory, RequestMemory};
use crate::context::lookahead::Lookahead;
use crate::context::request_data::{Company, RequestData};
use crate::context::{Context, ContextParts};
use crate::input::{InputScope, Shape};
use crate::library::{FieldEntry, Library, visible_members};
use crate::resolve_error::{field_error, internal};
use crate::resolver::answers::{Answers, Failed, refused_error};
use crate::resolver::object_guard::Guard;
use crate::resolver::parents::{Kept, ObjectParents};
use crate::resolver::{Called, EventSource, Parents, Resolve, StepArguments};
use crate::step::intercepted_call::with_call_hooks;
use crate::step::member_calls::{MemberCalls, allows, join_answers, ready};
use crate::step::type_guard::{GuardedSet, guarded_sets, judge};
use futures_util::future::join_all;
use std::sync::Arc;
use weir_engine::memory::{Binder, Bindings, ObjectNumbers, RecordHost, Scope, Spot, Unbound, Writer};
use weir_engine::plan::output_plan::{OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSetId};
use weir_engine::rows::{Column, Rows};
use weir_engine::size_hint::SizeHint;
use weir_engine::source::{
    BoxFuture, EventStream, ExplainInput, FetchBody, FetchInput, FetchResult, FieldError, Finished, Ids,
    PlanError, PlanNode, PreparedFetch, SourceError, Tag,
};
use weir_engine::write::out::Out;
use weir_language::ast::OperationKind;
use weir_language::schema::FieldId;

/// A field of a step and its resolver.
struct StepField {
    /// Index in [`OutputPlan::fields`]; for a hidden field the index of the first member.
    field: u32,
    /// Output field that stands for a hidden field, which the output plan lacks.
    hidden: Option<OutputField>,
    call: Option<MemberCall>,
}

struct MemberCall {
    resolve: Arc<dyn Resolve>,
    stream: Option<Arc<dyn EventSource>>,
    guard: Option<Arc<Guard>>,
    filter: Option<Arc<Guard>>,
    shape: Shape,
    /// Per field of the arguments' Rust type: indexes of the value and of its default.
    slots: Vec<Option<(u32, Option<u32>)>>,
}

/// Origin of the parents.
enum ParentForm {
    Root,
    Objects(ObjectParents),
    Keys,
}

/// A prepared step.
struct LibraryFetch {
    library: Arc<Library>,
    ids: Arc<Ids>,
    bindings: Arc<Bindings>,
    members: Vec<StepField>,
    /// Number of members that are not hidden.
    shown: usize,
    parents: ParentForm,
    as_rows: bool,
    /// True if steps below need the objects.
    keeps: bool,
    /// True in a mutation, at its root and below.
    is_mutation: bool,
    /// Selections whose objects a type guard checks.
    guarded: Vec<GuardedSet>,
    asks: Vec<u32>,
    size: SizeHint,
}

/// Prepares the step of `node`.
pub(crate) fn prepare(
    library: &Arc<Library>,
    node: &PlanNode<'_>,
) -> Result<Box<dyn PreparedFetch>, PlanError> {
    if let Some(error) = visible_members::profile_limit_error(node.facts) {
        return Err(PlanError { error, field: node.fields.first().copied().unwrap_or(0) });
    }
    let host = Arc::clone(library) as Arc<dyn RecordHost>;
    let bindings = Bindings::new(&library.schema, node.ids, node.output, Some(host));
    let mut binder = Binder::new(node.output, bindings);
    let mut members = Vec::with_capacity(node.fields.len());
    for &field in node.fields {
        let output_field = &node.output.fields[field as usize];
        members.push(StepField { field, hidden: None, call: member_call(library, node, output_field) });
    }
    let shown = members.len();
    if node.parent_keys.is_some() {
        let hidden = node.output.set(node.set).hidden.iter();
        members.extend(hidden.map(|&id| hidden_member(library, node, id)));
    }
    let mut asks = Vec::new();
    for StepField { field, hidden, call } in &members {
        let Some(MemberCall { resolve, .. }) = call else { continue };
        let output_field = hidden.as_ref().unwrap_or(&node.output.fields[*field as usize]);
        resolve
            .bind(&mut binder, Spot { field: *field, output_field, ty: output_field.ty })
            .map_err(unfit)?;
        let loader = resolve.loader().and_then(|it| library.loaders.get(&it.0));
        asks.extend(loader.map(|it| it.number));
    }
    let bindings = binder.finish().map_err(|unbound| unfit(unbound[0].clone()))?;
    let parents = match node.parent_keys {
        None => ParentForm::Root,
        Some(_) if by_keys(library, node) => ParentForm::Keys,
        Some(_) => ParentForm::Objects(ObjectParents::new(node)),
    };
    let sets = sets_below(node);
    let guarded = guarded_sets(library, node, sets.iter().copied());
    let is_kept = |set: &SelectionSetId| node.output.set(*set).hidden.contains(&library.schema.meta.typename);
    Ok(Box::new(LibraryFetch {
        library: Arc::clone(library),
        ids: Arc::clone(node.ids),
        bindings: Arc::new(bindings),
        members,
        shown,
        parents,
        as_rows: node.answer.is_rows() || node.parent_keys.is_some() || !guarded.is_empty(),
        keeps: sets.iter().any(is_kept),
        guarded,
        is_mutation: node.kind == OperationKind::Mutation,
        asks,
        size: SizeHint::default(),
    }))
}

/// Error of a value whose type does not fit. [`crate::library::fit_checks`] cannot find it, as only the value tells its type.
fn unfit(unbound: Unbound) -> PlanError {
    PlanError { error: field_error(crate::resolve_error::INTERNAL, unbound.message), field: unbound.field }
}

fn entry<'l>(library: &'l Library, node: &PlanNode<'_>, field: FieldId) -> Option<&'l FieldEntry> {
    library.parts.field(node.ids.field(field))
}

/// The call of a member; `None` if another source answers it.
fn member_call(library: &Library, node: &PlanNode<'_>, output_field: &OutputField) -> Option<MemberCall> {
    if matches!(output_field.member, OutputKind::Foreign { .. }) {
        return None;
    }
    let entry = entry(library, node, output_field.field)?;
    let given = node.output.arguments(output_field);
    let slots = library.parts.shapes.fields(entry.shape).iter().map(|field| {
        let argument = given.iter().find(|it| node.ids.input(it.input) == field.input)?;
        Some((argument.value, argument.default))
    });
    let (resolve, stream) = with_call_hooks(library, node.ids.field(output_field.field), &entry.resolver);
    Some(MemberCall {
        resolve,
        stream,
        guard: entry.guard.clone(),
        filter: entry.filter.clone(),
        shape: entry.shape,
        slots: slots.collect(),
    })
}

/// A field that only nodes below need, called without arguments.
fn hidden_member(library: &Library, node: &PlanNode<'_>, id: FieldId) -> StepField {
    let ty = node.schema.field(id).ty;
    let key = ResponseKey::new("hidden");
    let output_field = OutputField {
        key,
        field: id,
        ty,
        arguments_start: 0,
        arguments_len: 0,
        member: OutputKind::Leaf,
        same_as: None,
        offset: 0,
        membership: 0,
    };
    let call = member_call(library, node, &output_field);
    StepField { field: node.fields.first().copied().unwrap_or(0), hidden: Some(output_field), call }
}

/// True if the parents are known only by their keys.
fn by_keys(library: &Library, node: &PlanNode<'_>) -> bool {
    let first = node.fields.first().map(|&it| node.output.fields[it as usize].field);
    first.and_then(|it| entry(library, node, it)).is_some_and(|it| it.resolver.keys.is_some())
}

/// The selections of a step, each once.
fn sets_below(node: &PlanNode<'_>) -> Vec<SelectionSetId> {
    let output: &OutputPlan = node.output;
    let mut sets = Vec::new();
    let mut stack = Vec::new();
    let push = |output_field: &OutputField, stack: &mut Vec<_>| match output_field.member {
        OutputKind::Object(set) => stack.push(set),
        OutputKind::Abstract(choice) => {
            stack.extend(output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1));
        }
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
    };
    node.fields.iter().for_each(|&it| push(&output.fields[it as usize], &mut stack));
    while let Some(set) = stack.pop() {
        if !sets.contains(&set) {
            sets.push(set);
            output.members(set).iter().for_each(|it| push(it, &mut stack));
        }
    }
    sets
}

/// Memory of loaders during a fetch.
enum Memory {
    Shared(Arc<LoaderMemory>),
    /// No other fetch can load the same keys.
    Own(RequestMemory),
}

impl Memory {
    fn of(input: FetchInput<'_>, company: Option<&Company>) -> Self {
        let own = || request_data(input).map(|it| &*it.memory);
        let scope = || input.request_scope?.cache.get::<RequestMemory>();
        match company.map(|it| &*it.memory).or_else(own).or_else(scope).map(|it| &it.0) {
            Some(shared) => Self::Shared(Arc::clone(shared)),
            None => Self::Own(RequestMemory::default()),
        }
    }
    fn get(&self) -> &Arc<LoaderMemory> {
        match self {
            Self::Shared(memory) => memory,
            Self::Own(memory) => &memory.0,
        }
    }
}

fn request_data(input: FetchInput<'_>) -> Option<&RequestData> {
    input.headers.data()?.downcast_ref()
}

impl LibraryFetch {
    fn output_field_of<'o>(&'o self, member: &'o StepField, output: &'o OutputPlan) -> &'o OutputField {
        member.hidden.as_ref().unwrap_or(&output.fields[member.field as usize])
    }

    /// Requests that this step loads together with.
    fn company<'r>(&self, input: FetchInput<'r>) -> Option<&'r Company> {
        if self.is_mutation {
            return None;
        }
        request_data(input)?.company.as_ref()
    }

    fn context(&self, member: &StepField, input: FetchInput<'_>, memory: &Memory) -> Context {
        let data = request_data(input);
        let mut headers = Vec::new();
        for name in &self.library.headers {
            input.headers.each(name, &mut |value| headers.push((name.clone(), value.into())));
        }
        Context::new(ContextParts {
            data: Arc::clone(&self.library.data),
            loaders: Arc::clone(&self.library.loaders),
            host: Arc::clone(&self.library) as Arc<dyn RecordHost>,
            request: data.map(|it| Arc::clone(&it.data)),
            memory: Arc::clone(memory.get()),
            caller: input.caller.clone(),
            deadline: input.deadline,
            lookahead: Lookahead::new(input.output, &self.library.schema, &self.ids, member.field),
            headers,
        })
    }

    /// Number of parents.
    fn rows(&self, input: FetchInput<'_>) -> usize {
        match self.parents {
            ParentForm::Root => 1,
            ParentForm::Objects(_) | ParentForm::Keys => {
                input.parent_keys.and_then(|it| it.first()).map_or(1, Column::len)
            }
        }
    }

    /// The arguments of a call, as they lie in the plan and the variables.
    fn arguments<'r>(&'r self, call: &'r MemberCall, input: FetchInput<'r>) -> StepArguments<'r> {
        let schema = &*self.library.schema;
        let ids = &*self.ids;
        let variables = &**input.variables;
        let uploads = request_data(input).map_or(&[][..], |it| &*it.uploads);
        let scope = InputScope { shapes: &self.library.parts.shapes, schema, ids, variables, uploads };
        StepArguments { scope, shape: call.shape, literals: &input.output.literals, slots: &call.slots }
    }

    /// The values of `member` without the items that its filter refuses.
    fn apply_filter(
        &self,
        member: &StepField,
        mut answers: Box<dyn Answers>,
        input: FetchInput<'_>,
        memory: &Memory,
    ) -> Box<dyn Answers> {
        let Some(filter) = member.call.as_ref().and_then(|it| it.filter.as_deref()) else { return answers };
        let context = self.context(member, input, memory);
        if answers.filter(&|items| filter(Parents::Objects(items), &context)) {
            answers
        } else {
            Box::new(Failed { error: internal(), rows: self.rows(input) })
        }
    }

    /// Bytes or rows of all members.
    fn reply(
        &self,
        input: FetchInput<'_>,
        memory: &Memory,
        answers: Vec<Option<Box<dyn Answers>>>,
    ) -> Result<FetchResult, SourceError> {
        if !self.as_rows {
            return Ok(self.finish(input, &answers));
        }
        let numbers = ObjectNumbers::default();
        let scope = Scope::new(input.output, &self.bindings).with_numbers(&numbers);
        let columns = self.members.iter().zip(&answers).map(|(member, answers)| match answers {
            Some(answers) => {
                let output_field = self.output_field_of(member, input.output);
                let spot = Spot { field: member.field, output_field, ty: output_field.ty };
                let mut column = answers.column(spot, scope);
                if !self.guarded.is_empty() && member.hidden.is_none() {
                    let context = self.context(member, input, memory);
                    // The pass of the type guards numbers the objects itself.
                    let scope = Scope::new(input.output, &self.bindings);
                    judge(&self.guarded, &**answers, spot, scope, &context, &mut column);
                }
                column
            }
            None => Column::default(),
        });
        let mut columns: Vec<Column> = columns.collect();
        let hidden = columns.split_off(self.shown);
        let rows = Rows { rows: self.rows(input) as u32, columns, hidden };
        if let Some(objects) = input.objects.filter(|_| self.keeps) {
            let answers = self.members.iter().zip(answers).take(self.shown);
            let answers = answers.filter_map(|(member, it)| Some((member.field, it?))).collect();
            objects.own.keep(Kept { bindings: Arc::clone(&self.bindings), answers });
        }
        Ok(FetchResult { body: FetchBody::Rows(rows), errors: Vec::new(), cache_control: None })
    }

    /// The response's bytes, written straight from the values.
    fn finish(&self, input: FetchInput<'_>, answers: &[Option<Box<dyn Answers>>]) -> FetchResult {
        let mut out = Out::new(Vec::with_capacity(self.size.room(64)));
        let mut errors = Vec::new();
        let mut ends = Vec::with_capacity(self.members.len());
        let mut failed = false;
        for (member, answers) in self.members.iter().zip(answers) {
            let output_field = self.output_field_of(member, input.output);
            let mark = out.len();
            let before = errors.len();
            let mut writer = Writer::new(input.output, &self.bindings, &mut out, &mut errors);
            failed = !answers.as_ref().is_some_and(|it| it.write(0, member.field, output_field, &mut writer));
            if failed {
                out.truncate(mark);
            }
            errors[before..].iter_mut().for_each(|it| it.path.reverse());
            ends.push(out.len() as u32);
            if failed {
                break;
            }
        }
        let body = Finished { bytes: self.size.record_size(out.into_bytes(), 0), ends, failed, rest: None };
        FetchResult { body: FetchBody::Finished(body), errors, cache_control: None }
    }
}

impl PreparedFetch for LibraryFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let company = self.company(input);
        let memory = Memory::of(input, company);
        if self.is_mutation && matches!(self.parents, ParentForm::Root) {
            memory.get().clear();
        }
        let calls = self.call_members(input, &memory);
        let rows = self.rows(input);
        if ready(&calls) {
            let answers = calls.into_iter().zip(&self.members).map(|(called, member)| {
                let MemberCalls { calls, rows: order } = called?;
                let values = calls.into_iter().filter_map(|it| match it {
                    Called::Ready(answers) => Some(answers),
                    Called::Later(_) | Called::AfterLevel(_) => None,
                });
                Some(self.apply_filter(member, join_answers(values.collect(), order, rows), input, &memory))
            });
            let answers = answers.collect();
            let reply = self.reply(input, &memory, answers);
            return Box::pin(std::future::ready(reply));
        }
        Box::pin(async move {
            let barrier = input.request_scope.and_then(|it| it.barrier);
            let one = |called: Called| async move {
                match called {
                    Called::Ready(answers) => answers,
                    Called::Later(answers) => answers.await,
                    Called::AfterLevel(answers) => {
                        if let Some(barrier) = barrier {
                            barrier.complete().await;
                        }
                        if let Some(Company { turns, .. }) = company {
                            turns.wait().await;
                        }
                        answers.await
                    }
                }
            };
            let memory = &memory;
            let members = calls.into_iter().zip(&self.members).map(|(called, member)| async move {
                let MemberCalls { calls, rows: order } = called?;
                let answers = join_answers(join_all(calls.into_iter().map(one)).await, order, rows);
                Some(self.apply_filter(member, answers, input, memory))
            });
            let answers = join_all(members).await;
            self.reply(input, memory, answers)
        })
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn asks(&self) -> &[u32] {
        &self.asks
    }

    fn has_objects(&self) -> bool {
        self.keeps || matches!(self.parents, ParentForm::Objects(_))
    }

    fn reads_headers(&self) -> &[Box<str>] {
        &self.library.headers
    }

    fn events(&self, input: FetchInput<'_>) -> Option<Result<EventStream, FieldError>> {
        let has_stream = |it: &&StepField| it.call.as_ref().is_some_and(|it| it.stream.is_some());
        let member = self.members.iter().find(has_stream)?;
        let call = member.call.as_ref()?;
        let source = call.stream.as_deref()?;
        let context = self.context(member, input, &Memory::of(input, None));
        if !allows(call.guard.as_deref(), 1, &context) {
            return Some(Err(refused_error()));
        }
        let opened = source.open(self.arguments(call, input), &context);
        Some(opened.map(|events| subscription_events::runs(events, request_data(input))))
    }

    fn explain(&self, input: ExplainInput<'_>, out: &mut String) {
        let schema = &self.library.schema;
        for (at, member) in self.members.iter().enumerate() {
            let field = self.ids.field(self.output_field_of(member, input.output).field);
            if field.0 == u32::MAX {
                continue;
            }
            let on = schema.type_name(schema.field(field).parent);
            out.push_str(if at == 0 { "" } else { ", " });
            out.push_str(&format!("resolver {on}.{}", schema.field_name(field)));
        }
    }
}
