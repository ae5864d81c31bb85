//! Evaluates templates of settings while a file is read: `{$config.stage->match(['dev', 'a'], [@, 'b'])}`.
//!
//! **Invariant:** only `$config` and `$env` are read, as nothing else is known then.

use super::Outside;
use crate::selection::eval::eval_request;
use crate::selection::inputs::{Args, ConfigValues, Inputs, Keys, Looked};
use crate::selection::value::Value;
use crate::selection::{Selection, Variable};
use crate::template::{Fixed, Part};
use std::borrow::Cow;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{Ids, NoHeaders};
use weir_language::schema::Schema;
use weir_language::value::Variables;

/// Fills settings into `parts`, whose expressions may have methods.
pub(super) fn fill_by_methods(parts: &[Part], outside: &Outside<'_>, schema: &Schema) -> Fixed {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Value(slot) => match setting(&slot.expr, outside, schema) {
                Some(Looked::Text(value)) => text.push_str(&value),
                Some(Looked::Missing) => return Fixed::Missing,
                Some(Looked::NoText) => return Fixed::NoText,
                Some(Looked::Later) | None => return Fixed::Open,
            },
        }
    }
    Fixed::Text(text)
}

/// Value of `expr`; `None` if it reads anything but settings, or a method of it fails.
fn setting(expr: &Selection, outside: &Outside<'_>, schema: &Schema) -> Option<Looked> {
    let is_setting = |it: Variable| matches!(it, Variable::Config | Variable::Env);
    if !expr.variables().all(|it| is_setting(it.variable)) {
        return None;
    }
    let names = || {
        expr.variables().filter(|it| it.variable == Variable::Env).filter_map(|it| Some(it.keys.first()?.0))
    };
    let text = |name: &str| Some((Cow::Owned(name.to_owned()), Value::Text((outside.env)(name)?.into())));
    let config = outside.config.iter().map(|it| (Cow::Owned(it.0.clone()), it.1.clone()));
    let settings = ConfigValues {
        config: Value::Object(config.collect()),
        env: Value::Object(names().filter_map(text).collect()),
        context: Value::Object(Vec::new()),
    };
    let args = Args {
        schema,
        ids: &Ids::default(),
        output: &OutputPlan::default(),
        variables: &Variables::default(),
        arguments: &[],
    };
    let inputs = Inputs {
        args,
        keys: Keys::NONE,
        settings: &settings,
        headers: &NoHeaders,
        caller: None,
        selection: "",
        response: None,
    };
    Some(Looked::of(&eval_request(expr, &inputs).ok()?))
}
