//! Merges fields and expands fragments: selections become sets, one per place and concrete type.
//!
//! Places are filled from a list of pending ones, never by recursion. A place that was met before (same selections,
//! same type, same piece) keeps the set it got, so that fragments under interfaces cost one set per type however
//! many ways lead there.
//!
//! **Invariant:** every set belongs to one piece: what lies below a foreign member shares nothing with what lies above.
//!
//! **Cost:** linear in the expanded fields times the concrete types they stand on, bounded by [`SHAPE_MAX`].
//! Source: GraphQL specification, sections 6.3.2 (CollectFields) and 6.4.3 (MergeSelectionSets).

use super::arguments;
use super::build::Question;
use super::shape::{Bits, Choice, ChoiceId, Key, Member, Set, SetId, Shape, ShapeField};
use super::steer::{self, Guards};
use crate::compose::Owner;
use crate::errors::Failure;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::ops::Range;
use weir_language::ast::{self, Document, List, OperationKind, Selection};
use weir_language::error::Code;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};
use weir_language::validate::{FragmentId, Selected, Valid};

/// The most sets and members a shape may have.
pub(crate) const SHAPE_MAX: usize = 100_000;

/// A run of selections and what has to hold for them.
type Part = (List<Selection>, Bits);
/// The parts of one place: mostly it was written once.
type Parts = SmallVec<[Part; 1]>;
/// Which selections, type and piece: equal ones share their sets.
type PlaceKey = SmallVec<[u64; 8]>;

/// A set that was given out and is to be filled.
struct Pending {
    parts: Parts,
    on: TypeId,
    set: SetId,
    /// Which piece's place this is: sets of different pieces are never shared.
    context: u32,
    is_root: bool,
}

/// A selected field.
#[derive(Clone, Copy)]
struct Node<'b> {
    /// Its place in the arena of selections.
    at: usize,
    field: &'b ast::Field,
    bits: Bits,
}

/// All selections of one response key.
struct Group<'b> {
    nodes: SmallVec<[Node<'b>; 1]>,
}

/// Where the group of a response key is, valid in one round.
#[derive(Clone, Copy, Default)]
struct Slot {
    round: u32,
    group: u32,
}

/// The pass.
struct Collector<'b> {
    question: &'b Question<'b>,
    schema: &'b Schema,
    valid: &'b Valid<'b>,
    selected: &'b Selected<'b, 'b>,
    document: &'b Document<'b>,
    guards: Guards<'b>,
    shape: Shape,
    pending: Vec<Pending>,
    known: HashMap<PlaceKey, Member, foldhash::fast::RandomState>,
    contexts: u32,
    groups: Vec<Group<'b>>,
    /// By response key.
    slots: Vec<Slot>,
    round: u32,
}

/// Builds the shape of an operation; the root's set is the first.
pub(crate) fn collect<'b>(question: &'b Question<'b>, guards: Guards<'b>) -> Result<Shape, Vec<Failure>> {
    let schema = question.graph.schema();
    let (valid, document) = (question.selected.valid(), question.document);
    let mut collector = Collector {
        question,
        schema,
        valid,
        selected: question.selected,
        document,
        guards,
        shape: Shape {
            fields: Vec::with_capacity(document.selections.len()),
            arguments: Vec::with_capacity(document.arguments.len()),
            ..Shape::default()
        },
        pending: Vec::new(),
        known: HashMap::default(),
        contexts: question.graph.sources().len() as u32 + 1,
        groups: Vec::new(),
        slots: vec![Slot::default(); valid.keys_len()],
        round: 0,
    };
    let on = schema.root(question.operation.kind).expect("validation knows the root type");
    let parts = Parts::from_iter([(question.operation.selections, Bits::default())]);
    let set = collector.reserve(on);
    collector.pending.push(Pending { parts, on, set, context: 0, is_root: true });
    while let Some(pending) = collector.pending.pop() {
        collector.fill(&pending)?;
    }
    collector.share_empty_sets();
    Ok(collector.shape)
}

impl<'b> Collector<'b> {
    fn reserve(&mut self, on: TypeId) -> SetId {
        let id = SetId(self.shape.sets.len() as u32);
        self.shape.sets.push(Set { on, start: 0, len: 0, hidden: Vec::new() });
        id
    }

    fn fill(&mut self, place: &Pending) -> Result<(), Vec<Failure>> {
        self.group(&place.parts, place.on);
        let mut groups = std::mem::take(&mut self.groups);
        let start = self.shape.fields.len() as u32;
        self.check_room(groups.len())?;
        for group in &groups {
            let field = self.member(group, place)?;
            self.shape.fields.push(field);
        }
        let set = &mut self.shape.sets[place.set.0 as usize];
        set.start = start;
        set.len = groups.len() as u32;
        groups.clear();
        self.groups = groups;
        Ok(())
    }

    /// Refuses `more` sets or members beyond [`SHAPE_MAX`].
    fn check_room(&self, more: usize) -> Result<(), Vec<Failure>> {
        if self.shape.fields.len() + self.shape.sets.len() + more <= SHAPE_MAX {
            return Ok(());
        }
        let message = format!("Operation expands to more than {SHAPE_MAX} fields.");
        Err(vec![Failure::request(Code::LimitExpanded.text(), &message)])
    }

    /// CollectFields of the specification for objects of type `on`, into `self.groups`.
    fn group(&mut self, parts: &[Part], on: TypeId) {
        let (document, selected, valid) = (self.document, self.selected, self.valid);
        let mut seen = HashSet::<(FragmentId, Bits), foldhash::fast::RandomState>::default();
        let mut stack: SmallVec<[(Range<usize>, Bits); 8]> = SmallVec::new();
        stack.extend(parts.iter().rev().map(|&(list, bits)| (list.range(), bits)));
        self.round += 1;
        while let Some((rest, outer)) = stack.last_mut() {
            let outer = *outer;
            let Some(at) = rest.next() else {
                stack.pop();
                continue;
            };
            match &document.selections[at] {
                Selection::Field(field) => {
                    if let Some(bits) = self.guards.inner(selected, field.directives, outer) {
                        self.add(Node { at, field, bits });
                    }
                }
                Selection::Inline(inline) => {
                    let Some(bits) = self.guards.inner(selected, inline.directives, outer) else { continue };
                    if inline.on.is_empty() || self.applies(valid.type_condition(at), on) {
                        stack.push((inline.selections.range(), bits));
                    }
                }
                Selection::Spread(spread) => {
                    let Some(bits) = self.guards.inner(selected, spread.directives, outer) else { continue };
                    let id = valid.fragment(at);
                    let fragment = &valid.fragments()[id.0 as usize];
                    if seen.insert((id, bits)) && self.applies(fragment.on, on) {
                        stack.push((fragment.ast.selections.range(), bits));
                    }
                }
            }
        }
    }

    fn add(&mut self, node: Node<'b>) {
        let slot = &mut self.slots[self.valid.key(node.at) as usize];
        if slot.round == self.round {
            self.groups[slot.group as usize].nodes.push(node);
        } else {
            *slot = Slot { round: self.round, group: self.groups.len() as u32 };
            self.groups.push(Group { nodes: SmallVec::from_iter([node]) });
        }
    }

    /// Whether a fragment on type `condition` applies to objects of type `on`.
    fn applies(&self, condition: TypeId, on: TypeId) -> bool {
        match self.schema.ty(condition).kind {
            TypeKind::Interface => {
                self.schema.type_lists[self.schema.ty(on).interfaces.range()].contains(&condition)
            }
            TypeKind::Union => self.schema.possible_types(condition).contains(&on),
            TypeKind::Object | TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => {
                condition == on
            }
        }
    }

    fn member(&mut self, group: &Group<'b>, place: &Pending) -> Result<ShapeField, Vec<Failure>> {
        let Node { at, field: first, .. } = group.nodes[0];
        let id = self.resolve(at, first, place.on);
        let ty = self.schema.field(id).ty;
        let key = Key::new(self.document.str(first.key()));
        let when = steer::any(group.nodes.iter().map(|it| it.bits));
        let (arguments_start, arguments_len, member) = if id == self.schema.meta.typename {
            (0, 0, self.typename(&key, place.on))
        } else {
            let (start, len) = self.arguments(at, first, id)?;
            (start, len, self.below(group, ty.base, id, place)?)
        };
        let offset = first.span.start;
        Ok(ShapeField {
            key,
            field: id,
            ty,
            arguments_start,
            arguments_len,
            member,
            when,
            same_as: None,
            offset,
        })
    }

    /// The field of objects of type `on` that is selected at `at`, perhaps on an abstract type.
    fn resolve(&self, at: usize, field: &ast::Field, on: TypeId) -> FieldId {
        let id = self.valid.field(at);
        if self.valid.parent(at) == on || id == self.schema.meta.typename {
            return id;
        }
        let name = self.document.str(field.name);
        self.schema.field_by_name(on, name).expect("validation knows the field")
    }

    fn arguments(&mut self, at: usize, field: &ast::Field, id: FieldId) -> Result<(u32, u32), Vec<Failure>> {
        let run = self.schema.field(id).arguments;
        if run.len == 0 {
            return Ok((self.shape.arguments.len() as u32, 0));
        }
        let (valid, document, schema) = (self.valid, self.document, self.schema);
        // What was selected on an interface has arguments of the interface: the object's have the same names.
        let is_own = valid.field(at) == id;
        let given = field.arguments.range().zip(document.list(field.arguments)).filter_map(|(at, it)| {
            let named = || schema.input_by_name(run, document.str(it.name));
            let input = if is_own { Some(valid.input(at)) } else { named() };
            Some((input?, it.value))
        });
        arguments::push(self.question, id, given.collect(), &mut self.shape)
    }

    fn typename(&mut self, key: &Key, on: TypeId) -> Member {
        let constants = &mut self.shape.constants;
        let start = constants.len() as u32;
        constants.extend_from_slice(key.bytes());
        constants.push(b'"');
        constants.extend_from_slice(self.schema.type_name(on).as_bytes());
        constants.extend_from_slice(b"\",");
        Member::Constant { start, end: constants.len() as u32 }
    }

    /// The sets below a member whose named type is `base`.
    fn below(
        &mut self,
        group: &Group<'b>,
        base: TypeId,
        field: FieldId,
        place: &Pending,
    ) -> Result<Member, Vec<Failure>> {
        let possible = match self.schema.ty(base).kind {
            TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => return Ok(Member::Leaf),
            TypeKind::Object => None,
            TypeKind::Interface | TypeKind::Union => Some(self.schema.possible_types(base)),
        };
        let context = self.context(field, place);
        // What holds for all of the member's places holds wherever it is written.
        let same = group.nodes.iter().all(|it| it.bits == group.nodes[0].bits);
        let bits = |own: Bits| if same { Bits::default() } else { own };
        let parts: Parts = group.nodes.iter().map(|it| (it.field.selections, bits(it.bits))).collect();
        // Without fragments and places of several types, no selection is met twice.
        let shares = !self.valid.fragments().is_empty() || !self.shape.choices.is_empty();
        let key = shares.then(|| place_key(&parts, base, context));
        if let Some(&member) = key.as_ref().and_then(|key| self.known.get(key)) {
            return Ok(member);
        }
        self.check_room(possible.map_or(1, <[_]>::len))?;
        let member = match possible {
            None => Member::Object(self.open(parts, base, context)),
            Some(types) => {
                let mut types = types.to_vec();
                types.sort_unstable();
                let sets = types.into_iter().map(|on| (on, self.open(parts.clone(), on, context))).collect();
                self.shape.choices.push(Choice { on: base, sets });
                Member::Abstract(ChoiceId(self.shape.choices.len() as u32 - 1))
            }
        };
        if let Some(key) = key {
            self.known.insert(key, member);
        }
        Ok(member)
    }

    fn open(&mut self, parts: Parts, on: TypeId, context: u32) -> SetId {
        let set = self.reserve(on);
        self.pending.push(Pending { parts, on, set, context, is_root: false });
        set
    }

    /// The piece to which what lies below `field` belongs.
    fn context(&mut self, field: FieldId, place: &Pending) -> u32 {
        let graph = self.question.graph;
        let is_query = self.question.operation.kind == OperationKind::Query;
        match graph.owner(field) {
            Owner::Introspection if place.is_root => graph.sources().len() as u32,
            Owner::Source(source) if place.is_root && is_query => u32::from(source),
            Owner::Source(_) | Owner::Introspection if !place.is_root => place.context,
            Owner::Source(_) | Owner::Introspection | Owner::Join(_) => {
                self.contexts += 1;
                self.contexts
            }
        }
    }

    /// Types of one choice of which nothing is asked share one set.
    fn share_empty_sets(&mut self) {
        for choice in &mut self.shape.choices {
            let mut first = None;
            for (_, set) in &mut choice.sets {
                if self.shape.sets[set.0 as usize].len == 0 {
                    *set = *first.get_or_insert(*set);
                }
            }
        }
    }
}

fn place_key(parts: &[Part], base: TypeId, context: u32) -> PlaceKey {
    let mut key = PlaceKey::from_slice(&[u64::from(base.0) << 32 | u64::from(context)]);
    for &(list, bits) in parts {
        // Empty lists begin where others do.
        let run = (list.range().start as u64) << 32 | list.len() as u64;
        key.extend([run, bits.mask, bits.want]);
    }
    key
}
