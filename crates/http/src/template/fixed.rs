//! Evaluates templates that contain only settings, before any request, or settings and claims of a caller.

use super::{Part, Slot, slots};
use crate::selection::inputs::Looked;
use crate::selection::{Expr, ExprId, Selection, Start, Step, StepKind, Variable};

/// Looks up `$role`, or the value at keys of `$config`, `$env` or `$claims`.
pub(crate) type LookUp<'l> = dyn Fn(Variable, &[&str]) -> Looked + 'l;

/// Result of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fixed {
    /// The complete text.
    Text(String),
    /// A setting is missing.
    Missing,
    /// A setting is a list or an object.
    NoText,
    /// The template has inputs other than settings, or operations other than `??`.
    Open,
}

/// Fills settings into `parts`.
pub(crate) fn fill_settings(parts: &[Part], look_up: &LookUp<'_>) -> Fixed {
    let mut text = String::new();
    let mut is_missing = false;
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Value(slot) => match setting(&slot.expr, slot.expr.root(), look_up) {
                Some(Looked::Text(value)) => text.push_str(&value),
                Some(Looked::Missing) => is_missing = true,
                Some(Looked::NoText) => return Fixed::NoText,
                Some(Looked::Later) | None => return Fixed::Open,
            },
        }
    }
    if is_missing { Fixed::Missing } else { Fixed::Text(text) }
}

/// Expressions in `parts` that require a value, because they have no `??`.
pub(crate) fn required_slots(parts: &[Part]) -> impl Iterator<Item = &Slot> {
    let is_needed = |slot: &&Slot| slot.expr.variables().any(|used| !slot.expr.has_other(used.expr));
    slots(parts.iter()).filter(is_needed)
}

/// Text of `$config.name`, `$env.name`, `$claims.name`, `$role` or a literal, or of the first that exists in a `??` chain; `None` for
/// other expressions.
fn setting(expr: &Selection, id: ExprId, look_up: &LookUp<'_>) -> Option<Looked> {
    match expr.expr(id) {
        Expr::Text(text) | Expr::Number(text) => Some(Looked::Text(text.to_string())),
        Expr::Null => Some(Looked::Missing),
        Expr::Coalesce(choices) => {
            let choices = choices.iter().map(|&it| setting(expr, it, look_up)).collect::<Option<Vec<_>>>()?;
            if choices.contains(&Looked::Later) {
                return Some(Looked::Later);
            }
            Some(choices.into_iter().find(|it| *it != Looked::Missing).unwrap_or(Looked::Missing))
        }
        Expr::Path {
            start:
                Start::Variable(variable @ (Variable::Config | Variable::Env | Variable::Claims | Variable::Role)),
            steps,
        } => {
            let key = |step: &'_ Step| match &step.kind {
                StepKind::Key(name) => Some(name.clone()),
                _ => None,
            };
            let names = steps.iter().map(key).collect::<Option<Vec<_>>>()?;
            if names.is_empty() != (*variable == Variable::Role) {
                return None;
            }
            Some(look_up(*variable, &names.iter().map(|it| &**it).collect::<Vec<_>>()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_what_stands_behind_them_are_put_in() {
        let look_up = |variable, keys: &[&str]| match (variable, keys) {
            (Variable::Config, ["k"] | ["o", "k"]) => Looked::Text("v".to_owned()),
            (Variable::Config, ["o"]) => Looked::NoText,
            (Variable::Env, ["T"]) => Looked::Text("t".to_owned()),
            _ => Looked::Missing,
        };
        let check = |text: &str, expected: Fixed| {
            let parts = crate::template::parts_of(text).unwrap();
            assert_eq!(fill_settings(&parts, &look_up), expected, "{text}");
        };
        let text = |text: &str| Fixed::Text(text.to_owned());
        check("plain", text("plain"));
        check("http://{$config.k}:80/{$env.T}", text("http://v:80/t"));
        check("http://{$config.o.k}", text("http://v"));
        check("{$config.o}", Fixed::NoText);
        check("{$env.U ?? $config.l ?? 'x'}", text("x"));
        check("{$env.U ?? 8080}", text("8080"));
        check("{$env.U ?? null}", Fixed::Missing);
        check("{$config.k}{$config.l}", Fixed::Missing);
        check("{$config.k->size}", Fixed::Open);
        check("{$env.U ?? $request.headers.a}", Fixed::Open);
        check("{$args.k}", Fixed::Open);
    }
}
