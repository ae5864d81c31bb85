//! When two fields are the same: arguments and shapes.

use crate::syntax::ast::{Argument, Directive, Document, List, Name, ObjectField, Value, ValueId, ValueKind};
use crate::type_system::{SchemaView, TypeKind, TypeRef};

/// True if both lists give the same arguments the same values, in any order.
pub(super) fn arguments(document: &Document<'_>, a: List<Argument>, b: List<Argument>) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let a = document.list(a);
    let b = document.list(b);
    let mut pairs: Vec<(ValueId, ValueId)> = Vec::new();
    if !pair_up(document, a, b, |argument| (argument.name, argument.value), &mut pairs) {
        return false;
    }
    while let Some((a, b)) = pairs.pop() {
        if !value(document, document.value(a), document.value(b), &mut pairs) {
            return false;
        }
    }
    true
}

/// True if neither list has `@stream`, or both have it with the same arguments.
pub(super) fn streams(document: &Document<'_>, a: List<Directive>, b: List<Directive>) -> bool {
    if a.is_empty() && b.is_empty() {
        return true;
    }
    let stream =
        |list: List<Directive>| document.list(list).iter().find(|it| document.str(it.name) == "stream");
    match (stream(a), stream(b)) {
        (None, None) => true,
        (Some(a), Some(b)) => arguments(document, a.arguments, b.arguments),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// True if both types have the same shape: equal modifiers around the same leaf, or around any objects.
pub(super) fn shape(schema: SchemaView<'_>, a: TypeRef, b: TypeRef) -> bool {
    let is_leaf = |ty: TypeRef| match schema.ty(ty.base).kind {
        TypeKind::Scalar(_) | TypeKind::Enum => true,
        TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => false,
    };
    a.wraps == b.wraps && (a.base == b.base || (!is_leaf(a) && !is_leaf(b)))
}

/// Puts the values of equal names together in `pairs`; whether every name has its equal.
fn pair_up<T>(
    document: &Document<'_>,
    a: &[T],
    b: &[T],
    parts: impl Fn(&T) -> (Name, ValueId),
    pairs: &mut Vec<(ValueId, ValueId)>,
) -> bool {
    let name = |of: &T| document.str(parts(of).0);
    let value = |of: &T| parts(of).1;
    // Mostly both were written in one order.
    if a.iter().zip(b).all(|(a, b)| name(a) == name(b)) {
        pairs.extend(a.iter().zip(b).map(|(a, b)| (value(a), value(b))));
        return true;
    }
    let sorted = |list: &[T]| {
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by_key(|&at| name(&list[at]));
        order
    };
    for (at, other) in sorted(a).into_iter().zip(sorted(b)) {
        if name(&a[at]) != name(&b[other]) {
            return false;
        }
        pairs.push((value(&a[at]), value(&b[other])));
    }
    true
}

/// True if `a` and `b` are equal apart from their parts, which are appended to `pairs`.
fn value(document: &Document<'_>, a: &Value, b: &Value, pairs: &mut Vec<(ValueId, ValueId)>) -> bool {
    match (a.kind, b.kind) {
        (ValueKind::List(a), ValueKind::List(b)) => {
            let ids = |list: List<Value>| list.range().map(|at| ValueId(at as u32));
            pairs.extend(ids(a).zip(ids(b)));
            a.len() == b.len()
        }
        (ValueKind::Object(a), ValueKind::Object(b)) => {
            let a = document.list(a);
            let b = document.list(b);
            a.len() == b.len()
                && pair_up(document, a, b, |field: &ObjectField| (field.name, field.value), pairs)
        }
        // Other literals are compared as text; the first character tells the kinds apart.
        (ValueKind::List(_) | ValueKind::Object(_), _) | (_, ValueKind::List(_) | ValueKind::Object(_)) => {
            false
        }
        (ValueKind::String { escapes: true }, ValueKind::String { .. })
        | (ValueKind::String { .. }, ValueKind::String { escapes: true })
        | (ValueKind::Block, ValueKind::Block) => {
            crate::string_value::decode(document.str(a.span))
                == crate::string_value::decode(document.str(b.span))
        }
        _ => document.str(a.span) == document.str(b.span),
    }
}
