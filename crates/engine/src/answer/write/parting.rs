//! Chooses the members that one part of an answer has, while the part is written.
//!
//! **Cost:** none for an answer of one part: every call on [`Undivided`] is empty.

use crate::answer::field_error::Step;
use crate::answer::output_plan::{OutputField, SelectionSetId};
use weir_language::schema::TypeRef;

/// A part of an answer. It records where later parts begin; a note is dropped with the bytes around it.
pub(crate) trait Parting {
    /// True if the part has the member `of`.
    fn holds(&self, output_field: &OutputField) -> bool;
    /// Notes the later parts that begin in an object of `set`, which is written.
    fn enter(&mut self, set: SelectionSetId);
    /// Number of items that are written with the list in `of`, which has `len` items of type `item`. The others are noted as pending.
    /// `None`: the client's count is negative.
    fn items(&mut self, output_field: &OutputField, item: TypeRef, len: u32) -> Option<u32>;
    /// Number of notes.
    fn note_count(&self) -> usize;
    /// Prepends `step` to the paths of the notes from `noted` on. Paths are stored backwards until the root is reached.
    fn step(&mut self, noted: usize, step: Step);
    /// Completes the paths of the notes from `noted` on.
    fn reached_root(&mut self, noted: usize);
    /// Puts the notes from `noted` on, whose paths are complete, below the root member `field`.
    fn move_notes_below(&mut self, noted: usize, field: u32);
    /// Drops the notes from `noted` on.
    fn forget(&mut self, noted: usize);
}

/// The only part of an answer.
pub(crate) struct Undivided;

impl Parting for Undivided {
    #[inline]
    fn holds(&self, _: &OutputField) -> bool {
        true
    }
    #[inline]
    fn enter(&mut self, _: SelectionSetId) {}
    #[inline]
    fn items(&mut self, _: &OutputField, _: TypeRef, len: u32) -> Option<u32> {
        Some(len)
    }
    #[inline]
    fn note_count(&self) -> usize {
        0
    }
    #[inline]
    fn step(&mut self, _: usize, _: Step) {}
    #[inline]
    fn reached_root(&mut self, _: usize) {}
    #[inline]
    fn move_notes_below(&mut self, _: usize, _: u32) {}
    #[inline]
    fn forget(&mut self, _: usize) {}
}
