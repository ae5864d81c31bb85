//! Writes one of the later parts of an answer.

use super::ledger::{Begun, Ledger};
use super::locate::locate;
use super::pass::Pass;
use crate::engine::IncrementForm;
use crate::errors::{self, Failure};
use crate::execute::{ExecutionContext, FetchResults, assemble};
use crate::plan::deferral::Deferral;
use crate::plan::output_plan::{OutputPlan, SelectionSetId};
use crate::source::Step;
use crate::write::out::Out;
use crate::write::parting::Parting;
use crate::write::rows::{self, Writing};

/// The members of a part.
#[derive(Default)]
struct Lists {
    pending: Vec<Begun>,
    incremental: Out,
    completed: Out,
}

/// A part that is being written.
pub(super) struct Payload<'p> {
    run: &'p ExecutionContext<'p>,
    deferral: &'p Deferral,
    lists: Lists,
}

/// Appends `"pending":[…],` unless nothing is pending.
pub(super) fn pending(out: &mut Out, deferral: &Deferral, output: &OutputPlan, begun: &[Begun]) {
    if begun.is_empty() {
        return;
    }
    out.raw(b"\"pending\":[");
    for it in begun {
        out.raw(b"{\"id\":\"");
        out.int(it.id.into());
        out.raw(b"\",");
        path(out, "path", output, &it.path);
        label(out, deferral, it.fragment);
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

/// `"label":"a",`, if the fragment has one.
fn label(out: &mut Out, deferral: &Deferral, fragment: u8) {
    if let Some(label) = &deferral.fragments[usize::from(fragment)].label {
        out.raw(b"\"label\":");
        out.string(label);
        out.comma();
    }
}

impl<'p> Payload<'p> {
    pub(super) fn new(run: &'p ExecutionContext<'p>, deferral: &'p Deferral) -> Self {
        Self { run, deferral, lists: Lists::default() }
    }

    /// Appends `fragment` at all places where the client waits for it.
    pub(super) fn fragment(&mut self, results: &mut FetchResults, ledger: &mut Ledger, fragment: u8) {
        let mut pass = Pass::new(self.deferral, &self.run.plan.output, ledger.form(), Some(fragment));
        for begun in ledger.take(fragment) {
            match ledger.form() {
                IncrementForm::Paths => self.by_path(results, &mut pass, &begun),
                IncrementForm::Ids => self.by_id(results, ledger, &mut pass, begun),
            }
        }
        self.lists.pending.extend(ledger.note(self.deferral, pass.into_notes()));
        self.lists.pending.extend(ledger.begin_within(self.deferral, fragment));
    }

    /// `{"path":[…],"label":"a","data":{…},"errors":[…]},`.
    fn by_path(&mut self, results: &mut FetchResults, pass: &mut Pass<'_>, begun: &Begun) {
        let mut out = std::mem::take(&mut self.lists.incremental);
        out.open(b'{');
        path(&mut out, "path", &self.run.plan.output, &begun.path);
        label(&mut out, self.deferral, begun.fragment);
        out.raw(b"\"data\":");
        let (is_whole, failures) = self.object(results, pass, &begun.path, &mut out);
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
    fn by_id(&mut self, results: &mut FetchResults, ledger: &mut Ledger, pass: &mut Pass<'_>, begun: Begun) {
        let mut out = std::mem::take(&mut self.lists.incremental);
        let mark = (out.len(), pass.noted());
        let mut failed = None;
        for object in &begun.members {
            pass.go_on_in(ledger.sent_around(object, begun.fragment));
            if !self.set_at(results, object).is_some_and(|set| pass.has_members_in(set)) {
                continue;
            }
            out.raw(b"{\"id\":\"");
            out.int(begun.id.into());
            out.raw(b"\",");
            if object.len() > begun.path.len() {
                path(&mut out, "subPath", &self.run.plan.output, &object[begun.path.len()..]);
            }
            out.raw(b"\"data\":");
            let (is_whole, failures) = self.object(results, pass, object, &mut out);
            if !is_whole {
                failed = Some(failures);
                break;
            }
            out.comma();
            self.errors(&mut out, &failures);
            out.close(b'}');
            out.comma();
        }
        let mut completed = std::mem::take(&mut self.lists.completed);
        completed.raw(b"{\"id\":\"");
        completed.int(begun.id.into());
        completed.raw(b"\",");
        match failed {
            Some(failures) => {
                out.truncate(mark.0);
                pass.forget(mark.1);
                self.errors(&mut completed, &failures);
            }
            None => ledger.sent(begun.fragment, begun.path),
        }
        completed.close(b'}');
        completed.comma();
        (self.lists.incremental, self.lists.completed) = (out, completed);
    }

    fn errors(&self, out: &mut Out, failures: &[Failure]) {
        if !failures.is_empty() {
            errors::append(out, self.run.protocol, self.run.text, failures);
        }
    }

    fn set_at(&self, results: &FetchResults, object: &[Step]) -> Option<SelectionSetId> {
        match object.is_empty() {
            true => Some(self.run.plan.root),
            false => locate(self.run.plan, results, object).map(|it| it.set),
        }
    }

    /// The members of the object at `path` that `pass` has; `false`, with nothing written: a non-null one failed.
    fn object(
        &self,
        results: &mut FetchResults,
        pass: &mut Pass<'_>,
        path: &[Step],
        out: &mut Out,
    ) -> (bool, Vec<Failure>) {
        let run = self.run;
        if path.is_empty() {
            return assemble::root_part(run, results, pass, out);
        }
        let Some(found) = locate(run.plan, results, path) else { return (false, Vec::new()) };
        let output = &*run.plan.output;
        let writing = Writing { schema: run.graph.schema(), output, children: &results.rows };
        let (mut errors, noted) = (Vec::new(), pass.noted());
        let at = (found.field, found.set);
        let is_whole = rows::object_in(pass, &writing, out, at, (found.table, found.row), &mut errors);
        pass.within(noted, path);
        let failures = errors.into_iter().map(|mut error| {
            error.path.splice(0..0, path.iter().copied());
            Failure::field(output, None, error)
        });
        (is_whole, failures.collect())
    }

    /// The part; nothing if it would say nothing.
    pub(super) fn into_bytes(self, has_next: bool) -> Option<Vec<u8>> {
        let Lists { pending: begun, incremental, completed } = self.lists;
        if incremental.is_empty() && completed.is_empty() {
            return None;
        }
        let mut out = Out::default();
        out.open(b'{');
        if !completed.is_empty() {
            pending(&mut out, self.deferral, &self.run.plan.output, &begun);
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
