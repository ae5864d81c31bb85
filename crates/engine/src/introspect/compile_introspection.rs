//! Compiles the output plan of `__schema` and `__type` to a program: each member's fact, the set of its members, and its key ready
//! to write.
//!
//! **Invariant:** sets are numbered per introspection type; an operation's `set` is of the type its fact leads to.
//!
//! **Cost:** once per plan, linear in the output plan below the members.

use crate::answer::output_plan::{OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSetId};
use hashbrown::HashMap;
use weir_language::schema::{SchemaView, builtin};
use weir_language::value::{Node, Variables};

/// Names the facts of one introspection type after its fields.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident { $($fact:ident = $field:literal $(-> $to:ident)?),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $name { Constant, $($fact),* }
        impl $name {
            /// The fact behind the field called `name`, and which program its members go to.
            fn named(name: &str) -> (Self, Option<Kind>) {
                match name {
                    $($field => (Self::$fact, None $(.or(Some(Kind::$to)))?),)*
                    _ => unreachable!("the specification has no such introspection field"),
                }
            }
        }
    )* };
}
facts! {
    /// Fields of `__Schema`.
    OfSchema {
        Description = "description", Types = "types" -> Type, Query = "queryType" -> Type,
        Mutation = "mutationType" -> Type, Subscription = "subscriptionType" -> Type,
        Directives = "directives" -> Directive,
    }
    /// Fields of `__Type`.
    OfType {
        Kind = "kind", Name = "name", Description = "description", SpecifiedBy = "specifiedByURL",
        Fields = "fields" -> Field, Interfaces = "interfaces" -> Type, Possible = "possibleTypes" -> Type,
        Values = "enumValues" -> Value, Inputs = "inputFields" -> Input, Inner = "ofType" -> Type,
        OneOf = "isOneOf",
    }
    /// Fields of `__Field`.
    OfField {
        Name = "name", Description = "description", Arguments = "args" -> Input, Type = "type" -> Type,
        IsDeprecated = "isDeprecated", Reason = "deprecationReason",
    }
    /// Fields of `__InputValue`.
    OfInput {
        Name = "name", Description = "description", Type = "type" -> Type, Default = "defaultValue",
        IsDeprecated = "isDeprecated", Reason = "deprecationReason",
    }
    /// Fields of `__EnumValue`.
    OfValue {
        Name = "name", Description = "description", IsDeprecated = "isDeprecated", Reason = "deprecationReason",
    }
    /// Fields of `__Directive`.
    OfDirective {
        Name = "name", Description = "description", Repeatable = "isRepeatable", Places = "locations",
        Arguments = "args" -> Input, IsDeprecated = "isDeprecated", Reason = "deprecationReason",
    }
}

/// Introspection type of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Schema,
    Type,
    Field,
    Input,
    Value,
    Directive,
}

/// One member.
#[derive(Debug)]
pub(super) struct Op<F> {
    /// `"name":`; of a constant all its bytes with the comma.
    pub(super) key: ResponseKey,
    pub(super) fact: F,
    /// The set of what the fact leads to.
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
    pub(super) schema: Vec<Vec<Op<OfSchema>>>,
    pub(super) types: Vec<Vec<Op<OfType>>>,
    pub(super) fields: Vec<Vec<Op<OfField>>>,
    pub(super) inputs: Vec<Vec<Op<OfInput>>>,
    pub(super) values: Vec<Vec<Op<OfValue>>>,
    pub(super) directives: Vec<Vec<Op<OfDirective>>>,
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
            Root::Schema { set: compiler.below(member, Some(Kind::Schema)) }
        } else {
            Root::Type { set: compiler.below(member, Some(Kind::Type)), name: compiler.name(member) }
        };
        compiler.program.roots.push(RootOp { key: member.key.clone(), root });
    }
    while let Some((set, kind, number)) = compiler.pending.pop() {
        compiler.fill(set, kind, number as usize);
    }
    compiler.program
}

struct Compiler<'c> {
    schema: SchemaView<'c>,
    output: &'c OutputPlan,
    program: Program,
    known: HashMap<SelectionSetId, u32, foldhash::fast::RandomState>,
    pending: Vec<(SelectionSetId, Kind, u32)>,
}

impl Compiler<'_> {
    /// The number of the set below `member`.
    fn below(&mut self, member: &OutputField, kind: Option<Kind>) -> u32 {
        let (OutputKind::Object(set), Some(kind)) = (member.member, kind) else { return 0 };
        if let Some(&number) = self.known.get(&set) {
            return number;
        }
        let program = &mut self.program;
        let number = match kind {
            Kind::Schema => open(&mut program.schema),
            Kind::Type => open(&mut program.types),
            Kind::Field => open(&mut program.fields),
            Kind::Input => open(&mut program.inputs),
            Kind::Value => open(&mut program.values),
            Kind::Directive => open(&mut program.directives),
        };
        self.known.insert(set, number);
        self.pending.push((set, kind, number));
        number
    }

    fn fill(&mut self, set: SelectionSetId, kind: Kind, number: usize) {
        match kind {
            Kind::Schema => self.program.schema[number] = self.ops(set, OfSchema::Constant, OfSchema::named),
            Kind::Type => self.program.types[number] = self.ops(set, OfType::Constant, OfType::named),
            Kind::Field => self.program.fields[number] = self.ops(set, OfField::Constant, OfField::named),
            Kind::Input => self.program.inputs[number] = self.ops(set, OfInput::Constant, OfInput::named),
            Kind::Value => self.program.values[number] = self.ops(set, OfValue::Constant, OfValue::named),
            Kind::Directive => {
                self.program.directives[number] = self.ops(set, OfDirective::Constant, OfDirective::named);
            }
        }
    }

    fn ops<F: Copy>(
        &mut self,
        set: SelectionSetId,
        constant: F,
        named: fn(&str) -> (F, Option<Kind>),
    ) -> Vec<Op<F>> {
        let output = self.output;
        let members = output.members(set).iter();
        members
            .map(|member| {
                let (key, fact, kind) = match member.member {
                    OutputKind::Constant { start, end } => {
                        (ready(&output.constants[start as usize..end as usize]), constant, None)
                    }
                    OutputKind::Leaf
                    | OutputKind::Object(_)
                    | OutputKind::Abstract(_)
                    | OutputKind::Foreign { .. } => {
                        let (fact, kind) = named(self.schema.field_name(member.field));
                        (member.key.clone(), fact, kind)
                    }
                };
                Op {
                    key,
                    fact,
                    set: self.below(member, kind),
                    deprecated: self.flag(member),
                    kinds: self.kinds(member),
                }
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

fn open<F>(sets: &mut Vec<Vec<F>>) -> u32 {
    sets.push(Vec::new());
    sets.len() as u32 - 1
}

/// Bytes to be written as they are, by the store that writes keys.
fn ready(bytes: &[u8]) -> ResponseKey {
    let mut head = [0; 32];
    let short = bytes.len().min(32);
    head[..short].copy_from_slice(&bytes[..short]);
    ResponseKey { head, len: bytes.len() as u32, long: (bytes.len() > 32).then(|| bytes.into()) }
}
