//! Rules of `@auth` in a mutation: what its program asks of objects beyond the filter.
//!
//! Before a change: links to objects that the caller does not see lead nowhere, an upsert passes over objects that the caller may
//! not update, and whoever loses an edge has to be one that the caller may update. After it: every new object has to be one
//! that the caller may add.
//!
//! **Invariant:** what is denied without a look at objects is denied before anything is changed.
//!
//! **Cost:** nothing for the admin and for types without rules; else a question per type and operation.

use super::{Mutation, Stage};
use crate::auth::Right;
use crate::auth::policy::Allowed;
use crate::layout::ColumnIds;
use crate::model::{FieldKind, Model, TypeId};
use crate::write::change::End;
use crate::write::object::Role;
use crate::write::refusal::MutationRefusal;
use crate::write::resolve::{Denied, Resolution};
use crate::write::statement::{RowCondition, TemplateKey};
use crate::write::type_info::{EdgeStorage, Pointer, copy, side};
use smallvec::SmallVec;
use weir_database::frontend::program::{Answers, BoundStatement, Step, Value};
use weir_relational::plan::operators::Comparison;

/// Objects of one type that an operation is asked for.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    operation: Right,
    ty: TypeId,
    ids: Vec<i64>,
}

/// A question for objects that lose an edge: their type, and the one that keeps it.
#[derive(Clone, Copy, Debug)]
struct LoserQuestion {
    ty: TypeId,
    keeps: Option<i64>,
}

/// Questions about objects, and the answers so far.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    demands: Vec<Demand>,
    /// The one that is asked.
    current: Option<Demand>,
    /// Objects of the current demand that passed.
    passed: Vec<i64>,
    pub(super) denied: Denied,
    losers: Vec<LoserQuestion>,
    /// Statements before those for losers.
    losers_at: usize,
}

impl Permissions {
    fn demand(&mut self, operation: Right, ty: TypeId, id: i64) {
        let same = |it: &&mut Demand| it.operation == operation && it.ty == ty;
        match self.demands.iter_mut().find(same) {
            Some(demand) if demand.ids.contains(&id) => {}
            Some(demand) => demand.ids.push(id),
            None => self.demands.push(Demand { operation, ty, ids: vec![id] }),
        }
    }

    /// Takes the number of an object that passed.
    pub(super) fn pass(&mut self, id: i64) {
        self.passed.push(id);
    }

    /// Objects of the current demand that did not pass, and the right that was demanded.
    fn take_failed(&mut self) -> (Option<Right>, Vec<i64>) {
        let Some(Demand { operation, ids, .. }) = self.current.take() else { return (None, Vec::new()) };
        self.passed.sort_unstable();
        let failed = ids.into_iter().filter(|it| self.passed.binary_search(it).is_err()).collect();
        self.passed.clear();
        (Some(operation), failed)
    }
}

impl Mutation {
    fn allowed_objects(&self, ty: TypeId, operation: Right) -> Allowed {
        let table = self.writes.layout.tables[ty.index()];
        self.policy.as_ref().map_or(Allowed::All, |it| it.allowed_in(table, operation))
    }

    /// Asks whether objects that the input names may be seen, or updated by an upsert; then goes on.
    pub(super) fn screen(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        if self.policy.is_none() {
            return self.resolve(asked);
        }
        let mut named = Vec::new();
        for (at, object) in self.input.objects.iter().enumerate() {
            let operation = match object.role {
                Role::Below(_) | Role::Unlinked => Right::Query,
                Role::Top if self.input.upsert => Right::Update,
                Role::Top | Role::Patch { .. } => continue,
            };
            let hits = self.names.of_object(at as u32).flat_map(|it| it.2);
            named.extend(hits.map(|(id, ty)| (operation, *ty, *id)));
        }
        for (operation, ty, id) in named {
            match self.allowed_objects(ty, operation) {
                Allowed::All => {}
                Allowed::Nothing => self.permissions.denied.add(operation, id),
                Allowed::If(_) => self.permissions.demand(operation, ty, id),
            }
        }
        self.next_screen(asked)
    }

    /// Takes the result of the last check, and asks the next one.
    pub(super) fn take_screened(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        if let (Some(operation), failed) = self.permissions.take_failed() {
            failed.into_iter().for_each(|id| self.permissions.denied.add(operation, id));
        }
        self.next_screen(asked)
    }

    fn next_screen(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        match self.check_next(Stage::Screened) {
            Some(step) => Ok(step),
            None => self.resolve(asked),
        }
    }

    /// The next demand as a step.
    fn check_next(&mut self, stage: Stage) -> Option<Step> {
        let demand = self.permissions.demands.pop()?;
        let step = Step::Check { number: demand.operation.number(demand.ty), ids: demand.ids.clone() };
        self.permissions.current = Some(demand);
        self.stage = stage;
        Some(step)
    }

    /// Refuses new objects of types that the caller may not add at all.
    pub(super) fn check_adds(&self) -> Result<(), MutationRefusal> {
        let mut made = self.new_objects();
        if made.any(|(ty, _)| self.allowed_objects(ty, Right::Add) == Allowed::Nothing) {
            Err(MutationRefusal::Denied)
        } else {
            Ok(())
        }
    }

    /// New objects: type, and index of the object's number.
    fn new_objects(&self) -> impl Iterator<Item = (TypeId, u32)> {
        let objects = self.input.objects.iter().zip(&self.resolutions.of);
        objects.filter_map(|(object, it)| match it {
            Resolution::Made(number) => Some((object.ty, *number)),
            _ => None,
        })
    }

    /// Demands the right to add of all that was added.
    pub(super) fn demand_adds(&mut self) {
        if self.policy.is_none() {
            return;
        }
        let made: Vec<(TypeId, u32)> = self.new_objects().collect();
        for (ty, number) in made {
            if self.allowed_objects(ty, Right::Add) != Allowed::All {
                self.permissions.demand(Right::Add, ty, self.numbers[number as usize]);
            }
        }
    }

    /// Asks for objects that lose an edge because another takes its target.
    pub(super) fn ask_losers(&mut self, asked: &mut Vec<BoundStatement>) {
        if self.policy.is_none() {
            return;
        }
        let mut pointers = Vec::new();
        let model = self.writes.model();
        let layout = &self.writes.layout;
        self.links(&mut |from, field, to| match side(model, layout, field, to.ty) {
            Some(EdgeStorage::Ours(by)) => {
                pointers.push((from, by, to));
                if by.mutual {
                    pointers.push((to, Pointer { field: copy(model, by.field, to.ty), ..by }, from));
                }
            }
            Some(EdgeStorage::Theirs(by)) => pointers.push((to, by, from)),
            Some(EdgeStorage::Pairs { .. }) | None => {}
        });
        let mut losers = Vec::new();
        let at = asked.len();
        for (holder, by, target) in pointers {
            self.ask_old_target(holder, by, target, &mut losers, asked);
            self.ask_other_holders(holder, by, target, &mut losers, asked);
        }
        (self.permissions.losers, self.permissions.losers_at) = (losers, at);
    }

    /// The object that `holder` points at so far loses it, if the edge has another side.
    fn ask_old_target(
        &self,
        holder: End,
        by: Pointer,
        target: End,
        losers: &mut Vec<LoserQuestion>,
        asked: &mut Vec<BoundStatement>,
    ) {
        let layout = &self.writes.layout;
        let FieldKind::Edge { to, inverse: Some(_) } = self.writes.model().field(by.field).kind else {
            return;
        };
        if holder.row.is_some() || self.allowed_objects(to, Right::Update) == Allowed::All {
            return;
        }
        let table = layout.tables[holder.ty.index()];
        let id = layout.ids[holder.ty.index()];
        let columns = ColumnIds::from_slice(&[by.column]);
        let key = TemplateKey::Find { table, columns, rows: RowCondition::by(id) };
        asked.push(self.writes.bind_statement(key, [Value::Int(holder.id)]));
        losers.push(LoserQuestion { ty: to, keeps: Some(target.id) });
    }

    /// Asks for other objects that point at `target`: they lose it if only one may have it.
    fn ask_other_holders(
        &self,
        holder: End,
        by: Pointer,
        target: End,
        losers: &mut Vec<LoserQuestion>,
        asked: &mut Vec<BoundStatement>,
    ) {
        let model = self.writes.model();
        let layout = &self.writes.layout;
        if !by.is_single || target.row.is_some() {
            return;
        }
        for &ty in holders(model, by, target) {
            let field = copy(model, by.field, ty);
            let crate::layout::Storage::ToOne { column, .. } = layout.fields[field.index()] else { continue };
            if self.allowed_objects(ty, Right::Update) == Allowed::All {
                continue;
            }
            let table = layout.tables[ty.index()];
            let id = layout.ids[ty.index()];
            let and = SmallVec::from_iter([(id, Comparison::Neq)]);
            let rows = RowCondition { and, ..RowCondition::by(column) };
            let key = TemplateKey::Find { table, columns: ColumnIds::from_slice(&[id]), rows };
            asked.push(self.writes.bind_statement(key, [Value::Int(target.id), Value::Int(holder.id)]));
            losers.push(LoserQuestion { ty, keeps: None });
        }
    }

    /// Demands the right to update of the objects that lose an edge.
    pub(super) fn take_losers(&mut self, answers: &Answers) {
        let losers = std::mem::take(&mut self.permissions.losers);
        for (at, LoserQuestion { ty, keeps }) in losers.into_iter().enumerate() {
            let cells = answers.cells(self.permissions.losers_at + at);
            for id in cells.iter().filter_map(weir_database::frontend::program::Cell::int) {
                if Some(id) != keeps {
                    self.permissions.demand(Right::Update, ty, id);
                }
            }
        }
    }

    /// Asks the next demand, all of whose objects have to pass; `None`: there is none.
    pub(super) fn demand_next(&mut self) -> Result<Option<Step>, MutationRefusal> {
        if !self.permissions.take_failed().1.is_empty() {
            return Err(MutationRefusal::Denied);
        }
        let demands = &self.permissions.demands;
        if demands.iter().any(|it| self.allowed_objects(it.ty, it.operation) == Allowed::Nothing) {
            return Err(MutationRefusal::Denied);
        }
        Ok(self.check_next(Stage::Demanded))
    }
}

/// The types that have a pointer as `by` at objects like `target`.
fn holders(model: &Model, by: Pointer, target: End) -> &[TypeId] {
    let FieldKind::Edge { inverse: Some(inverse), .. } = model.field(by.field).kind else { return &[] };
    match model.field(copy(model, inverse, target.ty)).kind {
        FieldKind::Edge { to, .. } => &model.ty(to).members,
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => &[],
    }
}
