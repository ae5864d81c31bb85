//! A fetch for people: the text form of its plan, and its statements, among them those that programs may run.

use super::driver::{Driver, RelationalFetch};
use super::plans::prepared_plan::PreparedPlan;
use crate::frontend::program::PossibleStatement;
use std::borrow::Cow;
use std::sync::Arc;
use weir_engine::source::ExplainInput;
use weir_relational::plan::describe;
use weir_relational::plan::write::{Work, Write};

/// A fetch and the plan that the variables of a request choose.
pub(super) struct Explained<'r, D: Driver> {
    pub(super) fetch: &'r RelationalFetch<D>,
    pub(super) prepared: Cow<'r, Arc<D::Prepared>>,
    pub(super) input: ExplainInput<'r>,
}

impl<D: Driver> Explained<'_, D> {
    /// Appends the text form of the plan.
    pub(super) fn plan(&self, out: &mut String) {
        let machine = |write: &Write, out: &mut String| match self.possible(write.field) {
            Ok(all) => lines(&all, "    ", out),
            Err(refusal) => out.push_str(&format!("    refused: {refusal}\n")),
        };
        describe(self.prepared.plan(), self.fetch.state.frontend.relations(), &machine, out);
        for (at, &field) in self.prepared.plan().lookups.iter().enumerate() {
            out.push_str(&format!("lookup {at} of {}\n", self.name(field)));
            lines(&self.possible(field).unwrap_or_default(), "  ", out);
        }
    }

    /// Appends the statements, each behind a line with the path or table it is for.
    pub(super) fn statements(&self, out: &mut String) {
        let plan = self.prepared.plan();
        let own = self.prepared.statements(self.fetch.state.frontend.relations());
        let mut all: Vec<(String, Cow<'_, str>)> =
            own.into_iter().map(|(it, sql)| (it, sql.into())).collect();
        let statement = |path: &str, it: PossibleStatement| {
            (format!("{path}: {}", it.words), Cow::Owned(it.template.sql.clone()))
        };
        for &field in plan.lookups.iter().rev() {
            let possible = self.possible(field).unwrap_or_default();
            all.splice(0..0, possible.into_iter().map(|it| statement(self.name(field), it)));
        }
        for write in plan.writes.iter().filter(|it| it.works.iter().any(is_program)) {
            let possible = self.possible(write.field).unwrap_or_default();
            let shown = format!("{}.", write.path);
            let at = all.iter().position(|it| it.0.starts_with(&shown)).unwrap_or(all.len());
            all.splice(at..at, possible.into_iter().map(|it| statement(&write.path, it)));
        }
        for (at, (words, sql)) in all.into_iter().enumerate() {
            let line = if at > 0 { "\n" } else { "" };
            out.push_str(&format!("{line}-- {words}\n{sql}\n"));
        }
    }

    /// The response key of a field.
    fn name(&self, field: u32) -> &str {
        self.input.output.fields[field as usize].key.name()
    }

    /// The statements that the program of a root field may run, or the reason why it is refused.
    fn possible(&self, field: u32) -> Result<Vec<PossibleStatement>, Box<str>> {
        let Some(programs) = self.fetch.state.frontend.programs() else { return Ok(Vec::new()) };
        let call = self.fetch.call(self.input.output, self.input.variables, field);
        programs.possible(&call).map_err(|it| it.message)
    }
}

fn is_program(work: &Work) -> bool {
    matches!(work, Work::Program { .. })
}

/// Appends the words of statements, a line each; one step of several statements is one line.
fn lines(all: &[PossibleStatement], indent: &str, out: &mut String) {
    for (at, it) in all.iter().enumerate() {
        if at == 0 || all[at - 1].words != it.words {
            out.push_str(&format!("{indent}{}\n", it.words));
        }
    }
}
