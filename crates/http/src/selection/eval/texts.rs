//! Methods that convert values to text and text to values.

use super::super::method::{Call, Method};
use super::super::number;
use super::super::value::Value;
use super::{At, Eval, Evaluated, Fault};

/// Maximum nesting that `->jsonParse` accepts.
const DEPTH_MAX: u32 = 64;

impl<'v> Eval<'_, 'v> {
    /// Dispatches the methods of this module.
    pub(super) fn text_call(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        let wrong = Fault::Kind { method, given: value.kind() };
        match method {
            Method::JsonStringify => {
                self.spend_budget(value.bytes() / 16)?;
                let mut out = Vec::new();
                value.write_compact(&mut out);
                Ok(Value::Text(String::from_utf8_lossy(&out).into_owned().into()))
            }
            Method::ToString => match value {
                Value::Text(text) | Value::Number(text) => Ok(Value::Text(text.clone())),
                Value::Bool(value) => Ok(Value::Text(value.to_string().into())),
                Value::Null => Ok(Value::Text("".into())),
                Value::Missing | Value::Array(_) | Value::Object(_) | Value::Json(_) => Err(wrong),
            },
            Method::ParseInt => {
                let digits = match value {
                    Value::Text(text) => text.clone(),
                    Value::Number(digits) if number::is_float(digits) => {
                        let whole = number::truncate(digits).ok_or(Fault::Unreadable { method })?;
                        whole.to_string().into()
                    }
                    Value::Number(digits) => digits.clone(),
                    _ => return Err(wrong),
                };
                let base = if call.arguments.is_empty() { 10 } else { self.base(call, at)? };
                let number = i64::from_str_radix(&digits, base).map_err(|_| Fault::Unreadable { method })?;
                Ok(Value::Number(number.to_string().into()))
            }
            Method::Split => {
                let Value::Text(text) = value else { return Err(wrong) };
                self.split(call, text, at)
            }
            Method::Trim | Method::TrimStart | Method::TrimEnd => match value {
                Value::Text(text) => Ok(Value::Text(trim(method, text).to_owned().into())),
                _ => Err(wrong),
            },
            _ => match value {
                Value::Text(text) => {
                    self.spend_budget(text.len() / 2)?;
                    Value::read(text, DEPTH_MAX).ok_or(Fault::Unreadable { method })
                }
                _ => Err(wrong),
            },
        }
    }

    /// The parts of `text`; without anything between them, its characters.
    fn split(&self, call: &Call, text: &str, at: At<'_, 'v>) -> Evaluated<'v> {
        let between = self.argument(call, 0, at)?;
        let Value::Text(between) = &between else {
            return Err(Fault::Argument { method: call.method, given: between.kind() });
        };
        self.spend_budget(text.len())?;
        let parts_max = self.read_parts_max(call, at)?;
        let part = |it: &str| Value::Text(it.to_owned().into());
        let parts = if between.is_empty() {
            text.chars().take(parts_max).map(|it| Value::Text(it.to_string().into())).collect()
        } else {
            text.split(&**between).take(parts_max).map(part).collect()
        };
        Ok(Value::Array(parts))
    }

    /// Number of the first parts of a text that are kept; the others are left out.
    fn read_parts_max(&self, call: &Call, at: At<'_, 'v>) -> Result<usize, Fault> {
        if call.arguments.len() < 2 {
            return Ok(usize::MAX);
        }
        let value = self.argument(call, 1, at)?;
        let number = match &value {
            Value::Number(digits) => digits.parse().ok(),
            _ => None,
        };
        number.ok_or(Fault::Argument { method: call.method, given: value.kind() })
    }

    /// The base that digits are read in.
    fn base(&self, call: &Call, at: At<'_, 'v>) -> Result<u32, Fault> {
        let value = self.argument(call, 0, at)?;
        let base = match &value {
            Value::Number(digits) => digits.parse().ok().filter(|base| (2..=36).contains(base)),
            _ => None,
        };
        base.ok_or(Fault::Argument { method: call.method, given: value.kind() })
    }
}

/// `text` without the blanks that `method` takes away.
fn trim(method: Method, text: &str) -> &str {
    match method {
        Method::TrimStart => text.trim_start(),
        Method::TrimEnd => text.trim_end(),
        _ => text.trim(),
    }
}
