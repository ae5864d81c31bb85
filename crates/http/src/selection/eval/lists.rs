//! Methods of lists, which treat texts and objects as lists of their characters and members.

use super::super::method::{Call, Method};
use super::super::value::Value;
use super::{At, Eval, Evaluated, Fault, condition, equal};
use std::borrow::Cow;

impl<'v> Eval<'_, 'v> {
    /// Dispatches the methods of this module. `at.current` is `value`.
    pub(super) fn list_call(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let items = value.items();
        self.spend_budget(items.as_ref().map_or(0, |_| value.weight()))?;
        Ok(match (call.method, items) {
            (Method::First, Some(items)) => items.into_iter().next().unwrap_or(Value::Missing),
            (Method::Last, Some(items)) => items.into_iter().next_back().unwrap_or(Value::Missing),
            (Method::First | Method::Last, None) => match value {
                Value::Text(text) if call.method == Method::First => character(text.chars().next()),
                Value::Text(text) => character(text.chars().next_back()),
                // A single value counts as a list.
                other => other.clone(),
            },
            (Method::Map, Some(items)) => {
                let each = |item| Ok(self.of_item(call, item, at)?.or_null());
                Value::Array(items.iter().map(each).collect::<Result<_, Fault>>()?)
            }
            (Method::Map, None) => match self.of_item(call, value, at)? {
                Value::Missing => Value::Missing,
                made => Value::Array(vec![made]),
            },
            (Method::Filter, items) => {
                let mut kept = Vec::new();
                for item in items.unwrap_or_else(|| vec![value.clone()]) {
                    if self.picks(call, &item, at)? {
                        kept.push(item);
                    }
                }
                Value::Array(kept)
            }
            (Method::Find, items) => {
                for item in items.unwrap_or_else(|| vec![value.clone()]) {
                    if self.picks(call, &item, at)? {
                        return Ok(item);
                    }
                }
                Value::Missing
            }
            (Method::JoinNotNull, Some(items)) => self.join(call, &items, at)?,
            (Method::JoinNotNull, None) => self.join(call, std::slice::from_ref(value), at)?,
            (Method::Slice, items) => self.slice(call, value, items, at)?,
            (Method::Get, items) => self.get(call, value, items, at)?,
            (Method::In, _) => self.is_in(call, value, at)?,
            (_, items) => self.look_call(call, value, items, at)?,
        })
    }

    /// Dispatches the methods that only read.
    fn look_call(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let method = call.method;
        let wrong = || Fault::Kind { method, given: value.kind() };
        Ok(match method {
            Method::Size => {
                let size = match (items, value) {
                    (Some(items), _) => items.len(),
                    (None, Value::Text(text)) => text.chars().count(),
                    (None, other) => other.members().ok_or_else(wrong)?.len(),
                };
                Value::Number(size.to_string().into())
            }
            Method::Entries => {
                let members = value.members().ok_or_else(wrong)?;
                self.spend_budget(value.weight())?;
                let entry = |(key, value)| {
                    Value::Object(vec![
                        (Cow::Borrowed("key"), Value::Text(key)),
                        (Cow::Borrowed("value"), value),
                    ])
                };
                Value::Array(members.into_iter().map(entry).collect())
            }
            Method::Contains => {
                let items = items.ok_or_else(wrong)?;
                let wanted = self.argument(call, 0, at)?;
                self.spend_budget(items.len() * wanted.weight())?;
                Value::Bool(items.iter().any(|item| equal(item, &wanted)))
            }
            _ => return Err(wrong()),
        })
    }

    /// `->in([a, b])`, and `->in(a, b)`.
    fn is_in(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let mut items = Vec::with_capacity(call.arguments.len());
        for place in 0..call.arguments.len() {
            items.push(self.argument(call, place, at)?);
        }
        if let [list] = items.as_slice() {
            // A single argument is the list itself.
            items = list.items().ok_or(Fault::Argument { method: call.method, given: list.kind() })?;
        }
        let weight: usize = items.iter().map(Value::weight).sum();
        self.spend_budget(weight + items.len() * value.weight())?;
        Ok(Value::Bool(items.iter().any(|item| equal(item, value))))
    }

    /// Value of the argument for one item.
    fn of_item(&self, call: &Call, item: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        self.expr(call.arguments[0], At { scope: at.scope, current: item })
    }

    fn picks(&self, call: &Call, item: &Value<'v>, at: At<'_, 'v>) -> Result<bool, Fault> {
        condition(call, &self.of_item(call, item, at)?)
    }

    fn join(&self, call: &Call, items: &[Value<'v>], at: At<'_, 'v>) -> Evaluated<'v> {
        let between = match self.argument(call, 0, at)? {
            Value::Text(text) => text,
            other => return Err(Fault::Argument { method: call.method, given: other.kind() }),
        };
        let mut out = String::new();
        let mut first = true;
        for item in items.iter().filter(|item| !item.is_nothing()) {
            if !std::mem::take(&mut first) {
                out.push_str(&between);
            }
            match item {
                Value::Text(text) | Value::Number(text) => out.push_str(text),
                Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
                other => return Err(Fault::Kind { method: call.method, given: other.kind() }),
            }
            self.spend_budget(1 + out.len() / 4096)?;
        }
        Ok(Value::Text(out.into()))
    }

    /// Items from one position up to another, clamped to the list. A position that is not an integer counts as absent.
    fn slice(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let range = |len: usize| {
            let mut bounds = [0, len];
            for (bound, &argument) in bounds.iter_mut().zip(&call.arguments) {
                if let Some(number) = whole(&self.expr(argument, at)?) {
                    *bound = usize::try_from(number.max(0)).unwrap_or(len).min(len);
                }
            }
            Ok::<_, Fault>((bounds[0], bounds[1].saturating_sub(bounds[0])))
        };
        Ok(match (items, value) {
            (Some(items), _) => {
                let (skip, take) = range(items.len())?;
                Value::Array(items.into_iter().skip(skip).take(take).collect())
            }
            (None, Value::Text(text)) => {
                let (skip, take) = range(text.chars().count())?;
                Value::Text(text.chars().skip(skip).take(take).collect::<String>().into())
            }
            (None, other) => return Err(Fault::Kind { method: call.method, given: other.kind() }),
        })
    }

    /// An item or character by index, counted from the end if negative; a member by name.
    fn get(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let method = call.method;
        if items.is_none() && !value.is_object() && !matches!(value, Value::Text(_)) {
            return Err(Fault::Kind { method, given: value.kind() });
        }
        let wanted = self.argument(call, 0, at)?;
        let wrong = Fault::Argument { method, given: wanted.kind() };
        if value.is_object() {
            let Value::Text(key) = &wanted else { return Err(wrong) };
            return Ok(value.get(key));
        }
        let number = whole(&wanted).ok_or(wrong)?;
        let place = |len: usize| {
            let place = if number < 0 { len as i64 + number } else { number };
            usize::try_from(place).ok()
        };
        Ok(match (items, value) {
            (Some(items), _) => {
                place(items.len()).and_then(|at| items.into_iter().nth(at)).unwrap_or(Value::Missing)
            }
            (None, Value::Text(text)) => {
                character(place(text.chars().count()).and_then(|at| text.chars().nth(at)))
            }
            (None, _) => Value::Missing,
        })
    }
}

/// The integer, if it is written as one.
fn whole(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn character<'v>(letter: Option<char>) -> Value<'v> {
    letter.map_or(Value::Missing, |letter| Value::Text(letter.to_string().into()))
}
