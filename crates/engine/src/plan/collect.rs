//! Merges fields and expands fragments: selections become sets, one per place and concrete type.
//!
//! Places are filled from a list of pending ones, never by recursion. A place that was met before (same selections,
//! same type, same node) keeps the set it got, so that fragments under interfaces cost one set per type however
//! many ways lead there.
//!
//! **Invariant:** every set belongs to one node: what lies below a foreign member shares nothing with what lies above.
//!
//! **Cost:** linear in the expanded fields times the concrete types they stand on, bounded by [`OUTPUT_PLAN_MAX`].
//! Source: GraphQL specification, sections 6.3.2 (CollectFields) and 6.4.3 (MergeSelectionSets).

use super::conditions::ConditionState;
use super::deferral::{DeferredFragments, InitialCount, Within};
use super::field_arguments::{self, NeverNull};
use super::plan_context::PlanContext;
use crate::answer::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSet, SelectionSetId, TypeSwitch, TypeSwitchId,
};
use crate::compose::Owner;
use crate::errors::Failure;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::ops::Range;
use weir_language::ast::{self, Directive, Document, List, OperationKind, Selection};
use weir_language::error::Code;
use weir_language::schema::{FieldId, SchemaView, TypeId, TypeKind, builtin};
use weir_language::validate::{FragmentId, Selected, Valid};

/// The most sets and members an output plan may have.
pub(crate) const OUTPUT_PLAN_MAX: usize = 100_000;

/// Selections of one place, and the deferred fragment in which they were written.
#[derive(Clone, Copy)]
struct Part {
    list: List<Selection>,
    within: Within,
}

/// Parts of one place; most places have one.
type Parts = SmallVec<[Part; 1]>;
/// Key of a set: selections, type and node. Equal keys share their sets.
type PlaceKey = SmallVec<[u64; 8]>;

/// A set that is allocated but not filled yet.
struct Pending {
    parts: Parts,
    on: TypeId,
    set: SelectionSetId,
    /// The node: sets of different nodes are never shared.
    context: u32,
    is_root: bool,
    /// The number of the place, which the sets of all its types have; [`NONE`] where no fragment is deferred.
    place: u32,
}

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;

/// A selected field.
#[derive(Clone, Copy)]
struct Node {
    /// Index of the selection in the document's arena.
    at: u32,
    /// The next node of its response key, or [`NONE`].
    next: u32,
    /// The deferred fragment in which it was written.
    within: Within,
}

/// All selections of one response key.
#[derive(Clone, Copy)]
struct Group<'g> {
    nodes: &'g [Node],
    first: &'g Node,
}

impl<'g> Group<'g> {
    fn iter(self) -> impl Iterator<Item = &'g Node> {
        std::iter::successors(Some(self.first), move |node| self.nodes.get(node.next as usize))
    }
}

/// Position of a response key's group, valid in one round.
#[derive(Clone, Copy, Default)]
struct Slot {
    round: u32,
    /// The last of [`Collector::nodes`] that has the key.
    last: u32,
}

/// The pass.
struct Collector<'b> {
    context: &'b PlanContext<'b>,
    schema: SchemaView<'b>,
    valid: &'b Valid<'b>,
    selected: &'b Selected<'b, 'b>,
    document: &'b Document<'b>,
    guards: ConditionState<'b>,
    output: OutputPlan,
    never_null: Vec<NeverNull>,
    pending: Vec<Pending>,
    known: HashMap<PlaceKey, OutputKind, foldhash::fast::RandomState>,
    contexts: u32,
    places: u32,
    fragments: DeferredFragments,
    /// Fields of the set that is being filled, one entry per selection.
    nodes: Vec<Node>,
    /// The first node of each response key, in the order of the answer.
    groups: Vec<u32>,
    /// By response key.
    slots: Vec<Slot>,
    round: u32,
}

/// Fields of an operation in one state of its `@skip`/`@include` variables.
pub(crate) struct Collected {
    /// The root's set is the first.
    pub(crate) output: OutputPlan,
    /// Places in the arguments that take no null though the variable there may be.
    pub(crate) never_null: Vec<NeverNull>,
    /// Bits of the condition variables that were read.
    pub(crate) asked: u64,
    /// The fragments that may come later.
    pub(crate) fragments: DeferredFragments,
}

/// Builds the output plan of an operation.
pub(crate) fn collect<'b>(
    context: &'b PlanContext<'b>,
    guards: ConditionState<'b>,
) -> Result<Collected, Vec<Failure>> {
    let schema = context.view;
    let valid = context.selected.valid();
    let document = context.document;
    let mut collector = Collector {
        context,
        schema,
        valid,
        selected: context.selected,
        document,
        guards,
        output: OutputPlan {
            fields: Vec::with_capacity(document.selections.len()),
            arguments: Vec::with_capacity(document.arguments.len()),
            ..OutputPlan::default()
        },
        never_null: Vec::new(),
        pending: Vec::new(),
        known: HashMap::default(),
        contexts: context.graph.sources().len() as u32 + 1,
        places: 0,
        fragments: DeferredFragments::default(),
        nodes: Vec::new(),
        groups: Vec::new(),
        slots: vec![Slot::default(); valid.keys_len()],
        round: 0,
    };
    let on = schema.root(context.operation.kind).expect("validation knows the root type");
    let parts = Parts::from_iter([Part { list: context.operation.selections, within: Within::INITIAL }]);
    let set = collector.reserve(on);
    collector.pending.push(Pending { parts, on, set, context: 0, is_root: true, place: 0 });
    while let Some(pending) = collector.pending.pop() {
        collector.fill(&pending)?;
    }
    collector.share_empty_sets();
    let Collector { output, never_null, guards, fragments, .. } = collector;
    Ok(Collected { output, never_null, asked: guards.asked.get(), fragments })
}

impl<'b> Collector<'b> {
    fn reserve(&mut self, on: TypeId) -> SelectionSetId {
        let id = SelectionSetId(self.output.sets.len() as u32);
        self.output.sets.push(SelectionSet { on, start: 0, len: 0, hidden: Vec::new(), is_entity: false });
        id
    }

    fn fill(&mut self, place: &Pending) -> Result<(), Vec<Failure>> {
        self.group(place);
        let nodes = std::mem::take(&mut self.nodes);
        let groups = std::mem::take(&mut self.groups);
        let start = self.output.fields.len() as u32;
        self.check_room(groups.len())?;
        for &first in &groups {
            self.member(Group { nodes: &nodes, first: &nodes[first as usize] }, place)?;
        }
        let set = &mut self.output.sets[place.set.0 as usize];
        set.start = start;
        set.len = groups.len() as u32;
        (self.nodes, self.groups) = (nodes, groups);
        Ok(())
    }

    /// Refuses `more` sets or members beyond [`OUTPUT_PLAN_MAX`].
    fn check_room(&self, more: usize) -> Result<(), Vec<Failure>> {
        if self.output.fields.len() + self.output.sets.len() + more <= OUTPUT_PLAN_MAX {
            return Ok(());
        }
        let message = format!("Operation expands to more than {OUTPUT_PLAN_MAX} fields.");
        Err(vec![Failure::request(Code::LimitExpanded.text(), &message)])
    }

    /// CollectFields of the specification for objects of the type of `place`, into `self.groups`.
    fn group(&mut self, place: &Pending) {
        let document = self.document;
        let selected = self.selected;
        let valid = self.valid;
        let on = place.on;
        let mut seen = HashSet::<(FragmentId, Within), foldhash::fast::RandomState>::default();
        let mut stack: SmallVec<[(Range<usize>, Within); 8]> = SmallVec::new();
        stack.extend(place.parts.iter().rev().map(|part| (part.list.range(), part.within)));
        self.round += 1;
        self.nodes.clear();
        self.groups.clear();
        while let Some((rest, within)) = stack.last_mut() {
            let within = *within;
            let Some(at) = rest.next() else {
                stack.pop();
                continue;
            };
            match &document.selections[at] {
                Selection::Field(field) => {
                    if self.guards.admit(selected, field.directives) {
                        self.add(at, within);
                    }
                }
                Selection::Inline(inline) => {
                    if self.guards.admit(selected, inline.directives)
                        && (inline.on.is_empty() || self.applies(valid.type_condition(at), on))
                    {
                        let within = self.find_fragment(at, inline.directives, within, place);
                        stack.push((inline.selections.range(), within));
                    }
                }
                Selection::Spread(spread) => {
                    if !self.guards.admit(selected, spread.directives) {
                        continue;
                    }
                    let id = valid.fragment(at);
                    let fragment = &valid.fragments()[id.0 as usize];
                    if !self.applies(fragment.on, on) {
                        continue;
                    }
                    let within = self.find_fragment(at, spread.directives, within, place);
                    if seen.insert((id, within)) {
                        stack.push((fragment.ast.selections.range(), within));
                    }
                }
            }
        }
    }

    /// The deferred fragment in which the selections of the fragment at `at` stand, which is itself within `outer`.
    fn find_fragment(
        &mut self,
        at: usize,
        directives: List<Directive>,
        outer: Within,
        place: &Pending,
    ) -> Within {
        if directives.is_empty() || !self.context.is_incremental || place.place == NONE {
            return outer;
        }
        match self.guards.active_defer(self.selected, directives) {
            Some(label) => self.fragments.begin((at as u32, place.place, outer), place.set, label),
            None => outer,
        }
    }

    fn add(&mut self, at: usize, within: Within) {
        let number = self.nodes.len() as u32;
        self.nodes.push(Node { at: at as u32, next: NONE, within });
        let slot = &mut self.slots[self.valid.key(at) as usize];
        if slot.round == self.round {
            self.nodes[slot.last as usize].next = number;
        } else {
            self.groups.push(number);
        }
        *slot = Slot { round: self.round, last: number };
    }

    fn field(&self, node: &Node) -> &'b ast::Field {
        match &self.document.selections[node.at as usize] {
            Selection::Field(field) => field,
            Selection::Inline(_) | Selection::Spread(_) => unreachable!("only fields are nodes"),
        }
    }

    /// True if a fragment on type `condition` applies to objects of type `on`.
    fn applies(&self, condition: TypeId, on: TypeId) -> bool {
        match self.schema.ty(condition).kind {
            TypeKind::Interface => self.schema.interfaces(on).any(|it| it == condition),
            TypeKind::Union => self.schema.possible_types(condition).any(|it| it == on),
            TypeKind::Object | TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => {
                condition == on
            }
        }
    }

    /// Appends the member that `group` asks for.
    fn member(&mut self, group: Group<'_>, place: &Pending) -> Result<(), Vec<Failure>> {
        let at = group.first.at as usize;
        let first = self.field(group.first);
        let field = self.resolve(at, first, place.on);
        let ty = self.schema.field_type(field);
        let name = self.document.str(first.key());
        let (arguments_start, arguments_len, member) = if field == self.schema.meta().typename {
            (0, 0, self.constant(name, self.schema.type_name(place.on)))
        } else if field == self.schema.meta().no_queries {
            (0, 0, self.constant(name, builtin::NO_QUERIES_VALUE))
        } else {
            let (start, len) = self.arguments(at, first, field)?;
            let len = len + self.directives(group)?;
            (start, len, self.sets_below(group, ty.base, field, place)?)
        };
        let same_as = None;
        let offset = first.span.start;
        let stream = if ty.wraps.is_list() { self.stream(group, field, place) } else { 0 };
        let membership = self.membership(group, field, stream, place);
        self.output.fields.push(OutputField {
            key: ResponseKey::EMPTY,
            field,
            ty,
            arguments_start,
            arguments_len,
            member,
            same_as,
            offset,
            membership,
        });
        if let Some(member) = self.output.fields.last_mut() {
            member.key.set(name);
        }
        Ok(())
    }

    /// One more than the number of the stream of the list that `group` asks for; 0 if it comes whole. All selections of a key
    /// have the same `@stream`. Introspection is never streamed.
    fn stream(&mut self, group: Group<'_>, field: FieldId, place: &Pending) -> u8 {
        let directives = self.field(group.first).directives;
        let is_introspection = place.context == self.context.graph.sources().len() as u32
            || matches!(self.context.graph.owner(field), Owner::Introspection) && place.is_root;
        if directives.is_empty() || !self.context.is_incremental || is_introspection {
            return 0;
        }
        let Some((label, count)) = self.guards.active_stream(self.selected, directives) else { return 0 };
        let count = count.map_or(InitialCount::Given(0), |value| match self.selected.variable(value) {
            Some(number) => InitialCount::Variable(number),
            None => {
                // Validation refuses all else.
                let digits = self.document.str(self.document.value(value).span);
                InitialCount::Given(digits.parse().unwrap_or_default())
            }
        });
        self.fragments.stream(group.first.at, label, count)
    }

    /// The number of the membership of `group`. Introspection and namespaces are never late.
    fn membership(&mut self, group: Group<'_>, field: FieldId, stream: u8, place: &Pending) -> u32 {
        if self.fragments.is_empty() || (place.is_root && self.is_initial(field)) {
            return 0;
        }
        let within = group.iter().map(|it| it.within);
        self.fragments.membership(within, stream, &mut self.output.memberships)
    }

    /// True for a root field that is in the first part of the answer, wherever it was written.
    fn is_initial(&self, field: FieldId) -> bool {
        matches!(self.context.graph.owner(field), Owner::Introspection | Owner::Namespace)
    }

    /// The field of objects of type `on` that is selected at `at`, perhaps on an abstract type.
    fn resolve(&self, at: usize, field: &ast::Field, on: TypeId) -> FieldId {
        let id = self.valid.field(at);
        if self.valid.parent(at) == on || id == self.schema.meta().typename {
            return id;
        }
        let name = self.document.str(field.name);
        self.schema.field_by_name(on, name).expect("validation knows the field")
    }

    fn arguments(&mut self, at: usize, field: &ast::Field, id: FieldId) -> Result<(u32, u32), Vec<Failure>> {
        let run = self.schema.field(id).arguments;
        if run.len == 0 {
            return Ok((self.output.arguments.len() as u32, 0));
        }
        let valid = self.valid;
        let document = self.document;
        let schema = self.schema;
        // A field selected on an interface has the interface's arguments; the object's have the same names.
        let is_own = valid.field(at) == id;
        let given = field.arguments.range().zip(document.list(field.arguments)).filter_map(|(at, it)| {
            let named = || schema.input_by_name(run, document.str(it.name));
            let input = if is_own { Some(valid.input(at)) } else { named() };
            Some((input?, it.value))
        });
        field_arguments::push(self.context, id, given.collect(), &mut self.output, &mut self.never_null)
    }

    /// Appends the arguments of the directives of all selections of a field; says how many.
    fn directives(&mut self, group: Group<'_>) -> Result<u32, Vec<Failure>> {
        if group.iter().all(|it| self.field(it).directives.is_empty()) {
            return Ok(0);
        }
        let start = self.output.arguments.len();
        let lists: Vec<_> = group.iter().map(|it| self.field(it).directives).collect();
        field_arguments::push_directives(
            self.context,
            lists.into_iter(),
            &mut self.output,
            &mut self.never_null,
        )?;
        Ok((self.output.arguments.len() - start) as u32)
    }

    /// The member `key` whose value is always `text`.
    fn constant(&mut self, key: &str, text: &str) -> OutputKind {
        let constants = &mut self.output.constants;
        let start = constants.len() as u32;
        constants.push(b'"');
        constants.extend_from_slice(key.as_bytes());
        constants.extend_from_slice(b"\":\"");
        constants.extend_from_slice(text.as_bytes());
        constants.extend_from_slice(b"\",");
        OutputKind::Constant { start, end: constants.len() as u32 }
    }

    /// The sets below a member whose named type is `base`.
    fn sets_below(
        &mut self,
        group: Group<'_>,
        base: TypeId,
        field: FieldId,
        place: &Pending,
    ) -> Result<OutputKind, Vec<Failure>> {
        let possible = match self.schema.ty(base).kind {
            TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => return Ok(OutputKind::Leaf),
            TypeKind::Object => None,
            TypeKind::Interface | TypeKind::Union => {
                Some(self.schema.possible_types(base).collect::<Vec<_>>())
            }
        };
        let context = self.context(field, place);
        let is_initial = place.is_root && self.is_initial(field);
        let within = |it: &Node| if is_initial { Within::INITIAL } else { it.within };
        let parts: Parts =
            group.iter().map(|it| Part { list: self.field(it).selections, within: within(it) }).collect();
        // Without fragments and places of several types, no selection is met twice.
        let repeats = !self.valid.fragments().is_empty() || !self.output.type_switches.is_empty();
        let shares = repeats && !self.context.graph.is_divided(field);
        let key = shares.then(|| place_key(&parts, base, context));
        if let Some(&member) = key.as_ref().and_then(|key| self.known.get(key)) {
            return Ok(member);
        }
        self.places += 1;
        let number = if is_initial { NONE } else { self.places };
        self.check_room(possible.as_ref().map_or(1, Vec::len))?;
        let member = match possible {
            None => OutputKind::Object(self.open(parts, base, context, number)),
            Some(mut types) => {
                types.sort_unstable();
                let sets =
                    types.into_iter().map(|on| (on, self.open(parts.clone(), on, context, number))).collect();
                self.output.type_switches.push(TypeSwitch { on: base, sets });
                OutputKind::Abstract(TypeSwitchId(self.output.type_switches.len() as u32 - 1))
            }
        };
        if let Some(key) = key {
            self.known.insert(key, member);
        }
        Ok(member)
    }

    fn open(&mut self, parts: Parts, on: TypeId, context: u32, place: u32) -> SelectionSetId {
        let set = self.reserve(on);
        self.pending.push(Pending { parts, on, set, context, is_root: false, place });
        set
    }

    /// The node to which what lies below `field` belongs.
    fn context(&mut self, field: FieldId, place: &Pending) -> u32 {
        let graph = self.context.graph;
        let is_query = self.context.operation.kind == OperationKind::Query;
        match graph.owner(field) {
            Owner::Introspection if place.is_root => graph.sources().len() as u32,
            Owner::Source(source) if place.is_root && is_query => u32::from(source),
            Owner::Source(_) | Owner::Introspection if !place.is_root && !graph.is_extension(field) => {
                place.context
            }
            // A namespace is a context of its own, even if its source answers other fields too.
            Owner::Source(_) | Owner::Introspection | Owner::Join(_) | Owner::Namespace => {
                self.contexts += 1;
                self.contexts
            }
        }
    }

    /// Lets the types of a type switch that have no members share one set.
    fn share_empty_sets(&mut self) {
        for choice in &mut self.output.type_switches {
            let mut first = None;
            for (_, set) in &mut choice.sets {
                if self.output.sets[set.0 as usize].len == 0 {
                    *set = *first.get_or_insert(*set);
                }
            }
        }
    }
}

fn place_key(parts: &[Part], base: TypeId, context: u32) -> PlaceKey {
    let mut key = PlaceKey::from_slice(&[u64::from(base.0) << 32 | u64::from(context)]);
    for Part { list, within } in parts {
        // Empty lists begin where others do.
        key.push((list.range().start as u64) << 32 | list.len() as u64);
        // No list begins at the end of what 32 bits count.
        key.extend((*within != Within::INITIAL).then_some(u64::MAX - u64::from(within.0)));
    }
    key
}
