//! A mutation as a state machine: the last question it asked, and how it handles the answers.
//!
//! **Invariant:** nothing is changed before every object of the input is known to be there or to be made.

mod explain;
mod permission;

use super::Writes;
use super::change::{Changes, End};
use super::numbers::Numbers;
use super::object::{Content, InputObject, Role};
use super::one_to_one::OneToOne;
use super::refusal::{MutationRefusal, reveal_denial};
use super::resolve::{ObjectNames, Resolution, Resolutions, Resolver, edges};
use super::statement::{RowCondition, TemplateKey};
use super::type_info::copy;
use crate::auth::policy::AuthPolicy;
use crate::model::{FieldId, TypeId, TypeKind};
use permission::Permissions;
use std::sync::Arc;
use weir_database::frontend::program::{Answers, BoundStatement, Cell, Program, Shown, Step, Value};
use weir_engine::source::FieldError;

/// More objects are neither changed nor shown at once.
const MATCHES_MAX: usize = 1_000_000;
/// Objects deleted by one statement.
const PART_MAX: usize = 50_000;
/// Maximum memory for numbers of objects.
const NUMBERS_BYTES_MAX: usize = 64 << 20;

/// Kind of a root field's mutation, and its type of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MutationKind {
    Add(TypeId),
    Update(TypeId),
    Delete(TypeId),
}

#[derive(Debug, Default)]
pub(super) struct MutationInput {
    pub(super) objects: Vec<InputObject>,
    /// Indexes of the objects to add.
    pub(super) roots: Vec<u32>,
    /// `set` of an update.
    pub(super) set: Option<u32>,
    /// `remove` of an update.
    pub(super) remove: Option<u32>,
    pub(super) upsert: bool,
    /// The answer has objects.
    pub(super) shows: bool,
    pub(super) now_us: i64,
}

/// The last query sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing.
    Begin,
    /// Objects that the filter finds.
    Found,
    /// The types of those, if they can differ; the objects with each name; new numbers, if it was certain how many.
    Named {
        kinds: bool,
        numbers: bool,
    },
    /// New numbers.
    Numbered,
    /// The objects of those that the input names that the caller may see, or update.
    Screened,
    /// Required edges.
    Guarded,
    /// A check that the caller may change these objects so.
    Demanded,
    Changed,
    /// The answer of a delete was written.
    Shown,
    Done,
}

/// A mutation as a program.
pub(super) struct Mutation {
    writes: Arc<Writes>,
    kind: MutationKind,
    /// The mutation's name, for errors.
    name: Box<str>,
    input: MutationInput,
    names: ObjectNames,
    stage: Stage,
    /// The objects that the filter found.
    found: Numbers,
    /// Objects that are being changed now.
    matched: Vec<(i64, TypeId)>,
    resolutions: Resolutions,
    numbers: Vec<i64>,
    one_to_one: OneToOne,
    /// Cells with new numbers that were asked for before it was known how many.
    reserved: Vec<Cell>,
    is_changed: bool,
    /// The caller's rights; `None`: all.
    policy: Option<Arc<AuthPolicy>>,
    permissions: Permissions,
    /// True if clients may know of denials.
    tells_denials: bool,
}

impl Mutation {
    pub(super) fn new(writes: Arc<Writes>, kind: MutationKind, name: &str, input: MutationInput) -> Self {
        let names = ObjectNames::new(writes.model(), &input.objects);
        Self {
            writes,
            kind,
            name: name.into(),
            input,
            names,
            stage: Stage::Begin,
            found: Numbers::default(),
            matched: Vec::new(),
            resolutions: Resolutions::default(),
            numbers: Vec::new(),
            one_to_one: OneToOne::default(),
            reserved: Vec::new(),
            is_changed: false,
            policy: None,
            permissions: Permissions::default(),
            tells_denials: false,
        }
    }

    /// Restricts the mutation to the rights in `policy`.
    pub(super) fn with_policy(self, policy: Option<Arc<AuthPolicy>>, tells_denials: bool) -> Self {
        Self { policy, tells_denials, ..self }
    }

    fn step(&mut self, answers: &Answers, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        match (self.stage, self.kind) {
            (Stage::Begin, MutationKind::Add(_)) => self.ask_names(asked),
            (Stage::Begin, MutationKind::Update(_) | MutationKind::Delete(_)) => {
                self.stage = Stage::Found;
                Ok(Step::Find)
            }
            (Stage::Found, MutationKind::Delete(_)) => {
                self.stage = Stage::Shown;
                Ok(Step::Answer(self.shown_objects()))
            }
            (Stage::Found, MutationKind::Add(_) | MutationKind::Update(_)) => {
                self.take_matches(MATCHES_MAX);
                if self.matched.is_empty() || !self.is_asked_for() {
                    Ok(self.answer(Shown::default()))
                } else {
                    self.ask_names(asked)
                }
            }
            (Stage::Shown | Stage::Changed, MutationKind::Delete(_)) if !self.found.is_empty() => {
                self.take_matches(PART_MAX);
                if self.is_abstract() { self.ask_names(asked) } else { self.change(asked) }
            }
            (Stage::Named { kinds, numbers }, _) => self.take_names(answers, kinds, numbers, asked),
            (Stage::Numbered, _) => {
                self.numbers = numbers(answers.cells(0), self.resolutions.made);
                self.guard(asked)
            }
            (Stage::Guarded, _) => {
                self.check_partners(answers)?;
                self.take_losers(answers);
                self.demand_or_continue(asked)
            }
            (Stage::Screened, _) => self.take_screened(asked),
            (Stage::Demanded, _) => self.demand_or_continue(asked),
            (Stage::Shown, _) | (Stage::Changed, MutationKind::Delete(_)) | (Stage::Done, _) => {
                self.stage = Stage::Done;
                Ok(Step::Done)
            }
            (Stage::Changed, MutationKind::Add(_) | MutationKind::Update(_)) => {
                self.is_changed = true;
                self.demand_adds();
                self.demand_or_continue(asked)
            }
        }
    }

    /// Checks the next demand of a right. When all have passed, makes the changes, or answers if they are made.
    fn demand_or_continue(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        match self.demand_next()? {
            Some(step) => Ok(step),
            None if self.is_changed => {
                let shown = self.shown_objects();
                Ok(self.answer(shown))
            }
            None => self.change(asked),
        }
    }

    fn answer(&mut self, shown: Shown) -> Step {
        self.stage = Stage::Done;
        Step::Answer(shown)
    }

    /// True if an update sets or removes anything.
    fn is_asked_for(&self) -> bool {
        self.input.set.is_some() || self.input.remove.is_some()
    }

    fn is_abstract(&self) -> bool {
        self.writes.model().ty(self.kind.ty()).kind != TypeKind::Object
    }

    /// Makes the next of the objects that were found those that are changed.
    fn take_matches(&mut self, count: usize) {
        let ty = self.kind.ty();
        self.matched = self.found.take(count).map(|id| (id, ty)).collect();
    }

    /// Takes the number of an object that was found. Those that are only deleted take little.
    fn add_found(&mut self, id: i64) -> Result<(), MutationRefusal> {
        self.found.push(id);
        let is_held = match self.kind {
            MutationKind::Add(_) | MutationKind::Update(_) => true,
            MutationKind::Delete(_) => self.input.shows,
        };
        if (is_held && self.found.count > MATCHES_MAX) || self.found.bytes() > NUMBERS_BYTES_MAX {
            Err(MutationRefusal::TooMany { max: self.found.count - 1 })
        } else {
            Ok(())
        }
    }

    /// Asks for everything that has to be known before something is changed.
    fn ask_names(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        let kinds = self.is_abstract() && !self.matched.is_empty();
        if kinds {
            let (table, by, shown) = self.writes.registry(self.kind.ty());
            let shown = shown.into_iter().collect();
            let kind = TemplateKey::Find {
                table,
                columns: shown,
                rows: RowCondition { many: true, ..RowCondition::by(by) },
            };
            let ids: Vec<i64> = self.matched.iter().map(|it| it.0).collect();
            asked.push(self.writes.bind_statement(kind, [Value::Ids(ids.into())]));
        }
        self.names.ask(&self.writes, asked);
        let made = self.certainly_made();
        if let Some(made) = made.filter(|it| *it > 0) {
            self.ask_numbers(made, asked);
        }
        self.stage = Stage::Named { kinds, numbers: made.is_some_and(|it| it > 0) };
        Ok(Step::Ask)
    }

    /// Asks for the numbers of as many new objects.
    fn ask_numbers(&self, count: u32, asked: &mut Vec<BoundStatement>) {
        asked.extend(self.writes.templates.numbers(i64::from(count)));
    }

    /// Number of objects that are certainly created, if it does not depend on the store. An object without a required value
    /// cannot be created: it exists, or is refused.
    fn certainly_made(&self) -> Option<u32> {
        let resolver = self.resolver();
        let mut made = 0;
        let mut ignored = vec![false; self.input.objects.len()];
        for (at, object) in self.input.objects.iter().enumerate() {
            let is_named = self.names.has(at as u32);
            let is_below = matches!(object.role, Role::Below(_));
            let is_link =
                is_below && is_named && (object.id.is_some() || resolver.missing_field(object).is_some());
            if ignored[at] || is_link {
                edges(object).for_each(|it| ignored[it as usize] = true);
                continue;
            }
            match object.role {
                Role::Patch { .. } | Role::Unlinked => {}
                Role::Top if !is_named || !self.input.upsert => made += 1,
                Role::Below(_) if !is_named => made += 1,
                Role::Top | Role::Below(_) => return None,
            }
        }
        Some(made)
    }

    fn resolver(&self) -> Resolver<'_> {
        let objects = self.input.objects.as_slice();
        let upsert = self.input.upsert;
        let patched = <[_; 1]>::try_from(self.matched.as_slice()).ok().map(|[it]| it);
        let policy = self.policy.as_deref();
        let denied = &self.permissions.denied;
        Resolver { writes: &self.writes, objects, names: &self.names, upsert, patched, policy, denied }
    }

    fn take_names(
        &mut self,
        answers: &Answers,
        kinds: bool,
        numbers_asked: bool,
        asked: &mut Vec<BoundStatement>,
    ) -> Result<Step, MutationRefusal> {
        if kinds {
            let found = self.writes.read_hits(self.kind.ty(), answers.cells(0));
            let mut types: hashbrown::HashMap<i64, TypeId> = found.into_iter().collect();
            let known = |(id, _): &(i64, TypeId)| types.remove(id).map(|ty| (*id, ty));
            self.matched = self.matched.iter().filter_map(known).collect();
        }
        if let MutationKind::Delete(_) = self.kind {
            return self.change(asked);
        }
        let first = usize::from(kinds);
        self.names.take(&self.writes, answers, first);
        if numbers_asked {
            let at = first + self.names.all.len();
            self.reserved = answers.cells(at).to_vec();
        }
        self.screen(asked)
    }

    /// Decides what happens to each object of the input.
    fn resolve(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        self.resolutions = self.resolver().resolve()?;
        self.check_renaming()?;
        let reserved = std::mem::take(&mut self.reserved);
        if !reserved.is_empty() && self.resolutions.made > 0 {
            self.numbers = numbers(&reserved, self.resolutions.made);
        }
        if self.numbers.len() < self.resolutions.made as usize {
            self.stage = Stage::Numbered;
            self.ask_numbers(self.resolutions.made, asked);
            return Ok(Step::Ask);
        }
        self.guard(asked)
    }

    /// Asks for required partners that would be lost; continues if there are none.
    fn guard(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        self.check_parents()?;
        self.check_adds()?;
        let mut one_to_one = self.required_edges();
        one_to_one.ask(&self.writes, asked);
        self.one_to_one = one_to_one;
        self.ask_losers(asked);
        if asked.is_empty() {
            self.check_partners(&Answers::default())?;
            return self.demand_or_continue(asked);
        }
        self.stage = Stage::Guarded;
        Ok(Step::Ask)
    }

    /// Refuses changes that would leave a required edge without a target. Its object may be one that the caller does not see.
    fn check_partners(&self, answers: &Answers) -> Result<(), MutationRefusal> {
        let checked = self.one_to_one.check(self.writes.model(), answers);
        checked.map_err(|(ty, refusal)| self.resolver().hide_refusal(ty, refusal))
    }

    /// The required edges to one object that the mutation sets or cuts.
    fn required_edges(&self) -> OneToOne {
        let model = self.writes.model();
        let mut one_to_one = OneToOne::new(self.input.remove.is_some());
        self.links(&mut |from, field, to| one_to_one.set(model, from, field, to));
        if let Some(remove) = self.input.remove {
            let patch = &self.input.objects[remove as usize];
            for (ty, ids) in self.by_type() {
                one_to_one.apply_remove(model, ty, &ids, patch, &|at| self.end(at));
            }
        }
        one_to_one
    }

    /// An object that is made inside another belongs to that one: it cannot name another one in its place.
    fn check_parents(&self) -> Result<(), MutationRefusal> {
        let model = self.writes.model();
        for (at, object) in self.input.objects.iter().enumerate() {
            let parents: Vec<End> = self.edge_sources(at).collect();
            for child in
                edges(object).filter(|it| matches!(self.resolutions.of[*it as usize], Resolution::Made(_)))
            {
                let of = &self.input.objects[child as usize];
                let own = of.parent_field(model).filter(|it| !model.field(*it).is_list);
                let Some(own) = own else { continue };
                let named = of.fields.iter().filter(|it| it.0 == own).flat_map(|it| match &it.1 {
                    Content::Edges(edges) => edges.as_slice(),
                    Content::Null | Content::Columns(_) | Content::Items(_) => &[],
                });
                let mut ends = named.filter_map(|it| self.end(*it));
                if ends.any(|end| parents.iter().any(|parent| parent.id != end.id)) {
                    let ty = model.ty(of.ty).name.clone();
                    let field = model.field(own).name.clone();
                    return Err(MutationRefusal::OtherParent { ty, field });
                }
            }
        }
        Ok(())
    }

    /// A new key is for one object, and must not be another's.
    fn check_renaming(&self) -> Result<(), MutationRefusal> {
        let Some(set) = self.input.set.filter(|it| self.names.has(*it)) else { return Ok(()) };
        if self.matched.len() > 1 {
            return Err(self.resolver().hide_refusal(self.kind.ty(), MutationRefusal::ManyMatches));
        }
        let Some(&own) = self.matched.first() else { return Ok(()) };
        for (_, name, hits) in self.names.of_object(set) {
            let is_wide = name.is_of_all_types(self.writes.model());
            if let Some(hit) = hits.iter().find(|hit| hit.0 != own.0 && (is_wide || hit.1 == own.1)) {
                return Err(self.resolver().exists(name, self.kind.ty(), hit.1));
            }
        }
        Ok(())
    }

    /// Says all changes.
    fn change(&mut self, asked: &mut Vec<BoundStatement>) -> Result<Step, MutationRefusal> {
        self.stage = Stage::Changed;
        let mut changes = Changes::new(&self.writes, self.input.now_us, asked);
        if let MutationKind::Delete(_) = self.kind {
            for (ty, ids) in self.by_type() {
                changes.delete(&ids, ty);
            }
            // Parts do not wait for each other in memory.
            return Ok(if self.found.is_empty() { Step::Execute } else { Step::Ask });
        }
        for (at, object) in self.input.objects.iter().enumerate() {
            match self.resolutions.of[at] {
                Resolution::Made(number) => changes.make(object, self.numbers[number as usize])?,
                Resolution::Changed(id, ty) => changes.change(&[id], ty, object)?,
                Resolution::There(..) | Resolution::Same(_) | Resolution::Nothing => {}
            }
        }
        let set = self.input.set.map(|it| &self.input.objects[it as usize]);
        for (ty, ids) in self.by_type() {
            if let Some(set) = set {
                changes.change(&ids, ty, set)?;
            }
        }
        self.links(&mut |from, field, to| changes.link(from, field, to));
        changes.flush_changes();
        if let Some(remove) = self.input.remove {
            let patch = &self.input.objects[remove as usize];
            for (ty, ids) in self.by_type() {
                changes.remove(&ids, ty, patch, &|at| self.end(at), set)?;
            }
        }
        Ok(Step::Execute)
    }

    /// Gives the edges that are set to `set`, in the order of the input.
    fn links(&self, set: &mut dyn FnMut(End, FieldId, End)) {
        for (at, object) in self.input.objects.iter().enumerate() {
            for from in self.edge_sources(at) {
                for (field, content) in &object.fields {
                    let Content::Edges(edges) = content else { continue };
                    let field = copy(self.writes.model(), *field, from.ty);
                    edges.iter().filter_map(|it| self.end(*it)).for_each(|to| set(from, field, to));
                }
            }
        }
    }

    /// The stored objects that get the values given for the object of the input at `at`.
    fn edge_sources(&self, at: usize) -> impl Iterator<Item = End> {
        let is_set = self.input.set == Some(at as u32);
        let own = match self.resolutions.of[at] {
            Resolution::Made(_) | Resolution::Changed(..) => self.end(at as u32),
            Resolution::There(..) | Resolution::Same(_) | Resolution::Nothing => None,
        };
        let matched = self.matched.iter().filter(move |_| is_set);
        own.into_iter().chain(matched.map(|it| End { id: it.0, ty: it.1, row: None }))
    }

    /// The store's object of an object of the input, and the place of its row if it is created: rows are in the order of the
    /// numbers.
    fn end(&self, at: u32) -> Option<End> {
        let mut at = at as usize;
        loop {
            let ty = self.input.objects[at].ty;
            match self.resolutions.of[at] {
                Resolution::Made(number) => {
                    return Some(End { id: self.numbers[number as usize], ty, row: Some(number) });
                }
                Resolution::There(id, ty) | Resolution::Changed(id, ty) => {
                    return Some(End { id, ty, row: None });
                }
                Resolution::Same(other) => at = other as usize,
                Resolution::Nothing => return None,
            }
        }
    }

    /// The objects that were found, by type.
    fn by_type(&self) -> Vec<(TypeId, Vec<i64>)> {
        let mut groups: Vec<(TypeId, Vec<i64>)> = Vec::new();
        for (id, ty) in &self.matched {
            match groups.iter_mut().find(|it| it.0 == *ty) {
                Some(group) => group.1.push(*id),
                None => groups.push((*ty, vec![*id])),
            }
        }
        groups
    }

    /// Objects that the answer shows.
    fn shown_objects(&mut self) -> Shown {
        let matched = || self.matched.iter().map(|it| it.0).collect::<Vec<i64>>();
        match self.kind {
            MutationKind::Add(_) => {
                let ids = self.input.roots.iter().filter_map(|it| Some(self.end(*it)?.id)).collect();
                Shown { ids, affected: i64::from(self.resolutions.made), message: None }
            }
            MutationKind::Update(_) => {
                Shown { ids: matched(), affected: self.matched.len() as i64, message: None }
            }
            MutationKind::Delete(_) => {
                let message = if self.found.count == 0 { "No nodes were deleted" } else { "Deleted" };
                let ids = if self.input.shows { self.found.take(MATCHES_MAX).collect() } else { Vec::new() };
                self.found.rewind();
                Shown { ids, affected: self.found.count as i64, message: Some(message) }
            }
        }
    }
}

/// The new numbers in the answer to a statement: one row each, or one that says the first.
fn numbers(cells: &[Cell], made: u32) -> Vec<i64> {
    match cells {
        [first] => first.int().map_or_else(Vec::new, |first| (first..first + i64::from(made)).collect()),
        several => several.iter().filter_map(Cell::int).collect(),
    }
}

impl Program for Mutation {
    fn restart(&mut self) {
        self.stage = Stage::Begin;
        self.found = Numbers::default();
        self.matched.clear();
        self.resolutions = Resolutions::default();
        self.numbers.clear();
        self.one_to_one = OneToOne::default();
        (self.reserved, self.is_changed) = (Vec::new(), false);
        self.permissions = Permissions::default();
    }

    fn take_object_id(&mut self, id: i64) -> Result<(), FieldError> {
        if let Stage::Screened | Stage::Demanded = self.stage {
            self.permissions.pass(id);
            return Ok(());
        }
        self.add_found(id).map_err(|refusal| refusal.into_field_error(&self.name))
    }

    fn next(&mut self, answers: &Answers, asked: &mut Vec<BoundStatement>) -> Result<Step, FieldError> {
        let done = self.step(answers, asked);
        done.map_err(|refusal| reveal_denial(refusal.into_field_error(&self.name), self.tells_denials))
    }
}
