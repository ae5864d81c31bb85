//! Writes an answer: the part that is common to all writers, whatever the source of the rows.
//!
//! A member that fails answers `false`; the nearest nullable position cuts the buffer back and writes `null`. Paths are kept
//! backwards and only grown when there are errors. A member that another one repeats is remembered and copied.
//!
//! **Cost:** no allocation per row or value; nothing here asks what kind of rows it serves.

use crate::exec::cell_value::{CellValue, Fault, id};
use smallvec::SmallVec;
use std::ops::Range;
use weir_engine::plan::output_plan::{self, OutputField, OutputPlan};
use weir_engine::source::{FieldError, Ids, PathError, SourceError, Step};
use weir_engine::write::out::Out;
use weir_engine::write::rows::ERRORS_MAX;
use weir_language::schema::Schema;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::Member;

/// Code of a mutation that was done, but whose answer cannot be given.
pub(crate) const UNANSWERED: &str = "WRITE_UNANSWERED";
/// Code of a mutation whose outcome is unknown.
pub(crate) const UNCONFIRMED: &str = "WRITE_UNCONFIRMED";

/// Maximum size of a part of an answer that is buffered until complete, in bytes.
pub(crate) const PART_BYTES_MAX: usize = 64 << 20;

/// Parts of a stream leave when they have this many bytes.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// Splits the bytes behind the first part into pieces of about [`CHUNK_BYTES`]: of a long item, a slow reader holds up only a
/// few pieces.
pub(crate) fn pieces(bytes: Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
    let is_long = bytes.len() > 4 * CHUNK_BYTES;
    let mut left = Some(bytes);
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = left.take()?;
        if !is_long {
            return Some(bytes);
        }
        let end = bytes.len().min(at + CHUNK_BYTES);
        let piece = bytes[at..end].to_vec();
        left = Some(bytes).filter(|it| end < it.len());
        at = end;
        Some(piece)
    })
}

/// Response names of an answer's fields.
#[derive(Clone, Copy)]
pub(crate) struct Names<'r> {
    pub(crate) schema: &'r Schema,
    pub(crate) ids: &'r Ids,
    pub(crate) output: &'r OutputPlan,
}

/// An answer while it is written.
pub(crate) struct Answer<'r> {
    pub(crate) names: Names<'r>,
    pub(crate) out: Out,
    /// Paths are backwards.
    pub(crate) errors: Vec<PathError>,
}

/// Something has outgrown [`PART_BYTES_MAX`].
#[derive(Debug)]
pub(crate) struct TooLong {
    /// Subject and verb of the message.
    pub(crate) what: &'static str,
    /// Index in the output plan of the field that was answered.
    pub(crate) field: u32,
}

/// A written member that a later one may copy: its bytes and its errors.
pub(crate) struct Written {
    field: u32,
    bytes: Range<usize>,
    errors: Range<usize>,
}

/// Members of one object that later members may copy.
pub(crate) type Spans = SmallVec<[Written; 2]>;

/// A member whose key is written.
pub(crate) struct Begun {
    /// Start of its value.
    pub(crate) mark: usize,
    /// Number of errors before it.
    pub(crate) before: usize,
    /// The value was copied from another member's.
    pub(crate) is_copied: bool,
}

impl TooLong {
    #[cold]
    pub(crate) fn field_error(&self) -> FieldError {
        let message = format!("{} longer than {PART_BYTES_MAX} bytes; ask for less at a time", self.what);
        field_error(Fault { code: "LIMIT_RESPONSE", message: message.into() })
    }

    /// The error if the answer belongs to a committed mutation; otherwise see [`Self::field_error`].
    #[cold]
    pub(crate) fn of_mutation(&self) -> FieldError {
        Self::committed_error(PART_BYTES_MAX)
    }

    /// Error of a mutation that is committed, but whose answer is longer than `bytes_max`.
    #[cold]
    pub(crate) fn committed_error(bytes_max: usize) -> FieldError {
        let message = format!(
            "the mutation was done, but its answer is longer than {bytes_max} bytes: ask for what it changed in a query"
        );
        FieldError { code: UNANSWERED, message: message.into(), hasura_path: None, extensions: None }
    }

    pub(crate) fn into_error(self) -> SourceError {
        SourceError::Rejected { error: self.field_error(), field: Some(self.field) }
    }
}

/// The error of a committed mutation whose answer has a value that cannot be written, although the catalog promised it.
#[cold]
pub(crate) fn committed_value_error(first: &PathError) -> FieldError {
    let message = format!(
        "the mutation was done, but a value of its answer cannot be given: {}; ask for what it changed in a query",
        first.error.message
    );
    FieldError { code: UNANSWERED, message: message.into(), hasura_path: None, extensions: None }
}

pub(crate) fn field_error(fault: Fault) -> FieldError {
    FieldError { code: fault.code, message: fault.message.into(), hasura_path: None, extensions: None }
}

impl Names<'_> {
    /// graphql-js's words for a null where none can be.
    #[cold]
    pub(crate) fn null_fault(&self, field: u32) -> Fault {
        let of = self.schema.field(self.ids.field(self.output.fields[field as usize].field));
        let ty = self.schema.type_name(of.parent);
        let name = self.schema.str(of.name);
        let message = format!("Cannot return null for non-nullable field {ty}.{name}.");
        Fault { code: "NULL_FOR_NON_NULL", message: message.into() }
    }
}

impl<'r> Answer<'r> {
    pub(crate) fn new(names: Names<'r>, bytes: Vec<u8>, errors: Vec<PathError>) -> Self {
        Self { names, out: Out::new(bytes), errors }
    }

    /// The field of the output plan for `member`.
    #[inline]
    pub(crate) fn of(&self, member: &Member) -> &'r OutputField {
        &self.names.output.fields[member.field as usize]
    }

    /// Writes a member that is known since it was planned.
    #[inline]
    pub(crate) fn constant(&mut self, of: &OutputField) {
        if let output_plan::OutputKind::Constant { start, end } = of.member {
            self.out.span(&self.names.output.constants, start as usize, end as usize);
        }
    }

    /// Writes a member's key, and its value if an earlier one of `spans` has it already.
    ///
    /// # Errors
    /// The copy exceeds the limit of a part.
    #[inline]
    pub(crate) fn begin(&mut self, member: &Member, spans: &Spans) -> Result<Begun, TooLong> {
        let of = self.of(member);
        self.out.key(&of.key);
        let mark = self.out.len();
        let before = self.errors.len();
        let earlier = member.same_as.and_then(|it| spans.iter().find(|span| span.field == it));
        if let Some(written) = earlier {
            self.room(written.bytes.len(), member)?;
            self.out.repeat_range(written.bytes.clone());
            for at in written.errors.clone() {
                let mut error = self.errors[at].clone();
                error.path.pop();
                self.errors.push(error);
            }
        }
        Ok(Begun { mark, before, is_copied: earlier.is_some() })
    }

    /// Ends a member, whose value is written if it is `ok`, and null by now if it may be; gives whether its object may stand.
    #[inline]
    pub(crate) fn end(&mut self, member: &Member, begun: &Begun, ok: bool, spans: &mut Spans) -> bool {
        self.step(begun.before, Step::Field(member.field));
        let stands = ok || member.nullable;
        if member.copied && stands {
            let bytes = begun.mark..self.out.len();
            let errors = begun.before..self.errors.len();
            spans.push(Written { field: member.field, bytes, errors });
        }
        self.out.comma();
        stands
    }

    /// Writes a member that is a value of a row.
    #[inline]
    pub(crate) fn leaf(&mut self, member: &Member, cell: Cell, value: Result<CellValue<'_>, Fault>) -> bool {
        let key = &self.of(member).key;
        match value {
            Ok(CellValue::Int(value)) if cell == Cell::Id => {
                self.out.key(key);
                id(&mut self.out, value);
                self.out.comma();
            }
            Ok(CellValue::Int(value)) => self.out.member_int(key, value),
            Ok(CellValue::Text(text)) => self.out.member_text(key, &text),
            Ok(CellValue::Bool(value)) => self.out.member_bool(key, value),
            Ok(CellValue::Float(value)) => return self.out.member_float(key, value),
            Ok(CellValue::Json(json)) => {
                self.out.key(key);
                self.out.raw(&json);
                self.out.comma();
            }
            Ok(CellValue::Null) if member.nullable => self.out.member_null(key),
            Ok(CellValue::Null) => {
                let fault = self.names.null_fault(member.field);
                return self.faulty(member, fault);
            }
            Err(fault) => return self.faulty(member, fault),
        }
        true
    }

    /// A value that cannot be given.
    #[cold]
    pub(crate) fn faulty(&mut self, member: &Member, fault: Fault) -> bool {
        let before = self.errors.len();
        self.fail(member, fault);
        self.step(before, Step::Field(member.field));
        if member.nullable {
            self.out.member_null(&self.of(member).key);
        }
        member.nullable
    }

    /// Null, or an error where null cannot be.
    #[inline]
    pub(crate) fn missing(&mut self, member: &Member) -> bool {
        if member.nullable {
            self.out.null();
            return true;
        }
        let fault = self.names.null_fault(member.field);
        self.fail(member, fault);
        false
    }

    /// Several objects where there can be one.
    #[cold]
    pub(crate) fn several(&mut self, member: &Member) -> bool {
        self.fail(member, Fault::several());
        false
    }

    #[cold]
    pub(crate) fn fail(&mut self, member: &Member, fault: Fault) {
        if self.errors.len() < ERRORS_MAX {
            let error = field_error(fault);
            self.errors.push(PathError { error, path: Vec::new(), field: member.field, is_undone: false });
        }
    }

    /// Puts a step before the paths of all errors since `before`.
    #[inline]
    pub(crate) fn step(&mut self, before: usize, step: Step) {
        for error in self.errors.get_mut(before..).unwrap_or_default() {
            error.path.push(step);
        }
    }

    /// Refuses to gather more than [`PART_BYTES_MAX`]: a few lines of nested text can ask for all memory there is.
    #[inline]
    pub(crate) fn room(&self, more: usize, member: &Member) -> Result<(), TooLong> {
        if self.out.len() + more <= PART_BYTES_MAX {
            Ok(())
        } else {
            Err(TooLong { what: "one item of the answer is", field: member.field })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_leaves_in_pieces_and_what_is_short_as_it_is() {
        for len in
            [0, 1, CHUNK_BYTES, 4 * CHUNK_BYTES, 4 * CHUNK_BYTES + 1, 8 * CHUNK_BYTES, 9 * CHUNK_BYTES - 1]
        {
            let bytes: Vec<u8> = (0..len).map(|it| it as u8).collect();
            let pieces: Vec<Vec<u8>> = pieces(bytes.clone()).collect();
            assert_eq!(pieces.concat(), bytes, "{len}");
            let is_long = len > 4 * CHUNK_BYTES;
            assert_eq!(pieces.len(), if is_long { len.div_ceil(CHUNK_BYTES) } else { 1 });
        }
    }
}
