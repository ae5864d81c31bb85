//! Finds the value of an expression: the slow path, for what has methods, literals or variables.
//!
//! A member that is not there has no value, which is no error; a method that cannot do with its value what it is asked
//! for is one, and its field fails.
//!
//! **Invariant:** depth is that of the expression, which is bounded; so is the work of one evaluation, whatever the answer.

use super::method::Method;
use super::number::{self, Decimal};
use super::value::Value;
use super::{Call, Expr, ExprId, Member, Selection, Start, StepKind, Variable};
use crate::inputs::Inputs;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

mod lists;
mod texts;

/// The most values one evaluation may make or look at.
const VALUES_MAX: u32 = 1_000_000;

/// The most bytes that what is made may take as JSON.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The method takes no such value.
    Kind {
        /// Which method.
        method: Method,
        /// What it was given, in words.
        given: &'static str,
    },
    /// A number too large or too long to reckon with, or a division by zero.
    Reckoning {
        /// Which method.
        method: Method,
    },
    /// The text is no JSON, or no whole number.
    Unreadable {
        /// Which method.
        method: Method,
    },
    /// More work than any answer is worth.
    TooMuch,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kind { method, given } => write!(f, "`->{}` cannot take {given}", method.name()),
            Self::Reckoning { method } => write!(f, "`->{}` has no result for these numbers", method.name()),
            Self::Unreadable { method } => write!(f, "`->{}` cannot read this text", method.name()),
            Self::TooMuch => f.write_str("the mapping makes too many values"),
        }
    }
}

impl std::error::Error for Fault {}

/// A value or the reason that there is none.
pub type Evaluated<'v> = Result<Value<'v>, Fault>;

/// What an expression is evaluated over.
#[derive(Clone, Copy)]
pub struct Eval<'e, 'v> {
    selection: &'e Selection,
    inputs: &'e Inputs<'v>,
    left: &'e Cell<u32>,
}

/// `$` and `@`.
#[derive(Clone, Copy)]
struct At<'e, 'v> {
    scope: &'e Value<'v>,
    current: &'e Value<'v>,
}

/// The value of `id` where `$` and `@` are `value`. `steps_max`: of a path, only so many of its steps.
///
/// # Errors
/// Of a method.
pub fn eval<'v>(
    selection: &Selection,
    id: ExprId,
    steps_max: usize,
    value: &Value<'v>,
    inputs: &Inputs<'v>,
) -> Evaluated<'v> {
    let left = Cell::new(VALUES_MAX);
    let eval = Eval { selection, inputs, left: &left };
    let at = At { scope: value, current: value };
    match selection.expr(id) {
        Expr::Path { start, steps } => eval.path(start, &steps[..steps.len().min(steps_max)], at),
        Expr::Null
        | Expr::Bool(_)
        | Expr::Number(_)
        | Expr::Text(_)
        | Expr::Array(_)
        | Expr::Object(_)
        | Expr::Members(_)
        | Expr::Coalesce(_) => eval.expr(id, at),
    }
}

impl<'v> Eval<'_, 'v> {
    fn expr(&self, id: ExprId, at: At<'_, 'v>) -> Evaluated<'v> {
        self.spend(1)?;
        Ok(match self.selection.expr(id) {
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Number(digits) => Value::Number(Cow::Owned(digits.to_string())),
            Expr::Text(text) => Value::Text(Cow::Owned(text.to_string())),
            Expr::Array(items) => Value::Array(self.all(items, at)?),
            Expr::Object(members) => {
                let member =
                    |it: &(Box<str>, ExprId)| Ok((Cow::Owned(it.0.to_string()), self.expr(it.1, at)?));
                Value::Object(members.iter().map(member).collect::<Result<_, Fault>>()?)
            }
            Expr::Members(members) => self.members(members, at.current)?,
            Expr::Path { start, steps } => self.path(start, steps, at)?,
            Expr::Coalesce(choices) => {
                let mut value = Value::Missing;
                for &choice in choices {
                    value = self.expr(choice, at)?;
                    if !value.is_nothing() {
                        break;
                    }
                }
                value
            }
        })
    }

    fn spend(&self, values: usize) -> Result<(), Fault> {
        let left = self.left.get().checked_sub(values.min(u32::MAX as usize) as u32).ok_or(Fault::TooMuch)?;
        self.left.set(left);
        Ok(())
    }

    fn all(&self, ids: &[ExprId], at: At<'_, 'v>) -> Result<Vec<Value<'v>>, Fault> {
        ids.iter().map(|&id| self.expr(id, at)).collect()
    }

    /// An object of `members`; of a list, one of each item.
    fn members(&self, members: &[Member], value: &Value<'v>) -> Evaluated<'v> {
        if let Some(items) = value.items() {
            self.spend(value.weight())?;
            let items: Result<_, Fault> = items.iter().map(|item| self.members(members, item)).collect();
            return Ok(Value::Array(items?));
        }
        if value.is_nothing() {
            return Ok(value.clone());
        }
        let at = At { scope: value, current: value };
        let mut object: Vec<(Cow<'v, str>, Value<'v>)> = Vec::with_capacity(members.len());
        for member in members {
            let value = self.expr(member.value, at)?;
            match &member.name {
                Some(_) if matches!(value, Value::Missing) => {}
                Some(name) => put(&mut object, Cow::Owned(name.to_string()), value),
                None => {
                    for (key, value) in value.members().unwrap_or_default() {
                        put(&mut object, key, value);
                    }
                }
            }
        }
        Ok(Value::Object(object))
    }

    fn path(&self, start: &Start, steps: &[super::Step], at: At<'_, 'v>) -> Evaluated<'v> {
        let (mut value, mut steps) = self.start(start, steps, at)?;
        if matches!(start, Start::Variable(_)) {
            self.spend(value.weight())?;
        }
        while let Some((step, rest)) = steps.split_first() {
            self.spend(1)?;
            value = match &step.kind {
                StepKind::Key(key) => {
                    // A list is gone through item by item.
                    self.spend(value.weight())?;
                    value.get(key)
                }
                StepKind::Optional if value.is_nothing() => return Ok(Value::Missing),
                StepKind::Optional => value,
                StepKind::Call(call) => self.call(call, &value, at.scope)?,
                StepKind::Members(members) => self.members(members, &value)?,
            };
            steps = rest;
        }
        Ok(value)
    }

    /// The value a path begins with, and the steps that are left.
    fn start<'s>(
        &self,
        start: &Start,
        steps: &'s [super::Step],
        at: At<'_, 'v>,
    ) -> Result<(Value<'v>, &'s [super::Step]), Fault> {
        Ok(match start {
            Start::Scope => (at.scope.clone(), steps),
            Start::Current => (at.current.clone(), steps),
            Start::Key(key) => (at.current.get(key), steps),
            Start::Value(id) => (self.expr(*id, at)?, steps),
            Start::Variable(variable) => {
                let keys: Vec<&str> = steps.iter().map_while(key).take(2).collect();
                match (variable, keys.as_slice()) {
                    (Variable::Request | Variable::Response, ["headers", name]) => {
                        let name = name.to_ascii_lowercase();
                        (self.inputs.header(*variable, &name), &steps[2..])
                    }
                    (Variable::Status, _) => (self.inputs.whole(*variable), steps),
                    (_, [first, ..]) => (self.inputs.member(*variable, first), &steps[1..]),
                    (_, []) => (self.inputs.whole(*variable), steps),
                }
            }
        })
    }

    fn call(&self, call: &Call, value: &Value<'v>, scope: &Value<'v>) -> Evaluated<'v> {
        let at = At { scope, current: value };
        let wrong = || Err(Fault::Kind { method: call.method, given: value.kind() });
        Ok(match call.method {
            Method::Eq | Method::Ne => {
                let other = self.expr(call.arguments[0], at)?;
                self.spend(value.weight().min(other.weight()))?;
                Value::Bool(same(value, &other) == (call.method == Method::Eq))
            }
            Method::Gt
            | Method::Gte
            | Method::Lt
            | Method::Lte
            | Method::Add
            | Method::Sub
            | Method::Mul
            | Method::Div
            | Method::Mod
                if value.is_nothing() =>
            {
                value.clone()
            }
            Method::Gt | Method::Gte | Method::Lt | Method::Lte => {
                let other = self.expr(call.arguments[0], at)?;
                match compare(value, &other) {
                    Some(order) => Value::Bool(holds(call.method, order)),
                    None => return wrong(),
                }
            }
            Method::And | Method::Or => return self.logic(call, value, at),
            Method::Not => Value::Bool(!is_true(value)),
            Method::Add | Method::Sub | Method::Mul | Method::Div | Method::Mod => {
                return self.reckon(call, value, at);
            }
            Method::Match => return self.matching(call, at),
            Method::First
            | Method::Last
            | Method::Map
            | Method::JoinNotNull
            | Method::Get
            | Method::Size
            | Method::Entries
            | Method::In
            | Method::Contains
            | Method::Filter
            | Method::Find
            | Method::Slice => return self.list_call(call, value, at),
            Method::JsonStringify | Method::ToString | Method::ParseInt | Method::JsonParse => {
                return self.text_call(call, value, at);
            }
        })
    }

    fn logic(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let all = call.method == Method::And;
        let mut holds = is_true(value);
        for &argument in &call.arguments {
            if holds != all {
                break;
            }
            holds = is_true(&self.expr(argument, at)?);
        }
        Ok(Value::Bool(holds))
    }

    fn reckon(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        let number = |value: &Value<'v>| match value {
            Value::Number(digits) => Decimal::read(digits).ok_or(Fault::Reckoning { method }),
            other => Err(Fault::Kind { method, given: other.kind() }),
        };
        let mut sum = number(value)?;
        for &argument in &call.arguments {
            let other = number(&self.expr(argument, at)?)?;
            sum = number::reckon(method, sum, other).ok_or(Fault::Reckoning { method })?;
        }
        Ok(Value::Number(sum.write().into()))
    }

    /// `->match([a, x], [b, y])`: pairs, of which the first that equals the value counts. `@` as the first of a pair is
    /// the value itself, so it always does.
    fn matching(&self, call: &Call, at: At<'_, 'v>) -> Evaluated<'v> {
        for &argument in &call.arguments {
            let Expr::Array(pair) = self.selection.expr(argument) else { continue };
            let [candidate, result] = pair.as_slice() else { continue };
            if same(at.current, &self.expr(*candidate, at)?) {
                return self.expr(*result, at);
            }
        }
        Ok(Value::Missing)
    }
}

/// Sets a member; the one that is there already goes.
fn put<'v>(object: &mut Vec<(Cow<'v, str>, Value<'v>)>, key: Cow<'v, str>, value: Value<'v>) {
    match object.iter_mut().find(|it| it.0 == key) {
        Some(known) => known.1 = value,
        None => object.push((key, value)),
    }
}

fn key(step: &super::Step) -> Option<&str> {
    match &step.kind {
        StepKind::Key(key) => Some(key),
        StepKind::Optional | StepKind::Call(_) | StepKind::Members(_) => None,
    }
}

/// Only `true` is.
pub(crate) const fn is_true(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(true))
}

const fn holds(method: Method, order: Ordering) -> bool {
    match method {
        Method::Gt => order.is_gt(),
        Method::Gte => order.is_ge(),
        Method::Lt => order.is_lt(),
        _ => order.is_le(),
    }
}

/// The order of two numbers or two texts.
fn compare(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::compare(a, b),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Whether two values are equal: numbers by value, objects whatever the order of their members.
fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Missing, Value::Missing) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b || number::compare(a, b) == Some(Ordering::Equal),
        _ if a.kind() != b.kind() => false,
        _ => match (a.items(), b.items(), a.members(), b.members()) {
            (Some(a), Some(b), _, _) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b)),
            (_, _, Some(mut a), Some(mut b)) => {
                a.sort_by(|a, b| a.0.cmp(&b.0));
                b.sort_by(|a, b| a.0.cmp(&b.0));
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
            }
            _ => false,
        },
    }
}
