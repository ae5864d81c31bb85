//! Methods that make text of values and values of text.

use super::super::method::{Call, Method};
use super::super::value::Value;
use super::{At, Eval, Evaluated, Fault};

/// Brackets that may be open in a text that `->jsonParse` reads.
const DEPTH_MAX: u32 = 64;

impl<'v> Eval<'_, 'v> {
    /// The methods of this module.
    pub(super) fn text_call(&self, call: &Call, value: &Value<'v>, at: At<'_, 'v>) -> Evaluated<'v> {
        let method = call.method;
        let wrong = || Fault::Kind { method, given: value.kind() };
        match method {
            Method::JsonStringify => self.json(value),
            _ if value.is_nothing() => Ok(value.clone()),
            Method::ToString => match value {
                Value::Text(text) | Value::Number(text) => Ok(Value::Text(text.clone())),
                Value::Bool(value) => Ok(Value::Text(value.to_string().into())),
                _ => self.json(value),
            },
            Method::ParseInt => {
                let base = match call.arguments.first() {
                    Some(&argument) => self.base(call, &self.expr(argument, at)?)?,
                    None => 10,
                };
                match value {
                    Value::Number(digits) if !digits.contains(['.', 'e', 'E']) => Ok(value.clone()),
                    Value::Text(text) => match i64::from_str_radix(text.trim(), base) {
                        Ok(number) => Ok(Value::Number(number.to_string().into())),
                        Err(_) => Err(Fault::Unreadable { method }),
                    },
                    _ => Err(wrong()),
                }
            }
            _ => match value {
                Value::Text(text) => {
                    self.spend(text.len() / 2)?;
                    Value::read(text, DEPTH_MAX).ok_or(Fault::Unreadable { method })
                }
                _ => Err(wrong()),
            },
        }
    }

    fn json(&self, value: &Value<'v>) -> Evaluated<'v> {
        self.spend(value.bytes() / 16)?;
        let mut out = Vec::new();
        value.write(&mut out);
        Ok(Value::Text(String::from_utf8_lossy(&out).into_owned().into()))
    }

    fn base(&self, call: &Call, value: &Value<'v>) -> Result<u32, Fault> {
        let base = match value {
            Value::Number(digits) => digits.parse().ok().filter(|base| (2..=36).contains(base)),
            _ => None,
        };
        base.ok_or(Fault::Kind { method: call.method, given: value.kind() })
    }
}
