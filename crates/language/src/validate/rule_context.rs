//! State shared by all rules: schema, document, side tables, errors found so far.
//!
//! **Invariant:** [`Context::report`] keeps at most `errors_max` errors; once that many are there
//! [`Context::is_full`] tells every loop to stop, so refusing a hostile document costs no more than refusing a bad one.

use super::Options;
use super::name_numbers::Names;
use super::shown_literal::Quoted;
use super::valid::Tables;
use crate::coerce::Reading;
use crate::error::{Code, Error};
use crate::ids::TypeId;
use crate::span::Span;
use crate::suggest;
use crate::syntax::ast::{self, Document, ValueId};
use crate::type_system::{Run, SchemaView, TypeRef};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Places one error may name. More would make the answer longer than the document.
const SPANS_MAX: usize = 20;

/// A value and what its place takes.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) value: ValueId,
    pub(super) ty: Option<TypeRef>,
    pub(super) has_default: bool,
    pub(super) one_of: Option<TypeId>,
}

/// A use of a variable, to be held against the definitions of every operation that reaches it.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// The variable's place.
    pub(super) value: ValueId,
    /// The variable's number in [`Context::variables`].
    pub(super) name: u32,
    /// Type that the position expects; `None` if unknown or if any value is allowed.
    pub(super) expected: Option<TypeRef>,
    /// True if the place has a default of its own.
    pub(super) has_default: bool,
    /// The OneOf input object whose field the place is.
    pub(super) one_of: Option<TypeId>,
}

/// A spread, as the graph of fragments sees it.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// Index in the arena of selections.
    pub(super) selection: u32,
    /// The fragment's number.
    pub(super) fragment: u32,
    /// Fields around it, from the definition's own top.
    pub(super) depth: u32,
    /// Introspection fields around it.
    pub(super) introspection: u32,
}

/// Counts of one operation or fragment, without its spreads.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    /// Range in [`Context::uses`].
    pub(super) uses: Run,
    /// Range in [`Context::edges`].
    pub(super) edges: Run,
    /// Fields.
    pub(super) fields: u32,
    /// Most fields on one way down.
    pub(super) depth: u32,
    /// Most introspection fields on one way down.
    pub(super) introspection: u32,
}

/// The state of one validation.
pub(super) struct Context<'a> {
    pub(super) schema: SchemaView<'a>,
    pub(super) document: &'a Document<'a>,
    pub(super) options: &'a Options,
    /// Lenient: literals are left to coercion, which reads more of them, and variables may be unused.
    pub(super) reading: Reading,
    pub(super) errors: Vec<Error>,
    pub(super) tables: Tables,
    /// Response keys.
    pub(super) keys: Names<'a>,
    /// Names of variables, whatever operation defines them.
    pub(super) variables: Names<'a>,
    /// Names of fragments.
    pub(super) fragment_names: Names<'a>,
    /// By name number: the first fragment of that name.
    pub(super) fragment_by_name: Vec<u32>,
    /// Uses of variables, definition by definition.
    pub(super) uses: Vec<Use>,
    /// Spreads of fragments that exist, definition by definition.
    pub(super) edges: Vec<Edge>,
    /// Places of `@defer` and `@stream`, in document order.
    pub(super) incremental: Vec<u32>,
    /// Scratch of [`crate::validate::value_walk`].
    pub(super) values: Vec<Expected>,
    /// By operation, then by fragment.
    pub(super) operation_scopes: Vec<Scope>,
    pub(super) fragment_scopes: Vec<Scope>,
    /// True for pairs of types that can have an object in common; a cache.
    pub(super) overlaps: HashMap<(TypeId, TypeId), bool, RandomState>,
}

impl<'a> Context<'a> {
    /// True if literals are checked against their types here.
    pub(super) fn checks_values(&self) -> bool {
        self.reading == Reading::Strict
    }

    pub(super) fn new(
        schema: SchemaView<'a>,
        document: &'a Document<'a>,
        options: &'a Options,
        reading: Reading,
    ) -> Self {
        let hasher = RandomState::default();
        Self {
            schema,
            document,
            options,
            reading,
            errors: Vec::new(),
            tables: Tables::new(document),
            keys: Names::new(hasher.clone()),
            variables: Names::new(hasher.clone()),
            fragment_names: Names::new(hasher.clone()),
            fragment_by_name: Vec::new(),
            uses: Vec::new(),
            edges: Vec::new(),
            incremental: Vec::new(),
            values: Vec::new(),
            operation_scopes: Vec::new(),
            fragment_scopes: Vec::new(),
            overlaps: HashMap::with_hasher(hasher),
        }
    }

    /// True if the limit of errors is reached.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= (self.options.limits.errors_max as usize).max(1)
    }

    /// Notes a violation.
    #[cold]
    pub(super) fn report(&mut self, spans: &[Span], message: String) {
        self.report_as(Code::Validation, spans, message);
    }

    /// Notes a violation with a code of its own.
    #[cold]
    pub(super) fn report_as(&mut self, code: Code, spans: &[Span], message: String) {
        if !self.is_full() {
            let spans = spans[..spans.len().min(SPANS_MAX)].to_vec();
            self.errors.push(Error { message, spans, code });
        }
    }

    /// The text of a name or value for a message.
    pub(super) fn quoted_text(&self, span: Span) -> Quoted<'a> {
        Quoted(self.document.str(span))
    }

    /// ` Did you mean "a" or "b"?` with those of `names` that are near `name`; empty when suggestions are off.
    #[cold]
    pub(super) fn suggestion<'n>(&self, name: Span, names: impl Iterator<Item = &'n str>) -> String {
        if !self.options.suggestions {
            return String::new();
        }
        suggest::did_you_mean("", &suggest::find_near(self.document.str(name), names))
    }

    /// `{` of the selection set of a field, operation or fragment whose parts before it are given.
    pub(super) fn brace(
        &self,
        after: u32,
        arguments: &[ast::Argument],
        directives: &[ast::Directive],
    ) -> Span {
        let from = arguments.last().map_or(after, |last| last.span.end);
        let from = directives.last().map_or(from, |last| last.span.end);
        let bytes = self.document.text.as_bytes();
        let mut at = from as usize;
        while at < bytes.len() && bytes[at] != b'{' {
            if bytes[at] == b'#' {
                while at < bytes.len() && !matches!(bytes[at], b'\n' | b'\r') {
                    at += 1;
                }
            } else {
                at += 1;
            }
        }
        Span::new(at as u32, (at as u32 + 1).min(bytes.len() as u32))
    }
}
