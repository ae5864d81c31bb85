//! Keys that a method lists: `$batch->map({key: @.id})`.

use crate::selection::{Expr, ExprId, Method, Selection, Start, StepKind, Use, leading_keys};
use weir_language::span::Span;

/// The names behind each `@` in the argument of `->map` or `->filter` that directly follows a variable.
pub(super) fn item_paths<'s>(selection: &'s Selection, used: &Use<'_>) -> Vec<Vec<(&'s str, Span)>> {
    let Expr::Path { steps, .. } = selection.expr(used.expr) else { return Vec::new() };
    let mut paths = Vec::new();
    // Each expression, with true if it stands in braces over an item.
    let mut open: Vec<(&ExprId, bool)> = Vec::new();
    for step in steps {
        match &step.kind {
            StepKind::Call(call) if matches!(call.method, Method::Map | Method::Filter) => {
                open.extend(call.arguments.iter().map(|it| (it, false)));
                if call.method == Method::Map {
                    break;
                }
            }
            _ => break,
        }
    }
    while let Some((id, in_braces)) = open.pop() {
        match selection.expr(*id) {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
            Expr::Array(items) | Expr::Merged(items) | Expr::Coalesce(items) | Expr::IfMissing(items) => {
                open.extend(items.iter().map(|it| (it, in_braces)));
            }
            Expr::Object(members) => open.extend(members.iter().map(|it| (&it.1, in_braces))),
            Expr::Members(members) => open.extend(members.iter().map(|it| (&it.value, true))),
            Expr::Path { start: Start::Value(inner), .. } => open.push((inner, in_braces)),
            Expr::Path { start: Start::Current, steps } => paths.push(leading_keys(steps).collect()),
            Expr::Path { start: Start::Key(key), steps } if in_braces => {
                let first = (&**key, selection.span(*id));
                paths.push(std::iter::once(first).chain(leading_keys(steps)).collect());
            }
            Expr::Path { .. } => {}
        }
    }
    paths
}
