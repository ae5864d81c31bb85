//! A value read from a database of any kind.
//!
//! Each driver converts its values to a [`CellValue`]; writers of answers know only this type.
//!
//! **Invariant:** a text is UTF-8 and JSON is valid: who makes the value has checked it, or its database promises it.

use std::borrow::Cow;
use weir_engine::write::out::Out;
pub(crate) use weir_language::json::is_number;
use weir_relational::catalog::facts::Cell;

use weir_relational::values::hex::push_hex;

/// A value ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue<'v> {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Up to 64 bits.
    Int(i64),
    /// Finite.
    Float(f64),
    /// UTF-8.
    Text(Cow<'v, [u8]>),
    /// Valid JSON.
    Json(Cow<'v, [u8]>),
}

/// Why a stored value cannot be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stable code, of `docs/errors.md`.
    pub code: &'static str,
    /// Words for the client.
    pub message: Cow<'static, str>,
}

impl Fault {
    /// Several objects match where one was expected.
    #[cold]
    pub(crate) fn several() -> Self {
        let message = "A list was returned, but GraphQL was expecting just one item: objects of several types have this \
                       key. Ask for one of the types, or by ID.";
        Self { code: "BAD_USER_INPUT", message: message.into() }
    }

    /// An `Int` has more than 32 bits.
    #[cold]
    pub(crate) fn beyond_32_bits(value: i64) -> Self {
        let message = format!("Int cannot represent non 32-bit signed integer value: {value}");
        Self { code: "INT_RANGE", message: message.into() }
    }

    /// The error of an integer beyond 32 bits in a file whose integers can be served with 64.
    #[cold]
    pub(crate) fn beyond_declared_bits(value: i64) -> Self {
        let Self { code, message } = Self::beyond_32_bits(value);
        let message = format!("{message}; the setting `integers: bigint` of the source serves 64 bits");
        Self { code, message: message.into() }
    }

    /// A number is infinite or none.
    #[cold]
    pub(crate) fn not_finite(value: f64) -> Self {
        let message = format!("Float cannot represent non numeric value: {value}");
        Self { code: "FLOAT_RANGE", message: message.into() }
    }

    /// A sum has more than 64 bits.
    #[cold]
    pub(crate) fn beyond_64_bits(digits: &str) -> Self {
        let message = format!("Int64 cannot represent non 64-bit signed integer value: {digits}");
        Self { code: "INT_RANGE", message: message.into() }
    }
}

/// Appends a value of a list, without a comma.
pub(crate) fn write_value(out: &mut Out, cell: Cell, value: &CellValue<'_>) {
    match value {
        CellValue::Null => out.null(),
        CellValue::Bool(value) => out.bool(*value),
        CellValue::Int(number) if cell == Cell::Id => id(out, *number),
        CellValue::Int(value) => out.int(*value),
        CellValue::Float(value) => {
            out.float(*value);
        }
        CellValue::Text(text) => out.text(text),
        CellValue::Json(json) => out.raw(json),
    }
}

/// Error of a row that refers to an object that does not exist.
#[cold]
pub(crate) fn no_such_object() -> Fault {
    Fault { code: "INVALID_VALUE", message: "there is no object of the type that is stored".into() }
}

/// Appends the number of an object as a JSON string: `"0x2a"`.
pub(crate) fn id(out: &mut Out, number: i64) {
    let mut text = [b'"'; 20];
    let mut start = 19;
    let mut rest = number as u64;
    loop {
        start -= 1;
        text[start] = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    start -= 3;
    text[start + 1..start + 3].copy_from_slice(b"0x");
    out.raw(&text[start..]);
}

/// Appends `bytes` as PostgreSQL writes a `bytea`.
pub(crate) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"\\x");
    push_hex(out, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_object_is_hexadecimal() {
        for (number, expected) in [(0, "\"0x0\""), (42, "\"0x2a\""), (i64::MAX, "\"0x7fffffffffffffff\"")] {
            let mut out = Out::default();
            id(&mut out, number);
            assert_eq!(out.bytes(), expected.as_bytes());
        }
    }
}
