//! Methods of lists; several take texts as lists of characters, and objects as lists of members.

use super::super::method::{Call, Method};
use super::super::value::Value;
use super::{At, Eval, Evaluated, Fault, is_true, same};
use std::borrow::Cow;

impl<'v> Eval<'_, 'v> {
    /// The methods of this module. `at.current` is `value`.
    pub(super) fn list_call(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        if value.is_nothing() && !matches!(method, Method::In | Method::Contains) {
            return Ok(value.clone());
        }
        let items = value.items();
        self.spend(items.as_ref().map_or(0, |_| value.weight()))?;
        Ok(match (method, items) {
            (Method::First, Some(items)) => items.into_iter().next().unwrap_or(Value::Missing),
            (Method::Last, Some(items)) => items.into_iter().next_back().unwrap_or(Value::Missing),
            (Method::First | Method::Last, None) => match value {
                Value::Text(text) if method == Method::First => character(text.chars().next()),
                Value::Text(text) => character(text.chars().next_back()),
                // One value is a list of one.
                other => other.clone(),
            },
            (Method::Map, items) => {
                let items = items.unwrap_or_else(|| vec![value.clone()]);
                let each =
                    |item: &Value<'v>| self.expr(call.arguments[0], At { scope: at.scope, current: item });
                Value::Array(items.iter().map(each).collect::<Result<_, Fault>>()?)
            }
            (Method::Filter, Some(items)) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.picks(call, &item, at)? {
                        kept.push(item);
                    }
                }
                Value::Array(kept)
            }
            (Method::Find, Some(items)) => {
                for item in items {
                    if self.picks(call, &item, at)? {
                        return Ok(item);
                    }
                }
                Value::Missing
            }
            (Method::Filter, None) if self.picks(call, value, at)? => Value::Array(vec![value.clone()]),
            (Method::Filter, None) => Value::Array(Vec::new()),
            (Method::Find, None) if self.picks(call, value, at)? => value.clone(),
            (Method::Find, None) => Value::Missing,
            (Method::JoinNotNull, Some(items)) => self.join(call, &items, at)?,
            (Method::JoinNotNull, None) => self.join(call, std::slice::from_ref(value), at)?,
            (Method::Slice, items) => return self.slice(call, value, items, at),
            (Method::Get, items) => return self.get(call, value, items, at),
            (_, items) => return self.look_call(call, value, items, at),
        })
    }

    /// The methods that only look.
    fn look_call(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let method = call.method;
        let wrong = || Fault::Kind { method, given: value.kind() };
        Ok(match (method, items) {
            (Method::Size, items) => {
                let size = match (items, value) {
                    (Some(items), _) => items.len(),
                    (None, Value::Text(text)) => text.chars().count(),
                    (None, other) => other.members().ok_or_else(wrong)?.len(),
                };
                Value::Number(size.to_string().into())
            }
            (Method::Entries, _) => {
                let members = value.members().ok_or_else(wrong)?;
                self.spend(value.weight())?;
                let entry = |(key, value)| {
                    Value::Object(vec![
                        (Cow::Borrowed("key"), Value::Text(key)),
                        (Cow::Borrowed("value"), value),
                    ])
                };
                Value::Array(members.into_iter().map(entry).collect())
            }
            (Method::In, _) => {
                let list = self.expr(call.arguments[0], at)?;
                let items = list.items().ok_or(Fault::Kind { method, given: list.kind() })?;
                self.spend(list.weight() + items.len() * value.weight())?;
                Value::Bool(items.iter().any(|item| same(item, value)))
            }
            (Method::Contains, items) => {
                let wanted = self.expr(call.arguments[0], at)?;
                self.spend(items.as_ref().map_or(0, Vec::len) * wanted.weight())?;
                match (items, value, &wanted) {
                    (Some(items), _, _) => Value::Bool(items.iter().any(|item| same(item, &wanted))),
                    (None, Value::Text(text), Value::Text(part)) => Value::Bool(text.contains(&**part)),
                    _ => return Err(wrong()),
                }
            }
            _ => return Err(wrong()),
        })
    }

    fn picks(&self, call: &Call, item: &Value<'v>, at: At<'_, 'v>) -> Result<bool, Fault> {
        Ok(is_true(&self.expr(call.arguments[0], At { scope: at.scope, current: item })?))
    }

    fn join(&self, call: &Call, items: &[Value<'v>], at: At<'_, 'v>) -> Evaluated<'v> {
        let between = match self.expr(call.arguments[0], at)? {
            Value::Text(text) => text,
            other => return Err(Fault::Kind { method: call.method, given: other.kind() }),
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
            self.spend(1 + out.len() / 4096)?;
        }
        Ok(Value::Text(out.into()))
    }

    /// Numbers below zero count from the end.
    fn slice(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let bound = |place: usize, len: usize, absent: usize| match call.arguments.get(place) {
            None => Ok(absent),
            Some(&argument) => {
                let number = self.whole(call, &self.expr(argument, at)?)?;
                let place = if number < 0 { len as i64 + number } else { number };
                Ok(place.clamp(0, len as i64) as usize)
            }
        };
        let range = |len: usize| {
            let (from, to) = (bound(0, len, 0)?, bound(1, len, len)?);
            Ok::<_, Fault>((from, to.saturating_sub(from)))
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

    fn get(
        &self,
        call: &Call,
        value: &Value<'v>,
        items: Option<Vec<Value<'v>>>,
        at: At<'_, 'v>,
    ) -> Evaluated<'v> {
        let wanted = self.expr(call.arguments[0], at)?;
        if let (Value::Text(key), None, false) = (&wanted, &items, matches!(value, Value::Text(_))) {
            return Ok(value.get(key));
        }
        let number = self.whole(call, &wanted)?;
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
            (None, other) => return Err(Fault::Kind { method: call.method, given: other.kind() }),
        })
    }

    fn whole(&self, call: &Call, value: &Value<'v>) -> Result<i64, Fault> {
        let wrong = Fault::Kind { method: call.method, given: value.kind() };
        match value {
            Value::Number(digits) => digits.parse().map_err(|_| wrong),
            _ => Err(wrong),
        }
    }
}

fn character<'v>(letter: Option<char>) -> Value<'v> {
    letter.map_or(Value::Missing, |letter| Value::Text(letter.to_string().into()))
}
