//! Fields that answer under one key are the same field, or cannot both apply and have the same shape.
//!
//! The specification compares every pair. Here the fields of a set are grouped by response key, and each group is held
//! against its first member, which is enough because "same field" and "same shape" are equivalences. The sets below a
//! group are merged into one new set. Fields of different object types never meet, so within a group they are split
//! by parent; for shape alone they stay together.
//!
//! **Invariant:** a set of selection sets is looked at once; the totals of all fragments were bounded before.
//!
//! **Cost:** linear in the expanded fields, but for sorting groups that mix object types.
//! Source: <https://spec.graphql.org/September2025/#sec-Field-Selection-Merging>

mod conflict;
mod same_selection;

use crate::ids::{FieldId, TypeId};
use crate::syntax::ast::{Field, List, Selection};
use crate::type_system::{TypeKind, TypeRef};
use crate::validate::expanded_limits;
use crate::validate::rule_context::Context;
use crate::validate::valid::NONE;
use conflict::Conflict;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;

/// Members that may be looked at for each field that may be expanded.
const WORK_PER_FIELD_MAX: usize = 30;

/// A selection set that takes part in a merged set.
#[derive(Clone, Copy)]
struct Part {
    list: List<Selection>,
    /// The field it belongs to, and the place in [`Merge::parts`] that field was found in. [`NONE`] at the root.
    owner: u32,
    from: u32,
}

/// A merged set to be looked at.
#[derive(Clone)]
struct Task {
    /// Range in [`Merge::parts`].
    parts: Range<usize>,
    /// Only shapes matter: the fields apply to different objects.
    shape_only: bool,
}

/// A field of a merged set.
#[derive(Clone, Copy)]
struct FieldMember {
    selection: u32,
    /// The place in [`Merge::parts`] it was found in.
    from: u32,
    /// The next member of its group, or [`NONE`].
    next: u32,
}

/// Position of a response key's group, valid in one round.
#[derive(Clone, Copy, Default)]
struct Slot {
    round: u32,
    first: u32,
    last: u32,
}

/// The state of the search.
struct Merge {
    parts: Vec<Part>,
    tasks: Vec<Task>,
    members: Vec<FieldMember>,
    /// First members of groups, in document order.
    groups: Vec<u32>,
    slots: Vec<Slot>,
    /// By fragment: the round that last had it.
    fragments: Vec<u32>,
    round: u32,
    /// By place of a set's first selection: whether that set alone was looked at.
    alone: Vec<[bool; 2]>,
    /// Sets of more than one part that were looked at, kept once `work` shows that sets come again and again.
    together: HashSet<Box<[u32]>, RandomState>,
    /// Members looked at so far. Fields on an interface meet those of every object, so that many of both cost their
    /// product: the one way to exceed `work_max`.
    work: usize,
    work_max: usize,
    /// Scratch for the sets that are open while members are collected.
    stack: Vec<Range<usize>>,
    /// Scratch for the members of one group.
    group: Vec<u32>,
    conflicts: Vec<Conflict>,
}

/// Looks at every operation.
pub(in crate::validate) fn document(cx: &mut Context<'_>) {
    let mut merge = Merge {
        parts: Vec::new(),
        tasks: Vec::new(),
        members: Vec::new(),
        groups: Vec::new(),
        slots: vec![Slot::default(); cx.keys.len()],
        fragments: vec![0; cx.tables.fragments.len()],
        round: 0,
        alone: vec![[false; 2]; cx.document.selections.len()],
        together: HashSet::default(),
        work: 0,
        work_max: (cx.options.limits.expanded_max as usize).saturating_mul(WORK_PER_FIELD_MAX),
        stack: Vec::new(),
        group: Vec::new(),
        conflicts: Vec::new(),
    };
    for at in 0..cx.tables.operations.len() {
        let list = cx.tables.operations[at].ast.selections;
        let mut is_root = true;
        merge.parts.push(Part { list, owner: NONE, from: NONE });
        let last = merge.parts.len();
        merge.tasks.push(Task { parts: last - 1..last, shape_only: false });
        while let Some(task) = merge.tasks.pop() {
            if merge.work > merge.work_max {
                expanded_limits::report_merge_limit(cx, at);
                return;
            }
            if merge.is_new(cx, &task) {
                merge.set(cx, &task);
                if std::mem::take(&mut is_root) {
                    expanded_limits::root_fields(cx, at, merge.groups.len());
                }
            }
            if merge.conflicts.len() >= cx.options.limits.errors_max as usize {
                break;
            }
        }
    }
    conflict::report(cx, &merge.parts, merge.conflicts);
}

impl Merge {
    /// True if this set was not compared before; records it.
    fn is_new(&mut self, cx: &Context<'_>, task: &Task) -> bool {
        let parts = &self.parts[task.parts.clone()];
        if let [only] = parts {
            // An empty set has no place of its own, and nothing to look at.
            if only.list.is_empty() {
                return false;
            }
            let Some(seen) = self.alone.get_mut(only.list.range().start) else { return false };
            return !std::mem::replace(&mut seen[usize::from(task.shape_only)], true);
        }
        if self.work <= 4 * cx.document.selections.len() {
            return true;
        }
        let mut key: Vec<u32> = parts.iter().map(|part| part.list.range().start as u32).collect();
        key.sort_unstable();
        key.dedup();
        key.push(u32::from(task.shape_only));
        self.together.insert(key.into_boxed_slice())
    }

    /// Looks at one merged set and puts those below it among the tasks.
    fn set(&mut self, cx: &Context<'_>, task: &Task) {
        self.collect(cx, task);
        self.work += self.members.len();
        for group in 0..self.groups.len() {
            let first = self.groups[group];
            let member = self.members[first as usize];
            if member.next == NONE {
                let field = self.field(cx, first);
                if !field.selections.is_empty() {
                    self.push_task_below(cx, &[first], task.shape_only);
                }
            } else {
                self.group(cx, first, task.shape_only);
            }
        }
    }

    /// Fills `members` and `groups` with the fields of a set, its fragments expanded, each once.
    fn collect(&mut self, cx: &Context<'_>, task: &Task) {
        self.round += 1;
        self.members.clear();
        self.groups.clear();
        let mut stack = std::mem::take(&mut self.stack);
        for from in task.parts.clone() {
            stack.push(self.parts[from].list.range());
            while let Some(range) = stack.last_mut() {
                let Some(at) = range.next() else {
                    stack.pop();
                    continue;
                };
                match &cx.document.selections[at] {
                    Selection::Field(_) => self.add(cx, at, from),
                    Selection::Inline(inline) => stack.push(inline.selections.range()),
                    Selection::Spread(_) => {
                        let target = cx.tables.selections[at].target;
                        if target != NONE && self.fragments[target as usize] != self.round {
                            self.fragments[target as usize] = self.round;
                            stack.push(cx.tables.fragments[target as usize].ast.selections.range());
                        }
                    }
                }
            }
        }
        self.stack = stack;
    }

    fn add(&mut self, cx: &Context<'_>, at: usize, from: usize) {
        let number = self.members.len() as u32;
        self.members.push(FieldMember { selection: at as u32, from: from as u32, next: NONE });
        let slot = &mut self.slots[cx.tables.selections[at].key as usize];
        if slot.round == self.round {
            self.members[slot.last as usize].next = number;
            slot.last = number;
        } else {
            *slot = Slot { round: self.round, first: number, last: number };
            self.groups.push(slot.first);
        }
    }

    fn field<'a>(&self, cx: &Context<'a>, member: u32) -> &'a Field {
        match &cx.document.selections[self.members[member as usize].selection as usize] {
            Selection::Field(field) => field,
            Selection::Spread(_) | Selection::Inline(_) => unreachable!("only fields are members"),
        }
    }

    /// The object type a member is selected on; [`NONE`] for one that may meet any other.
    fn object(&self, cx: &Context<'_>, member: u32) -> u32 {
        let parent = cx.tables.selections[self.members[member as usize].selection as usize].parent;
        let is_object = parent != NONE && cx.schema.ty(TypeId(parent)).kind == TypeKind::Object;
        if is_object { parent } else { NONE }
    }

    /// Looks at a group of several fields.
    fn group(&mut self, cx: &Context<'_>, first: u32, shape_only: bool) {
        let mut group = std::mem::take(&mut self.group);
        group.clear();
        let mut next = first;
        while next != NONE {
            group.push(next);
            next = self.members[next as usize].next;
        }
        if shape_only {
            if self.same_shape(cx, &group) {
                self.push_task_below(cx, &group, true);
            }
        } else if self.share_object_type(cx, &group) {
            if self.same_field(cx, &group) && self.same_shape(cx, &group) {
                self.push_task_below(cx, &group, false);
            }
        } else {
            let splits = self.split(cx, &group);
            let mut agree = true;
            for split in &splits {
                agree &= self.same_field(cx, split);
            }
            if agree && self.same_shape(cx, &group) {
                // Fields that never apply to the same object still need the same shape.
                self.push_task_below(cx, &group, true);
                for split in &splits {
                    self.push_task_below(cx, split, false);
                }
            }
        }
        self.group = group;
    }

    /// True if no two members are selected on different object types.
    fn share_object_type(&self, cx: &Context<'_>, group: &[u32]) -> bool {
        let first = self.object(cx, group[0]);
        group[1..].iter().all(|&member| {
            let object = self.object(cx, member);
            object == first || object == NONE
        })
    }

    /// The members that can meet: those of each object type, with those of abstract types. None when that is too much
    /// work, which ends the search.
    fn split(&mut self, cx: &Context<'_>, group: &[u32]) -> Vec<Vec<u32>> {
        let mut keyed: Vec<(u32, u32)> =
            group.iter().map(|&member| (self.object(cx, member), member)).collect();
        let shared: Vec<u32> =
            keyed.iter().filter(|(object, _)| *object == NONE).map(|&(_, member)| member).collect();
        keyed.retain(|(object, _)| *object != NONE);
        // Stable, so members stay in document order.
        keyed.sort_by_key(|&(object, _)| object);
        let objects = keyed.chunk_by(|a, b| a.0 == b.0).count();
        self.work = self.work.saturating_add(objects.saturating_mul(shared.len()));
        if self.work > self.work_max {
            return Vec::new();
        }
        let with_shared = |own: &[(u32, u32)]| {
            let mut split = shared.clone();
            split.extend(own.iter().map(|&(_, member)| member));
            split.sort_unstable();
            split
        };
        keyed.chunk_by(|a, b| a.0 == b.0).map(with_shared).collect()
    }

    /// True if all members are the same field with the same arguments as the first; reports those that are not.
    fn same_field(&mut self, cx: &Context<'_>, split: &[u32]) -> bool {
        let before = self.conflicts.len();
        for &other in &split[1..] {
            let (first, other) = self.in_order(cx, split[0], other);
            let a = self.field(cx, first);
            let b = self.field(cx, other);
            let is_same = self.target(cx, first) == self.target(cx, other) && self.target(cx, first) != NONE;
            let is_alike = same_selection::streams(cx.document, a.directives, b.directives);
            if is_same && a.arguments.is_empty() && b.arguments.is_empty() && is_alike {
                continue;
            }
            if cx.document.str(a.name) != cx.document.str(b.name) {
                let a = cx.quoted_text(a.name);
                let b = cx.quoted_text(b.name);
                self.conflict(first, other, format!("\"{a}\" and \"{b}\" are different fields"));
            } else if !same_selection::arguments(cx.document, a.arguments, b.arguments) {
                self.conflict(first, other, "they have differing arguments".to_owned());
            } else if !is_alike {
                self.conflict(first, other, "they have differing stream directives".to_owned());
            }
            if self.conflicts.len() >= cx.options.limits.errors_max as usize {
                break;
            }
        }
        self.conflicts.len() == before
    }

    /// The type of a member, where the field is known.
    fn ty(&self, cx: &Context<'_>, member: u32) -> Option<TypeRef> {
        let target = self.target(cx, member);
        (target != NONE).then(|| cx.schema.field_type(FieldId(target)))
    }

    /// The field a member selects, or [`NONE`].
    fn target(&self, cx: &Context<'_>, member: u32) -> u32 {
        cx.tables.selections[self.members[member as usize].selection as usize].target
    }

    /// Two members, the one written first in front.
    fn in_order(&self, cx: &Context<'_>, a: u32, b: u32) -> (u32, u32) {
        let start = |member| self.field(cx, member).span.start;
        if start(b) < start(a) { (b, a) } else { (a, b) }
    }

    /// True if the answers of all members have the shape of the first's; reports those that have not.
    fn same_shape(&mut self, cx: &Context<'_>, group: &[u32]) -> bool {
        let mut found = Vec::new();
        let mut known = group.iter().filter_map(|&member| Some((member, self.ty(cx, member)?)));
        if let Some((first, shape)) = known.next() {
            found.extend(
                known
                    .filter(|&(_, other)| !same_selection::shape(cx.schema, shape, other))
                    .take(cx.options.limits.errors_max as usize)
                    .map(|(other, _)| self.in_order(cx, first, other)),
            );
        }
        let agree = found.is_empty();
        for (first, other) in found {
            let text = |member| self.ty(cx, member).map_or_else(String::new, |ty| cx.schema.type_text(ty));
            let a = text(first);
            let b = text(other);
            self.conflict(first, other, format!("they return conflicting types \"{a}\" and \"{b}\""));
        }
        agree
    }

    #[cold]
    fn conflict(&mut self, a: u32, b: u32, reason: String) {
        let a = self.members[a as usize];
        let b = self.members[b as usize];
        self.conflicts.push(Conflict { a: (a.selection, a.from), b: (b.selection, b.from), reason });
    }

    /// Makes a task of what is selected below `members`.
    fn push_task_below(&mut self, cx: &Context<'_>, members: &[u32], shape_only: bool) {
        let start = self.parts.len();
        for &member in members {
            let list = self.field(cx, member).selections;
            let FieldMember { selection, from, .. } = self.members[member as usize];
            if !list.is_empty() {
                self.parts.push(Part { list, owner: selection, from });
            }
        }
        let parts = start..self.parts.len();
        if !parts.is_empty() {
            self.tasks.push(Task { parts, shape_only });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn fields_of_one_key_are_the_same_field() {
        check(
            "{ a: int a: text }",
            &[
                "1:3 1:10 Fields \"a\" conflict because \"int\" and \"text\" are different fields. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check(
            "{ int(x: 1) int }",
            &[
                "1:3 1:13 Fields \"int\" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check("{ two(a: 1, b: 2) two(b: 2, a: 1) }", &[]);
    }

    #[test]
    fn conflicts_are_told_from_the_outermost_fields_down() {
        check(
            "{ artist(id: 1) { best { artist { a: id } } } artist(id: 1) { best { artist { a: name } } } }",
            &[
                "1:3 1:19 1:26 1:35 1:47 1:63 1:70 1:79 Fields \"artist\" conflict because subfields \"best\" conflict because subfields \"artist\" conflict because subfields \"a\" conflict because \"id\" and \"name\" are different fields. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check(
            "{ artist(id: 1) { a: id b: name } artist(id: 1) { a: name b: id } }",
            &[
                "1:3 1:19 1:25 1:35 1:51 1:59 Fields \"artist\" conflict because subfields \"a\" conflict because \"id\" and \"name\" are different fields and subfields \"b\" conflict because \"name\" and \"id\" are different fields. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check(
            "{ ...F ...G }\nfragment F on Query { artist(id: 1) { a: id } }\nfragment G on Query { artist(id: 1) { a: name } }",
            &[
                "2:23 2:39 3:23 3:39 Fields \"artist\" conflict because subfields \"a\" conflict because \"id\" and \"name\" are different fields. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
    }

    #[test]
    fn what_never_meets_has_only_the_same_shape() {
        check("{ find(by: { id: 1 }) { ... on Artist { a: name } ... on Album { a: currency } } }", &[]);
        check(
            "{ find(by: { id: 1 }) { ... on Artist { a: name } ... on Track { a: title } } }",
            &[
                "1:41 1:66 Fields \"a\" conflict because they return conflicting types \"String\" and \"String!\". Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check(
            "{ box { ... on IntBox { deep { deep { value } } } ... on TextBox { deep { deep { value } } } } }",
            &[
                "1:25 1:32 1:39 1:68 1:75 1:82 Fields \"deep\" conflict because subfields \"deep\" conflict because subfields \"value\" conflict because they return conflicting types \"Int\" and \"String\". Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
        check(
            "{ node { ... on Artist { a: id } ... on Node { a: id } ... on Album { a: title } } }",
            &[
                "1:48 1:71 Fields \"a\" conflict because \"id\" and \"title\" are different fields. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
    }
}
