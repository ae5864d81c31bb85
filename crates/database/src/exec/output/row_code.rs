//! Writes the JSON of a code: of a cursor, an identifier or a stream's position.

use super::row_source::RowSource;
use crate::exec::cell_value::{CellValue, Fault, is_number, write_value};
use weir_engine::write::out::Out;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Code, CodePiece};

/// Replaces the contents of `out` by the JSON of `code` for a row. Numbers are written as numbers, whatever the source's settings.
pub(crate) fn write_code<S: RowSource>(
    source: &mut S,
    code: &Code,
    row: S::Row<'_>,
    out: &mut Out,
) -> Result<(), Fault> {
    out.truncate(0);
    for piece in &code.pieces {
        let (column, cell) = match piece {
            CodePiece::Text(text) => {
                out.raw(text.as_bytes());
                continue;
            }
            CodePiece::Value { column, cell } => (*column, *cell),
        };
        match source.read(row, column, cell)? {
            CellValue::Text(digits)
                if matches!(cell, Cell::Int | Cell::BigInt | Cell::Float | Cell::Numeric)
                    && is_number(&digits) =>
            {
                out.raw(&digits);
            }
            // Written as a text, so that a document that is null differs from no document.
            CellValue::Json(json) if cell == Cell::Json => out.text(&json),
            CellValue::Float(value) if !value.is_finite() => {
                out.string(if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "Infinity"
                } else {
                    "-Infinity"
                });
            }
            value => write_value(out, cell, &value),
        }
    }
    Ok(())
}
