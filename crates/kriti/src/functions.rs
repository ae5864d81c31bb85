//! Functions of one argument.

use crate::budget::Evaluation;
use crate::compare::by_key;
use crate::error::{ErrorCode, Fault, Span};
use crate::number::{invert, is_zero};
use crate::value::{Members, Value};
use std::sync::Arc;

/// Calls the function `name`.
/// # Errors
/// There is none, or the argument is none of its kinds.
pub(crate) fn call(
    name: &str,
    argument: &Value,
    evaluation: &mut Evaluation<'_>,
    span: Span,
) -> Result<Value, Fault> {
    let call = Call { name, span };
    match name {
        "empty" => call.empty(argument),
        "size" => Ok(call.size(argument)),
        "inverse" => call.inverse(argument, evaluation),
        "head" => call.head(argument),
        "tail" => call.tail(argument, evaluation),
        "toLower" => call.map_text(argument, evaluation, str::to_lowercase),
        "toUpper" => call.map_text(argument, evaluation, str::to_uppercase),
        "toTitle" => call.map_text(argument, evaluation, to_title),
        "toCaseFold" => call.map_text(argument, evaluation, fold_case),
        "escapeUri" => call.map_text(argument, evaluation, escape_uri),
        "toPairs" => call.to_pairs(argument, evaluation),
        "fromPairs" => call.build_object(argument, evaluation),
        "removeNulls" => call.remove_nulls(argument, evaluation),
        "concat" => call.concat(argument, evaluation),
        "not" => call.negate(argument),
        "getSessionVariable" => call.session_variable(argument, evaluation),
        _ => Err(Fault::new(ErrorCode::Name, format!("Function '{name}' not in scope"), span)),
    }
}

/// A call of a function.
struct Call<'c> {
    name: &'c str,
    span: Span,
}

impl Call<'_> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(ErrorCode::Function, message, self.span)
    }

    fn wrong_kind(&self, argument: &Value) -> Fault {
        self.fault(format!("The function '{}' takes no '{}'.", self.name, argument.kind()))
    }

    fn empty(&self, argument: &Value) -> Result<Value, Fault> {
        let is_empty = match argument {
            Value::Object(members) => members.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Text(text) => text.trim().is_empty(),
            Value::Number(digits) => is_zero(digits),
            Value::Null => true,
            Value::Bool(_) => return Err(self.wrong_kind(argument)),
        };
        Ok(Value::Bool(is_empty))
    }

    fn size(&self, argument: &Value) -> Value {
        let count = match argument {
            Value::Object(members) => members.len(),
            Value::Array(items) => items.len(),
            Value::Text(text) => text.chars().count(),
            Value::Number(digits) => return Value::Number(Arc::clone(digits)),
            Value::Bool(value) => usize::from(*value),
            Value::Null => 0,
        };
        Value::Number(count.to_string().into())
    }

    fn inverse(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        match argument {
            Value::Object(_) | Value::Null => Ok(argument.clone()),
            Value::Array(items) => {
                evaluation.budget.spend_items(items.len())?;
                Ok(Value::Array(items.iter().rev().cloned().collect()))
            }
            Value::Text(_) => self.map_text(argument, evaluation, |it| it.chars().rev().collect()),
            Value::Number(digits) => match invert(digits) {
                Some(inverse) => Ok(Value::Number(inverse.into())),
                None => Err(self.fault("The inverse of 0 is no number.")),
            },
            Value::Bool(value) => Ok(Value::Bool(!value)),
        }
    }

    fn head(&self, argument: &Value) -> Result<Value, Fault> {
        match argument {
            Value::Array(items) => items.first().cloned().ok_or_else(|| self.fault("Empty array")),
            Value::Text(text) => match text.chars().next() {
                Some(first) => Ok(Value::text(first.encode_utf8(&mut [0; 4]))),
                None => Err(self.fault("Empty string")),
            },
            other => Err(self.wrong_kind(other)),
        }
    }

    fn tail(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        match argument {
            Value::Array(items) => {
                let rest = items.get(1..).ok_or_else(|| self.fault("Empty array"))?;
                evaluation.budget.spend_items(rest.len())?;
                Ok(Value::Array(rest.into()))
            }
            Value::Text(text) => {
                let mut letters = text.chars();
                if letters.next().is_none() {
                    return Err(self.fault("Empty string"));
                }
                evaluation.budget.spend_bytes(text.len())?;
                Ok(Value::text(letters.as_str()))
            }
            other => Err(self.wrong_kind(other)),
        }
    }

    /// A text by `change`, which makes at most three bytes of each.
    fn map_text(
        &self,
        argument: &Value,
        evaluation: &mut Evaluation<'_>,
        change: impl Fn(&str) -> String,
    ) -> Result<Value, Fault> {
        match argument {
            Value::Text(text) => {
                evaluation.budget.spend_bytes(text.len().saturating_mul(3))?;
                Ok(Value::Text(change(text).into()))
            }
            other => Err(self.wrong_kind(other)),
        }
    }

    fn to_pairs(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        let Value::Object(members) = argument else { return Err(self.wrong_kind(argument)) };
        evaluation.budget.spend_items(members.len().saturating_mul(3))?;
        let pair = |(key, value): (&Arc<str>, &Value)| {
            Value::Array(Arc::from([Value::Text(Arc::clone(key)), value.clone()]))
        };
        Ok(Value::Array(by_key(members, &mut evaluation.budget)?.into_iter().map(pair).collect()))
    }

    fn build_object(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        let Value::Array(pairs) = argument else { return Err(self.wrong_kind(argument)) };
        evaluation.budget.spend_items(pairs.len().saturating_mul(2))?;
        let mut members = Members::default();
        for pair in pairs.iter() {
            match pair {
                Value::Array(parts) => match &**parts {
                    [Value::Text(key), value] => members.insert(Arc::clone(key), value.clone()),
                    _ => return Err(self.fault("A pair is a list of a text and a value.")),
                },
                _ => return Err(self.fault("A pair is a list of a text and a value.")),
            }
        }
        Ok(Value::Object(Arc::new(members)))
    }

    fn remove_nulls(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        let Value::Array(items) = argument else { return Err(self.wrong_kind(argument)) };
        evaluation.budget.spend_items(items.len())?;
        let kept = items.iter().filter(|it| !matches!(it, Value::Null)).cloned();
        Ok(Value::Array(kept.collect::<Vec<_>>().into()))
    }

    /// One array of arrays, text of texts or object of objects, as the first one is.
    fn concat(&self, argument: &Value, evaluation: &mut Evaluation<'_>) -> Result<Value, Fault> {
        let Value::Array(parts) = argument else { return Err(self.wrong_kind(argument)) };
        let mixed = || self.fault("The function 'concat' takes arrays, texts or objects alone.");
        let budget = &mut evaluation.budget;
        match parts.first() {
            None => Ok(Value::Array(Arc::from([]))),
            Some(Value::Array(_)) => {
                let mut made = Vec::new();
                for part in parts.iter() {
                    let Value::Array(items) = part else { return Err(mixed()) };
                    budget.spend_items(items.len())?;
                    made.extend(items.iter().cloned());
                }
                Ok(Value::Array(made.into()))
            }
            Some(Value::Text(_)) => {
                let mut made = String::new();
                for part in parts.iter() {
                    let Value::Text(text) = part else { return Err(mixed()) };
                    budget.spend_bytes(text.len())?;
                    made.push_str(text);
                }
                Ok(Value::Text(made.into()))
            }
            Some(Value::Object(_)) => {
                let mut made = Members::default();
                for part in parts.iter() {
                    let Value::Object(members) = part else { return Err(mixed()) };
                    budget.spend_items(members.len().saturating_mul(2))?;
                    members.iter().for_each(|(key, value)| made.insert(Arc::clone(key), value.clone()));
                }
                Ok(Value::Object(Arc::new(made)))
            }
            Some(_) => Err(mixed()),
        }
    }

    fn negate(&self, argument: &Value) -> Result<Value, Fault> {
        match argument {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            other => Err(self.wrong_kind(other)),
        }
    }

    fn session_variable(&self, argument: &Value, evaluation: &Evaluation<'_>) -> Result<Value, Fault> {
        match argument {
            Value::Null => Ok(Value::Null),
            Value::Text(name) => {
                let variables = match evaluation.scope.get("$session_variables") {
                    Some(Value::Object(members)) => Some(members),
                    Some(_) | None => None,
                };
                let found = variables.and_then(|it| it.get(&name.to_lowercase()));
                found.cloned().ok_or_else(|| self.fault(format!("Session variable \"{name}\" not found")))
            }
            other => Err(self.wrong_kind(other)),
        }
    }
}

/// Each word with a capital.
fn to_title(text: &str) -> String {
    let mut title = String::with_capacity(text.len());
    let mut is_within = false;
    for letter in text.chars() {
        if is_within {
            title.extend(letter.to_lowercase());
        } else {
            title.extend(letter.to_uppercase());
        }
        is_within = letter.is_alphabetic() || (is_within && letter == '\'');
    }
    title
}

/// The text in a form in which texts that differ in case alone are equal.
fn fold_case(text: &str) -> String {
    let fold = |letter: char| match letter {
        // The capital of a dotless i is I, which is another letter's, too.
        'ı' => vec![letter],
        letter => letter.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    text.chars().flat_map(fold).collect()
}

/// Percent-encodes all but unreserved characters. Source: RFC 3986, 2.3.
fn escape_uri(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => {
                escaped.push('%');
                escaped.push(char::from(DIGITS[usize::from(byte >> 4)]));
                escaped.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
    escaped
}
