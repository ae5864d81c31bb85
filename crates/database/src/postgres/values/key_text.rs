//! Values that were read as parameters of the next statement: in PostgreSQL's text form, alone or as an array.

use super::decode::Decoder;
use crate::exec::cell_value::CellValue;
use weir_engine::rows::{Column, Data};
use weir_engine::write::out::Out;
use weir_postgres::array_literal::quote;
use weir_postgres::statement::{Buffer, Format, Parameters};

/// Appends the text of a value; nothing, and `false`, for null.
fn append(out: &mut Vec<u8>, decoder: &Decoder, bytes: Option<&[u8]>) -> bool {
    let Some(bytes) = bytes else { return false };
    if decoder.format() == Format::Text {
        out.extend_from_slice(bytes);
        return true;
    }
    let mut scratch = Vec::new();
    match decoder.read(bytes, &mut scratch) {
        Ok(CellValue::Int(value)) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Ok(CellValue::Bool(value)) => out.extend_from_slice(if value { b"t" } else { b"f" }),
        Ok(CellValue::Text(text)) => out.extend_from_slice(&text),
        Ok(CellValue::Json(json)) => out.extend_from_slice(&json),
        Ok(CellValue::Float(value)) => {
            let mut digits = Out::default();
            digits.float(value);
            out.extend_from_slice(digits.bytes());
        }
        Ok(CellValue::Null) | Err(_) => return false,
    }
    true
}

/// Pushes a value as a parameter.
pub(crate) fn push(decoder: &Decoder, bytes: Option<&[u8]>, parameters: &mut Parameters) {
    let mut text = Vec::new();
    if append(&mut text, decoder, bytes) { parameters.push(&text) } else { parameters.push_null() }
}

/// Values of one type, as an array.
pub(crate) fn push_array<'v>(
    values: impl Iterator<Item = (&'v Decoder, Option<&'v [u8]>)>,
    parameters: &mut Parameters,
) {
    let mut array = Array::default();
    let mut text = Vec::new();
    for (decoder, bytes) in values {
        text.clear();
        let is_some = append(&mut text, decoder, bytes);
        array.push(is_some.then_some(&text));
    }
    parameters.push(&array.finish());
}

/// The keys of parents in another source, as an array.
pub(crate) fn push_column(column: &Column, parameters: &mut Parameters) {
    let mut array = Array::default();
    for row in 0..column.len() {
        if column.nulls.get(row) {
            array.push(None);
            continue;
        }
        match &column.data {
            Data::Bool(values) => array.push(Some(if values[row] { b"t" } else { b"f" })),
            Data::Int(values) => array.push(Some(values[row].to_string().as_bytes())),
            Data::Float(values) => array.push(Some(values[row].to_string().as_bytes())),
            Data::Text(texts) | Data::Json(texts) => array.push(Some(texts.get(row))),
            Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
                array.push(None);
            }
        }
    }
    parameters.push(&array.finish());
}

/// An array literal: every value in quotes, so that none is taken for `NULL` or for a brace.
/// Source: PostgreSQL's manual, 8.15.6.
#[derive(Default)]
struct Array(Buffer);

impl Array {
    fn push(&mut self, value: Option<&[u8]>) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        let Some(value) = value else {
            self.0.extend_from_slice(b"NULL");
            return;
        };
        quote(value, &mut self.0);
    }

    fn finish(mut self) -> Buffer {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_taken_for_a_part_of_the_array() {
        let mut array = Array::default();
        for value in [Some(&b"1"[..]), None, Some(b"a\"b\\c,{}"), Some(b"NULL"), Some(b"")] {
            array.push(value);
        }
        assert_eq!(&*array.finish(), br#"{"1",NULL,"a\"b\\c,{}","NULL",""}"#);
        assert_eq!(&*Array::default().finish(), b"{}");
    }
}
