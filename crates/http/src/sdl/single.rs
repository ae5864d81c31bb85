//! Check for expressions that must be a single value (in a URL, a header or a query parameter) but are certainly objects.
//!
//! Expressions that depend on the request, as a value of a custom scalar, are checked when the call is made.
//!
//! **Invariant:** depth is that of the expression, which is bounded.

use super::expression_keys::Where;
use super::{Outside, Reader};
use crate::selection::value::Value;
use crate::selection::{
    Call, Expr, ExprId, Member, Method, Selection, SelectionError, Start, Step, StepKind, Variable,
    leading_keys,
};
use weir_language::ast::ValueId;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind, TypeRef};

/// Message for an object as a member of a parameter's argument.
const IS_OBJECT: &str = "this is an object, and a parameter is a single value or a list";
/// Message for a nested list in a parameter.
const IN_LIST: &str = "this holds a list within a list, and a parameter is a single value or a list of them: write `->joinNotNull(',')`";

/// Certain facts about the value of an expression. Nothing is a value of every shape.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ValueShape {
    is_list: bool,
    /// True for an object, and for a list that contains one.
    has_object: bool,
}

/// An expression of a request, and the field whose arguments it reads.
struct Single<'s> {
    schema: &'s Schema,
    selection: &'s Selection,
    args: Option<FieldId>,
    /// Type whose fields are `$this`.
    this: Option<TypeId>,
    outside: &'s Outside<'s>,
}

impl Reader<'_> {
    fn single<'s>(&'s self, selection: &'s Selection, place: &Where) -> Single<'s> {
        let this = place.this.filter(|it| !self.mapping.foreign.contains(it));
        Single { schema: &self.mapping.schema, selection, args: place.args, this, outside: self.outside }
    }

    /// Checks `path`: a list of single values.
    pub(super) fn check_path(&mut self, selection: &Selection, literal: ValueId, place: &Where) {
        let single = self.single(selection, place);
        let root = selection.root();
        let ValueShape { is_list, has_object } = single.shape(root);
        let is_no_list = !is_list && (has_object || single.has_no_names(root));
        let nested = single.find_nested(root).or_else(|| has_object.then_some(root));
        let error = if is_no_list {
            let message = "a path is a list of segments: write `$(['of', $args.name])`";
            Some(SelectionError::new(selection.span(root), message))
        } else {
            let message = "this is a list or an object, and a segment of a path is a single value: write `->joinNotNull(',')`";
            nested.map(|it| SelectionError::new(selection.span(it), message))
        };
        if let Some(error) = error {
            self.complain_within(literal, error);
        }
    }

    /// Checks `queryParams`: an object of single values and lists of them.
    pub(super) fn check_params(&mut self, selection: &Selection, literal: ValueId, place: &Where) {
        let single = self.single(selection, place);
        if let Some(error) = single.params(selection.root()) {
            self.complain_within(literal, error);
        }
    }

    /// Checks that the expression in braces, at byte `shift` of its string, is a single value.
    pub(super) fn check_single(
        &mut self,
        selection: &Selection,
        literal: ValueId,
        shift: u32,
        place: &Where,
    ) {
        let single = self.single(selection, place);
        let root = selection.root();
        let shape = single.shape(root);
        let message = if shape.has_object {
            "this is an object, and a single value belongs here: name one of its members"
        } else if shape.is_list {
            "this is a list, and a single value belongs here: write `->joinNotNull(',')`, or a parameter of `queryParams`"
        } else {
            return;
        };
        self.complain_shifted(literal, shift, SelectionError::new(selection.span(root), message));
    }

    /// Checks a form: an object, or a list of objects.
    pub(super) fn check_form(&mut self, body: &Selection, literal: ValueId, place: &Where) {
        let single = self.single(body, place);
        if single.is_no_form(body.root()) {
            let message = "a form has names: write `name: value`";
            self.complain_within(literal, SelectionError::new(body.span(body.root()), message));
        }
    }
}

impl Single<'_> {
    fn params(&self, id: ExprId) -> Option<SelectionError> {
        let wrong = |id: ExprId, message: &str| Some(SelectionError::new(self.selection.span(id), message));
        let value = |id: ExprId| {
            let message = "this is an object, and a parameter is a single value or a list: name its members, or write `->jsonStringify`";
            let object = self.shape(id).has_object.then(|| wrong(id, message)).flatten();
            object.or_else(|| self.find_nested(id).and_then(|it| wrong(it, IN_LIST)))
        };
        let members = |members: &[Member]| {
            members
                .iter()
                .find_map(|it| if it.name.is_some() { value(it.value) } else { self.params(it.value) })
        };
        match self.selection.expr(id) {
            Expr::Members(all) => members(all),
            Expr::Object(all) => all.iter().find_map(|it| value(it.1)),
            Expr::Merged(parts) => parts.iter().find_map(|&it| self.params(it)),
            Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) | Expr::Array(_) => {
                wrong(id, "parameters have names: write `name: value`")
            }
            Expr::Path { .. } if self.has_no_names(id) => {
                let path = self.selection.span(id);
                let message = match self.selection.expr(id) {
                    Expr::Path { start: Start::Variable(it), .. } => {
                        format!("parameters have names: write `name: ${}.name`", it.name())
                    }
                    _ => "parameters have names: write `name: value`".to_owned(),
                };
                Some(SelectionError::new(path, message))
            }
            Expr::Path { start: Start::Variable(Variable::Args), steps } => {
                let (keys, rest) = keys(steps);
                let [Step { kind: StepKind::Members(all), .. }] = rest else { return None };
                let of_member = |it: &Member| match self.selection.expr(it.value) {
                    Expr::Path { start: Start::Key(key), steps } if steps.is_empty() => {
                        let path: Vec<&str> = keys.iter().copied().chain([&**key]).collect();
                        let ty = self.argument(&path)?;
                        match (self.is_input(ty), is_nested(ty)) {
                            (true, _) => wrong(it.value, IS_OBJECT),
                            (false, true) => wrong(it.value, IN_LIST),
                            (false, false) => None,
                        }
                    }
                    _ => None,
                };
                all.iter().find_map(of_member)
            }
            Expr::Null | Expr::Coalesce(_) | Expr::IfMissing(_) | Expr::Path { .. } => None,
        }
    }

    /// True if `id` is certainly neither an object nor a list of objects.
    fn is_no_form(&self, id: ExprId) -> bool {
        match self.selection.expr(id) {
            Expr::Array(items) => items.is_empty() || items.iter().any(|&it| self.is_no_form(it)),
            Expr::Path { start: Start::Value(inner), steps } if steps.is_empty() => self.is_no_form(*inner),
            _ => self.has_no_names(id),
        }
    }

    /// True if `id` is certainly a list or a single value, whose parts have no names.
    fn has_no_names(&self, id: ExprId) -> bool {
        match self.selection.expr(id) {
            Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) | Expr::Array(_) => true,
            Expr::Path { start: Start::Variable(variable), steps } => {
                let (keys, rest) = keys(steps);
                let is_whole = rest.is_empty();
                match variable {
                    Variable::Args => {
                        let named = |ty| self.is_input(ty) && !ty.wraps.is_list() || self.is_any(ty);
                        is_whole && self.argument(&keys).is_some_and(|ty| !named(ty))
                    }
                    Variable::This => {
                        is_whole
                            && keys.len() == 1
                            && self.parent_field(keys[0]).is_none_or(|it| self.is_leaf(it))
                    }
                    Variable::Batch => is_whole || self.shape(id).is_list,
                    Variable::Config => {
                        self.config(steps).is_some_and(|it| !it.is_nothing() && !it.is_object())
                    }
                    _ => false,
                }
            }
            Expr::Path { start: Start::Value(inner), steps } => steps.is_empty() && self.has_no_names(*inner),
            _ => false,
        }
    }

    /// The first part of `id` that is certainly a list or an object within a list.
    fn find_nested(&self, id: ExprId) -> Option<ExprId> {
        let is_no_single = |it: &ExprId| self.shape(*it) != ValueShape::default();
        match self.selection.expr(id) {
            Expr::Array(items) => items.iter().copied().find(is_no_single),
            Expr::Coalesce(items) | Expr::IfMissing(items) => {
                items.iter().find_map(|&it| self.find_nested(it))
            }
            Expr::Path { start: Start::Value(inner), steps } if steps.is_empty() => self.find_nested(*inner),
            Expr::Path { start, steps } => match steps.last().map(|it| &it.kind) {
                Some(StepKind::Call(call)) if call.method == Method::Map => {
                    call.arguments.iter().copied().find(is_no_single)
                }
                Some(StepKind::Key(_)) if *start == Start::Variable(Variable::Args) => {
                    let (keys, rest) = keys(steps);
                    let is_nested = rest.is_empty() && self.argument(&keys).is_some_and(is_nested);
                    is_nested.then_some(id)
                }
                Some(StepKind::Key(_)) if *start == Start::Variable(Variable::Config) => {
                    let items = self.config(steps).and_then(|it| it.items()).unwrap_or_default();
                    items.iter().any(|it| it.is_object() || it.items().is_some()).then_some(id)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The value at `steps` of `$config`, if all steps are names and it has a value.
    fn config(&self, steps: &[Step]) -> Option<Value<'static>> {
        let (keys, rest) = keys(steps);
        self.outside.config(&keys).filter(|_| rest.is_empty())
    }

    /// Certain facts about the value of `id`, if it has one.
    fn shape(&self, id: ExprId) -> ValueShape {
        match self.selection.expr(id) {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => ValueShape::default(),
            Expr::Object(_) | Expr::Merged(_) | Expr::Members(_) => {
                ValueShape { is_list: false, has_object: true }
            }
            Expr::Array(items) => ValueShape { is_list: true, ..self.any_shape(items) },
            Expr::Coalesce(items) | Expr::IfMissing(items) => self.any_shape(items),
            Expr::Path { start, steps } => self.path_shape(start, steps),
        }
    }

    /// Facts that hold for one of `items`.
    fn any_shape(&self, items: &[ExprId]) -> ValueShape {
        items.iter().map(|&it| self.shape(it)).fold(ValueShape::default(), |all, it| ValueShape {
            is_list: all.is_list || it.is_list,
            has_object: all.has_object || it.has_object,
        })
    }

    fn path_shape(&self, start: &Start, steps: &[Step]) -> ValueShape {
        if *start == Start::Variable(Variable::Config)
            && let Some(value) = self.config(steps)
        {
            let items = value.items();
            let has_object =
                value.is_object() || items.as_ref().is_some_and(|all| all.iter().any(Value::is_object));
            return ValueShape { is_list: items.is_some(), has_object };
        }
        let Some((last, before)) = steps.split_last() else {
            return match start {
                Start::Value(inner) => self.shape(*inner),
                Start::Variable(variable) => ValueShape {
                    is_list: *variable == Variable::Batch,
                    has_object: *variable == Variable::Args,
                },
                Start::Scope | Start::Current | Start::Local(_) | Start::Key(_) => ValueShape::default(),
            };
        };
        match (&last.kind, start) {
            (StepKind::Key(_), Start::Variable(Variable::Args)) => {
                let (keys, rest) = keys(steps);
                if !rest.is_empty() {
                    return ValueShape::default();
                }
                let is_list = |len: usize| self.argument(&keys[..len]).is_some_and(|ty| ty.wraps.is_list());
                ValueShape {
                    is_list: (1..=keys.len()).any(is_list),
                    has_object: self.argument(&keys).is_some_and(|ty| self.is_input(ty)),
                }
            }
            (StepKind::Key(_), Start::Variable(Variable::This)) => {
                let (keys, rest) = keys(steps);
                let field = keys.first().and_then(|it| self.parent_field(it)).filter(|_| rest.is_empty());
                ValueShape { is_list: field.is_some_and(|it| it.wraps.is_list()), has_object: false }
            }
            (StepKind::Key(_), _) => ValueShape { has_object: false, ..self.path_shape(start, before) },
            (StepKind::Members(_), _) => ValueShape { has_object: true, ..self.path_shape(start, before) },
            (StepKind::Optional | StepKind::Bind { .. }, _) => self.path_shape(start, before),
            (StepKind::UnknownCall { .. }, _) => ValueShape::default(),
            (StepKind::Call(call), _) => self.call_shape(call, start, before),
        }
    }

    /// Facts about the result of `call` for the path before it. Nothing is certain of most methods' results.
    fn call_shape(&self, call: &Call, start: &Start, before: &[Step]) -> ValueShape {
        match call.method {
            Method::Map => ValueShape { is_list: true, ..self.any_shape(&call.arguments) },
            Method::Filter => ValueShape { is_list: true, ..self.path_shape(start, before) },
            Method::Slice | Method::WithError => self.path_shape(start, before),
            Method::First | Method::Last | Method::Find => {
                ValueShape { is_list: false, ..self.path_shape(start, before) }
            }
            Method::Echo => self.any_shape(&call.arguments),
            Method::Split => ValueShape { is_list: true, has_object: false },
            Method::Entries => ValueShape { is_list: true, has_object: true },
            Method::KeysToCamelCase | Method::KeysToCamelCaseDeep => {
                ValueShape { is_list: false, has_object: true }
            }
            _ => ValueShape::default(),
        }
    }

    /// Type of `$args.a.b`, if known.
    fn argument(&self, keys: &[&str]) -> Option<TypeRef> {
        let (first, rest) = keys.split_first()?;
        let input = self.schema.input_by_name(self.schema.field(self.args?).arguments, first)?;
        let mut ty = self.schema.input(input).ty;
        for key in rest {
            let run = self.is_input(ty).then(|| self.schema.ty(ty.base).members)?;
            ty = self.schema.input(self.schema.input_by_name(run, key)?).ty;
        }
        Some(ty)
    }

    /// Type of `$this.name`, if it is a field of this file.
    fn parent_field(&self, name: &str) -> Option<TypeRef> {
        Some(self.schema.field(self.schema.field_by_name(self.this?, name)?).ty)
    }

    /// True if values of the type are certainly not objects.
    fn is_leaf(&self, ty: TypeRef) -> bool {
        ty.wraps.is_list() || !self.is_any(ty) && !matches!(self.schema.ty(ty.base).kind, TypeKind::Object)
    }

    fn is_input(&self, ty: TypeRef) -> bool {
        matches!(self.schema.ty(ty.base).kind, TypeKind::Input { .. })
    }

    /// True if values of the type may be any JSON.
    fn is_any(&self, ty: TypeRef) -> bool {
        ty.base > weir_language::schema::builtin::ID
            && matches!(self.schema.ty(ty.base).kind, TypeKind::Scalar(_))
    }
}

/// True for a list of lists.
fn is_nested(ty: TypeRef) -> bool {
    ty.wraps.item().is_some_and(|it| it.is_list())
}

/// Splits a path into its leading keys and the remaining steps.
fn keys(steps: &[Step]) -> (Vec<&str>, &[Step]) {
    let names: Vec<&str> = leading_keys(steps).map(|it| it.0).collect();
    let rest = &steps[names.len()..];
    (names, rest)
}
