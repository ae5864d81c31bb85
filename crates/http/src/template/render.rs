//! Renders a [`Request`].
//!
//! **Invariant:** after an error what was rendered is not sent.

use super::{Fast, HeaderValue, Part, Rendered, Request, Slot, form};
use crate::selection::Selection;
use crate::selection::eval::{BYTES_MAX, Fault, eval_request};
use crate::selection::inputs::Inputs;
use crate::selection::value::Value;
use http::header::CONTENT_TYPE;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use weir_engine::rows::Data;
use weir_engine::source::FieldError;
use weir_language::value::Node;

/// All characters except the unreserved ones of RFC 3986, section 2.3.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reason why a call cannot be made from these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// A path segment is empty, `.` or `..`.
    Segment {
        /// Text of the expression.
        value: Box<str>,
    },
    /// A list or an object in a place that needs text, or several values for one header.
    NoText {
        /// Text of the expression.
        value: Box<str>,
    },
    /// A control character in a header's value.
    Control {
        /// Name of the header.
        header: Box<str>,
    },
    /// `path` yields no list.
    NoList {
        /// Text of the expression.
        value: Box<str>,
    },
    /// A form's body is not an object.
    NoForm,
    /// A method failed.
    Fault(Fault),
}

impl From<Fault> for RenderError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Segment { value } => write!(f, "`{value}` is empty, `.` or `..`, which no path can name"),
            Self::NoText { value } => write!(f, "`{value}` is no single value"),
            Self::NoList { value } => write!(f, "`{value}` is no list of segments"),
            Self::NoForm => f.write_str("the body is no object, and a form has names"),
            Self::Control { header } => write!(f, "the value of header `{header}` holds a control character"),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for RenderError {}

impl RenderError {
    /// Message for clients. It names only what they sent themselves.
    pub fn for_client(&self) -> FieldError {
        let own = |value: &str| match value.strip_prefix("$args.") {
            Some(name) => format!("Argument \"{name}\""),
            None => match value.strip_prefix("$request.headers.") {
                Some(name) => format!("Header \"{}\"", name.trim_matches(['"', '\''])),
                None => "A value this field depends on".to_owned(),
            },
        };
        let message = match self {
            Self::Segment { value } => format!("{} is missing or cannot be part of a path.", own(value)),
            Self::NoText { value } => format!("{} is not a single value.", own(value)),
            Self::Control { .. } => "A value for a header holds control characters.".to_owned(),
            Self::NoList { value } => format!("{} is not a list.", own(value)),
            Self::NoForm => "The arguments of this field cannot be sent as a form.".to_owned(),
            Self::Fault(_) => "The arguments of this field cannot be used for what it asks.".to_owned(),
        };
        FieldError { code: "BAD_USER_INPUT", message: message.into(), hasura_path: None, extensions: None }
    }
}

impl Request {
    /// Renders the request for `inputs` into `out`, replacing its contents.
    ///
    /// # Errors
    /// A value is not allowed in its place.
    pub fn render(&self, inputs: &Inputs<'_>, out: &mut Rendered) -> Result<(), RenderError> {
        out.clear();
        self.path(inputs, &mut out.target)?;
        self.query(inputs, &mut out.target)?;
        self.headers(inputs, out)?;
        let Some(body) = &self.body else { return Ok(()) };
        let value = eval_request(body, inputs)?;
        if value.bytes() > BYTES_MAX {
            return Err(Fault::TooMuch.into());
        }
        if form::is_form(out.headers()) {
            // An empty value makes an empty form.
            return if value.is_nothing() { Ok(()) } else { form::write(&value, &mut out.body) };
        }
        // A missing value makes an empty body, because many services refuse a `null` that the client did not send.
        if !value.is_missing() {
            value.write(&mut out.body);
            out.declare_json();
        }
        Ok(())
    }

    fn path(&self, inputs: &Inputs<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        out.extend_from_slice(self.prefix.as_bytes());
        for list in &self.paths[0] {
            segments(list, inputs, out)?;
        }
        for segment in &self.segments {
            out.push(b'/');
            let start = out.len();
            for part in &segment.parts {
                put(part, inputs, out)?;
            }
            if segment.open && matches!(&out[start..], b"" | b"." | b"..") {
                let value = segment.parts.iter().find_map(|part| match part {
                    Part::Value(slot) => Some(slot.expr.print().into()),
                    Part::Text(_) => None,
                });
                return Err(RenderError::Segment { value: value.unwrap_or_default() });
            }
        }
        for list in &self.paths[1] {
            segments(list, inputs, out)?;
        }
        if self.slash && self.paths[1].is_empty() || out.is_empty() {
            out.push(b'/');
        }
        Ok(())
    }

    fn query(&self, inputs: &Inputs<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        let mut between = b'?';
        if !self.base_query.is_empty() {
            out.push(std::mem::replace(&mut between, b'&'));
            out.extend_from_slice(self.base_query.as_bytes());
        }
        for (name, value) in &self.query {
            out.push(std::mem::replace(&mut between, b'&'));
            for part in name {
                put(part, inputs, out)?;
            }
            out.push(b'=');
            for part in value {
                put(part, inputs, out)?;
            }
        }
        for params in &self.params {
            let value = eval_request(params, inputs)?;
            if value.is_nothing() {
                continue;
            }
            let no_names = || RenderError::NoText { value: params.print().into() };
            for (name, value) in value.members().ok_or_else(no_names)? {
                let wrong = || RenderError::NoText { value: name.as_ref().into() };
                match value.items() {
                    None if value.is_nothing() => {}
                    None => param(&name, &value, &mut between, out).ok_or_else(wrong)?,
                    Some(items) => {
                        for item in &items {
                            let empty = Value::Text("".into());
                            let item = if item.is_nothing() { &empty } else { item };
                            param(&name, item, &mut between, out).ok_or_else(wrong)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn headers(&self, inputs: &Inputs<'_>, out: &mut Rendered) -> Result<(), RenderError> {
        for header in &self.headers {
            let start = out.header_bytes.len();
            match &header.value {
                HeaderValue::From(name) => {
                    let Rendered { headers, header_bytes, .. } = out;
                    inputs.headers.each(name, &mut |bytes| {
                        let start = header_bytes.len();
                        header_bytes.extend_from_slice(bytes);
                        headers.push((header.name.clone(), start..header_bytes.len()));
                    });
                }
                HeaderValue::Text(parts) => {
                    let mut missing = false;
                    for part in parts {
                        match part {
                            Part::Text(text) => out.header_bytes.extend_from_slice(text.as_bytes()),
                            Part::Value(slot) => {
                                missing |= !text(slot, inputs, &mut |text| {
                                    out.header_bytes.extend_from_slice(text);
                                })?;
                            }
                        }
                    }
                    // A header is not sent without one of its values, as the rest would mean something else.
                    if missing {
                        out.header_bytes.truncate(start);
                        continue;
                    }
                    out.headers.push((header.name.clone(), start..out.header_bytes.len()));
                }
            }
            let control = |byte: &u8| *byte != b'\t' && byte.is_ascii_control();
            if out.header_bytes[start..].iter().any(control) {
                return Err(RenderError::Control { header: header.name.as_str().into() });
            }
        }
        Ok(())
    }
}

impl Rendered {
    /// Adds a JSON `Content-Type`, unless the mapping sets one.
    fn declare_json(&mut self) {
        if self.headers.iter().all(|it| it.0 != CONTENT_TYPE) {
            let start = self.header_bytes.len();
            self.header_bytes.extend_from_slice(b"application/json");
            self.headers.push((CONTENT_TYPE, start..self.header_bytes.len()));
        }
    }
}

fn encode(text: &[u8], out: &mut Vec<u8>) {
    for node in percent_encode(text, &ENCODED) {
        out.extend_from_slice(node.as_bytes());
    }
}

fn put(part: &Part, inputs: &Inputs<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
    match part {
        Part::Text(text) => out.extend_from_slice(text.as_bytes()),
        Part::Value(slot) => {
            text(slot, inputs, &mut |text| encode(text, out))?;
        }
    }
    Ok(())
}

/// Appends the items of a list as path segments.
fn segments(list: &Selection, inputs: &Inputs<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
    let value = eval_request(list, inputs)?;
    if value.is_missing() {
        return Ok(());
    }
    let no_list = || RenderError::NoList { value: list.print().into() };
    for item in value.items().ok_or_else(no_list)? {
        out.push(b'/');
        let start = out.len();
        let given = give_text(&item, &mut |text| encode(text, out));
        given.ok_or_else(|| RenderError::NoText { value: list.print().into() })?;
        if matches!(&out[start..], b"" | b"." | b"..") {
            return Err(RenderError::Segment { value: list.print().into() });
        }
    }
    Ok(())
}

/// Appends `name=value`; `None` if the value is not text.
fn param(name: &str, value: &Value<'_>, between: &mut u8, out: &mut Vec<u8>) -> Option<()> {
    let text: &[u8] = match value {
        Value::Text(text) | Value::Number(text) => text.as_bytes(),
        Value::Bool(true) => b"true",
        Value::Bool(false) => b"false",
        Value::Missing | Value::Null | Value::Array(_) | Value::Object(_) | Value::Json(_) => return None,
    };
    out.push(std::mem::replace(between, b'&'));
    encode(name.as_bytes(), out);
    out.push(b'=');
    encode(text, out);
    Some(())
}

/// Passes the text of a slot to `give`; `false` if it has no value.
pub(super) fn text(
    slot: &Slot,
    inputs: &Inputs<'_>,
    give: &mut dyn FnMut(&[u8]),
) -> Result<bool, RenderError> {
    if let Some(given) = give_plain(slot, inputs, give) {
        return Ok(given);
    }
    let value = eval_request(&slot.expr, inputs)?;
    give_text(&value, give).ok_or_else(|| RenderError::NoText { value: slot.expr.print().into() })
}

/// Fast path of [`text`] for values that need no evaluation; `None` for other slots.
fn give_plain(slot: &Slot, inputs: &Inputs<'_>, give: &mut dyn FnMut(&[u8])) -> Option<bool> {
    match &slot.fast {
        Fast::Arg(name) => {
            let Some(argument) = inputs.args.find(name) else { return Some(false) };
            let Some((values, at)) = inputs.args.place(argument) else { return Some(false) };
            match values.nodes[at] {
                Node::Int(value) => give(itoa::Buffer::new().format(value).as_bytes()),
                Node::Text(span) | Node::Number(span) => give(values.str(span).as_bytes()),
                _ => return None,
            }
            Some(true)
        }
        Fast::This(name) => {
            let column = inputs.key(name)?;
            let row = inputs.keys.start;
            match &column.data {
                _ if column.nulls.get(row) => return Some(false),
                Data::Int(values) => give(itoa::Buffer::new().format(*values.get(row)?).as_bytes()),
                Data::Text(texts) => give(texts.find(row)?),
                _ => return None,
            }
            Some(true)
        }
        Fast::Header(name) => {
            let mut count = 0;
            inputs.headers.each(name, &mut |_| count += 1);
            if count > 1 {
                return None;
            }
            inputs.headers.each(name, &mut |value| give(value));
            Some(count == 1)
        }
        Fast::No => None,
    }
}

/// Text of a single value, or of a list with one item. `false` if there is none, `None` if it is not text.
fn give_text(value: &Value<'_>, give: &mut dyn FnMut(&[u8])) -> Option<bool> {
    match value {
        Value::Missing | Value::Null => return Some(false),
        Value::Text(text) | Value::Number(text) => give(text.as_bytes()),
        Value::Bool(value) => give(if *value { b"true" } else { b"false" }),
        Value::Array(items) => match items.as_slice() {
            [item @ (Value::Text(_) | Value::Number(_))] => return give_text(item, give),
            _ => return None,
        },
        Value::Object(_) | Value::Json(_) => return None,
    }
    Some(true)
}
