//! Writes one of the later parts of an answer.

use super::ledger::{Announced, Begun, LatePart, Ledger};
use super::pass::Pass;
use super::world::{ItemChunk, World};
use crate::answer::field_error::{PathError, SourceError, Step};
use crate::answer::output_plan::{OutputPlan, SelectionSetId};
use crate::answer::write::out::Out;
use crate::answer::write::parting::Parting;
use crate::answer::write::row_writer::{self, Writing};
use crate::engine::increments::locate_sets::locate;
use crate::errors::{self, Failure};
use crate::execute::committed::CommittedFields;
use crate::execute::{ExecutionContext, assemble_answer};
use crate::plan::deferral::Deferral;
use crate::request::IncrementForm;

/// Items are no longer added to a part of this length.
const ITEMS_BYTES: usize = 64 * 1024;

/// The members of a part.
#[derive(Default)]
struct Lists {
    pending: Vec<Announced>,
    incremental: Out,
    completed: Out,
}

/// A part that is being written.
pub(super) struct Payload<'p> {
    run: &'p ExecutionContext<'p>,
    deferral: &'p Deferral,
    form: IncrementForm,
    /// Root fields that were committed; `None` unless the operation is a mutation.
    committed: Option<CommittedFields>,
    lists: Lists,
}

/// Appends `"pending":[…],` unless nothing is pending.
pub(super) fn write_pending(
    out: &mut Out,
    deferral: &Deferral,
    output: &OutputPlan,
    announced: &[Announced],
) {
    if announced.is_empty() {
        return;
    }
    out.raw(b"\"pending\":[");
    for it in announced {
        out.raw(b"{\"id\":\"");
        out.int(it.id.into());
        out.raw(b"\",");
        path(out, "path", output, &it.path);
        label(out, deferral, it.late);
        out.close(b'}');
        out.comma();
    }
    out.close(b']');
    out.comma();
}

/// `"name":["a",0],`.
fn path(out: &mut Out, name: &str, output: &OutputPlan, steps: &[Step]) {
    out.string(name);
    out.raw(b":[");
    for step in steps {
        match step {
            Step::Field(field) => out.string(output.fields[*field as usize].key.name()),
            Step::Index(index) => out.int((*index).into()),
        }
        out.comma();
    }
    out.close(b']');
    out.comma();
}

/// First members of an entry: its id, or path and label.
struct EntryHead<'p> {
    id: u32,
    path: &'p [Step],
    late: LatePart,
}

/// `"label":"a",`, if there is one.
fn label(out: &mut Out, deferral: &Deferral, late: LatePart) {
    if let Some(label) = late.label(deferral) {
        out.raw(b"\"label\":");
        out.string(label);
        out.comma();
    }
}

impl<'p> Payload<'p> {
    pub(super) fn new(
        run: &'p ExecutionContext<'p>,
        deferral: &'p Deferral,
        form: IncrementForm,
        committed: Option<CommittedFields>,
    ) -> Self {
        Self { run, deferral, form, committed, lists: Lists::default() }
    }

    /// True if there is room for more items.
    pub(super) fn has_room(&self) -> bool {
        self.lists.incremental.len() < ITEMS_BYTES
    }

    /// Appends `fragment` at all places of a world where the client waits for it; `at`: the number of the world.
    pub(super) fn fragment(&mut self, world: &mut World, at: u32, ledger: &mut Ledger, fragment: u8) {
        let mut pass = Pass::new(self.run, self.deferral, ledger.form(), Some(fragment));
        for begun in ledger.take(fragment, at) {
            match ledger.form() {
                IncrementForm::Paths => self.by_path(world, &mut pass, &begun),
                IncrementForm::Ids => self.by_id(world, ledger, &mut pass, begun),
            }
        }
        self.note(ledger, pass, at, Some(fragment));
    }

    /// Notes what begins in what `pass` wrote of the world numbered `at`.
    fn note(&mut self, ledger: &mut Ledger, pass: Pass<'_>, at: u32, fragment: Option<u8>) {
        self.lists.pending.extend(ledger.note(self.deferral, pass.into_notes(), at));
        let inner = fragment.map_or_else(Vec::new, |it| ledger.begin_within(self.deferral, it));
        self.lists.pending.extend(inner);
    }

    /// Appends the items of `world` while there is room; `at`: the number of the world, `parent`: that of the world with their lists.
    pub(super) fn items(&mut self, world: &mut World, at: u32, parent: u32, ledger: &mut Ledger) {
        let Some(mut chunk) = world.chunk.take() else { return };
        let mut pass = Pass::new(self.run, self.deferral, ledger.form(), chunk.fragment);
        while self.has_room() && !chunk.is_sent() {
            self.segment(world, &mut pass, &mut chunk, ledger, parent);
        }
        if chunk.is_sent() {
            ledger.release(chunk.stream, parent);
        }
        let fragment = chunk.fragment;
        world.chunk = Some(chunk);
        self.note(ledger, pass, at, fragment);
    }

    /// Appends items of one list while there is room, and its end.
    fn segment(
        &mut self,
        world: &World,
        pass: &mut Pass<'_>,
        chunk: &mut ItemChunk,
        ledger: &mut Ledger,
        parent: u32,
    ) {
        let stream = chunk.stream;
        let form = ledger.form();
        let Some(tail) = ledger.first_tail(stream, parent) else {
            return chunk.sent.0 = chunk.segments.len();
        };
        let id = tail.id;
        let failed = self.some_items(world, pass, chunk, id, form);
        let segment = &chunk.segments[chunk.sent.0];
        let is_all = chunk.sent.1 == segment.len;
        tail.next = segment.first + chunk.sent.1;
        let is_end = is_all && segment.is_last;
        if let Some(failures) = &failed {
            self.end_early(id, &chunk.place(), stream, failures);
        } else if is_end && form == IncrementForm::Ids {
            self.complete(id, &[]);
        }
        if failed.is_some() || is_end {
            ledger.end_tail(stream, parent);
        }
        if failed.is_some() || is_all {
            chunk.sent = (chunk.sent.0 + 1, 0);
        }
    }

    /// Ends the list that flows as `stream`, all of whose items were sent; `error`: its source failed before.
    pub(super) fn end_list(&mut self, stream: u8, error: Option<&SourceError>, ledger: &mut Ledger) {
        let Some(tail) = ledger.first_tail(stream, 0) else { return };
        let id = tail.id;
        let path = tail.path.clone();
        let mut place = tail.path.clone();
        place.push(Step::Index(tail.next));
        let field = path.iter().rev().find_map(|it| match it {
            Step::Field(field) => Some(*field),
            Step::Index(_) => None,
        });
        match (error, field) {
            (Some(error), Some(field)) => {
                let error = PathError { error: error.for_client(), path, field, is_undone: false };
                let failure = Failure::field(&self.run.plan.output, None, error);
                self.end_early(id, &place, stream, &[failure]);
            }
            (Some(_) | None, _) if self.form == IncrementForm::Ids => self.complete(id, &[]),
            (Some(_) | None, _) => {}
        }
        ledger.end_tail(stream, 0);
    }

    /// Ends a list before its item at `place`: `{"path":["list",1],"label":"a","items":null,"errors":[…]},`, or as completed with `failures`.
    fn end_early(&mut self, id: u32, place: &[Step], stream: u8, failures: &[Failure]) {
        let form = self.form;
        if form == IncrementForm::Ids {
            return self.complete(id, failures);
        }
        let mut out = std::mem::take(&mut self.lists.incremental);
        self.head(&mut out, form, EntryHead { id, path: place, late: LatePart::Stream(stream) });
        out.raw(b"\"items\":null,");
        self.errors(&mut out, failures);
        out.close(b'}');
        out.comma();
        self.lists.incremental = out;
    }

    /// Appends items of one list while there is room: `{"path":["list",1],"label":"a","items":[…],"errors":[…]},` or
    /// `{"id":"0","items":[…],"errors":[…]},`. Returns why the next one failed, if it is non-null and did.
    fn some_items(
        &mut self,
        world: &World,
        pass: &mut Pass<'_>,
        chunk: &mut ItemChunk,
        id: u32,
        form: IncrementForm,
    ) -> Option<Vec<Failure>> {
        let mut out = std::mem::take(&mut self.lists.incremental);
        let mark = out.len();
        let before = chunk.sent.1;
        let len = chunk.segments[chunk.sent.0].len;
        let mut failures = Vec::new();
        let mut failed = None;
        let late = LatePart::Stream(chunk.stream);
        self.head(&mut out, form, EntryHead { id, path: &chunk.place(), late });
        out.raw(b"\"items\":[");
        while failed.is_none() && chunk.sent.1 < len && out.len() < ITEMS_BYTES {
            let (is_whole, mut own) = self.item(world, pass, chunk, &mut out);
            if is_whole {
                out.comma();
                chunk.sent.1 += 1;
                failures.append(&mut own);
            } else {
                failed = Some(own);
            }
        }
        out.close(b']');
        out.comma();
        self.errors(&mut out, &failures);
        out.close(b'}');
        out.comma();
        if chunk.sent.1 == before {
            out.truncate(mark);
        }
        self.lists.incremental = out;
        failed
    }

    /// The next item of `chunk`; `false`, with nothing written: it is non-null and failed.
    fn item(
        &self,
        world: &World,
        pass: &mut Pass<'_>,
        chunk: &ItemChunk,
        out: &mut Out,
    ) -> (bool, Vec<Failure>) {
        let output = &*self.run.plan.output;
        let writing = Writing { schema: self.run.graph.schema(), output, children: &world.results.rows };
        let mut errors = Vec::new();
        let noted = pass.note_count();
        let row = chunk.segments[chunk.sent.0].row + chunk.sent.1;
        let at = (chunk.field, chunk.kind);
        let is_whole =
            row_writer::item_in(pass, &writing, out, at, (&chunk.items, row as usize), &mut errors);
        if errors.is_empty() && pass.note_count() == noted {
            return (is_whole, Vec::new());
        }
        let path = chunk.place();
        pass.move_notes_into(noted, &path);
        (is_whole, self.failures_below(&path, errors))
    }

    /// `errors` below `path`.
    fn failures_below(&self, path: &[Step], errors: Vec<PathError>) -> Vec<Failure> {
        let failures = errors.into_iter().map(|mut error| {
            error.path.splice(0..0, path.iter().copied());
            Failure::field(&self.run.plan.output, None, error)
        });
        failures.collect()
    }

    /// `{"path":[…],"label":"a",` or `{"id":"0",`.
    fn head(&self, out: &mut Out, form: IncrementForm, entry: EntryHead<'_>) {
        let EntryHead { id, path: at, late } = entry;
        match form {
            IncrementForm::Paths => {
                out.open(b'{');
                path(out, "path", &self.run.plan.output, at);
                label(out, self.deferral, late);
            }
            IncrementForm::Ids => {
                out.raw(b"{\"id\":\"");
                out.int(id.into());
                out.raw(b"\",");
            }
        }
    }

    /// Appends `{"id":"0","errors":[…]},` to what is completed.
    fn complete(&mut self, id: u32, failures: &[Failure]) {
        let mut completed = std::mem::take(&mut self.lists.completed);
        completed.raw(b"{\"id\":\"");
        completed.int(id.into());
        completed.raw(b"\",");
        self.errors(&mut completed, failures);
        completed.close(b'}');
        completed.comma();
        self.lists.completed = completed;
    }

    /// `{"path":[…],"label":"a","data":{…},"errors":[…]},`.
    fn by_path(&mut self, world: &mut World, pass: &mut Pass<'_>, begun: &Begun) {
        let mut out = std::mem::take(&mut self.lists.incremental);
        let late = LatePart::Fragment(begun.fragment);
        self.head(&mut out, IncrementForm::Paths, EntryHead { id: begun.id, path: &begun.path, late });
        out.raw(b"\"data\":");
        let (is_whole, failures) = self.object(world, pass, &begun.path, &mut out);
        if !is_whole {
            out.null();
        }
        out.comma();
        self.errors(&mut out, &failures);
        out.close(b'}');
        out.comma();
        self.lists.incremental = out;
    }

    /// `{"id":"0","subPath":[…],"data":{…},"errors":[…]},` for each object that has members of the fragment, all or none.
    fn by_id(&mut self, world: &mut World, ledger: &mut Ledger, pass: &mut Pass<'_>, begun: Begun) {
        let mut out = std::mem::take(&mut self.lists.incremental);
        let mark = (out.len(), pass.note_count());
        let mut failed = None;
        for object in &begun.members {
            pass.continue_in(ledger.sent_around(object, begun.fragment));
            if !self.set_at(world, object).is_some_and(|set| pass.has_members_in(set)) {
                continue;
            }
            let late = LatePart::Fragment(begun.fragment);
            self.head(&mut out, IncrementForm::Ids, EntryHead { id: begun.id, path: object, late });
            if object.len() > begun.path.len() {
                path(&mut out, "subPath", &self.run.plan.output, &object[begun.path.len()..]);
            }
            out.raw(b"\"data\":");
            let (is_whole, failures) = self.object(world, pass, object, &mut out);
            if !is_whole {
                failed = Some(failures);
                break;
            }
            out.comma();
            self.errors(&mut out, &failures);
            out.close(b'}');
            out.comma();
        }
        if failed.is_some() {
            out.truncate(mark.0);
            pass.forget(mark.1);
        } else {
            ledger.record_sent(begun.fragment, begun.path);
        }
        self.lists.incremental = out;
        self.complete(begun.id, failed.as_deref().unwrap_or_default());
    }

    fn errors(&self, out: &mut Out, failures: &[Failure]) {
        if failures.is_empty() {
            return;
        }
        let mut failures = failures.to_vec();
        if let Some(committed) = &self.committed {
            committed.add_to(&mut failures);
        }
        errors::append(out, self.run.protocol, self.run.text, &failures);
    }

    fn set_at(&self, world: &World, object: &[Step]) -> Option<SelectionSetId> {
        if object.is_empty() {
            Some(self.run.plan.root)
        } else {
            locate(self.run.plan, world, object).map(|it| it.set)
        }
    }

    /// The members of the object at `path` that `pass` has; `false`, with nothing written: a non-null one failed.
    fn object(
        &self,
        world: &mut World,
        pass: &mut Pass<'_>,
        path: &[Step],
        out: &mut Out,
    ) -> (bool, Vec<Failure>) {
        let run = self.run;
        if path.is_empty() {
            return assemble_answer::root_part(run, &mut world.results, pass, out);
        }
        let Some(found) = locate(run.plan, world, path) else { return (false, Vec::new()) };
        let output = &*run.plan.output;
        let writing = Writing { schema: run.graph.schema(), output, children: &world.results.rows };
        let mut errors = Vec::new();
        let noted = pass.note_count();
        let at = (found.field, found.set);
        let is_whole = row_writer::object_in(pass, &writing, out, at, (found.table, found.row), &mut errors);
        pass.move_notes_into(noted, path);
        (is_whole, self.failures_below(path, errors))
    }

    /// The part; nothing if it would say nothing. The last one says at least that it is the last.
    pub(super) fn into_bytes(self, has_next: bool) -> Option<Vec<u8>> {
        let Lists { pending: announced, incremental, completed } = self.lists;
        if has_next && incremental.is_empty() && completed.is_empty() {
            return None;
        }
        let mut out = Out::default();
        out.open(b'{');
        if self.form == IncrementForm::Ids {
            write_pending(&mut out, self.deferral, &self.run.plan.output, &announced);
        }
        for (name, list) in [(&b"\"incremental\":["[..], incremental), (b"\"completed\":[", completed)] {
            if !list.is_empty() {
                out.raw(name);
                out.raw(list.bytes());
                out.close(b']');
                out.comma();
            }
        }
        out.raw(b"\"hasNext\":");
        out.bool(has_next);
        out.close(b'}');
        Some(out.into_bytes())
    }
}
