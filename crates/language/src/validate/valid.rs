//! A checked document: the text's tree with every name resolved.
//!
//! Side tables lie parallel to the document's arenas, so what a name means is one index away and no later
//! stage asks the schema again.
//!
//! **Invariant:** only [`super::validate`] makes a [`Valid`]; places are those of the document it was made from
//! and ids those of the schema it was checked against.
//!
//! **Cost:** twelve bytes per selection, four per argument, object field, directive and value,
//! eight per list or object in place of a scalar that takes any JSON.

use super::shown_literal::Quoted;
use crate::error::{Code, Error};
use crate::ids::{DirectiveId, FieldId, InputId, TypeId};
use crate::span::Span;
use crate::syntax::ast::{self, Document, OperationKind, ValueId};
use crate::syntax::wraps::Wraps;
use crate::type_system::TypeRef;

/// Stands in side tables where a name was not found.
pub(super) const NONE: u32 = u32::MAX;

/// The place of a fragment in [`Valid::fragments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentId(pub u32);

/// Resolution of a selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    /// [`FieldId`] of a field, [`FragmentId`] of a spread, or [`TypeId`] of an inline fragment.
    pub(super) target: u32,
    /// The type it is selected on.
    pub(super) parent: u32,
    /// Number of a field's response key.
    pub(super) key: u32,
}

/// Resolution of a variable definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolvedVariable {
    /// Base type of the variable.
    pub(super) ty: u32,
    /// The number of its name.
    pub(super) name: u32,
    /// Lists and marks: those that are declared, and those that the places of the items add.
    pub(super) wraps: Wraps,
}

impl ResolvedVariable {
    /// The resolution of a definition that nothing is known of.
    fn new(definition: &ast::VariableDefinition) -> Self {
        Self { ty: NONE, name: NONE, wraps: definition.ty.wraps }
    }
}

/// The tables while they are being filled; [`NONE`] where nothing is known.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) selections: Vec<Resolved>,
    pub(super) arguments: Vec<u32>,
    pub(super) object_fields: Vec<u32>,
    pub(super) directives: Vec<u32>,
    /// By variable definition.
    pub(super) variables: Vec<ResolvedVariable>,
    /// By value: the number of the variable's name.
    pub(super) values: Vec<u32>,
    /// Lists and objects in place of scalars that take any JSON, where the document has variables.
    pub(super) json: Vec<(ValueId, TypeId)>,
    pub(super) fragments: Vec<ValidFragment>,
    pub(super) operations: Vec<ValidOperation>,
    pub(super) keys_len: u32,
    pub(super) variable_names_len: u32,
}

impl Tables {
    pub(super) fn new(document: &Document<'_>) -> Self {
        Self {
            selections: vec![Resolved { target: NONE, parent: NONE, key: NONE }; document.selections.len()],
            arguments: vec![NONE; document.arguments.len()],
            object_fields: vec![NONE; document.object_fields.len()],
            directives: vec![NONE; document.directives.len()],
            variables: document.variables.iter().map(ResolvedVariable::new).collect(),
            values: vec![NONE; document.values.len()],
            json: Vec::new(),
            fragments: Vec::new(),
            operations: Vec::new(),
            keys_len: 0,
            variable_names_len: 0,
        }
    }
}

/// A fragment with its type.
#[derive(Clone, Copy, Debug)]
pub struct ValidFragment {
    /// Syntax tree.
    pub ast: ast::Fragment,
    /// The type after `on`.
    pub on: TypeId,
}

/// An operation with its root type.
#[derive(Clone, Copy, Debug)]
pub struct ValidOperation {
    /// Syntax tree.
    pub ast: ast::Operation,
    /// The type its root fields are selected on.
    pub root: TypeId,
}

/// A document that breaks no rule, with what its names mean.
#[derive(Debug)]
pub struct Valid<'d> {
    document: &'d Document<'d>,
    tables: Tables,
}

impl<'d> Valid<'d> {
    pub(super) fn new(document: &'d Document<'d>, tables: Tables) -> Self {
        Self { document, tables }
    }

    /// The document that was checked.
    #[inline]
    pub fn document(&self) -> &'d Document<'d> {
        self.document
    }

    /// The operations, in the order they were written.
    pub fn operations(&self) -> &[ValidOperation] {
        &self.tables.operations
    }

    /// The fragments, in the order they were written.
    #[inline]
    pub fn fragments(&self) -> &[ValidFragment] {
        &self.tables.fragments
    }

    /// The operation that `name` asks for. Source: GraphQL specification, section 6.1, GetOperation.
    /// # Errors
    /// No operation fits, or more than one could.
    pub fn operation(&self, name: Option<&str>) -> Result<Selected<'_, 'd>, Error> {
        let refuse = |message: String| Err(Error { message, spans: Vec::new(), code: Code::OperationName });
        let operations = &self.tables.operations;
        let at = match name {
            None if operations.len() > 1 => {
                return refuse(
                    "Must provide operation name if query contains multiple operations.".to_owned(),
                );
            }
            None => (!operations.is_empty()).then_some(0),
            // An anonymous operation has an empty span for a name, which no request can ask for.
            Some(name) => operations
                .iter()
                .position(|known| !known.ast.name.is_empty() && self.document.str(known.ast.name) == name),
        };
        match (at, name) {
            (Some(at), _) => Ok(self.select(at)),
            (None, Some(name)) => refuse(format!("Unknown operation named \"{}\".", Quoted(name))),
            (None, None) => refuse("Must provide an operation.".to_owned()),
        }
    }

    /// Operation number `at`, with the numbers of its variables.
    pub fn select(&self, at: usize) -> Selected<'_, 'd> {
        let operation = &self.tables.operations[at];
        // Definitions are numbered before all uses, so with one operation the numbers of names are its variables'.
        let numbers = (self.tables.operations.len() > 1).then(|| {
            let mut numbers = vec![NONE; self.tables.variable_names_len as usize];
            for (number, place) in operation.ast.variables.range().enumerate() {
                numbers[self.tables.variables[place].name as usize] = number as u32;
            }
            numbers
        });
        Selected { valid: self, operation, numbers }
    }

    /// The field that the selection at `at`, which is a field, selects.
    #[inline]
    pub fn field(&self, at: usize) -> FieldId {
        FieldId(self.tables.selections[at].target)
    }

    /// The type that the selection at `at` is made on.
    #[inline]
    pub fn parent(&self, at: usize) -> TypeId {
        TypeId(self.tables.selections[at].parent)
    }

    /// The number of the response key of the field at `at`: equal keys have equal numbers, all below
    /// [`Valid::keys_len`].
    #[inline]
    pub fn key(&self, at: usize) -> u32 {
        self.tables.selections[at].key
    }

    /// Number of different response keys of the document.
    pub fn keys_len(&self) -> usize {
        self.tables.keys_len as usize
    }

    /// The fragment that the selection at `at`, which is a spread, spreads.
    #[inline]
    pub fn fragment(&self, at: usize) -> FragmentId {
        FragmentId(self.tables.selections[at].target)
    }

    /// The type that the selection at `at`, which is a spread or an inline fragment, asks for; without a condition
    /// the type around it.
    #[inline]
    pub fn type_condition(&self, at: usize) -> TypeId {
        match self.document.selections[at] {
            ast::Selection::Spread(_) => self.tables.fragments[self.tables.selections[at].target as usize].on,
            ast::Selection::Inline(_) | ast::Selection::Field(_) => TypeId(self.tables.selections[at].target),
        }
    }

    /// The input of the argument at `at`, of a field or a directive.
    #[inline]
    pub fn input(&self, at: usize) -> InputId {
        InputId(self.tables.arguments[at])
    }

    /// The input of the field at `at` of an object literal; `None` inside a scalar that takes any object.
    pub fn object_field(&self, at: usize) -> Option<InputId> {
        let id = self.tables.object_fields[at];
        (id != NONE).then_some(InputId(id))
    }

    /// The directive applied at `at`.
    pub fn directive(&self, at: usize) -> DirectiveId {
        DirectiveId(self.tables.directives[at])
    }

    /// The type of the variable defined at `at` in the arena of definitions.
    pub fn variable_type(&self, at: usize) -> TypeRef {
        TypeRef { base: TypeId(self.tables.variables[at].ty), wraps: self.tables.variables[at].wraps }
    }
}

/// One operation of a checked document.
#[derive(Debug)]
pub struct Selected<'v, 'd> {
    valid: &'v Valid<'d>,
    operation: &'v ValidOperation,
    numbers: Option<Vec<u32>>,
}

impl<'v, 'd> Selected<'v, 'd> {
    /// The document it is part of.
    #[inline]
    pub fn valid(&self) -> &'v Valid<'d> {
        self.valid
    }

    /// The operation.
    pub fn operation(&self) -> &'v ValidOperation {
        self.operation
    }

    /// The kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.operation.ast.kind
    }

    /// Variables of the operation, in the order of their definitions. All of them are used.
    pub fn variables(&self) -> &'d [ast::VariableDefinition] {
        self.valid.document.list(self.operation.ast.variables)
    }

    /// The type of variable `number`.
    pub fn variable_type(&self, number: u32) -> TypeRef {
        self.valid.variable_type(self.operation.ast.variables.range().start + number as usize)
    }

    /// The lists and objects that stand in place of a scalar that takes any JSON, with the scalar: those of the operation
    /// and of all fragments.
    pub fn json_literals(&self) -> impl Iterator<Item = (ValueId, TypeId)> + '_ {
        let document = self.valid.document;
        let operations = &self.valid.tables.operations;
        let own = self.operation.ast.span;
        let is_ours = move |value: ValueId| {
            let at = document.value(value).span.start;
            let holds = |span: Span| (span.start..span.end).contains(&at);
            holds(own) || !operations.iter().any(|it| holds(it.ast.span))
        };
        self.valid.tables.json.iter().copied().filter(move |it| is_ours(it.0))
    }

    /// The variables that stand in fields of input objects: place, number of the variable, and field.
    pub fn variables_in_objects(&self) -> impl Iterator<Item = (ValueId, u32, InputId)> + '_ {
        let fields = self.valid.document.object_fields.iter().enumerate();
        fields.filter_map(|(at, field)| {
            let number = self.variable(field.value)?;
            Some((field.value, number, self.valid.object_field(at)?))
        })
    }

    /// The variable at `value`; `None` for a literal, or in a fragment of another operation.
    #[inline]
    pub fn variable(&self, value: ValueId) -> Option<u32> {
        let name = self.valid.tables.values[value.0 as usize];
        match &self.numbers {
            None => (name != NONE).then_some(name),
            Some(numbers) => numbers.get(name as usize).copied().filter(|&number| number != NONE),
        }
    }
}
