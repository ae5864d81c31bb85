//! Steps into values: `a.b`, `a['b']`, `a[0]`, and the same behind `?`.

use crate::budget::Evaluation;
use crate::error::{ErrorCode, Fault, Span};
use crate::number::to_index;
use crate::syntax::{Expression, Step, StepKind};
use crate::value::Value;

/// The place of a step in a value.
enum Key<'s> {
    Name(&'s str),
    /// The value of an expression.
    Value(Value),
}

impl<'t> Evaluation<'t> {
    /// A missing member is an error.
    pub(crate) fn evaluate_path(&mut self, base: &'t Expression, steps: &'t [Step]) -> Result<Value, Fault> {
        let mut value = self.evaluate(base)?;
        for step in steps {
            let key = self.evaluate_step(step)?;
            value = enter(&value, &key, step.span)?;
        }
        Ok(value)
    }

    /// A missing member on the way is null, and so is a base that has no value.
    pub(crate) fn evaluate_optional_path(
        &mut self,
        base: &'t Expression,
        steps: &'t [Step],
    ) -> Result<Value, Fault> {
        let mut value = match self.evaluate(base) {
            Ok(value) => value,
            Err(fault) if fault.code == ErrorCode::Limit => return Err(fault),
            Err(_) => return Ok(Value::Null),
        };
        if matches!(value, Value::Text(_) | Value::Number(_) | Value::Bool(_)) {
            return Err(Fault::wrong_kind("Object", value.kind(), base.span));
        }
        for step in steps {
            let key = self.evaluate_step(step)?;
            match enter(&value, &key, step.span) {
                Ok(inner) => value = inner,
                Err(_) => return Ok(Value::Null),
            }
        }
        Ok(value)
    }

    fn evaluate_step(&mut self, step: &'t Step) -> Result<Key<'t>, Fault> {
        self.budget.step()?;
        match &step.kind {
            StepKind::Key(name) => Ok(Key::Name(name)),
            StepKind::Index(expression) => self.evaluate(expression).map(Key::Value),
        }
    }
}

/// The value at `key` of `value`.
fn enter(value: &Value, key: &Key<'_>, span: Span) -> Result<Value, Fault> {
    match key {
        Key::Name(name) => enter_object(value, name, span),
        Key::Value(Value::Text(name)) => enter_object(value, name, span),
        Key::Value(Value::Number(digits)) => match value {
            Value::Array(items) => {
                let item = to_index(digits).and_then(|at| items.get(at));
                item.cloned()
                    .ok_or_else(|| Fault::new(ErrorCode::Index, "Can only range over an array", span))
            }
            other => Err(Fault::wrong_kind("Array", other.kind(), span)),
        },
        Key::Value(other) => {
            let expected = if matches!(value, Value::Array(_)) { "Number" } else { "String" };
            Err(Fault::wrong_kind(expected, other.kind(), span))
        }
    }
}

fn enter_object(value: &Value, name: &str, span: Span) -> Result<Value, Fault> {
    match value {
        Value::Object(members) => members.get(name).cloned().ok_or_else(|| {
            // The message is Kriti's, letter by letter.
            Fault::new(ErrorCode::Attribute, format!("'Object' has no attritubte '{name}'."), span)
        }),
        other => Err(Fault::wrong_kind("Object", other.kind(), span)),
    }
}
