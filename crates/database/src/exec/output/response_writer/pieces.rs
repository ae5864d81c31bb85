//! The list of the root, written in pieces by several writers, and put together by one.
//!
//! **Invariant:** the list is that of one writer: errors have the places of their items in the whole list.

use super::{ResponseWriter, Wrote};
use crate::exec::output::answer::CHUNK_BYTES;
use crate::exec::output::row_source::{Piece, RowContext, RowSource, Walk};
use weir_engine::source::Step;
use weir_engine::write::out::Out;
use weir_engine::write::rows::ERRORS_MAX;
use weir_relational::plan::Member;

impl<'r, S: RowSource> ResponseWriter<'r, S> {
    /// Writes the items of the range that the source reads, in pieces that `push` takes.
    pub(crate) fn write_range(
        &mut self,
        level: u32,
        member: &'r Member,
        mut push: impl FnMut(Piece) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        let of = &self.plan.levels[level as usize];
        let mut rows = 0;
        let mut stands = true;
        S::each(self, level, RowContext::Root, |writer, row| {
            stands = writer.item(of, member, row, rows)?;
            rows += 1;
            if !stands {
                return Ok(Walk::Stop);
            }
            writer.answer.room(0, member)?;
            if writer.answer.out.len() >= CHUNK_BYTES {
                push(writer.take_piece(rows, true))?;
                rows = 0;
            }
            Ok(Walk::On)
        })?;
        if rows > 0 { push(self.take_piece(rows, stands)) } else { Ok(()) }
    }

    fn take_piece(&mut self, rows: u32, stands: bool) -> Piece {
        let next = Out::new(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4));
        let bytes = std::mem::replace(&mut self.answer.out, next).into_bytes();
        let errors = std::mem::take(&mut self.answer.errors);
        self.epoch += 1;
        Piece { bytes, errors, rows, stands }
    }

    /// Writes the list of the root from the pieces of the source.
    pub(super) fn write_pieces(&mut self, member: &'r Member) -> Wrote<S> {
        let mut rows = 0;
        let mut stands = true;
        self.answer.out.open(b'[');
        while stands && let Some(piece) = self.source.next_piece()? {
            self.answer.out.raw(&piece.bytes);
            let room = ERRORS_MAX.saturating_sub(self.answer.errors.len());
            for mut error in piece.errors.into_iter().take(room) {
                if let Some(Step::Index(place)) = error.path.last_mut() {
                    *place += rows;
                }
                self.answer.errors.push(error);
            }
            rows += piece.rows;
            stands = piece.stands;
            if stands {
                self.flush()?;
                self.answer.room(0, member)?;
            }
        }
        self.answer.out.close(b']');
        Ok(stands)
    }
}
