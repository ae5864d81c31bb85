//! Arrays and composites in binary: lists and objects.
//!
//! **Invariant:** recursion follows the compiled type, never the bytes; every length in the bytes is checked.

use super::{WireForm, wrong_form_fault};
use crate::exec::cell_value::Fault;

/// PostgreSQL's bound on the dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

/// A type with parts, all of which come in binary.
#[derive(Clone, Debug)]
pub(super) enum Nested {
    /// Array of such elements.
    Array(WireForm),
    /// Composite type: each field's name, written as a JSON key, and type.
    Composite(Box<[(Box<[u8]>, WireForm)]>),
}

impl Nested {
    /// Appends the value as JSON.
    pub(super) fn json(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut bytes = Bytes(bytes);
        match self {
            Self::Array(element) => array(element, &mut bytes, out)?,
            Self::Composite(fields) => composite(fields, &mut bytes, out)?,
        }
        if bytes.0.is_empty() { Ok(()) } else { Err(wrong_form_fault()) }
    }
}

fn part(form: &WireForm, value: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), Fault> {
    match (form, value) {
        (_, None) => {
            out.extend_from_slice(b"null");
            Ok(())
        }
        (WireForm::Plain(plain), Some(bytes)) => plain.json(bytes, out),
        (WireForm::Nested(nested), Some(bytes)) => nested.json(bytes, out),
        // A type with such a part is compiled to be asked for as text.
        (WireForm::Word(_), Some(_)) => Err(wrong_form_fault()),
    }
}

/// The bytes: dimensions, whether there are nulls, type of the elements; size and lower bound of each dimension;
/// the elements, the last dimension running fastest.
fn array(element: &WireForm, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let dimensions = bytes.count()?;
    bytes.take(8)?;
    if dimensions == 0 {
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    // Number of elements of a list in each dimension.
    let mut sizes = [0_u32; DIMENSIONS_MAX];
    let sizes = sizes.get_mut(..dimensions).ok_or_else(wrong_form_fault)?;
    for size in &mut *sizes {
        *size = bytes.count()? as u32;
        bytes.take(4)?;
    }
    for at in (0..dimensions - 1).rev() {
        sizes[at] = sizes[at].checked_mul(sizes[at + 1]).ok_or_else(wrong_form_fault)?;
    }
    if sizes[0] == 0 {
        // An empty vector has a dimension, an empty array has none.
        if sizes.len() > 1 {
            return Err(wrong_form_fault());
        }
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    for at in 0..sizes[0] {
        if at != 0 {
            out.push(b',');
        }
        let opened = sizes.iter().filter(|&&size| at % size == 0).count();
        out.extend(std::iter::repeat_n(b'[', opened));
        part(element, bytes.value()?, out)?;
        let closed = sizes.iter().filter(|&&size| (at + 1) % size == 0).count();
        out.extend(std::iter::repeat_n(b']', closed));
    }
    Ok(())
}

/// The bytes: number of fields; type and value of each.
fn composite(
    fields: &[(Box<[u8]>, WireForm)],
    bytes: &mut Bytes<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    if bytes.count()? != fields.len() {
        return Err(wrong_form_fault());
    }
    out.push(b'{');
    for (at, (key, form)) in fields.iter().enumerate() {
        if at != 0 {
            out.push(b',');
        }
        out.extend_from_slice(key);
        bytes.take(4)?;
        part(form, bytes.value()?, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Bytes still to be read.
struct Bytes<'v>(&'v [u8]);

impl<'v> Bytes<'v> {
    fn take(&mut self, len: usize) -> Result<&'v [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(wrong_form_fault)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of things: 32 bits, not negative.
    fn count(&mut self) -> Result<usize, Fault> {
        let (number, rest) = self.0.split_first_chunk::<4>().ok_or_else(wrong_form_fault)?;
        self.0 = rest;
        usize::try_from(i32::from_be_bytes(*number)).map_err(|_| wrong_form_fault())
    }

    /// A length and so many bytes; -1 is null.
    fn value(&mut self) -> Result<Option<&'v [u8]>, Fault> {
        if let Some(rest) = self.0.strip_prefix(&[0xff; 4]) {
            self.0 = rest;
            return Ok(None);
        }
        let len = self.count()?;
        self.take(len).map(Some)
    }
}
