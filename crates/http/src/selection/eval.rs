//! Evaluates expressions: the slow path, for methods, literals and variables.
//!
//! A member that is not there has no value, which is no error, and ends its path. A method that cannot take its value has
//! no value either; the reason is kept, unless `??` or `?!` have something else. A method of null has no value and no
//! reason: what is null in an answer is null in what is made of it.
//!
//! **Invariant:** depth is that of the expression, which is bounded; so is the work of one evaluation, whatever the answer.

use super::inputs::Inputs;
use super::method::Method;
use super::number;
use super::value::Value;
use super::{Call, Expr, ExprId, Member, Selection, Start, StepKind, Variable};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

mod lists;
mod member_names;
mod texts;

/// Maximum number of values that one evaluation may create or visit.
const VALUES_MAX: u32 = 1_000_000;

/// Maximum size of created values as JSON, in bytes.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// Reason why a method has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The method does not accept such a value.
    Kind {
        method: Method,
        /// Kind of the value.
        given: &'static str,
    },
    /// The method does not accept such an argument.
    Argument {
        method: Method,
        /// Kind of the argument.
        given: &'static str,
    },
    /// A number is out of range, or the divisor is zero.
    Arithmetic { method: Method },
    /// The text is not JSON, or not an integer.
    Unreadable { method: Method },
    /// The evaluation exceeds its limits.
    TooMuch,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kind { method, given } => write!(f, "`->{}` cannot take {given}", method.name()),
            Self::Argument { method, given } => {
                write!(f, "`->{}` cannot take {given} as its argument", method.name())
            }
            Self::Arithmetic { method } => write!(f, "`->{}` has no result for these numbers", method.name()),
            Self::Unreadable { method } => write!(f, "`->{}` cannot read this text", method.name()),
            Self::TooMuch => f.write_str("the mapping makes too many values"),
        }
    }
}

impl std::error::Error for Fault {}

/// A value, or the reason why there is none.
pub type Evaluated<'v> = Result<Value<'v>, Fault>;

/// State of an evaluation.
#[derive(Clone, Copy)]
struct Eval<'e, 'v> {
    selection: &'e Selection,
    inputs: &'e Inputs<'v>,
    left: &'e Cell<u32>,
    /// First failure of a method that no alternative replaced.
    fault: &'e Cell<Option<Fault>>,
    /// Values named by `->as` on the current path, innermost last.
    locals: &'e RefCell<Vec<(Box<str>, Value<'v>)>>,
}

/// `$` and `@`.
#[derive(Clone, Copy)]
struct At<'e, 'v> {
    scope: &'e Value<'v>,
    current: &'e Value<'v>,
}

/// Evaluates `id`; `$` and `@` are `value`. Of a path, only the first `steps_max` steps are evaluated.
///
/// # Errors
/// A method failed, or the evaluation exceeds its limits.
pub fn eval<'v>(
    selection: &Selection,
    id: ExprId,
    steps_max: usize,
    value: &Value<'v>,
    inputs: &Inputs<'v>,
) -> Evaluated<'v> {
    let at = At { scope: value, current: value };
    let (value, fault) = run(selection, inputs, |eval| match selection.expr(id) {
        Expr::Path { start, steps } => eval.path(start, &steps[..steps.len().min(steps_max)], at),
        Expr::Members(members) if id == selection.root() => eval.eval_root_members(members, value),
        _ => eval.expr(id, at),
    })?;
    match fault {
        Some(fault) if matches!(value, Value::Missing) => Err(fault),
        Some(_) | None => Ok(value),
    }
}

/// Evaluates all of `selection` for a request. Unlike in answers, a failed method is an error.
///
/// # Errors
/// A method failed without an alternative, or the evaluation exceeds its limits.
pub(crate) fn eval_request<'v>(selection: &Selection, inputs: &Inputs<'v>) -> Evaluated<'v> {
    let nothing = Value::Object(Vec::new());
    let at = At { scope: &nothing, current: &nothing };
    let (value, fault) = run(selection, inputs, |eval| eval.expr(selection.root(), at))?;
    fault.map_or(Ok(value), Err)
}

/// Evaluates the member selection at the end of `id` for `value`, an item of a list. For the whole answer see [`eval`].
///
/// # Errors
/// The evaluation exceeds its limits.
pub(crate) fn eval_group<'v>(
    selection: &Selection,
    id: ExprId,
    value: &Value<'v>,
    inputs: &Inputs<'v>,
) -> Evaluated<'v> {
    let members = selection.group(id).unwrap_or_default();
    Ok(run(selection, inputs, |eval| eval.item(members, value))?.0)
}

fn run<'v>(
    selection: &Selection,
    inputs: &Inputs<'v>,
    find: impl FnOnce(Eval<'_, 'v>) -> Evaluated<'v>,
) -> Result<(Value<'v>, Option<Fault>), Fault> {
    let left = Cell::new(VALUES_MAX);
    let fault = Cell::new(None);
    let locals = RefCell::new(Vec::new());
    let value = find(Eval { selection, inputs, left: &left, fault: &fault, locals: &locals })?;
    Ok((value, fault.get()))
}

impl<'v> Eval<'_, 'v> {
    fn expr(&self, id: ExprId, at: At<'_, 'v>) -> Evaluated<'v> {
        self.spend_budget(1)?;
        Ok(match self.selection.expr(id) {
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Number(digits) => Value::Number(Cow::Owned(digits.to_string())),
            Expr::Text(text) => Value::Text(Cow::Owned(text.to_string())),
            Expr::Array(items) => Value::Array(self.all(items, at)?),
            Expr::Object(members) => {
                let mut object = Vec::with_capacity(members.len());
                for (name, value) in members {
                    match self.expr(*value, at)? {
                        Value::Missing => {}
                        value => object.push((Cow::Owned(name.to_string()), value)),
                    }
                }
                Value::Object(object)
            }
            Expr::Merged(parts) => {
                let mut object = Vec::new();
                for &part in parts {
                    let members = self.expr(part, at)?.members().unwrap_or_default();
                    members.into_iter().for_each(|(name, value)| put(&mut object, name, value));
                }
                Value::Object(object)
            }
            Expr::Members(members) => self.members(members, at.current)?,
            Expr::Path { start, steps } => self.path(start, steps, at)?,
            Expr::Coalesce(choices) => self.first_of(choices, at, Value::is_nothing)?,
            Expr::IfMissing(choices) => self.first_of(choices, at, Value::is_missing)?,
        })
    }

    /// The first of `choices` that is not `skipped`, else the last.
    fn first_of(&self, choices: &[ExprId], at: At<'_, 'v>, skipped: fn(&Value<'v>) -> bool) -> Evaluated<'v> {
        let fault = self.fault.get();
        let mut value = Value::Missing;
        for &choice in choices {
            value = self.expr(choice, at)?;
            if !skipped(&value) {
                break;
            }
        }
        if !value.is_missing() {
            self.fault.set(fault);
        }
        Ok(value)
    }

    fn spend_budget(&self, values: usize) -> Result<(), Fault> {
        let left = self.left.get().checked_sub(values.min(u32::MAX as usize) as u32).ok_or(Fault::TooMuch)?;
        self.left.set(left);
        Ok(())
    }

    /// Values of `ids`; missing becomes null.
    fn all(&self, ids: &[ExprId], at: At<'_, 'v>) -> Result<Vec<Value<'v>>, Fault> {
        ids.iter().map(|&id| Ok(self.expr(id, at)?.or_null())).collect()
    }

    /// Evaluates members on a value: an object, one object per item of a list, or `value` itself if it is a scalar without any of the
    /// members.
    fn members(&self, members: &[Member], value: &Value<'v>) -> Evaluated<'v> {
        if let Some(items) = value.items() {
            self.spend_budget(value.weight())?;
            let each = |item: &Value<'v>| Ok(self.item(members, item)?.or_null());
            return Ok(Value::Array(items.iter().map(each).collect::<Result<_, Fault>>()?));
        }
        match value {
            Value::Missing => Ok(Value::Missing),
            Value::Null => Ok(Value::Null),
            _ => self.object(members, value),
        }
    }

    /// Evaluates one list item. For a null item only members that select the item itself have a value.
    fn item(&self, members: &[Member], item: &Value<'v>) -> Evaluated<'v> {
        match item {
            Value::Null if self.selection.takes_itself(members) => self.object(members, item),
            _ => self.members(members, item),
        }
    }

    /// Evaluates the root members. Unlike a null elsewhere, a null answer still yields an object.
    fn eval_root_members(&self, members: &[Member], answer: &Value<'v>) -> Evaluated<'v> {
        match answer {
            Value::Null => self.object(members, answer),
            _ => self.members(members, answer),
        }
    }

    fn object(&self, members: &[Member], value: &Value<'v>) -> Evaluated<'v> {
        let at = At { scope: value, current: value };
        let mut object: Vec<(Cow<'v, str>, Value<'v>)> = Vec::with_capacity(members.len());
        let mut is_made = value.is_object();
        for member in members {
            let made = self.expr(member.value, at)?;
            let passes_through = matches!(self.selection.expr(member.value), Expr::Members(_));
            match &member.name {
                Some(_) if made.is_missing() => {}
                Some(name) => {
                    is_made |= !passes_through || made.is_object();
                    put(&mut object, Cow::Owned(name.to_string()), made);
                }
                None => {
                    let Some(members) = made.members() else { continue };
                    is_made = true;
                    members.into_iter().for_each(|(key, value)| put(&mut object, key, value));
                }
            }
        }
        Ok(if is_made { Value::Object(object) } else { value.clone() })
    }

    fn path(&self, start: &Start, steps: &[super::Step], at: At<'_, 'v>) -> Evaluated<'v> {
        let named = self.locals.borrow().len();
        let value = self.walk(start, steps, at);
        // A name ends with its path.
        self.locals.borrow_mut().truncate(named);
        value
    }

    fn walk(&self, start: &Start, steps: &[super::Step], at: At<'_, 'v>) -> Evaluated<'v> {
        let (mut value, mut steps) = self.start(start, steps, at)?;
        if matches!(start, Start::Variable(_) | Start::Local(_)) {
            self.spend_budget(value.weight())?;
        }
        while let Some((step, rest)) = steps.split_first() {
            self.spend_budget(1)?;
            value = match &step.kind {
                _ if value.is_missing() => return Ok(Value::Missing),
                StepKind::Key(key) => {
                    // A method on a list applies to each item.
                    self.spend_budget(value.weight())?;
                    value.get(key)
                }
                StepKind::Optional if value.is_nothing() => return Ok(Value::Missing),
                StepKind::Optional => value,
                StepKind::Bind { name, value: other } => {
                    let at = At { scope: at.scope, current: &value };
                    let named = other.map_or_else(|| Ok(value.clone()), |it| self.expr(it, at))?;
                    self.spend_budget(named.weight())?;
                    self.locals.borrow_mut().push((name.clone(), named));
                    value
                }
                StepKind::Call(call) => self.outcome(call, &value, at.scope)?,
                StepKind::UnknownCall { .. } => Value::Missing,
                StepKind::Members(members) => self.members(members, &value)?,
            };
            steps = rest;
        }
        Ok(value)
    }

    /// Value at the start of a path, and the remaining steps.
    fn start<'s>(
        &self,
        start: &Start,
        steps: &'s [super::Step],
        at: At<'_, 'v>,
    ) -> Result<(Value<'v>, &'s [super::Step]), Fault> {
        Ok(match start {
            Start::Scope => (at.scope.clone(), steps),
            Start::Current => (at.current.clone(), steps),
            Start::Key(key) => (at.scope.get(key), steps),
            Start::Value(id) => (self.expr(*id, at)?, steps),
            Start::Local(name) => {
                let locals = self.locals.borrow();
                let value = locals.iter().rev().find(|it| it.0 == *name).map(|it| it.1.clone());
                (value.unwrap_or(Value::Missing), steps)
            }
            Start::Variable(variable) => {
                let keys: Vec<&str> = steps.iter().map_while(key).take(2).collect();
                match (variable, keys.as_slice()) {
                    (Variable::Request | Variable::Response, ["headers", name]) => {
                        let name = name.to_ascii_lowercase();
                        (self.inputs.header(*variable, &name), &steps[2..])
                    }
                    (Variable::Status | Variable::Role | Variable::Selection, _) => {
                        (self.inputs.whole(*variable), steps)
                    }
                    (_, [first, ..]) => (self.inputs.member(*variable, first), &steps[1..]),
                    (_, []) => (self.inputs.whole(*variable), steps),
                }
            }
        })
    }

    /// Result of a method for `value`. Failure yields a missing value; its cause is recorded unless `value` is null.
    fn outcome(&self, call: &Call, value: &Value<'v>, scope: &Value<'v>) -> Evaluated<'v> {
        match self.call(call, value, At { scope, current: value }) {
            Ok(value) => Ok(value),
            Err(Fault::TooMuch) => Err(Fault::TooMuch),
            Err(fault) => {
                if !matches!(value, Value::Null) {
                    self.fault.set(self.fault.get().or(Some(fault)));
                }
                Ok(Value::Missing)
            }
        }
    }

    fn call(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        match call.method {
            Method::Echo => self.expr(call.arguments[0], at),
            Method::Eq | Method::Ne => {
                let other = self.argument(call, 0, at)?;
                self.spend_budget(value.weight().min(other.weight()))?;
                Ok(Value::Bool(equal(value, &other) == (call.method == Method::Eq)))
            }
            Method::Gt | Method::Gte | Method::Lt | Method::Lte => self.order(call, value, at),
            Method::And | Method::Or => self.logic(call, value, at),
            Method::Not => Ok(Value::Bool(!truth(call, value)?)),
            Method::Add | Method::Sub | Method::Mul | Method::Div | Method::Mod => {
                self.arithmetic(call, value, at)
            }
            Method::Match => self.eval_match(call, at),
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
            | Method::Slice => self.list_call(call, value, at),
            Method::JsonStringify
            | Method::ToString
            | Method::ParseInt
            | Method::JsonParse
            | Method::Split
            | Method::Trim
            | Method::TrimStart
            | Method::TrimEnd => self.text_call(call, value, at),
            Method::KeysToCamelCase | Method::KeysToCamelCaseDeep => self.rename_keys(call, value),
            Method::WithError => Ok(value.clone()),
        }
    }

    /// Value of a required argument.
    fn argument(&self, call: &Call, place: usize, at: At<'_, 'v>) -> Evaluated<'v> {
        match self.expr(call.arguments[place], at)? {
            Value::Missing => Err(Fault::Argument { method: call.method, given: Value::Missing.kind() }),
            value => Ok(value),
        }
    }

    fn order(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        if !matches!(value, Value::Number(_) | Value::Text(_)) {
            return Err(Fault::Kind { method, given: value.kind() });
        }
        let other = self.argument(call, 0, at)?;
        let order = compare(value, &other).ok_or(Fault::Argument { method, given: other.kind() })?;
        Ok(Value::Bool(holds(method, order)))
    }

    fn logic(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let all = call.method == Method::And;
        let mut holds = truth(call, value)?;
        for place in 0..call.arguments.len() {
            if holds != all {
                break;
            }
            holds = condition(call, &self.argument(call, place, at)?)?;
        }
        Ok(Value::Bool(holds))
    }

    fn arithmetic(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        let Value::Number(first) = value else { return Err(Fault::Kind { method, given: value.kind() }) };
        let mut result = first.clone().into_owned();
        for place in 0..call.arguments.len() {
            let other = self.argument(call, place, at)?;
            let Value::Number(other) = &other else {
                return Err(Fault::Argument { method, given: other.kind() });
            };
            result = number::calculate(method, &result, other).ok_or(Fault::Arithmetic { method })?;
        }
        Ok(Value::Number(result.into()))
    }

    /// `->match([a, x], [b, y])`: the second part of the first pair whose first part equals the value. `@` matches always.
    fn eval_match(&self, call: &Call, at: At<'_, 'v>) -> Evaluated<'v> {
        for &argument in &call.arguments {
            let Expr::Array(pair) = self.selection.expr(argument) else { continue };
            let [candidate, result] = pair.as_slice() else { continue };
            let candidate = self.expr(*candidate, at)?;
            self.spend_budget(at.current.weight().min(candidate.weight()))?;
            if same(at.current, &candidate) {
                return self.expr(*result, at);
            }
        }
        Ok(Value::Missing)
    }
}

/// Sets a member. An existing member is merged: objects and lists recursively; null wins; for other values the last one counts.
fn put<'v>(object: &mut Vec<(Cow<'v, str>, Value<'v>)>, key: Cow<'v, str>, value: Value<'v>) {
    match object.iter_mut().find(|it| it.0 == key) {
        Some(known) => known.1 = merge_values(&known.1, value),
        None => object.push((key, value)),
    }
}

/// Recursion is bounded by the nesting of the values.
fn merge_values<'v>(old: &Value<'v>, new: Value<'v>) -> Value<'v> {
    if matches!(old, Value::Null) {
        return Value::Null;
    }
    if let (Some(mut all), Some(more)) = (old.members(), new.members()) {
        more.into_iter().for_each(|(key, value)| put(&mut all, key, value));
        return Value::Object(all);
    }
    if let (Some(mut all), Some(more)) = (old.items(), new.items()) {
        for (at, item) in more.into_iter().enumerate() {
            match all.get_mut(at) {
                Some(known) => *known = merge_values(known, item),
                None => all.push(item),
            }
        }
        return Value::Array(all);
    }
    new
}

fn key(step: &super::Step) -> Option<&str> {
    match &step.kind {
        StepKind::Key(key) => Some(key),
        StepKind::Optional
        | StepKind::Bind { .. }
        | StepKind::Call(_)
        | StepKind::UnknownCall { .. }
        | StepKind::Members(_) => None,
    }
}

/// A method's input as a boolean.
fn truth(call: &Call, value: &Value<'_>) -> Result<bool, Fault> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => Err(Fault::Kind { method: call.method, given: other.kind() }),
    }
}

/// An argument as a boolean.
fn condition(call: &Call, value: &Value<'_>) -> Result<bool, Fault> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => Err(Fault::Argument { method: call.method, given: other.kind() }),
    }
}

const fn holds(method: Method, order: Ordering) -> bool {
    match method {
        Method::Gt => order.is_gt(),
        Method::Gte => order.is_ge(),
        Method::Lt => order.is_lt(),
        _ => order.is_le(),
    }
}

/// Order of two numbers or two texts.
fn compare(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::compare(a, b),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Equality with numbers compared by value, except inside lists and objects.
fn equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || number::compare(a, b) == Some(Ordering::Equal),
        _ => same(a, b),
    }
}

/// Identity: `1` differs from `1.0`; the order of members is ignored.
fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => {
            number::is_float(a) == number::is_float(b)
                && (a == b || number::compare(a, b) == Some(Ordering::Equal))
        }
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
