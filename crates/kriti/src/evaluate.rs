//! Evaluates templates.
//!
//! **Invariant:** steps and bytes of an evaluation have limits; its depth is that of the template.

use crate::budget::{Budget, Evaluation, EvaluationLimits, Scope};
use crate::compare::compare;
use crate::error::{ErrorCode, Fault, KritiError, Span};
use crate::functions;
use crate::syntax::{Expression, ExpressionKind, Operator, Template, TextPart};
use crate::value::{Members, Value};
use std::cmp::Ordering;
use std::sync::Arc;

impl Template {
    /// The template's value with the variables of `scope`.
    /// # Errors
    /// The first expression that has no value, or a limit.
    pub fn evaluate(&self, scope: &Scope, limits: EvaluationLimits) -> Result<Value, KritiError> {
        let mut evaluation = Evaluation { scope, bound: Vec::new(), budget: Budget::new(limits) };
        evaluation.evaluate(&self.root).map_err(|it| it.locate(&self.source))
    }

    /// Like [`Self::evaluate`], as JSON text of at most [`EvaluationLimits::bytes_max`] bytes.
    /// # Errors
    /// See [`Self::evaluate`].
    pub fn render(&self, scope: &Scope, limits: EvaluationLimits) -> Result<String, KritiError> {
        let mut evaluation = Evaluation { scope, bound: Vec::new(), budget: Budget::new(limits) };
        let mut out = String::new();
        let rendered = evaluation.evaluate(&self.root).and_then(|value| {
            let mut budget = Budget::new(limits);
            budget.span = self.root.span;
            budget.write_json(&value, &mut out)
        });
        rendered.map(|()| out).map_err(|it| it.locate(&self.source))
    }
}

impl<'t> Evaluation<'t> {
    pub(crate) fn evaluate(&mut self, expression: &'t Expression) -> Result<Value, Fault> {
        self.budget.span = expression.span;
        self.budget.step()?;
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Null => Ok(Value::Null),
            ExpressionKind::Bool(value) => Ok(Value::Bool(*value)),
            ExpressionKind::Number(digits) => Ok(Value::Number(Arc::clone(digits))),
            ExpressionKind::Text(parts) => self.evaluate_text(parts),
            ExpressionKind::Array(items) => {
                self.budget.spend_items(items.len())?;
                let items: Result<Vec<_>, _> = items.iter().map(|it| self.evaluate(it)).collect();
                Ok(Value::Array(items?.into()))
            }
            ExpressionKind::Object(members) => {
                self.budget.spend_items(2 * members.len())?;
                let mut made = Members::default();
                for (key, value) in members {
                    made.insert(Arc::clone(key), self.evaluate(value)?);
                }
                Ok(Value::Object(Arc::new(made)))
            }
            ExpressionKind::Variable(name) => self.look_up(name, span),
            ExpressionKind::Path { base, steps } => self.evaluate_path(base, steps),
            ExpressionKind::OptionalPath { base, steps } => self.evaluate_optional_path(base, steps),
            ExpressionKind::Binary { operator, left, right } => self.evaluate_binary(*operator, left, right),
            ExpressionKind::Not(inner) => Ok(Value::Bool(!self.evaluate_bool(inner)?)),
            ExpressionKind::Call { function, argument } => {
                let argument = self.evaluate(argument)?;
                self.budget.span = span;
                functions::call(function, &argument, self, span)
            }
            ExpressionKind::If { branches, otherwise } => {
                for (condition, branch) in branches {
                    if self.evaluate_bool(condition)? {
                        return self.evaluate(branch);
                    }
                }
                self.evaluate(otherwise)
            }
            ExpressionKind::Range { index, item, list, body } => {
                self.evaluate_range(index.as_deref(), item, list, body)
            }
        }
    }

    fn look_up(&self, name: &str, span: Span) -> Result<Value, Fault> {
        let bound = self.bound.iter().rev().find(|it| it.0 == name).map(|it| &it.1);
        match bound.or_else(|| self.scope.get(name)) {
            Some(value) => Ok(value.clone()),
            None => Err(Fault::new(ErrorCode::Name, format!("Variable '{name}' not in scope"), span)),
        }
    }

    fn evaluate_bool(&mut self, expression: &'t Expression) -> Result<bool, Fault> {
        match self.evaluate(expression)? {
            Value::Bool(value) => Ok(value),
            other => Err(Fault::wrong_kind("Boolean", other.kind(), expression.span)),
        }
    }

    /// A text; what stands in it is written as it is if it is a text, and as JSON otherwise.
    fn evaluate_text(&mut self, parts: &'t [TextPart]) -> Result<Value, Fault> {
        let mut text = String::new();
        for part in parts {
            match part {
                TextPart::Literal(literal) => {
                    self.budget.spend_bytes(literal.len())?;
                    text.push_str(literal);
                }
                TextPart::Expression(expression) => match self.evaluate(expression)? {
                    Value::Text(inner) => {
                        self.budget.spend_bytes(inner.len())?;
                        text.push_str(&inner);
                    }
                    other => self.budget.write_json(&other, &mut text)?,
                },
            }
        }
        Ok(Value::Text(text.into()))
    }

    fn evaluate_binary(
        &mut self,
        operator: Operator,
        left: &'t Expression,
        right: &'t Expression,
    ) -> Result<Value, Fault> {
        match operator {
            Operator::Default => {
                let value = self.evaluate(left)?;
                if matches!(value, Value::Null) { self.evaluate(right) } else { Ok(value) }
            }
            // Both sides are evaluated, so that a wrong one is told whatever the other one is.
            Operator::And => {
                let (one, other) = (self.evaluate_bool(left)?, self.evaluate_bool(right)?);
                Ok(Value::Bool(one && other))
            }
            Operator::Or => {
                let (one, other) = (self.evaluate_bool(left)?, self.evaluate_bool(right)?);
                Ok(Value::Bool(one || other))
            }
            Operator::In => self.evaluate_in(left, right),
            Operator::Equal => self.evaluate_order(left, right, Ordering::is_eq),
            Operator::NotEqual => self.evaluate_order(left, right, Ordering::is_ne),
            Operator::Less => self.evaluate_order(left, right, Ordering::is_lt),
            Operator::LessOrEqual => self.evaluate_order(left, right, Ordering::is_le),
            Operator::Greater => self.evaluate_order(left, right, Ordering::is_gt),
            Operator::GreaterOrEqual => self.evaluate_order(left, right, Ordering::is_ge),
        }
    }

    fn evaluate_order(
        &mut self,
        left: &'t Expression,
        right: &'t Expression,
        holds: impl Fn(Ordering) -> bool,
    ) -> Result<Value, Fault> {
        let (one, other) = (self.evaluate(left)?, self.evaluate(right)?);
        Ok(Value::Bool(holds(compare(&one, &other, &mut self.budget)?)))
    }

    /// A text among the keys of an object, or a value among those of an array.
    fn evaluate_in(&mut self, left: &'t Expression, right: &'t Expression) -> Result<Value, Fault> {
        let (value, within) = (self.evaluate(left)?, self.evaluate(right)?);
        match (&value, &within) {
            (_, Value::Array(items)) => {
                for item in items.iter() {
                    if compare(&value, item, &mut self.budget)?.is_eq() {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            (Value::Text(key), Value::Object(members)) => Ok(Value::Bool(members.get(key).is_some())),
            (other, Value::Object(_)) => Err(Fault::wrong_kind("String", other.kind(), left.span)),
            (_, other) => Err(Fault::wrong_kind("Array", other.kind(), right.span)),
        }
    }

    fn evaluate_range(
        &mut self,
        index: Option<&'t str>,
        item: &'t str,
        list: &'t Expression,
        body: &'t Expression,
    ) -> Result<Value, Fault> {
        let items = match self.evaluate(list)? {
            Value::Array(items) => items,
            other => return Err(Fault::wrong_kind("Array", other.kind(), list.span)),
        };
        self.budget.spend_items(items.len())?;
        let outside = self.bound.len();
        let mut made = Vec::with_capacity(items.len());
        for (at, value) in items.iter().enumerate() {
            self.bound.extend(index.map(|name| (name, Value::Number(at.to_string().into()))));
            self.bound.push((item, value.clone()));
            let value = self.evaluate(body);
            self.bound.truncate(outside);
            made.push(value?);
        }
        Ok(Value::Array(made.into()))
    }
}
