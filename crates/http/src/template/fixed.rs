//! Texts whose only values are settings, so that they are known before any request, or settings, claims and the role of a caller.

use super::{Part, Slot, slots};
use crate::selection::value::Value;
use crate::selection::{Expr, ExprId, Selection, Start, Step, StepKind, Variable};

/// Finds the value that the keys of `$config`, `$env` or `$claims` lead to, or `$role`.
pub(crate) type LookUp<'l> = dyn Fn(Variable, &[&str]) -> Looked + 'l;

/// The value of a setting that is used as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// Its text, or digits, or `true`.
    Text(String),
    /// There is none, or it is null.
    Missing,
    /// A list or an object.
    NoText,
    /// Nobody asks yet: a request says it.
    Later,
}

impl Looked {
    pub(crate) fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Text(text) | Value::Number(text) => Self::Text(text.to_string()),
            Value::Bool(value) => Self::Text(value.to_string()),
            Value::Missing | Value::Null => Self::Missing,
            Value::Array(_) | Value::Object(_) | Value::Json(_) => Self::NoText,
        }
    }
}

/// Result of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fixed {
    /// All of it is known.
    Text(String),
    /// A setting has no value.
    Missing,
    /// A setting is a list or an object.
    NoText,
    /// Something else than settings stands in it, or more is done with them than `??`.
    Open,
}

/// Puts settings into `parts`.
pub(crate) fn fixed(parts: &[Part], look_up: &LookUp<'_>) -> Fixed {
    let (mut text, mut is_missing) = (String::new(), false);
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

/// The values of `parts` that have to be known: no `??` stands behind them.
pub(crate) fn needed(parts: &[Part]) -> impl Iterator<Item = &Slot> {
    let is_needed = |slot: &&Slot| slot.expr.variables().any(|used| !slot.expr.has_other(used.expr));
    slots(parts.iter()).filter(is_needed)
}

/// The text that `$config.name`, `$env.name`, `$claims.name` or `$role` stands for, or a literal, or the first of them that is there; `None` of any other
/// expression.
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
            assert_eq!(fixed(&parts, &look_up), expected, "{text}");
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
