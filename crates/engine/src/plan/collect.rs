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
use super::steer::{self, Guards, Names};
use crate::compose::Owner;
use crate::errors::Failure;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::rc::Rc;
use weir_language::ast::{self, Document, List, OperationKind, Selection};
use weir_language::error::Code;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};

/// The most sets and members a shape may have.
pub(crate) const SHAPE_MAX: usize = 100_000;

/// A run of selections and what has to hold for them.
type Part = (List<Selection>, Bits);
/// Which selections, type and piece: equal ones share their sets.
type PlaceKey = SmallVec<[u64; 8]>;

/// A set that was given out and is to be filled.
struct Pending {
    parts: Rc<[Part]>,
    on: TypeId,
    set: SetId,
    /// Which piece's place this is: sets of different pieces are never shared.
    context: u32,
    is_root: bool,
}

/// All selections of one response key.
struct Group<'b> {
    key: &'b str,
    nodes: SmallVec<[(&'b ast::Field, Bits); 1]>,
}

/// The pass.
struct Collector<'b> {
    question: &'b Question<'b>,
    schema: &'b Schema,
    document: &'b Document<'b>,
    names: &'b Names<'b>,
    guards: Guards<'b>,
    shape: Shape,
    pending: Vec<Pending>,
    known: HashMap<PlaceKey, Member, foldhash::fast::RandomState>,
    contexts: u32,
    groups: Vec<Group<'b>>,
}

/// Builds the shape of an operation; the root's set is the first.
pub(crate) fn collect<'b>(question: &'b Question<'b>, guards: Guards<'b>) -> Result<Shape, Vec<Failure>> {
    let schema = question.graph.schema();
    let mut collector = Collector {
        question,
        schema,
        document: question.document,
        names: &question.names,
        guards,
        shape: Shape {
            fields: Vec::with_capacity(question.document.selections.len()),
            arguments: Vec::with_capacity(question.document.arguments.len()),
            ..Shape::default()
        },
        pending: Vec::new(),
        known: HashMap::default(),
        contexts: question.graph.sources().len() as u32 + 1,
        groups: Vec::new(),
    };
    let on = schema.root(question.operation.kind).expect("validation knows the root type");
    let parts = Rc::from([(question.operation.selections, Bits::default())]);
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
        let (document, names) = (self.document, self.names);
        let mut seen = HashSet::<(&str, Bits), foldhash::fast::RandomState>::default();
        let mut by_key = HashMap::<&str, usize, foldhash::fast::RandomState>::default();
        let mut stack: SmallVec<[(std::slice::Iter<'b, Selection>, Bits); 8]> = SmallVec::new();
        stack.extend(parts.iter().rev().map(|&(list, bits)| (document.list(list).iter(), bits)));
        while let Some((rest, outer)) = stack.last_mut() {
            let outer = *outer;
            let Some(selection) = rest.next() else {
                stack.pop();
                continue;
            };
            match selection {
                Selection::Field(field) => {
                    let inner = self.guards.inner(document, names, field.directives, outer);
                    let Some(bits) = inner else { continue };
                    self.add(&mut by_key, document.str(field.key()), field, bits);
                }
                Selection::Inline(inline) => {
                    let inner = self.guards.inner(document, names, inline.directives, outer);
                    let Some(bits) = inner else { continue };
                    if inline.on.is_empty() || self.applies(document.str(inline.on), on) {
                        stack.push((document.list(inline.selections).iter(), bits));
                    }
                }
                Selection::Spread(spread) => {
                    let inner = self.guards.inner(document, names, spread.directives, outer);
                    let Some(bits) = inner else { continue };
                    let name = document.str(spread.name);
                    let fragment = &names.fragments[name];
                    if seen.insert((name, bits)) && self.applies(document.str(fragment.on), on) {
                        stack.push((document.list(fragment.selections).iter(), bits));
                    }
                }
            }
        }
    }

    fn add(
        &mut self,
        by_key: &mut HashMap<&'b str, usize, foldhash::fast::RandomState>,
        key: &'b str,
        field: &'b ast::Field,
        bits: Bits,
    ) {
        const SCANNED_MAX: usize = 8;
        let known = if self.groups.len() <= SCANNED_MAX {
            self.groups.iter().position(|it| it.key == key)
        } else {
            if by_key.is_empty() {
                by_key.extend(self.groups.iter().enumerate().map(|(at, it)| (it.key, at)));
            }
            by_key.get(key).copied()
        };
        match known {
            Some(at) => self.groups[at].nodes.push((field, bits)),
            None => {
                if !by_key.is_empty() {
                    by_key.insert(key, self.groups.len());
                }
                self.groups.push(Group { key, nodes: SmallVec::from_iter([(field, bits)]) });
            }
        }
    }

    /// Whether a fragment on type `condition` applies to objects of type `on`.
    fn applies(&self, condition: &str, on: TypeId) -> bool {
        let id = self.schema.type_by_name(condition).expect("validation knows the type of a fragment");
        match self.schema.ty(id).kind {
            TypeKind::Interface => {
                self.schema.type_lists[self.schema.ty(on).interfaces.range()].contains(&id)
            }
            TypeKind::Union => self.schema.possible_types(id).contains(&on),
            TypeKind::Object | TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => id == on,
        }
    }

    fn member(&mut self, group: &Group<'b>, place: &Pending) -> Result<ShapeField, Vec<Failure>> {
        let (first, _) = group.nodes[0];
        let id = self.resolve(self.document.str(first.name), place.on);
        let ty = self.schema.field(id).ty;
        let key = Key::new(group.key);
        let when = steer::any(group.nodes.iter().map(|it| it.1));
        let (arguments_start, arguments_len, member) = if id == self.schema.meta.typename {
            (0, 0, self.typename(&key, place.on))
        } else {
            let (start, len) = arguments::push(self.question, id, first.arguments, &mut self.shape)?;
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

    fn resolve(&self, name: &str, on: TypeId) -> FieldId {
        match name {
            "__typename" => self.schema.meta.typename,
            "__schema" if on == self.schema.query => self.schema.meta.schema,
            "__type" if on == self.schema.query => self.schema.meta.ty,
            name => self.schema.field_by_name(on, name).expect("validation knows the field"),
        }
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
        let same = group.nodes.iter().all(|it| it.1 == group.nodes[0].1);
        let bits = |own: Bits| if same { Bits::default() } else { own };
        let parts: Rc<[Part]> = group.nodes.iter().map(|&(it, own)| (it.selections, bits(own))).collect();
        let mut key = PlaceKey::from_slice(&[u64::from(base.0) << 32 | u64::from(context)]);
        for &(list, bits) in parts.iter() {
            // Empty lists begin where others do.
            let run = (list.range().start as u64) << 32 | list.len() as u64;
            key.extend([run, bits.mask, bits.want]);
        }
        if let Some(&member) = self.known.get(&key) {
            return Ok(member);
        }
        self.check_room(possible.map_or(1, <[_]>::len))?;
        let member = match possible {
            None => Member::Object(self.open(&parts, base, context)),
            Some(types) => {
                let mut types = types.to_vec();
                types.sort_unstable();
                let sets = types.into_iter().map(|on| (on, self.open(&parts, on, context))).collect();
                self.shape.choices.push(Choice { on: base, sets });
                Member::Abstract(ChoiceId(self.shape.choices.len() as u32 - 1))
            }
        };
        self.known.insert(key, member);
        Ok(member)
    }

    fn open(&mut self, parts: &Rc<[Part]>, on: TypeId, context: u32) -> SetId {
        let set = self.reserve(on);
        self.pending.push(Pending { parts: Rc::clone(parts), on, set, context, is_root: false });
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
