//! The walk over an input value: lists, input objects, defaults, limits; the same for JSON and literals.
//!
//! Open values are kept on a stack of frames. The fields of an input object are sorted by their order in the type before they
//! are visited, so that the output has the type's order; those of a sequence ([`crate::type_system::Type::is_sequence`]) keep the
//! order in which they are written.
//!
//! **Invariant:** a frame's node is patched with its end when the frame is left; after a fault a `Null` stands where
//! the value would be, so the tape stays well-formed.

use super::fault_messages::{CoercionFault, Unfit, Why};
use super::{Reading, Settings};
use crate::ids::{InputId, TypeId};
use crate::type_system::{ScalarReader, SchemaView, TypeKind, TypeRef};
use crate::value::{Node, Values};
use smallvec::SmallVec;
use std::borrow::Cow;

/// The value at a position of a [`Tree`].
#[derive(Clone, Copy)]
pub(super) enum Look {
    Null,
    /// A variable of the plan, by number.
    Variable(u32),
    /// A variable that is not defined.
    Unknown,
    /// `len` items, the first at `first`.
    List {
        first: u32,
        len: u32,
    },
    /// Members from `first` up to `end`.
    Object {
        first: u32,
        end: u32,
    },
    /// A scalar or enum value.
    Leaf,
}

/// A member of an object.
pub(super) struct InputMember<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) value: u32,
    /// The member after it.
    pub(super) next: u32,
}

/// Input to be read: values addressed by place.
pub(super) trait Tree {
    fn look(&self, at: u32) -> Look;
    /// The item after the one at `at`.
    fn item_after(&self, at: u32) -> u32;
    fn member(&self, at: u32) -> InputMember<'_>;
    /// Reads a leaf, or whatever a scalar takes. `Err` says why it does not fit.
    fn scalar(&self, at: u32, reader: ScalarReader, out: &mut Values) -> Result<Node, Why>;
    /// The name of an enum value; `None` if it is not written as one.
    fn enum_name(&self, at: u32) -> Option<Cow<'_, str>>;
}

/// The container of the value being read.
enum InputFrame {
    List {
        node: u32,
        item: TypeRef,
        next: u32,
        len: u32,
        done: u32,
        /// A single value that became a list: its place in the list is no part of a path.
        single: bool,
    },
    Object {
        /// Position of the object in the input.
        at: u32,
        node: u32,
        ty: TypeId,
        /// Start of its members in [`Walk::given`].
        start: u32,
        /// The member to visit next.
        next: u32,
        /// The field of the type to visit next.
        field: u32,
        /// Members written.
        len: u32,
    },
}

/// A default that was needed before it was coerced: while a schema is being built.
pub(crate) type Needed = Vec<InputId>;

/// The most nodes that values may have once defaults are filled in: defaults within defaults double with every level.
pub(super) const NODES_MAX: usize = 1_000_000;

/// One reading of one value.
pub(super) struct Walk<'s, T> {
    schema: SchemaView<'s>,
    tree: &'s T,
    settings: Settings,
    /// The most nodes the tape may have after a default.
    nodes_max: usize,
    frames: SmallVec<[InputFrame; 8]>,
    /// Members of the open objects: place of the field in its type, place of the value.
    given: SmallVec<[(u32, u32); 16]>,
    pub(super) faults: Vec<CoercionFault>,
    /// Defaults that are not coerced yet.
    pub(super) needed: Needed,
}

impl<'s, T: Tree> Walk<'s, T> {
    pub(super) fn new(schema: SchemaView<'s>, tree: &'s T, settings: Settings) -> Self {
        Self {
            schema,
            tree,
            settings,
            nodes_max: NODES_MAX,
            frames: SmallVec::new(),
            given: SmallVec::new(),
            faults: Vec::new(),
            needed: Needed::new(),
        }
    }

    /// Starts a walk like [`Walk::new`] with `taken` nodes already used by another tape.
    pub(super) fn with_taken(schema: SchemaView<'s>, tree: &'s T, settings: Settings, taken: usize) -> Self {
        Self { nodes_max: NODES_MAX.saturating_sub(taken), ..Self::new(schema, tree, settings) }
    }

    /// Reads the value at `at` as a `ty` and appends it to `out`.
    pub(super) fn run(&mut self, at: u32, ty: TypeRef, out: &mut Values) {
        self.value(at, ty, out);
        while let Some(frame) = self.frames.last_mut() {
            if self.faults.len() >= self.settings.errors_max as usize {
                self.frames.clear();
                return;
            }
            match frame {
                InputFrame::List { item, next, len, done, .. } if *done < *len => {
                    let at = *next;
                    let item = *item;
                    *done += 1;
                    if *done < *len {
                        *next = self.tree.item_after(at);
                    }
                    self.value(at, item, out);
                }
                InputFrame::List { .. } => self.close(out),
                InputFrame::Object { .. } => self.next_field(out),
            }
        }
    }

    fn value(&mut self, at: u32, ty: TypeRef, out: &mut Values) {
        match self.tree.look(at) {
            Look::Variable(number) => out.nodes.push(Node::Variable(number)),
            Look::Unknown => self.fault(at, Unfit::Leaf(ty.base, Why::Form), out),
            Look::Null if ty.is_non_null() => self.fault(at, Unfit::Null(ty), out),
            Look::Null => out.nodes.push(Node::Null),
            look @ (Look::List { .. } | Look::Object { .. } | Look::Leaf) => match ty.item() {
                Some(item) => {
                    let single = matches!(look, Look::Leaf) && self.settings.reading == Reading::Lenient;
                    if !(single && self.array_text(at, item.base, out)) {
                        self.list(at, look, item, out);
                    }
                }
                None => self.walk_named_type(at, look, ty.base, out),
            },
        }
    }

    fn list(&mut self, at: u32, look: Look, item: TypeRef, out: &mut Values) {
        let (first, len, single) = match look {
            Look::List { first, len } => (first, len, false),
            Look::Null | Look::Variable(_) | Look::Unknown | Look::Object { .. } | Look::Leaf => {
                (at, 1, true)
            }
        };
        if len > self.settings.list_items_max {
            self.fault(at, Unfit::TooLong(self.settings.list_items_max), out);
            return;
        }
        let node = out.nodes.len() as u32;
        out.nodes.push(Node::List { len, end: node + 1 });
        self.frames.push(InputFrame::List { node, item, next: first, len, done: 0, single });
    }

    fn walk_named_type(&mut self, at: u32, look: Look, base: TypeId, out: &mut Values) {
        match self.schema.ty(base).kind {
            TypeKind::Scalar(reader) => {
                let reader = if reader == ScalarReader::Int { self.settings.int } else { reader };
                match self.tree.scalar(at, reader, out) {
                    Ok(node) => out.nodes.push(node),
                    Err(why) => self.walk_non_scalar(at, look, base, why, out),
                }
            }
            TypeKind::Enum => self.enum_value(at, base, out),
            TypeKind::Input { one_of } => match look {
                Look::Object { first, end } => self.object(at, first, end, base, one_of, out),
                Look::Null | Look::Variable(_) | Look::Unknown | Look::List { .. } | Look::Leaf => {
                    self.fault(at, Unfit::NoObject(base), out);
                }
            },
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                self.fault(at, Unfit::Leaf(base, Why::Form), out);
            }
        }
    }

    /// Reads a value that is no scalar. Arrays of databases may have more dimensions than their declared type: leniently
    /// read, a list of scalars takes deeper lists.
    #[cold]
    fn walk_non_scalar(&mut self, at: u32, look: Look, base: TypeId, why: Why, out: &mut Values) {
        match (look, self.frames.last()) {
            (Look::List { .. }, Some(&InputFrame::List { item, .. }))
                if self.settings.reading == Reading::Lenient =>
            {
                self.list(at, look, item, out);
            }
            _ => self.fault(at, Unfit::Leaf(base, why), out),
        }
    }

    /// True if a text in place of a list of scalars was taken, leniently, as a database's own notation of an array. The text
    /// stands for the whole list.
    fn array_text(&mut self, at: u32, base: TypeId, out: &mut Values) -> bool {
        if !matches!(self.schema.ty(base).kind, TypeKind::Scalar(reader) if reader != ScalarReader::Json) {
            return false;
        }
        let Ok(Node::Text(span)) = self.tree.scalar(at, ScalarReader::String, out) else { return false };
        let is_array = out.str(span).starts_with(['{', '[']) && out.str(span).ends_with('}');
        if is_array {
            out.nodes.push(Node::Text(span));
        }
        is_array
    }

    fn enum_value(&mut self, at: u32, base: TypeId, out: &mut Values) {
        let Some(name) = self.tree.enum_name(at) else {
            self.fault(at, Unfit::NoEnum(base), out);
            return;
        };
        match self.schema.enum_value_by_name(base, &name) {
            Some(id) => out.nodes.push(Node::Enum(id)),
            None => {
                let name = name.into_owned();
                self.fault(at, Unfit::NoValue(base, name), out);
            }
        }
    }

    fn object(&mut self, at: u32, first: u32, end: u32, ty: TypeId, one_of: bool, out: &mut Values) {
        let members = self.schema.ty(ty).members;
        let start = self.given.len();
        let mut next = first;
        let mut unknown = false;
        while next < end {
            let member = self.tree.member(next);
            match self.schema.input_by_name(members, &member.key) {
                Some(id) => self.given.push((id.0 - members.start, member.value)),
                None => {
                    unknown = true;
                    self.note(at, Unfit::Unknown(ty, member.key.into_owned()));
                }
            }
            next = member.next;
        }
        if let Some(twice) = self.sort(start, self.schema.ty(ty).is_sequence) {
            let input = InputId(members.start + twice);
            self.given.truncate(start);
            self.fault(at, Unfit::Twice(input), out);
            return;
        }
        if one_of && !unknown && !self.exactly_one(at, start, ty) {
            self.given.truncate(start);
            out.nodes.push(Node::Null);
            return;
        }
        let node = out.nodes.len() as u32;
        out.nodes.push(Node::Object { len: 0, end: node + 1 });
        let start = start as u32;
        self.frames.push(InputFrame::Object { at, node, ty, start, next: start, field: 0, len: 0 });
    }

    /// Sorts the members from `start` on by their places in the type, unless they are a sequence; says which is there twice.
    fn sort(&mut self, start: usize, is_sequence: bool) -> Option<u32> {
        let mut copy: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        let given = if is_sequence {
            copy.extend_from_slice(&self.given[start..]);
            copy.as_mut_slice()
        } else {
            &mut self.given[start..]
        };
        given.sort_unstable();
        given.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0)
    }

    /// The rule of `@oneOf`: one member, and it is not null.
    fn exactly_one(&mut self, at: u32, start: usize, ty: TypeId) -> bool {
        match self.given[start..] {
            [(field, value)] => {
                let is_null = matches!(self.tree.look(value), Look::Null);
                if is_null {
                    let input = InputId(self.schema.ty(ty).members.start + field);
                    self.note(value, Unfit::OneOfNull(ty, input));
                }
                !is_null
            }
            [] | [_, ..] => {
                self.note(at, Unfit::NotOne(ty));
                false
            }
        }
    }

    /// Visits the next field of the object on top, or leaves it.
    fn next_field(&mut self, out: &mut Values) {
        let Some(InputFrame::Object { at: object, ty, next, field, len, .. }) = self.frames.last_mut() else {
            return;
        };
        let members = self.schema.ty(*ty).members;
        let given = self.given.get(*next as usize).copied();
        // Without defaults and required fields, only what is given is visited.
        let at = match given {
            Some((at, _)) if !self.schema.is_demanding(*ty) => at,
            None if !self.schema.is_demanding(*ty) => members.len,
            Some(_) | None => *field,
        };
        if at == members.len {
            self.close(out);
            return;
        }
        *field = at + 1;
        let id = InputId(members.start + at);
        let input = self.schema.input(id);
        if let Some((_, value)) = given.filter(|it| it.0 == at) {
            *next += 1;
            *len += 1;
            out.nodes.push(Node::Key(id));
            self.value(value, input.ty, out);
        } else if !self.schema.has_input(id) {
            // A hidden field is absent: it has no default and need not be given.
        } else if let Some(default) = input.default {
            *len += 1;
            out.nodes.push(Node::Key(id));
            if default.value == crate::type_system::PENDING {
                self.needed.push(id);
                out.nodes.push(Node::Null);
            } else {
                self.default(default.value as usize, out);
            }
        } else if input.ty.is_non_null() {
            let object = *object;
            let ty = *ty;
            self.note_beside(object, Unfit::Missing(ty, id));
        }
    }

    /// Copies the default at `at`. When the tape has no room for it, nothing more is read.
    fn default(&mut self, at: usize, out: &mut Values) {
        let defaults = self.schema.defaults();
        if out.nodes.len() + defaults.end(at) - at <= self.nodes_max {
            out.push_copy(defaults, at);
            return;
        }
        if let Some(&InputFrame::Object { at: object, .. }) = self.frames.last() {
            self.note_beside(object, Unfit::TooLarge);
        }
        self.frames.clear();
    }

    fn close(&mut self, out: &mut Values) {
        let here = out.nodes.len() as u32;
        match self.frames.pop() {
            Some(InputFrame::List { node, len, .. }) => {
                out.nodes[node as usize] = Node::List { len, end: here }
            }
            Some(InputFrame::Object { node, start, len, .. }) => {
                self.given.truncate(start as usize);
                out.nodes[node as usize] = Node::Object { len, end: here };
            }
            None => {}
        }
    }

    /// Notes what is wrong with the value at `at`.
    fn note(&mut self, at: u32, unfit: Unfit) {
        let path = self.path(self.frames.len());
        self.faults.push(CoercionFault { at, path, unfit });
    }

    /// Notes what the object on top, which stands at `at`, lacks.
    fn note_beside(&mut self, at: u32, unfit: Unfit) {
        let path = self.path(self.frames.len() - 1);
        self.faults.push(CoercionFault { at, path, unfit });
    }

    /// The way from the whole value through the first `frames`: `.where._and[2]`.
    fn path(&self, frames: usize) -> String {
        let mut path = String::new();
        for frame in &self.frames[..frames] {
            match *frame {
                InputFrame::List { single: true, .. } => {}
                InputFrame::List { done, .. } => path.extend(["[", &(done.max(1) - 1).to_string(), "]"]),
                InputFrame::Object { ty, field, .. } => {
                    let start = self.schema.ty(ty).members.start;
                    let name = self.schema.input_name(InputId(start + field.max(1) - 1));
                    path.extend([".", name]);
                }
            }
        }
        path
    }

    /// Notes what is wrong with the value at `at` and puts `Null` in its place.
    fn fault(&mut self, at: u32, unfit: Unfit, out: &mut Values) {
        self.note(at, unfit);
        out.nodes.push(Node::Null);
    }
}
