//! Reads leaves as scalars: one table of readers for JSON and literals.

use super::Reading;
use super::digits::{NoInteger, float, integer, is_beyond, is_number};
use super::fault_messages::Why;
use crate::type_system::ScalarReader;
use crate::value::{Node, Values};
use std::borrow::Cow;

/// A leaf of the input.
pub(super) enum Leaf<'t> {
    Bool(bool),
    /// An integer literal.
    Int(&'t str),
    /// A float literal: never an integer, whatever its digits.
    Float(&'t str),
    /// A number in JSON, which knows one kind only.
    Number(&'t str),
    /// A string, decoded.
    Text(Cow<'t, str>),
    /// A list, an object, an enum value.
    Other,
}

/// The value of `leaf` for a scalar with this reader.
pub(super) fn read(
    leaf: &Leaf<'_>,
    reader: ScalarReader,
    reading: Reading,
    out: &mut Values,
) -> Result<Node, Why> {
    match reader {
        ScalarReader::Int => {
            let int = whole(leaf, reading, reading == Reading::Lenient)?;
            match leaf {
                _ if i32::try_from(int).is_err() => Err(Why::Size),
                Leaf::Text(_) => Ok(Node::QuotedInt(int)),
                Leaf::Bool(_) | Leaf::Int(_) | Leaf::Float(_) | Leaf::Number(_) | Leaf::Other => {
                    Ok(Node::Int(int))
                }
            }
        }
        ScalarReader::BigInt => whole(leaf, reading, true).map(Node::Int),
        ScalarReader::Float => {
            let number = digits(leaf, reading == Reading::Lenient).and_then(float);
            number.map(Node::Float).ok_or(Why::Form)
        }
        ScalarReader::Decimal => {
            if let Leaf::Text(text) = leaf
                && is_beyond(text.trim())
            {
                return Ok(Node::Text(out.push_text(text.trim())));
            }
            let number = digits(leaf, true).filter(|text| is_number(text)).ok_or(Why::Form)?;
            Ok(Node::Number(out.push_text(number)))
        }
        ScalarReader::String => match leaf {
            Leaf::Text(text) => Ok(Node::Text(out.push_text(text))),
            Leaf::Bool(_) | Leaf::Int(_) | Leaf::Float(_) | Leaf::Number(_) | Leaf::Other => Err(Why::Form),
        },
        ScalarReader::Boolean => truth(leaf, reading).map(Node::Bool).ok_or(Why::Form),
        ScalarReader::Id => id(leaf, out).ok_or(Why::Form),
        ScalarReader::Text => match leaf {
            Leaf::Text(text) => Ok(Node::Text(out.push_text(text))),
            Leaf::Int(text) | Leaf::Float(text) | Leaf::Number(text) => Ok(Node::Text(out.push_text(text))),
            Leaf::Bool(true) => Ok(Node::Text(out.push_text("true"))),
            Leaf::Bool(false) => Ok(Node::Text(out.push_text("false"))),
            Leaf::Other => Err(Why::Form),
        },
        ScalarReader::Moment => match leaf {
            Leaf::Text(text) => Ok(Node::Text(out.push_text(text))),
            Leaf::Int(digits) | Leaf::Float(digits) | Leaf::Number(digits) => {
                Ok(Node::Text(out.push_text(&format!("@{digits}"))))
            }
            Leaf::Bool(_) | Leaf::Other => Err(Why::Form),
        },
        // The trees write JSON themselves.
        ScalarReader::Json => Err(Why::Form),
    }
}

/// The integer of a leaf. `strings` says whether a string of digits will do.
fn whole(leaf: &Leaf<'_>, reading: Reading, strings: bool) -> Result<i64, Why> {
    let read = match leaf {
        Leaf::Int(text) => integer(text, false),
        Leaf::Number(text) => integer(text, reading == Reading::Lenient),
        Leaf::Text(text) if strings => integer(text.trim(), false),
        Leaf::Bool(_) | Leaf::Float(_) | Leaf::Text(_) | Leaf::Other => Err(NoInteger::Fraction),
    };
    read.map_err(|why| match why {
        NoInteger::Fraction => Why::Form,
        NoInteger::Size => Why::Size,
    })
}

/// The digits of a leaf. `strings` says whether a string will do.
fn digits<'l>(leaf: &'l Leaf<'_>, strings: bool) -> Option<&'l str> {
    match leaf {
        Leaf::Int(text) | Leaf::Float(text) | Leaf::Number(text) => Some(text),
        Leaf::Text(text) if strings => Some(text.trim()),
        Leaf::Bool(_) | Leaf::Text(_) | Leaf::Other => None,
    }
}

fn truth(leaf: &Leaf<'_>, reading: Reading) -> Option<bool> {
    match leaf {
        Leaf::Bool(truth) => Some(*truth),
        Leaf::Text(text) if reading == Reading::Lenient => {
            let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
            if is(&["true", "t", "yes", "y", "on", "1"]) {
                Some(true)
            } else {
                is(&["false", "f", "no", "n", "off", "0"]).then_some(false)
            }
        }
        Leaf::Text(_) | Leaf::Int(_) | Leaf::Float(_) | Leaf::Number(_) | Leaf::Other => None,
    }
}

/// A string, or the digits of an integer of any size.
fn id(leaf: &Leaf<'_>, out: &mut Values) -> Option<Node> {
    let text = match leaf {
        Leaf::Text(text) => text,
        Leaf::Int(text) => *text,
        Leaf::Number(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                let int = integer(text, false).ok()?;
                return Some(Node::Text(out.push_text(&int.to_string())));
            }
            text
        }
        Leaf::Bool(_) | Leaf::Float(_) | Leaf::Other => return None,
    };
    Some(Node::Text(out.push_text(text)))
}
