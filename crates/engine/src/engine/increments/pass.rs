//! The members of one part of an answer, and where later parts begin.

use crate::answer::field_error::Step;
use crate::answer::output_plan::{Membership, OutputField, OutputPlan, SelectionSetId};
use crate::answer::write::parting::Parting;
use crate::execute::ExecutionContext;
use crate::plan::deferral::Deferral;
use crate::request::IncrementForm;
use weir_language::schema::TypeRef;
use weir_language::value::Variables;

/// A later part that belongs to an object or list which was written.
#[derive(Clone, Debug)]
pub(super) struct Note {
    /// Number of the fragment or stream.
    pub(super) number: u8,
    pub(super) kind: NoteKind,
    /// The object or list.
    pub(super) path: Vec<Step>,
}

/// The fragment's members of the object, or the stream's items of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// The fragment begins there.
    Begin,
    /// Members of the object that are still to be sent.
    Members,
    /// Items of the list that are still to be sent, from `next` on.
    Items { next: u32 },
}

/// Writes the first part, or one fragment.
pub(super) struct Pass<'p> {
    deferral: &'p Deferral,
    output: &'p OutputPlan,
    variables: &'p Variables,
    form: IncrementForm,
    fragment: Option<u8>,
    /// Fragments whose members were sent already.
    sent: u64,
    /// True if the next object was sent before, so that all in it is noted.
    is_known: bool,
    /// Streams whose lists have more items than those at hand: bits.
    flowing: u64,
    notes: Vec<Note>,
}

impl<'p> Pass<'p> {
    /// Writes `fragment`; `None`: what stands outside of all late fragments.
    pub(super) fn new(
        run: &ExecutionContext<'p>,
        deferral: &'p Deferral,
        form: IncrementForm,
        fragment: Option<u8>,
    ) -> Self {
        let output = &*run.plan.output;
        let variables = &**run.variables;
        let sent = 0;
        let is_known = false;
        let flowing = 0;
        let notes = Vec::new();
        Self { deferral, output, variables, form, fragment, sent, is_known, flowing, notes }
    }

    /// Marks streams, as bits, whose lists have more items than those at hand.
    pub(super) fn with_flowing(self, flowing: u64) -> Self {
        Self { flowing, ..self }
    }

    /// Continues in an object that was sent before; `sent`: the fragments whose members in it were sent as well.
    pub(super) fn continue_in(&mut self, sent: u64) {
        self.sent = sent;
        self.is_known = self.form == IncrementForm::Ids;
    }

    /// True if the part has members in objects of `set`.
    pub(super) fn has_members_in(&self, set: SelectionSetId) -> bool {
        self.deferral.sets[set.0 as usize].memberships.iter().any(|it| self.has(*it))
    }

    /// The notes from `noted` on stand in the object at `path`.
    pub(super) fn move_notes_into(&mut self, noted: usize, path: &[Step]) {
        for note in &mut self.notes[noted..] {
            note.path.splice(0..0, path.iter().copied());
        }
    }

    pub(super) fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    fn has(&self, membership: Membership) -> bool {
        let Some(fragment) = self.fragment else { return membership.is_initial };
        let is_in = membership.fragments >> fragment & 1 == 1;
        match self.form {
            // Each fragment has all its members, sent before or not.
            IncrementForm::Paths => is_in,
            IncrementForm::Ids => is_in && !membership.is_initial && membership.fragments & self.sent == 0,
        }
    }

    fn push(&mut self, mut fragments: u64, kind: NoteKind) {
        while fragments != 0 {
            let number = fragments.trailing_zeros() as u8;
            fragments &= fragments - 1;
            self.notes.push(Note { number, kind, path: Vec::new() });
        }
    }
}

impl Parting for Pass<'_> {
    fn holds(&self, output_field: &OutputField) -> bool {
        self.has(self.output.memberships[output_field.membership as usize])
    }

    fn enter(&mut self, set: SelectionSetId) {
        let deferral = self.deferral;
        let deferred = &deferral.sets[set.0 as usize];
        if std::mem::take(&mut self.is_known) || (deferred.begins == 0 && deferred.memberships.is_empty()) {
            return;
        }
        match self.form {
            IncrementForm::Paths => {
                let ours = |it: &u8| {
                    deferred.begins >> it & 1 == 1
                        && deferral.fragments[usize::from(*it)].parent == self.fragment
                };
                let begins =
                    (0..deferral.fragments.len() as u8).filter(ours).fold(0, |all, it| all | 1 << it);
                self.push(begins, NoteKind::Begin);
            }
            IncrementForm::Ids => {
                let left = deferred.memberships.iter().filter(|it| !it.is_initial && !self.has(**it));
                let left = left.fold(0, |all, it| all | it.fragments);
                let own = self.fragment.map_or(0, |it| 1 << it);
                self.push(deferred.begins, NoteKind::Begin);
                self.push(left & !own, NoteKind::Members);
            }
        }
    }

    fn items(&mut self, output_field: &OutputField, item: TypeRef, len: u32) -> Option<u32> {
        let number = self.output.membership(output_field).stream.checked_sub(1);
        // In a list of lists, only the outer list is streamed.
        let Some(number) = number.filter(|_| output_field.ty.item() == Some(item)) else { return Some(len) };
        let next = self.deferral.streams[usize::from(number)].initial(self.variables)?;
        if next < len || self.flowing >> number & 1 == 1 {
            let next = next.min(len);
            self.notes.push(Note { number, kind: NoteKind::Items { next }, path: Vec::new() });
        }
        Some(next.min(len))
    }

    fn note_count(&self) -> usize {
        self.notes.len()
    }

    fn step(&mut self, noted: usize, step: Step) {
        self.notes[noted..].iter_mut().for_each(|it| it.path.push(step));
    }

    fn reached_root(&mut self, noted: usize) {
        self.notes[noted..].iter_mut().for_each(|it| it.path.reverse());
    }

    fn move_notes_below(&mut self, noted: usize, field: u32) {
        self.move_notes_into(noted, &[Step::Field(field)]);
    }

    fn forget(&mut self, noted: usize) {
        self.notes.truncate(noted);
    }
}
