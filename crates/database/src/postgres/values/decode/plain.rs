//! Values without parts, in binary.
//!
//! **Invariant:** what is written without escapes needs none: digits, dates, identifiers of bytes.

use super::digits;
use super::digits::Is;
use super::time;
use super::wrong_form_fault;
use crate::exec::cell_value::{CellValue, Fault, hex};
use std::borrow::Cow;
use weir_engine::write::out::Out;

/// Binary formats. Names ending in `Text` give a number as a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Int4,
    /// Text, copied.
    Text,
    Int8,
    Bool,
    Int2,
    Timestamp,
    /// At UTC.
    TimestampTz,
    Date,
    Numeric,
    /// A `numeric` that has to be an integer of 64 bits.
    Whole,
    /// Float in PostgreSQL's spelling.
    Float8,
    /// Float in the spelling of all other answers.
    Float,
    Float4,
    Uuid,
    /// JSON, copied.
    Json,
    /// JSON after the version byte, copied.
    Jsonb,
    Time,
    TimeTz,
    Interval,
    Bytes,
    /// 32 bits, which `to_json` gives as a string.
    Unsigned,
    /// PostgreSQL's type of one byte.
    Char,
    Int8Text,
    Float8Text,
    NumericText,
}

/// Nowhere but in PostgreSQL is there a zero below zero.
fn float(bytes: &[u8]) -> Result<f64, Fault> {
    Ok(f64::from_be_bytes(to_array(bytes)?) + 0.0)
}

impl Plain {
    /// Reads a value of a result column.
    #[inline]
    pub(super) fn read<'v>(self, bytes: &'v [u8], scratch: &'v mut Vec<u8>) -> Result<CellValue<'v>, Fault> {
        match self {
            Self::Int4 => Ok(CellValue::Int(i32::from_be_bytes(to_array(bytes)?).into())),
            Self::Text => Ok(CellValue::Text(Cow::Borrowed(bytes))),
            Self::Int8 => Ok(CellValue::Int(i64::from_be_bytes(to_array(bytes)?))),
            Self::Bool => boolean(bytes).map(CellValue::Bool),
            Self::Int2 => Ok(CellValue::Int(i16::from_be_bytes(to_array(bytes)?).into())),
            Self::Float => match float(bytes)? {
                value if value.is_finite() => Ok(CellValue::Float(value)),
                value => Err(Fault::not_finite(value)),
            },
            Self::Whole => {
                scratch.clear();
                digits::decimal(bytes, scratch).ok_or_else(wrong_form_fault)?;
                let digits = String::from_utf8_lossy(scratch);
                digits.parse().map(CellValue::Int).map_err(|_| Fault::beyond_64_bits(&digits))
            }
            Self::Json => Ok(CellValue::Json(Cow::Borrowed(bytes))),
            Self::Jsonb => Ok(CellValue::Json(Cow::Borrowed(document(bytes)?))),
            Self::Timestamp
            | Self::TimestampTz
            | Self::Date
            | Self::Numeric
            | Self::Float8
            | Self::Float4
            | Self::Uuid
            | Self::Time
            | Self::TimeTz
            | Self::Interval
            | Self::Bytes
            | Self::Unsigned
            | Self::Char
            | Self::Int8Text
            | Self::Float8Text
            | Self::NumericText => {
                scratch.clear();
                Ok(match self.write(bytes, scratch)? {
                    Is::Number => CellValue::Json(Cow::Borrowed(scratch)),
                    Is::Text => CellValue::Text(Cow::Borrowed(scratch)),
                })
            }
        }
    }

    /// Appends a part of a larger value, as JSON.
    pub(super) fn json(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Text => quote(out, bytes),
            Self::Bool => out.extend_from_slice(if boolean(bytes)? { b"true" } else { b"false" }),
            Self::Json => out.extend_from_slice(bytes),
            Self::Jsonb => out.extend_from_slice(document(bytes)?),
            Self::Bytes => {
                out.extend_from_slice(b"\"\\");
                hex(out, bytes);
                out.push(b'"');
            }
            Self::Char => {
                let mut text = Vec::new();
                self.write(bytes, &mut text)?;
                quote(out, &text);
            }
            Self::Int4
            | Self::Int8
            | Self::Int2
            | Self::Timestamp
            | Self::TimestampTz
            | Self::Date
            | Self::Numeric
            | Self::Float
            | Self::Whole
            | Self::Float8
            | Self::Float4
            | Self::Uuid
            | Self::Time
            | Self::TimeTz
            | Self::Interval
            | Self::Unsigned
            | Self::Int8Text
            | Self::Float8Text
            | Self::NumericText => {
                let start = out.len();
                if self.write(bytes, out)? == Is::Text {
                    out.insert(start, b'"');
                    out.push(b'"');
                }
            }
        }
        Ok(())
    }

    /// Appends PostgreSQL's text of the value; dates and times in the form they have in JSON.
    fn write(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Is, Fault> {
        match self {
            Self::Int2 => Ok(digits::integer(i16::from_be_bytes(to_array(bytes)?).into(), out)),
            Self::Int4 => Ok(digits::integer(i32::from_be_bytes(to_array(bytes)?).into(), out)),
            Self::Int8 => Ok(digits::integer(i64::from_be_bytes(to_array(bytes)?), out)),
            Self::Float8 => Ok(digits::float8(f64::from_be_bytes(to_array(bytes)?), out)),
            Self::Float => {
                let mut digits = Out::default();
                if !digits.float(float(bytes)?) {
                    return Self::Float8.write(bytes, out);
                }
                out.extend_from_slice(digits.bytes());
                Ok(Is::Number)
            }
            Self::Float4 => Ok(digits::float4(f32::from_be_bytes(to_array(bytes)?), out)),
            Self::Numeric | Self::Whole => digits::decimal(bytes, out).ok_or_else(wrong_form_fault),
            Self::Int8Text => as_text(Self::Int8, bytes, out),
            Self::Float8Text => as_text(Self::Float8, bytes, out),
            Self::NumericText => as_text(Self::Numeric, bytes, out),
            Self::Unsigned
            | Self::Timestamp
            | Self::TimestampTz
            | Self::Date
            | Self::Time
            | Self::TimeTz
            | Self::Interval
            | Self::Uuid
            | Self::Bytes
            | Self::Char
            | Self::Text
            | Self::Json
            | Self::Jsonb
            | Self::Bool => self.write_text(bytes, out).map(|()| Is::Text),
        }
    }

    fn write_text(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Timestamp => time::timestamp(i64::from_be_bytes(to_array(bytes)?), "", out),
            Self::TimestampTz => time::timestamp(i64::from_be_bytes(to_array(bytes)?), "+00:00", out),
            Self::Date => time::date(i32::from_be_bytes(to_array(bytes)?), out),
            Self::Time => time::time(i64::from_be_bytes(to_array(bytes)?), out),
            Self::TimeTz => {
                let (time, zone) = bytes.split_at_checked(8).ok_or_else(wrong_form_fault)?;
                time::time(i64::from_be_bytes(to_array(time)?), out);
                time::zone(i32::from_be_bytes(to_array(zone)?), out);
            }
            Self::Interval => {
                let (time, rest) = bytes.split_at_checked(8).ok_or_else(wrong_form_fault)?;
                let (days, months) = rest.split_at_checked(4).ok_or_else(wrong_form_fault)?;
                let days = i32::from_be_bytes(to_array(days)?);
                let months = i32::from_be_bytes(to_array(months)?);
                time::interval(i64::from_be_bytes(to_array(time)?), days, months, out);
            }
            Self::Uuid => uuid(to_array(bytes)?, out),
            Self::Bytes => hex(out, bytes),
            Self::Char => char(to_array::<1>(bytes)?[0], out),
            Self::Jsonb => out.extend_from_slice(document(bytes)?),
            Self::Bool => out.push(if boolean(bytes)? { b't' } else { b'f' }),
            Self::Text | Self::Json => out.extend_from_slice(bytes),
            Self::Unsigned => {
                digits::integer(u32::from_be_bytes(to_array(bytes)?).into(), out);
            }
            Self::Int4
            | Self::Int8
            | Self::Int2
            | Self::Numeric
            | Self::Whole
            | Self::Float
            | Self::Float8
            | Self::Float4
            | Self::Int8Text
            | Self::Float8Text
            | Self::NumericText => {
                self.write(bytes, out)?;
            }
        }
        Ok(())
    }
}

fn as_text(number: Plain, bytes: &[u8], out: &mut Vec<u8>) -> Result<Is, Fault> {
    number.write(bytes, out)?;
    Ok(Is::Text)
}

/// Converts `bytes` to an array; any other length than `N` is a fault.
#[inline]
fn to_array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Fault> {
    bytes.try_into().map_err(|_| wrong_form_fault())
}

fn boolean(bytes: &[u8]) -> Result<bool, Fault> {
    match bytes {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(wrong_form_fault()),
    }
}

/// The text of a `jsonb`, after the version byte.
fn document(bytes: &[u8]) -> Result<&[u8], Fault> {
    match bytes {
        [1, text @ ..] => Ok(text),
        _ => Err(wrong_form_fault()),
    }
}

fn uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let digits = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    for (byte, at) in bytes.into_iter().zip(PLACES) {
        text[at] = digits[usize::from(byte >> 4)];
        text[at + 1] = digits[usize::from(byte & 15)];
    }
    out.extend_from_slice(&text);
}

/// Writes a `"char"` like PostgreSQL 15: a non-ASCII byte as octal digits, zero as nothing.
fn char(byte: u8, out: &mut Vec<u8>) {
    match byte {
        0 => {}
        1..0x80 => out.push(byte),
        0x80.. => out.extend([b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]),
    }
}

/// Appends `text`, which is UTF-8, as a JSON string.
pub(super) fn quote(out: &mut Vec<u8>, text: &[u8]) {
    let mut json = Out::new(std::mem::take(out));
    json.text(text);
    *out = json.into_bytes();
}
