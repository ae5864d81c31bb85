//! The output plan of an answer: fields merged, fragments expanded per concrete type, keys ready to write.
//!
//! Engine and sources both read it: the engine's writer walks it over [`crate::answer::rows::Rows`], a source that
//! finishes its own bytes walks it while it steps through its rows.
//!
//! **Invariant:** flat tables; ids are only used with the output plan that made them; the members of a set lie side
//! by side in selection order; depth is bounded by the limits, so walking may recurse.

use std::collections::BTreeSet;
use weir_language::schema::{FieldId, InputId, Schema, TypeId, TypeRef};
use weir_language::value::Values;

/// The place of a set in [`OutputPlan::sets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SelectionSetId(pub u32);

impl SelectionSetId {
    /// The set of the operation's root.
    pub const ROOT: Self = Self(0);
}

/// The place of a choice in [`OutputPlan::type_switches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeSwitchId(pub u32);

/// The place of a node in the plan's list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanNodeId(pub u32);

/// Output plan, as tables.
#[derive(Clone, Debug, Default)]
pub struct OutputPlan {
    /// Selection sets, one per place and concrete type.
    pub sets: Vec<SelectionSet>,
    /// Members of all sets.
    pub fields: Vec<OutputField>,
    /// Sets of places where several types can stand.
    pub type_switches: Vec<TypeSwitch>,
    /// Arguments of all fields: field of [`OutputPlan::literals`] by input.
    pub arguments: Vec<OutputArgument>,
    /// The argument values, literals coerced, variables as `Node::Variable`.
    pub literals: Values,
    /// Bytes of [`OutputKind::Constant`]s, each with its key and a closing comma.
    pub constants: Vec<u8>,
    /// Memberships in deferred fragments and streamed lists, by [`OutputField::membership`]; empty if nothing comes later.
    pub memberships: Vec<Membership>,
    /// By member that is the same as an earlier one, in order: the kind it had itself, whose sets say where its text stands.
    pub own_kinds: Vec<(u32, OutputKind)>,
}

/// The members asked of one concrete type in one place.
#[derive(Clone, Debug)]
pub struct SelectionSet {
    /// The concrete type.
    pub on: TypeId,
    /// First member in [`OutputPlan::fields`].
    pub start: u32,
    /// Number of items.
    pub len: u32,
    /// Fields that were not selected but that children in other sources need, each once. They become [`crate::answer::rows::Table::hidden`];
    /// [`crate::plan::ParentKeys::hidden`] maps them to the `Node::Parent` numbers of a child.
    pub hidden: Vec<FieldId>,
    /// True for the set of an object that another source has: its members are the ways to it, and the first that leads to one is written in
    /// place of the object.
    pub is_entity: bool,
}

impl SelectionSet {
    /// The places of the members.
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// The set of each concrete type. Types with the same members share the set.
#[derive(Clone, Debug)]
pub struct TypeSwitch {
    /// The abstract type.
    pub on: TypeId,
    /// Concrete type and its set, sorted by type.
    pub sets: Vec<(TypeId, SelectionSetId)>,
}

/// One argument: the input and where its value begins in [`OutputPlan::literals`]. Arguments that were not
/// given and have no default are not listed.
#[derive(Clone, Copy, Debug)]
pub struct OutputArgument {
    /// The argument.
    pub input: InputId,
    /// The node its value begins at.
    pub value: u32,
    /// Only if the value is a variable that may be absent and the argument has a default: the node where the
    /// default begins, which stands when the variable was not sent.
    pub default: Option<u32>,
}

/// One member of a set.
#[derive(Clone, Debug)]
pub struct OutputField {
    /// The key, ready to write.
    pub key: ResponseKey,
    /// The schema's field.
    pub field: FieldId,
    /// Type of the field.
    pub ty: TypeRef,
    /// First argument in [`OutputPlan::arguments`]: the field's own, then those of the directives on it, but for the
    /// specification's.
    pub arguments_start: u32,
    /// Number of arguments.
    pub arguments_len: u32,
    /// Kind and content of the member.
    pub member: OutputKind,
    /// An earlier member of this set with the same field, arguments and members: its bytes are copied.
    pub same_as: Option<u32>,
    /// Byte of the operation's text where it was first written, for the locations of errors.
    pub offset: u32,
    /// Index in [`OutputPlan::memberships`]; 0 if it stands outside of all deferred fragments and is not streamed.
    pub membership: u32,
}

/// The fragments in which a member was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    /// True if it was written outside of all deferred fragments, too.
    pub is_initial: bool,
    /// The deferred fragments: bits by their numbers.
    pub fragments: u64,
    /// One more than the number of its stream, for a list whose items may come later; else 0.
    pub stream: u8,
}

impl Membership {
    /// Membership of members outside of all deferred fragments.
    pub const INITIAL: Self = Self { is_initial: true, fragments: 0, stream: 0 };

    /// True if `other` stands in the same fragments.
    pub const fn is_as_late_as(self, other: Self) -> bool {
        self.is_initial == other.is_initial && self.fragments == other.fragments
    }
}

/// Kinds of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A scalar or enum (or lists of them).
    Leaf,
    /// An object (or lists of it).
    Object(SelectionSetId),
    /// An interface or union (or lists of it).
    Abstract(TypeSwitchId),
    /// Bytes known while planning, key and comma included: a span of [`OutputPlan::constants`].
    Constant {
        /// First byte.
        start: u32,
        /// One past the last.
        end: u32,
    },
    /// Another source answers, asked once for all parents. The column of this member is a
    /// [`crate::answer::rows::Data::Foreign`], whose places are rows of the node's reply.
    Foreign {
        /// The node that answers.
        node: PlanNodeId,
        /// Member of the node's set, which describes the reply's column.
        field: u32,
        /// Column of the reply.
        column: u32,
    },
}

/// A response key as written: `"title":`, padded so that one 32-byte store writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseKey {
    /// The first 32 bytes, zero-padded.
    pub head: [u8; 32],
    /// The length of the whole.
    pub len: u32,
    /// The whole, when it is longer than 32 bytes.
    pub long: Option<Box<[u8]>>,
}

impl ResponseKey {
    /// Encodes `name`, which GraphQL's grammar keeps free of anything JSON would escape.
    #[inline]
    pub fn new(name: &str) -> Self {
        let mut key = Self::EMPTY;
        key.set(name);
        key
    }

    /// No key yet.
    pub(crate) const EMPTY: Self = Self { head: [0; 32], len: 0, long: None };

    /// Makes the empty key that of `name`. In place: a key that is written and then moved costs as much again.
    #[inline]
    pub(crate) fn set(&mut self, name: &str) {
        let len = name.len() + 3;
        self.len = len as u32;
        if len > self.head.len() {
            let whole: Box<[u8]> = format!("\"{name}\":").into_bytes().into();
            self.head.copy_from_slice(&whole[..32]);
            self.long = Some(whole);
            return;
        }
        self.head[0] = b'"';
        self.head[1..len - 2].copy_from_slice(name.as_bytes());
        self.head[len - 2..len].copy_from_slice(b"\":");
    }

    /// The name without quotes and colon.
    pub fn name(&self) -> &str {
        let whole = self.bytes();
        std::str::from_utf8(&whole[1..whole.len() - 2]).expect("a key is made from a str")
    }

    /// `"title":`.
    pub fn bytes(&self) -> &[u8] {
        match &self.long {
            Some(long) => long,
            None => &self.head[..self.len as usize],
        }
    }
}

impl OutputPlan {
    /// One set.
    pub fn set(&self, id: SelectionSetId) -> &SelectionSet {
        &self.sets[id.0 as usize]
    }
    /// The members of a set.
    pub fn members(&self, id: SelectionSetId) -> &[OutputField] {
        &self.fields[self.set(id).range()]
    }
    /// Coordinates of its fields and arguments in `schema`, the graph's, but for those of introspection.
    ///
    /// Source: GraphQL specification, section 3.14 (schema coordinates).
    pub fn coordinates(&self, schema: &Schema) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for set in self.sets.iter().filter(|it| !it.is_entity) {
            let on = schema.type_name(set.on);
            for field in &self.fields[set.range()] {
                let name = schema.field_name(field.field);
                if on.starts_with("__") || name.starts_with("__") {
                    continue;
                }
                found.insert(format!("{on}.{name}"));
                // Arguments of directives follow the field's own arguments.
                let is_own = |it: &&OutputArgument| schema.arguments(field.field).any(|own| own == it.input);
                let given = self.arguments(field).iter().filter(is_own);
                found.extend(given.map(|it| format!("{on}.{name}({}:)", schema.input_name(it.input))));
            }
        }
        found
    }
    /// The arguments of a member.
    pub fn arguments(&self, field: &OutputField) -> &[OutputArgument] {
        &self.arguments[field.arguments_start as usize..][..field.arguments_len as usize]
    }
    /// The membership of a member; of an output plan whose answer comes whole: that of all.
    pub fn membership(&self, field: &OutputField) -> Membership {
        self.memberships.get(field.membership as usize).copied().unwrap_or(Membership::INITIAL)
    }
    /// The set for objects of type `ty` where `choice` stands.
    pub fn set_for_type(&self, choice: TypeSwitchId, ty: TypeId) -> Option<SelectionSetId> {
        let sets = &self.type_switches[choice.0 as usize].sets;
        sets.binary_search_by_key(&ty, |it| it.0).ok().map(|at| sets[at].1)
    }
}
