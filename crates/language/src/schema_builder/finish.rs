//! Makes a schema of what a builder collected: indexes, defaults, checks.
//!
//! A default may need the defaults of the input fields it leaves out, so defaults are coerced in the order of their
//! needs; one that needs itself is an error.
//!
//! **Cost:** linear; each default is coerced at most twice, and whose input it is is found out once.

use super::build::{PendingDefault, SchemaBuilder};
use super::input_owners::Owners;
use super::{applied_values, name_index, sound};
use crate::coerce::{Constant, constant};
use crate::error::{Code, Error};
use crate::ids::{InputId, TypeId};
use crate::limits::Limits;
use crate::span::Span;
use crate::suggest;
use crate::syntax::ast::{Document, ValueId};
use crate::syntax::parser;
use crate::type_system::{MetaFields, Schema};
use crate::value::{Node, Values};

/// Finishes `builder`. `documents` hold the literals of its defaults, and one text follows the other: a span of the
/// second document begins where the first one ends.
pub(super) fn finish(mut builder: SchemaBuilder, documents: &[Document<'_>]) -> Result<Schema, Vec<Error>> {
    undefined_types(&mut builder);
    set_roots(&mut builder);
    name_index::possible_types(&mut builder.schema);
    name_index::names(&mut builder.schema, &builder.places, &mut builder.errors);
    name_index::index_demanding_types(&mut builder.schema);
    // Further checks run only without missing or duplicate names, which would cause errors of their own.
    if builder.errors.is_empty() {
        let empty = builder.may_lack_queries.then_some(builder.schema.query);
        sound::check(&builder.schema, empty, &builder.places, &mut builder.errors);
    }
    if builder.errors.is_empty() {
        coerce_defaults(&mut builder, documents);
    }
    if builder.errors.is_empty() {
        let mut base = 0;
        for document in documents {
            applied_values::check_values(&builder.schema, document, base, &mut builder.errors);
            base += document.text.len() as u32;
        }
    }
    if builder.errors.is_empty() { Ok(builder.schema) } else { Err(builder.errors.into_errors()) }
}

fn undefined_types(builder: &mut SchemaBuilder) {
    for at in 0..builder.defined.len() {
        if !builder.defined[at] {
            let id = TypeId(at as u32);
            if builder.errors.are_enough() {
                return;
            }
            let name = builder.schema.type_name(id);
            let known = builder.defined.iter().zip(&builder.schema.types).filter(|it| *it.0);
            let known = known.map(|it| builder.schema.str(it.1.name));
            let suggestion = suggest::did_you_mean("", &suggest::find_near(name, known));
            let message = format!("Unknown type \"{name}\".{suggestion}");
            builder.errors.push(Error { message, spans: builder.places.of_type(id), code: Code::Schema });
        }
    }
}

fn set_roots(builder: &mut SchemaBuilder) {
    let [query, mutation, subscription] = builder.roots;
    match query {
        Some(query) => builder.schema.query = query,
        None => {
            builder.places.at = builder.places.schema;
            builder.complain("Query root type must be provided.".into());
        }
    }
    let schema = &mut builder.schema;
    schema.mutation = mutation;
    schema.subscription = subscription;
    let MetaFields { typename, schema: all, ty, no_queries } = schema.meta;
    for meta in [typename, all, ty, no_queries] {
        schema.fields[meta.index()].parent = schema.query;
    }
}

/// Progress of the coercion of a default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Done,
}

/// Place of the literal of a default.
#[derive(Clone, Copy)]
struct Written<'d> {
    document: &'d Document<'d>,
    value: ValueId,
    /// Offset to add to the document's spans; `None` for a generated document.
    shift: Option<u32>,
}

fn coerce_defaults(builder: &mut SchemaBuilder, documents: &[Document<'_>]) {
    let pending = std::mem::take(&mut builder.defaults);
    let text = literals_text(&builder.schema, &pending);
    let made_up = match parser::parse(&text, &Limits::NONE) {
        Ok(document) => document,
        Err(_) => return unreadable(builder, &pending),
    };
    let Some(sources) = sources(&pending, documents, &made_up) else { return unreadable(builder, &pending) };
    let states = vec![State::New; pending.len()];
    let mut defaults =
        Defaults { builder, pending, sources, states, scratch: Values::default(), owners: None };
    let mut stack = Vec::new();
    for first in 0..defaults.pending.len() {
        stack.push(first);
        defaults.coerce_all(&mut stack);
    }
}

/// Finds the literal of each default. `made_up` is the query that [`literals_text`] wrote.
fn sources<'d>(
    pending: &[PendingDefault],
    documents: &'d [Document<'_>],
    made_up: &'d Document<'_>,
) -> Option<Vec<Written<'d>>> {
    let mut shifts = Vec::with_capacity(documents.len());
    let mut shift = 0;
    for document in documents {
        shifts.push(shift);
        shift += document.text.len() as u32;
    }
    let mut made_up_values = made_up.variables.iter().map(|variable| variable.default);
    let source = |default: &PendingDefault| match default.written {
        Some((at, value)) => {
            let document = &documents[at as usize];
            Some(Written { document, value, shift: Some(shifts[at as usize]) })
        }
        None => Some(Written { document: made_up, value: made_up_values.next()??, shift: None }),
    };
    let sources = pending.iter().map(source).collect::<Option<Vec<_>>>()?;
    made_up_values.next().is_none().then_some(sources)
}

/// A query whose variables have the literals that only exist as text as their defaults; empty if there are none.
fn literals_text(schema: &Schema, pending: &[PendingDefault]) -> String {
    let mut text = String::from("query(");
    for default in pending.iter().filter(|it| it.written.is_none()) {
        let literal = schema.input(default.input).default.map_or("", |it| schema.str(it.literal));
        text.extend(["$v:T=", literal, "\n"]);
    }
    if text.ends_with('(') { "{a}".into() } else { text + "){a}" }
}

/// Some literal that was given as text is none: finds which.
fn unreadable(builder: &mut SchemaBuilder, pending: &[PendingDefault]) {
    let owners = Owners::of(&builder.schema);
    for default in pending.iter().filter(|it| it.written.is_none()) {
        let one = literals_text(&builder.schema, std::slice::from_ref(default));
        let read = parser::parse(&one, &Limits::NONE);
        if !read.is_ok_and(|document| document.variables.len() == 1) {
            let input = owners.coordinate(&builder.schema, default.input);
            builder.complain(format!("{input} has a default value that is no GraphQL literal."));
        }
    }
}

/// The defaults of a schema while they are coerced.
struct Defaults<'b, 'd> {
    builder: &'b mut SchemaBuilder,
    pending: Vec<PendingDefault>,
    /// By place in `pending`.
    sources: Vec<Written<'d>>,
    /// By place in `pending`.
    states: Vec<State>,
    scratch: Values,
    /// Owners of inputs, computed for the first error.
    owners: Option<Owners>,
}

impl Defaults<'_, '_> {
    /// Coerces the defaults on `stack` and those they need.
    fn coerce_all(&mut self, stack: &mut Vec<usize>) {
        while let Some(&top) = stack.last() {
            if self.builder.errors.are_enough() {
                return;
            }
            if self.states[top] != State::Done {
                self.states[top] = State::Begun;
                let needs = self.coerce_one(top);
                let needed = |id: &InputId| self.pending.binary_search_by_key(id, |it| it.input).ok();
                let mut needs: Vec<usize> = needs.iter().filter_map(needed).collect();
                needs.sort_unstable();
                needs.dedup();
                if let Some(&again) = needs.iter().find(|&&need| self.states[need] == State::Begun) {
                    let from = stack.iter().position(|&it| it == again).unwrap_or_default();
                    self.circle(&stack[from..]);
                } else if !needs.is_empty() {
                    stack.extend(needs);
                    continue;
                }
            }
            self.states[top] = State::Done;
            stack.pop();
        }
    }

    /// Coerces one default, or says which others it needs first.
    fn coerce_one(&mut self, at: usize) -> Vec<InputId> {
        let written = self.sources[at];
        let id = self.pending[at].input;
        let schema = &mut self.builder.schema;
        let ty = schema.input(id).ty;
        let value = schema.defaults.nodes.len() as u32;
        match constant(schema, written.document, written.value, ty, &mut self.scratch) {
            Constant::Fits => schema.defaults.push_copy(&self.scratch, 0),
            Constant::Needs(needs) => return needs,
            Constant::Wrong(errors) => {
                schema.defaults.nodes.push(Node::Null);
                self.wrong(id, written, errors);
            }
        }
        self.set_value(id, value);
        Vec::new()
    }

    fn set_value(&mut self, id: InputId, value: u32) {
        if let Some(default) = &mut self.builder.schema.inputs.extras_mut(id.index()).default {
            default.value = value;
        }
    }

    fn coordinate(&mut self, id: InputId) -> String {
        let schema = &self.builder.schema;
        self.owners.get_or_insert_with(|| Owners::of(schema)).coordinate(schema, id)
    }

    /// Reports what does not fit in the default of `id`.
    fn wrong(&mut self, id: InputId, written: Written<'_>, errors: Vec<Error>) {
        let input = self.coordinate(id);
        for error in errors {
            let shifted = |span: Span, shift: u32| Span::new(span.start + shift, span.end + shift);
            let spans = match written.shift {
                Some(shift) => error.spans.iter().map(|&span| shifted(span, shift)).collect(),
                None => self.builder.places.of_input(id),
            };
            let message = format!("{input} has invalid default value: {}", error.message);
            self.builder.errors.push(Error { message, spans, code: Code::Schema });
        }
    }

    /// Reports defaults that need each other, and lets the last of them be null so that the rest can go on.
    fn circle(&mut self, stack: &[usize]) {
        let begun = stack.iter().filter(|&&it| self.states[it] == State::Begun);
        let inputs: Vec<InputId> = begun.map(|&it| self.pending[it].input).collect();
        let names: Vec<String> = inputs.iter().map(|&id| self.coordinate(id)).collect();
        let (Some((first, rest)), Some(&last)) = (names.split_first(), inputs.last()) else { return };
        let through = match rest {
            [] => String::new(),
            rest => format!(" via the default values of: {}", rest.join(", ")),
        };
        let message = format!(
            "Invalid circular reference. The default value of Input Object field {first} references itself{through}."
        );
        let spans = inputs.iter().flat_map(|&id| self.builder.places.of_input(id)).collect();
        self.builder.errors.push(Error { message, spans, code: Code::Schema });
        let value = self.builder.schema.defaults.nodes.len() as u32;
        self.builder.schema.defaults.nodes.push(Node::Null);
        self.set_value(last, value);
    }
}

impl SchemaBuilder {
    /// Finishes the schema: possible types, indexes over names, coerced defaults, all rules of section 3.
    /// # Errors
    /// Everything that is wrong with it.
    pub fn build(self) -> Result<Schema, Vec<Error>> {
        finish(self, &[])
    }
}
