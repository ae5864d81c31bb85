//! Random schemas, data and queries from a stream of small numbers, so that shrinking the stream shrinks all three.
//!
//! A field name has one type wherever it stands, and an alias belongs to one field, so that fields always merge.
//! Spreads are only made where types overlap, fragments only spread later ones, and every variable is used. An alias says
//! what stands in an argument, and Int variables may be null where none may be.

use super::executor::Sent;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::memory::{Object, Value};
use weir_engine::source::FieldError;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{Schema, TypeId, TypeKind, TypeRef};

/// Source of choices. Used up, it always gives zero, which is the simplest choice.
pub(crate) struct Dice<'d> {
    words: std::slice::Iter<'d, u16>,
    /// Objects that may still be made.
    objects_left: usize,
}

impl<'d> Dice<'d> {
    pub(crate) fn new(words: &'d [u16]) -> Self {
        Self { words: words.iter(), objects_left: 400 }
    }
    /// A number below `sides`.
    fn below(&mut self, sides: usize) -> usize {
        self.words.next().map_or(0, |&word| usize::from(word) % sides)
    }
    /// True in one of `chances` cases; never when used up.
    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == chances - 1
    }
    fn of<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// A field name and its type, the same wherever it stands.
struct Named {
    name: String,
    ty: String,
    is_scalar: bool,
    /// The type of the argument `n`, if there is one.
    argument: Option<&'static str>,
}

/// A random schema, and the same in two parts of which one joins a field to the other.
pub(crate) struct Schemas {
    pub(crate) whole: Arc<Schema>,
    pub(crate) split: Option<Split>,
}

/// `Ada` without one of its fields, and who has that field: `asked(key: ID!)`.
pub(crate) struct Split {
    pub(crate) rest: Arc<Schema>,
    pub(crate) asked: Arc<Schema>,
    pub(crate) field: String,
}

const INTERFACES: [&str; 2] = ["Near", "Far"];
const UNIONS: [&str; 1] = ["Any"];
const OBJECTS: [&str; 4] = ["Query", "Ada", "Bob", "Cyd"];
/// The type and the default of an argument `n`; most fields have none.
const ARGUMENTS: [Option<&str>; 6] = [None, None, None, Some("Int!"), Some("Int! = 7"), Some("[Int!]")];
const LEAVES: [&str; 6] = ["Int", "Float", "String", "Boolean", "ID", "Colour"];

/// Random schemas.
pub(crate) fn schemas(dice: &mut Dice<'_>) -> Schemas {
    let pool: Vec<Named> = (0..14)
        .map(|number| {
            let base = match dice.below(3) {
                0 => *dice.of(&LEAVES),
                1 => *dice.of(&["Ada", "Bob", "Cyd"]),
                _ => *dice.of(&["Near", "Far", "Any", "Query"]),
            };
            let is_scalar = LEAVES[..5].contains(&base);
            let ty = wrapped(base, dice);
            let argument = *dice.of(&ARGUMENTS);
            Named { name: format!("f{number}"), ty, is_scalar, argument }
        })
        .collect();
    let mut subset = |least: usize| -> BTreeSet<usize> {
        (0..pool.len()).filter(|&number| dice.below(3) == 0 || number < least).collect()
    };
    let shared: Vec<BTreeSet<usize>> = INTERFACES.iter().map(|_| subset(1)).collect();
    let own: Vec<BTreeSet<usize>> = OBJECTS.iter().map(|_| subset(2)).collect();
    // Fields of other sources may always be null, so only nullable fields are split off.
    let is_joined = |number: &&usize| {
        let Named { is_scalar, ty, argument, .. } = &pool[**number];
        *is_scalar
            && argument.is_none()
            && !ty.ends_with('!')
            && shared.iter().all(|shared| !shared.contains(*number))
    };
    let split = own[1].iter().find(is_joined).map(|&number| {
        let rest = schema(&pool, &shared, &own, Some(number));
        let mut b = SchemaBuilder::new();
        let query = b.object("Query", "");
        b.query(query);
        let ty = b.type_ref(&pool[number].ty);
        b.field("asked", "", ty);
        let key = b.type_ref("ID!");
        b.argument("key", "", key);
        Split {
            rest: Arc::new(rest),
            asked: Arc::new(b.build().expect("the schema is sound")),
            field: pool[number].name.clone(),
        }
    });
    Schemas { whole: Arc::new(schema(&pool, &shared, &own, None)), split }
}

fn schema(
    pool: &[Named],
    shared: &[BTreeSet<usize>],
    own: &[BTreeSet<usize>],
    left_out: Option<usize>,
) -> Schema {
    // Each object implements the interfaces by its number: Ada both, Bob the first, Cyd the second.
    let implements = [&[][..], &[0, 1], &[0], &[1]];
    let mut b = SchemaBuilder::new();
    b.enumeration("Colour", "");
    for value in ["RED", "GREEN"] {
        b.enum_value(value, "");
    }
    for (number, name) in INTERFACES.iter().enumerate() {
        b.interface(name, "");
        fields(&mut b, pool, &shared[number]);
    }
    for (number, name) in OBJECTS.iter().enumerate() {
        let object = b.object(name, "");
        let mut own = own[number].clone();
        for &interface in implements[number] {
            let id = b.reference(INTERFACES[interface]);
            b.implement(id);
            own.extend(&shared[interface]);
        }
        if *name == "Ada" {
            own.retain(|&number| Some(number) != left_out);
            let key = b.type_ref("ID!");
            b.field("key", "", key);
        }
        fields(&mut b, pool, &own);
        if *name == "Query" {
            b.query(object);
        }
    }
    let members: Vec<TypeId> = ["Ada", "Bob"].iter().map(|name| b.reference(name)).collect();
    b.union(UNIONS[0], "");
    for member in members {
        b.member(member);
    }
    b.build().expect("the schema is sound")
}

fn wrapped(base: &str, dice: &mut Dice<'_>) -> String {
    let mut ty = base.to_owned();
    let lists = [0, 0, 0, 1, 1, 2][dice.below(6)];
    for depth in 0..=lists {
        if depth != 0 {
            ty = format!("[{ty}]");
        }
        if dice.below(3) == 1 {
            ty.push('!');
        }
    }
    ty
}

fn fields(b: &mut SchemaBuilder, pool: &[Named], picked: &BTreeSet<usize>) {
    for &number in picked {
        let ty = b.type_ref(&pool[number].ty);
        b.field(&pool[number].name, "", ty);
        let Some(argument) = pool[number].argument else { continue };
        let (ty, default) = argument.split_once(" = ").unwrap_or((argument, ""));
        let ty = b.type_ref(ty);
        b.argument("n", "", ty);
        if !default.is_empty() {
            b.default(default);
        }
    }
}

/// Random data for the root.
pub(crate) fn data(schema: &Schema, dice: &mut Dice<'_>) -> Object {
    object(schema, schema.query, dice, 0)
}

fn object(schema: &Schema, ty: TypeId, dice: &mut Dice<'_>, depth: usize) -> Object {
    // No two objects find the same number left.
    let key = Value::text(&format!("k{}", dice.objects_left));
    let fields = schema.fields[schema.ty(ty).fields.range()].iter().filter_map(|field| {
        if schema.str(field.name) == "key" {
            return Some((Arc::from("key"), key.clone()));
        }
        let value = value(schema, field.ty, dice, depth);
        (!dice.one_in(40)).then(|| (Arc::from(schema.str(field.name)), value))
    });
    Object { ty: schema.type_name(ty).into(), fields: fields.collect() }
}

fn value(schema: &Schema, ty: TypeRef, dice: &mut Dice<'_>, depth: usize) -> Value {
    if dice.one_in(if ty.is_non_null() { 30 } else { 7 }) {
        return Value::Null;
    }
    if dice.one_in(25) {
        let error = FieldError {
            code: "BROKEN_LEG",
            message: "the \"leg\" is broken".into(),
            hasura_path: None,
            extensions: None,
        };
        return Value::Error(error);
    }
    if let Some(item) = ty.item() {
        if dice.one_in(25) {
            return Value::Bool(true);
        }
        let len = dice.below(4);
        return Value::List((0..len).map(|_| value(schema, item, dice, depth + 1)).collect());
    }
    let kind = schema.ty(ty.base).kind;
    match kind {
        TypeKind::Scalar(_) | TypeKind::Enum => leaf(schema.type_name(ty.base), dice),
        TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Input { .. } => {
            if depth > 4 || dice.objects_left == 0 {
                return Value::Null;
            }
            dice.objects_left -= 1;
            let mut possible = schema.possible_types(ty.base);
            if possible.is_empty() || (kind != TypeKind::Object && dice.one_in(40)) {
                possible = &[];
            }
            match possible {
                [] if kind == TypeKind::Object => Value::Object(object(schema, ty.base, dice, depth + 1)),
                [] => Value::Object(object(schema, schema.query, dice, depth + 1)),
                some => {
                    let concrete = *dice.of(some);
                    Value::Object(object(schema, concrete, dice, depth + 1))
                }
            }
        }
    }
}

fn leaf(name: &str, dice: &mut Dice<'_>) -> Value {
    if dice.one_in(25) {
        return Value::Json("{}".into());
    }
    match name {
        "Int" => Value::Int(*dice.of(&[0, 1, -7, 2_147_483_647, -2_147_483_648, 2_147_483_648, 42])),
        "Float" => Value::Float(*dice.of(&[0.5, 1.0, -0.0, 1e300, f64::NAN, f64::NEG_INFINITY, 3.25])),
        "Boolean" => Value::Bool(dice.below(2) == 0),
        "Colour" => Value::text(dice.of::<&str>(&["RED", "GREEN", "RED", "GREEN", "RED", "BLUE"])),
        _ => Value::text(dice.of::<&str>(&[
            "",
            "plain",
            "with \"quotes\" and \\",
            "line\nfeed \u{1}",
            "ünï🦀 and longer than 16",
        ])),
    }
}

/// A random valid operation.
pub(crate) struct Asked {
    pub(crate) text: String,
    /// The variables that are sent.
    pub(crate) sent: Sent,
}

/// Writes an operation over `schema` with at most so many Boolean variables.
pub(crate) fn operation(schema: &Schema, dice: &mut Dice<'_>, variables_max: usize) -> Asked {
    let composite: Vec<TypeId> =
        OBJECTS[1..].iter().chain(&INTERFACES).chain(&UNIONS).map(|name| id(schema, name)).collect();
    let on: Vec<TypeId> = (0..3).map(|_| *dice.of(&composite)).collect();
    let mut writer = Writer {
        schema,
        dice,
        on,
        variables: BTreeSet::new(),
        ints: BTreeSet::new(),
        spread: BTreeSet::new(),
        budget: 60,
        variables_max,
    };
    let body = writer.selections(schema.query, 0, 0);
    let mut fragments = String::new();
    // Fragments only spread later ones, so one pass in order meets all that are spread.
    for number in 0..writer.on.len() {
        if writer.spread.contains(&number) {
            let on = writer.on[number];
            let selections = writer.selections(on, 1, number + 1);
            writeln!(fragments, "fragment F{number} on {} {selections}", schema.type_name(on)).unwrap();
        }
    }
    let used = std::mem::take(&mut writer.variables);
    let ints = std::mem::take(&mut writer.ints);
    let mut sent = Sent::new();
    let mut definitions: Vec<String> = used
        .iter()
        .map(|number| {
            let name = format!("v{number}");
            let value = dice.below(2) == 0;
            if dice.one_in(3) {
                return format!("${name}: Boolean! = {value}");
            }
            sent.insert(name.clone(), value.into());
            format!("${name}: Boolean!")
        })
        .collect();
    definitions.extend(ints.iter().map(|number| {
        let name = format!("n{number}");
        match dice.below(4) {
            0 => {}
            1 => drop(sent.insert(name.clone(), serde_json::Value::Null)),
            _ => drop(sent.insert(name.clone(), 3.into())),
        }
        format!("${name}: Int = 1")
    }));
    let definitions =
        if definitions.is_empty() { String::new() } else { format!("({})", definitions.join(", ")) };
    Asked { text: format!("query{definitions} {body}\n{fragments}"), sent }
}

fn id(schema: &Schema, name: &str) -> TypeId {
    schema.type_by_name(name).expect("the type is there")
}

struct Writer<'w, 'd> {
    schema: &'w Schema,
    dice: &'w mut Dice<'d>,
    /// The types of the fragments.
    on: Vec<TypeId>,
    variables: BTreeSet<usize>,
    /// Variables in arguments.
    ints: BTreeSet<usize>,
    spread: BTreeSet<usize>,
    /// Selections that may still be written.
    budget: usize,
    variables_max: usize,
}

impl Writer<'_, '_> {
    fn selections(&mut self, ty: TypeId, depth: usize, fragments_from: usize) -> String {
        let mut out = String::from("{");
        // A set may be empty by the September 2026 edition.
        let len = if self.dice.one_in(12) { 0 } else { 1 + self.dice.below(5) };
        for _ in 0..len {
            self.budget = self.budget.saturating_sub(1);
            let selection = match self.dice.below(8) {
                6 if depth < 4 => self.inline(ty, depth, fragments_from),
                7 => self.spread(ty, fragments_from),
                _ => Some(self.field(ty, depth, fragments_from)),
            };
            let selection = selection.unwrap_or_else(|| "__typename".into());
            write!(out, "\n{}{selection}", "  ".repeat(depth + 1)).unwrap();
        }
        write!(out, "\n{}}}", "  ".repeat(depth)).unwrap();
        out
    }

    fn field(&mut self, ty: TypeId, depth: usize, fragments_from: usize) -> String {
        let fields = &self.schema.fields[self.schema.ty(ty).fields.range()];
        if fields.is_empty() || self.dice.one_in(8) {
            return format!("__typename{}", self.directives());
        }
        let field = self.dice.of(fields);
        let name = self.schema.str(field.name);
        let alias = ["", "a_", "b_"][self.dice.below(3)];
        let key = if alias.is_empty() { name.to_owned() } else { format!("{alias}{name}: {name}") };
        let arguments = if field.arguments.len == 0 { String::new() } else { self.arguments(name, alias) };
        let directives = self.directives();
        let below = match self.schema.ty(field.ty.base).kind {
            TypeKind::Scalar(_) | TypeKind::Enum => String::new(),
            _ if depth > 4 || self.budget == 0 => " { __typename }".into(),
            _ => format!(" {}", self.selections(field.ty.base, depth + 1, fragments_from)),
        };
        let field = format!("{arguments}{directives}{below}");
        // The same once more under a name that asks for nothing else: the engine does such work once.
        let again = alias == "a_" && self.dice.one_in(4);
        let again = if again { format!(" c_{name}: {name}{field}") } else { String::new() };
        format!("{key}{field}{again}")
    }

    /// Arguments of `name` under `alias`: always the same, so that fields merge.
    fn arguments(&mut self, name: &str, alias: &str) -> String {
        let number: usize = name[1..].parse().expect("fields are numbered");
        let is_list = self.is_list(name);
        if alias.is_empty() {
            return if is_list { "(n: [1, 2])".into() } else { "(n: 1)".into() };
        }
        let variable = (number + alias.len() + usize::from(alias == "b_")) % 3;
        self.ints.insert(variable);
        if is_list { format!("(n: [2, $n{variable}])") } else { format!("(n: $n{variable})") }
    }

    /// True if the argument of the fields called `name` takes a list.
    fn is_list(&self, name: &str) -> bool {
        let mut fields = self.schema.fields.iter().filter(|it| self.schema.str(it.name) == name);
        let field = fields.next().expect("the field is there");
        self.schema.inputs.range(field.arguments.range()).all(|it| it.ty.wraps.is_list())
    }

    fn inline(&mut self, ty: TypeId, depth: usize, fragments_from: usize) -> Option<String> {
        if self.dice.one_in(4) {
            let directives = self.directives();
            return Some(format!("...{directives} {}", self.selections(ty, depth + 1, fragments_from)));
        }
        let names = OBJECTS.iter().chain(&INTERFACES).chain(&UNIONS);
        let fitting: Vec<TypeId> =
            names.map(|name| id(self.schema, name)).filter(|&on| self.overlap(ty, on)).collect();
        let on = *self.dice.of(&fitting);
        let directives = self.directives();
        let below = self.selections(on, depth + 1, fragments_from);
        Some(format!("... on {}{directives} {below}", self.schema.type_name(on)))
    }

    fn spread(&mut self, ty: TypeId, from: usize) -> Option<String> {
        let fitting: Vec<usize> =
            (from..self.on.len()).filter(|&number| self.overlap(ty, self.on[number])).collect();
        if fitting.is_empty() {
            return None;
        }
        let number = *self.dice.of(&fitting);
        self.spread.insert(number);
        Some(format!("...F{number}{}", self.directives()))
    }

    fn overlap(&self, a: TypeId, b: TypeId) -> bool {
        let possible = |ty: TypeId| match self.schema.ty(ty).kind {
            TypeKind::Object => vec![ty],
            _ => self.schema.possible_types(ty).to_vec(),
        };
        let b = possible(b);
        possible(a).iter().any(|ty| b.contains(ty))
    }

    fn directives(&mut self) -> String {
        let mut out = String::new();
        for name in ["skip", "include"] {
            if self.dice.one_in(8) {
                let condition = match self.dice.below(2 + self.variables_max) {
                    0 => "true".to_owned(),
                    1 => "false".to_owned(),
                    number => {
                        self.variables.insert(number);
                        format!("$v{number}")
                    }
                };
                write!(out, " @{name}(if: {condition})").unwrap();
            }
        }
        out
    }
}
