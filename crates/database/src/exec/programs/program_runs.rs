//! Runs the programs of a mutation, and notes the tables and rows of the statements by which they change data.
//!
//! **Invariant:** a program that was taken back has changed nothing; one whose end nobody knows is not recorded.
//!
//! **Cost:** one look-up per statement that changes something, and at most [`KEYS_MAX`] keys per table.

use super::turns::Turns;
use crate::exec::driver::{Driver, PlannedFetch, WrittenMember};
use crate::exec::output::answer::{UNANSWERED, UNCONFIRMED};
use crate::exec::plans::prepared_plan::PreparedPlan;
use crate::frontend::program::{Answers, BoundStatement, Program, Programs, Step, Value};
use crate::frontend::tags;
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_engine::source::{FetchResult, FieldError, SourceError, Tag};
use weir_engine::tag_versions::RowKey;
use weir_relational::catalog::{Catalog, TableId};

/// Maximum number of keys reported for one table; beyond it any row counts as changed.
const KEYS_MAX: usize = 256;

impl<D: Driver> PlannedFetch<'_, D> {
    /// Runs the root fields of a mutation one after the other, each in a transaction of its own.
    pub(crate) async fn run_programs(self) -> Result<FetchResult, SourceError> {
        let frontend = &self.fetch.state.frontend;
        let Some(programs) = frontend.programs() else {
            return Err(SourceError::Broken("a mutation without programs".into()));
        };
        let plan = self.prepared.plan();
        let output = self.input.output;
        let mut turns = Turns::default();
        let mut changes = ChangedTables::default();
        for at in plan.root.range() {
            let member = &plan.members[at];
            if turns.next(output, member) {
                match self.run_program(programs, at, member.field, &mut changes).await {
                    Ok((bytes, errors)) => turns.push_done(&bytes, errors),
                    Err(error) => turns.fail(output, member, error),
                }
            }
        }
        if let Some(record) = self.input.changes
            && let Some((tags, rows)) = changes.into_tags_and_rows(&frontend.relations().catalog)
        {
            record.settle(tags, rows);
        }
        Ok(turns.reply())
    }

    async fn run_program(
        &self,
        programs: &dyn Programs,
        at: usize,
        field: u32,
        changes: &mut ChangedTables,
    ) -> Result<WrittenMember, SourceError> {
        let begun = programs.begin(self.call(field)).await;
        let program = begun.map_err(|error| SourceError::Rejected { error, field: Some(field) })?;
        let watch = ProgramWatch::default();
        let watched = WatchedProgram { program, watch: ProgramWatch(Arc::clone(&watch.0)) };
        let written = D::drive(self, at, Box::new(watched)).await;
        match &written {
            Ok(_) => changes.join(std::mem::take(&mut *watch.lock_changes())),
            Err(SourceError::Rejected { error, .. }) if may_stand(error) => changes.is_unknown = true,
            // The transaction was rolled back.
            Err(SourceError::Rejected { .. } | SourceError::Undone(_) | SourceError::Passed(_)) => {}
            Err(
                SourceError::Busy
                | SourceError::Timeout
                | SourceError::Unavailable(_)
                | SourceError::Broken(_),
            ) => changes.is_unknown = true,
        }
        written
    }
}

/// True if the changes are committed, or their outcome is unknown.
fn may_stand(error: &FieldError) -> bool {
    matches!(error.code, UNANSWERED | UNCONFIRMED)
}

/// The changed rows of a table.
#[derive(Debug)]
enum ChangedKeys {
    Any,
    Keys(Vec<i64>),
}

/// Tables with the rows that were changed.
#[derive(Debug, Default)]
struct ChangedTables {
    tables: HashMap<TableId, ChangedKeys>,
    /// Any row of any table may have been changed.
    is_unknown: bool,
}

impl ChangedTables {
    /// Adds rows of a table; `None`: any of them.
    fn add(&mut self, table: TableId, keys: Option<&[i64]>) {
        let known = self.tables.entry(table).or_insert_with(|| ChangedKeys::Keys(Vec::new()));
        match (&mut *known, keys) {
            (ChangedKeys::Keys(known), Some(keys)) if known.len() + keys.len() <= KEYS_MAX => {
                known.extend(keys);
            }
            (known, _) => *known = ChangedKeys::Any,
        }
    }

    /// Adds the rows that a statement may change.
    fn take_in(&mut self, asked: &BoundStatement) {
        let Some(changes) = &asked.template.changes else { return };
        let keys = match changes.key.and_then(|at| asked.values.get(at)) {
            Some(Value::Int(key)) => Some(std::slice::from_ref(key)),
            Some(Value::Ids(keys)) => Some(&**keys),
            Some(Value::Null | Value::Bool(_) | Value::Float(_) | Value::Text(_)) | None => None,
        };
        match &changes.tables {
            Some(tables) => tables.iter().for_each(|it| self.add(*it, keys)),
            None => self.is_unknown = true,
        }
    }

    fn join(&mut self, other: Self) {
        self.is_unknown |= other.is_unknown;
        for (table, changed) in other.tables {
            match changed {
                ChangedKeys::Any => self.add(table, None),
                ChangedKeys::Keys(keys) => self.add(table, Some(&keys)),
            }
        }
    }

    /// Tags of the changed tables, and keys of the changed rows; `None`: unknown.
    fn into_tags_and_rows(self, catalog: &Catalog) -> Option<(Vec<Tag>, Vec<RowKey>)> {
        let mut all = Vec::new();
        let mut rows = Vec::new();
        for (table, changed) in self.tables {
            let tag = tags(catalog, Some(vec![table])).pop()?;
            match changed {
                ChangedKeys::Any => {}
                // A statement without objects.
                ChangedKeys::Keys(keys) if keys.is_empty() => continue,
                ChangedKeys::Keys(keys) => {
                    let row = |it: &i64| RowKey::new(tag.clone(), [it.to_string().as_str()]);
                    rows.extend(keys.iter().map(row));
                }
            }
            all.push(tag);
        }
        (!self.is_unknown).then_some((all, rows))
    }
}

#[derive(Debug, Default)]
struct ProgramWatch(Arc<Mutex<ChangedTables>>);

impl ProgramWatch {
    fn lock_changes(&self) -> MutexGuard<'_, ChangedTables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program whose statements are recorded as they pass.
struct WatchedProgram {
    program: Box<dyn Program>,
    watch: ProgramWatch,
}

impl Program for WatchedProgram {
    fn restart(&mut self) {
        *self.watch.lock_changes() = ChangedTables::default();
        self.program.restart();
    }

    fn take_object_id(&mut self, id: i64) -> Result<(), FieldError> {
        self.program.take_object_id(id)
    }

    fn next(&mut self, answers: &Answers, asked: &mut Vec<BoundStatement>) -> Result<Step, FieldError> {
        let step = self.program.next(answers, asked)?;
        if asked.iter().any(|it| it.template.changes.is_some()) {
            let mut changed = self.watch.lock_changes();
            asked.iter().for_each(|it| changed.take_in(it));
        }
        Ok(step)
    }
}
