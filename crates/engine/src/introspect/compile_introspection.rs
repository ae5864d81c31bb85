//! Compiles the output plan of `__schema` and `__type` to a program: each member's fact, the set of its members, and its key ready
//! to write.
//!
//! **Invariant:** an operation's `set` has members of the type that its fact leads to, and a fact stands only in sets of types that
//! have it.
//!
//! **Cost:** once per plan, linear in the output plan below the members.

use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSetId};
use hashbrown::HashMap;
use weir_language::schema::{SchemaView, builtin};
use weir_language::value::{Node, Variables};

/// Names facts after the fields of the introspection types. No field has two meanings, so all types share one list.
macro_rules! facts {
    ($($fact:ident = $field:literal),* $(,)?) => {
        /// Part of an answer that a member writes about its item.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fact { Constant, $($fact),* }
        impl Fact {
            /// The fact behind the field called `name`.
            fn named(name: &str) -> Self {
                match name {
                    $($field => Self::$fact,)*
                    _ => unreachable!("the specification has no such introspection field"),
                }
            }
        }
    };
}
facts! {
    Name = "name", Description = "description", IsDeprecated = "isDeprecated", Reason = "deprecationReason",
    Types = "types", Query = "queryType", Mutation = "mutationType", Subscription = "subscriptionType",
    Directives = "directives",
    Kind = "kind", SpecifiedBy = "specifiedByURL", Fields = "fields", Interfaces = "interfaces",
    Possible = "possibleTypes", Values = "enumValues", Inputs = "inputFields", Inner = "ofType", OneOf = "isOneOf",
    Arguments = "args", Type = "type", Default = "defaultValue",
    Repeatable = "isRepeatable", Places = "locations",
}

/// One member.
#[derive(Debug)]
pub(super) struct Op {
    /// `"name":`; of a constant all its bytes with the comma.
    pub(super) key: ResponseKey,
    pub(super) fact: Fact,
    /// Index of the members of what the fact leads to, in [`Program::sets`].
    pub(super) set: u32,
    /// `includeDeprecated`.
    pub(super) deprecated: Flag,
    /// For a `kind` member: its bytes for each value of `__TypeKind`.
    pub(super) kinds: Option<Box<[ResponseKey; 8]>>,
}

/// A Boolean argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Known(bool),
    /// The variable, and what stands when it was not sent.
    Variable(u32, bool),
}

impl Flag {
    pub(super) fn value(self, variables: Option<&Variables>) -> bool {
        match self {
            Self::Known(value) => value,
            Self::Variable(number, absent) => match variables.map(|it| it.node(number)) {
                Some(Node::Bool(value)) => value,
                Some(_) | None => absent,
            },
        }
    }
}

/// The `name` argument of `__type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Known(Box<str>),
    Variable(u32),
}

/// Kind of a root member.
#[derive(Debug)]
pub(super) enum Root {
    Schema { set: u32 },
    Type { set: u32, name: Name },
}

/// A member of the root.
#[derive(Debug)]
pub(super) struct RootOp {
    pub(super) key: ResponseKey,
    pub(super) root: Root,
}

/// Instructions for the answer below some root members.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) roots: Vec<RootOp>,
    pub(super) sets: Vec<Vec<Op>>,
    /// True if the answer depends on no variables.
    pub(super) is_constant: bool,
}

/// Compiles the members at `fields`, each `__schema` or `__type`.
pub(super) fn compile(schema: SchemaView<'_>, output: &OutputPlan, fields: &[u32]) -> Program {
    let program = Program { is_constant: true, ..Program::default() };
    let mut compiler = Compiler { schema, output, program, known: HashMap::default(), pending: Vec::new() };
    for &field in fields {
        let member = &output.fields[field as usize];
        let root = if member.field == schema.meta().schema {
            Root::Schema { set: compiler.set_below(member) }
        } else {
            Root::Type { set: compiler.set_below(member), name: compiler.name(member) }
        };
        compiler.program.roots.push(RootOp { key: member.key.clone(), root });
    }
    while let Some((set, number)) = compiler.pending.pop() {
        compiler.program.sets[number as usize] = compiler.ops(set);
    }
    compiler.program
}

struct Compiler<'c> {
    schema: SchemaView<'c>,
    output: &'c OutputPlan,
    program: Program,
    known: HashMap<SelectionSetId, u32, foldhash::fast::RandomState>,
    pending: Vec<(SelectionSetId, u32)>,
}

impl Compiler<'_> {
    /// The number of the set below `member`; 0, which nothing reads, if it is a leaf.
    fn set_below(&mut self, member: &OutputField) -> u32 {
        let OutputKind::Object(set) = member.member else { return 0 };
        if let Some(&number) = self.known.get(&set) {
            return number;
        }
        let number = self.program.sets.len() as u32;
        self.program.sets.push(Vec::new());
        self.known.insert(set, number);
        self.pending.push((set, number));
        number
    }

    fn ops(&mut self, set: SelectionSetId) -> Vec<Op> {
        let output = self.output;
        let members = output.members(set).iter();
        members
            .map(|member| {
                let (key, fact) = match member.member {
                    OutputKind::Constant { start, end } => {
                        (ready(&output.constants[start as usize..end as usize]), Fact::Constant)
                    }
                    OutputKind::Leaf
                    | OutputKind::Object(_)
                    | OutputKind::Abstract(_)
                    | OutputKind::Foreign { .. } => {
                        (member.key.clone(), Fact::named(self.schema.field_name(member.field)))
                    }
                };
                let set = self.set_below(member);
                Op { key, fact, set, deprecated: self.flag(member), kinds: self.kinds(member) }
            })
            .collect()
    }

    fn flag(&mut self, member: &OutputField) -> Flag {
        let known = |node: Node| Flag::Known(node == Node::Bool(true));
        let Some(argument) = self.output.arguments(member).first() else { return Flag::Known(false) };
        let nodes = &self.output.literals.nodes;
        match nodes[argument.value as usize] {
            Node::Variable(number) => {
                self.program.is_constant = false;
                let absent = argument.default.map(|at| nodes[at as usize]);
                Flag::Variable(number, absent == Some(Node::Bool(true)))
            }
            literal => known(literal),
        }
    }

    fn name(&mut self, member: &OutputField) -> Name {
        let argument = self.output.arguments(member).first().expect("the name is a required argument");
        match self.output.literals.nodes[argument.value as usize] {
            Node::Text(text) => Name::Known(self.output.literals.str(text).into()),
            Node::Variable(number) => {
                self.program.is_constant = false;
                Name::Variable(number)
            }
            _ => unreachable!("a valid literal of a string is text"),
        }
    }

    /// `"kind":"SCALAR",` and so on, if `member` is a `kind`.
    fn kinds(&self, member: &OutputField) -> Option<Box<[ResponseKey; 8]>> {
        let is_kind = member.ty.base == builtin::TYPE_KIND && matches!(member.member, OutputKind::Leaf);
        is_kind.then(|| {
            let mut values = self.schema.enum_values(builtin::TYPE_KIND);
            Box::new(std::array::from_fn(|_| {
                let value = values.next().expect("there are eight kinds");
                let mut bytes = member.key.bytes().to_vec();
                bytes.extend_from_slice(
                    format!("\"{}\",", self.schema.str(self.schema.enum_value(value).name)).as_bytes(),
                );
                ready(&bytes)
            }))
        })
    }
}

/// Bytes to be written as they are, by the store that writes keys.
fn ready(bytes: &[u8]) -> ResponseKey {
    let mut head = [0; 32];
    let short = bytes.len().min(32);
    head[..short].copy_from_slice(&bytes[..short]);
    ResponseKey { head, len: bytes.len() as u32, long: (bytes.len() > 32).then(|| bytes.into()) }
}
