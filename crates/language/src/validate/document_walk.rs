//! The walk over one operation or fragment: resolves names, counts, and asks the rules that look at one place.
//!
//! A fragment is walked once, whoever spreads it: what its names mean depends on its own type condition only.
//! Parts that depend on the operation (variables, totals) are recorded for [`crate::validate::fragment_graph`].
//!
//! **Cost:** one visit per node of the document, on a stack of frames in the heap.

use super::valid::{NONE, ValidFragment, ValidOperation};
use super::{rules, value_walk};
use crate::coerce::Reading;
use crate::ids::{FieldId, TypeId};
use crate::syntax::ast::{self, Definition, Directive, Field, Inline, List, Selection, Spread};
use crate::type_system::{Place, Run, TypeKind, TypeRef};
use crate::validate::rule_context::{Context, Edge, Scope};

/// A selection set being walked.
#[derive(Clone, Copy)]
struct SelectionFrame {
    next: u32,
    end: u32,
    /// The type of the set; `None` below something unknown.
    parent: Option<TypeId>,
    /// Fields around it.
    depth: u32,
    /// Introspection fields around it.
    introspection: u32,
    /// True for an introspection type.
    introspects: bool,
}

/// Numbers fragments, operations and variables before anything refers to them: a fragment may stand before the
/// operation that defines what it uses.
pub(super) fn names(cx: &mut Context<'_>) {
    for definition in &cx.document.definitions {
        match definition {
            Definition::Fragment(fragment) => {
                let number = cx.tables.fragments.len() as u32;
                let name = cx.fragment_names.number(cx.document.str(fragment.name));
                if name as usize == cx.fragment_by_name.len() {
                    cx.fragment_by_name.push(number);
                } else {
                    rules::fragment_rules::fragment_name_uniqueness::duplicate(cx, name, fragment);
                }
                let on = cx.schema.type_by_name(cx.document.str(fragment.on)).map_or(NONE, |id| id.0);
                cx.tables.fragments.push(ValidFragment { ast: *fragment, on: TypeId(on) });
            }
            Definition::Operation(operation) => {
                for (place, variable) in
                    operation.variables.range().zip(cx.document.list(operation.variables))
                {
                    let name = cx.variables.number(cx.document.str(variable.name));
                    cx.tables.variables[place].name = name;
                }
                let root = cx.schema.root(operation.kind).map_or(NONE, |id| id.0);
                cx.tables.operations.push(ValidOperation { ast: *operation, root: TypeId(root) });
            }
            Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {}
        }
    }
    rules::operation_rules::operation_name_uniqueness::document(cx);
    rules::operation_rules::lone_anonymous_operation::document(cx);
}

/// Walks an operation.
pub(super) fn operation(cx: &mut Context<'_>, operation: &ast::Operation) {
    let root = cx.schema.root(operation.kind);
    let is_beside = operation.kind == ast::OperationKind::Subscription && cx.options.subscriptions_beside;
    if root.is_none() && !is_beside {
        rules::operation_rules::operation_type_existence::report_missing_root(cx, operation);
    }
    let mut scope = open(cx);
    variables(cx, operation);
    let place = match operation.kind {
        ast::OperationKind::Query => Place::Query,
        ast::OperationKind::Mutation => Place::Mutation,
        ast::OperationKind::Subscription => Place::Subscription,
    };
    directives(cx, operation.directives, place);
    selections(cx, operation.selections, root, &mut scope);
    let scope = close(cx, scope);
    cx.operation_scopes.push(scope);
}

/// Walks a fragment definition.
pub(super) fn fragment(cx: &mut Context<'_>, fragment: &ast::Fragment) {
    let on = cx.schema.type_by_name(cx.document.str(fragment.on));
    let parent = match on {
        None => {
            rules::fragment_rules::fragment_spread_type_existence::report_unknown(cx, fragment.on);
            None
        }
        Some(id) if is_composite(cx, id) => Some(id),
        Some(_) => {
            rules::fragment_rules::fragments_on_composite_types::fragment(cx, fragment);
            None
        }
    };
    let mut scope = open(cx);
    directives(cx, fragment.directives, Place::FragmentDefinition);
    selections(cx, fragment.selections, parent, &mut scope);
    let scope = close(cx, scope);
    cx.fragment_scopes.push(scope);
}

fn open(cx: &Context<'_>) -> Scope {
    Scope {
        uses: Run { start: cx.uses.len() as u32, len: 0 },
        edges: Run { start: cx.edges.len() as u32, len: 0 },
        ..Scope::default()
    }
}

fn close(cx: &Context<'_>, mut scope: Scope) -> Scope {
    scope.uses.len = cx.uses.len() as u32 - scope.uses.start;
    scope.edges.len = cx.edges.len() as u32 - scope.edges.start;
    scope
}

pub(super) fn is_composite(cx: &Context<'_>, id: TypeId) -> bool {
    match cx.schema.ty(id).kind {
        TypeKind::Object | TypeKind::Interface | TypeKind::Union => true,
        TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => false,
    }
}

fn is_introspection(cx: &Context<'_>, id: TypeId) -> bool {
    cx.schema.type_name(id).starts_with("__")
}

/// The definitions of an operation's variables.
fn variables(cx: &mut Context<'_>, operation: &ast::Operation) {
    let document = cx.document;
    let definitions = document.list(operation.variables);
    if definitions.is_empty() {
        return;
    }
    for (place, definition) in operation.variables.range().zip(definitions) {
        let base = cx.schema.type_by_name(document.str(definition.ty.name));
        cx.tables.variables[place].ty = base.map_or(NONE, |id| id.0);
        let ty = match base {
            None => {
                rules::fragment_rules::fragment_spread_type_existence::report_unknown(cx, definition.ty.name);
                None
            }
            Some(base) => {
                let ty = TypeRef { base, wraps: definition.ty.wraps };
                rules::variable_rules::variables_are_input_types::variable(cx, definition, ty).then_some(ty)
            }
        };
        if let Some(default) = definition.default {
            value_walk::check(cx, default, ty, false);
        }
        directives(cx, definition.directives, Place::VariableDefinition);
    }
    rules::variable_rules::variable_uniqueness::operation(cx, operation);
}

/// Directives in one place.
fn directives(cx: &mut Context<'_>, list: List<Directive>, place: Place) {
    if list.is_empty() {
        return;
    }
    let document = cx.document;
    let applied = document.list(list);
    // Directives steer what is planned: their values are never left for later.
    let reading = std::mem::replace(&mut cx.reading, Reading::Strict);
    for (at, directive) in list.range().zip(applied) {
        let id = cx.schema.directive_by_name(document.str(directive.name));
        let Some(id) = id else {
            rules::directive_rules::directives_are_defined::report_unknown(cx, directive);
            rules::argument_rules::argument_uniqueness::arguments(cx, directive.arguments);
            value_walk::unknown_arguments(cx, directive.arguments);
            continue;
        };
        cx.tables.directives[at] = id.0;
        rules::directive_rules::directives_are_in_valid_locations::directive(cx, directive, id, place);
        let run = cx.schema.directive(id).arguments;
        arguments(cx, directive.arguments, run, rules::FieldOrDirective::Directive(directive));
        if cx.is_full() {
            return;
        }
    }
    cx.reading = reading;
    rules::directive_rules::directives_are_unique_per_location::directives(cx, list);
}

/// Arguments of something known: resolves each, checks its value, then what is missing.
fn arguments(cx: &mut Context<'_>, list: List<ast::Argument>, run: Run, owner: rules::FieldOrDirective<'_>) {
    let document = cx.document;
    for (at, argument) in list.range().zip(document.list(list)) {
        match cx.schema.input_by_name(run, document.str(argument.name)) {
            Some(id) => {
                cx.tables.arguments[at] = id.0;
                let input = cx.schema.input(id);
                value_walk::check(cx, argument.value, Some(input.ty), input.default.is_some());
            }
            None => {
                rules::argument_rules::argument_names::report_unknown(cx, argument, run, owner);
                value_walk::check(cx, argument.value, None, false);
            }
        }
        if cx.is_full() {
            return;
        }
    }
    rules::argument_rules::argument_uniqueness::arguments(cx, list);
    if run.len > 0 {
        rules::argument_rules::required_arguments::arguments(cx, list, run, owner);
    }
}

/// All selections below one set.
fn selections(cx: &mut Context<'_>, list: List<Selection>, parent: Option<TypeId>, scope: &mut Scope) {
    let document = cx.document;
    let mut stack: Vec<SelectionFrame> = Vec::with_capacity(8);
    stack.push(frame(cx, list, parent, 0, 0));
    while let Some(top) = stack.last_mut() {
        if top.next == top.end {
            stack.pop();
            continue;
        }
        let at = top.next as usize;
        top.next += 1;
        let around = *top;
        cx.tables.selections[at].parent = around.parent.map_or(NONE, |id| id.0);
        let below = match &document.selections[at] {
            Selection::Field(selected) => field(cx, at, selected, &around, scope),
            Selection::Spread(selected) => {
                visit_spread(cx, at, selected, &around);
                None
            }
            Selection::Inline(selected) => Some(inline(cx, at, selected, &around)),
        };
        stack.extend(below);
        if cx.is_full() {
            return;
        }
    }
}

fn frame(
    cx: &Context<'_>,
    list: List<Selection>,
    parent: Option<TypeId>,
    depth: u32,
    introspection: u32,
) -> SelectionFrame {
    let range = list.range();
    SelectionFrame {
        next: range.start as u32,
        end: range.end as u32,
        parent,
        depth,
        introspection,
        introspects: parent.is_some_and(|id| is_introspection(cx, id)),
    }
}

/// The field `name` of `parent`, the fields of every schema included.
fn find_field(cx: &Context<'_>, parent: TypeId, name: &str) -> Option<FieldId> {
    let meta = cx.schema.meta();
    if name.starts_with("__") {
        match name {
            "__typename" => return Some(meta.typename),
            "__schema" if parent == cx.schema.query() => return Some(meta.schema),
            "__type" if parent == cx.schema.query() => return Some(meta.ty),
            _ => {}
        }
    }
    cx.schema.field_by_name(parent, name)
}

fn field(
    cx: &mut Context<'_>,
    at: usize,
    field: &Field,
    around: &SelectionFrame,
    scope: &mut Scope,
) -> Option<SelectionFrame> {
    let name = cx.document.str(field.name);
    cx.tables.selections[at].key = cx.keys.number(cx.document.str(field.key()));
    let id = around.parent.and_then(|parent| find_field(cx, parent, name));
    let meta = cx.schema.meta();
    let introspects = around.introspects || id == Some(meta.schema) || id == Some(meta.ty);
    let depth = around.depth + 1;
    let introspection = around.introspection + u32::from(introspects);
    scope.fields += 1;
    scope.depth = scope.depth.max(depth);
    scope.introspection = scope.introspection.max(introspection);
    let below = match id {
        Some(id) => {
            cx.tables.selections[at].target = id.0;
            let definition = cx.schema.field(id);
            let ty = definition.ty;
            let run = definition.arguments;
            if run.len > 0 || !field.arguments.is_empty() {
                arguments(cx, field.arguments, run, rules::FieldOrDirective::Field(field, id));
            }
            let composite = is_composite(cx, ty.base);
            rules::field_rules::leaf_field_selections::field(cx, field, ty, composite);
            composite.then_some(ty.base)
        }
        None => {
            if let Some(parent) = around.parent {
                rules::field_rules::field_selections::report_unknown(cx, field, parent);
            }
            rules::argument_rules::argument_uniqueness::arguments(cx, field.arguments);
            value_walk::unknown_arguments(cx, field.arguments);
            None
        }
    };
    directives(cx, field.directives, Place::Field);
    rules::directive_rules::incremental_delivery::selection(cx, field.directives, around.parent, id);
    (!field.selections.is_empty()).then(|| frame(cx, field.selections, below, depth, introspection))
}

fn visit_spread(cx: &mut Context<'_>, at: usize, spread: &Spread, around: &SelectionFrame) {
    let name = cx.fragment_names.find(cx.document.str(spread.name));
    match name {
        None => rules::fragment_rules::fragment_spread_target_defined::report_unknown(cx, spread),
        Some(name) => {
            let fragment = cx.fragment_by_name[name as usize];
            cx.tables.selections[at].target = fragment;
            cx.edges.push(Edge {
                selection: at as u32,
                fragment,
                depth: around.depth,
                introspection: around.introspection,
            });
            let on = cx.tables.fragments[fragment as usize].on;
            if let Some(parent) = around.parent
                && on.0 != NONE
                && is_composite(cx, on)
            {
                rules::fragment_rules::fragment_spread_is_possible::check_spread(cx, spread, on, parent);
            }
        }
    }
    directives(cx, spread.directives, Place::FragmentSpread);
    rules::directive_rules::incremental_delivery::selection(cx, spread.directives, around.parent, None);
}

fn inline(cx: &mut Context<'_>, at: usize, inline: &Inline, around: &SelectionFrame) -> SelectionFrame {
    let parent = if inline.on.is_empty() {
        around.parent
    } else {
        let on = cx.schema.type_by_name(cx.document.str(inline.on));
        match on {
            None => {
                rules::fragment_rules::fragment_spread_type_existence::report_unknown(cx, inline.on);
                None
            }
            Some(on) if is_composite(cx, on) => {
                if let Some(parent) = around.parent {
                    rules::fragment_rules::fragment_spread_is_possible::inline(cx, inline, on, parent);
                }
                Some(on)
            }
            Some(_) => {
                rules::fragment_rules::fragments_on_composite_types::inline(cx, inline);
                None
            }
        }
    };
    cx.tables.selections[at].target = parent.map_or(NONE, |id| id.0);
    directives(cx, inline.directives, Place::InlineFragment);
    rules::directive_rules::incremental_delivery::selection(cx, inline.directives, around.parent, None);
    frame(cx, inline.selections, parent, around.depth, around.introspection)
}
