//! Arguments that a resolver gets and a naive coercion of the specification must be equal, whatever the input types, defaults, literals and
//! variables.
//!
//! Source: GraphQL specification, sections 3.5 to 3.12 (input coercion), 6.1.2 and 6.4.1.

use crate::kit::{engine_of, print};
use futures_util::FutureExt;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use weir_engine::memory::{self, Memory};
use weir_language::schema::Schema;

/// A type of an input.
#[derive(Clone, Debug)]
enum Type {
    Int,
    Text,
    Colour,
    /// `I` with this number.
    Object(usize),
    List(Box<Type>),
    NonNull(Box<Type>),
}

/// An argument or a field of an input object.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    ty: Type,
    default: Option<Given>,
}

/// A value as it is written or sent.
#[derive(Clone, Debug)]
enum Given {
    Null,
    Int(i64),
    Text(String),
    Colour(&'static str),
    List(Vec<Given>),
    Object(Vec<(String, Given)>),
    Variable(usize),
}

/// A variable of the operation.
#[derive(Debug)]
struct Sent {
    ty: Type,
    default: Option<Given>,
    sent: Option<Given>,
}

/// Source of choices. Used up, it always gives zero.
struct Dice<'d>(std::slice::Iter<'d, u16>);

impl Dice<'_> {
    fn below(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |&word| usize::from(word) % sides)
    }
    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == chances - 1
    }
}

impl Type {
    fn text(&self) -> String {
        match self {
            Self::Int => "Int".into(),
            Self::Text => "String".into(),
            Self::Colour => "Colour".into(),
            Self::Object(number) => format!("I{number}"),
            Self::List(item) => format!("[{}]", item.text()),
            Self::NonNull(inner) => format!("{}!", inner.text()),
        }
    }

    /// A random type; of objects those from `from` on.
    fn random(dice: &mut Dice<'_>, from: usize) -> Self {
        let base = match dice.below(6) {
            0 | 1 => Self::Int,
            2 => Self::Text,
            3 => Self::Colour,
            _ if from < OBJECTS => Self::Object(from + dice.below(OBJECTS - from)),
            _ => Self::Int,
        };
        let strict = |ty, dice: &mut Dice<'_>| if dice.one_in(4) { Self::NonNull(Box::new(ty)) } else { ty };
        let base = strict(base, dice);
        if dice.one_in(4) { strict(Self::List(Box::new(base)), dice) } else { base }
    }

    fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    fn nullable(&self) -> &Self {
        if let Self::NonNull(inner) = self { inner } else { self }
    }
}

/// Number of input objects.
const OBJECTS: usize = 4;

/// The input objects and the arguments of the only field.
struct Inputs {
    objects: Vec<Vec<Member>>,
    arguments: Vec<Member>,
}

impl Inputs {
    fn random(dice: &mut Dice<'_>) -> Self {
        let mut inputs = Self { objects: vec![Vec::new(); OBJECTS], arguments: Vec::new() };
        // Types refer to later ones alone, so the last is made first.
        for number in (0..OBJECTS).rev() {
            inputs.objects[number] = inputs.members(dice, number + 1);
        }
        inputs.arguments = inputs.members(dice, 0);
        for (number, argument) in inputs.arguments.iter_mut().enumerate().skip(1) {
            *argument = Member { ty: Type::Object(number % OBJECTS), default: None, ..argument.clone() };
        }
        inputs
    }

    fn members(&self, dice: &mut Dice<'_>, from: usize) -> Vec<Member> {
        let count = 1 + dice.below(4);
        let member = |number| {
            let ty = Type::random(dice, from);
            let default =
                dice.one_in(2).then(|| Writer { inputs: self, dice, variables: None }.value(&ty, false));
            Member { name: format!("f{number}"), ty, default }
        };
        (0..count).map(member).collect()
    }

    fn sdl(&self) -> String {
        let list = |members: &[Member]| {
            let member = |it: &Member| {
                let default = it.default.as_ref().map(|it| format!(" = {}", graphql(it))).unwrap_or_default();
                format!("{}: {}{default}", it.name, it.ty.text())
            };
            members.iter().map(member).collect::<Vec<_>>().join(" ")
        };
        let mut sdl =
            format!("enum Colour {{ RED GREEN }} type Query {{ e({}): Int }}", list(&self.arguments));
        for (number, members) in self.objects.iter().enumerate() {
            write!(sdl, " input I{number} {{ {} }}", list(members)).unwrap();
        }
        sdl
    }

    /// The value of a `ty`; `None`: a variable that was not sent.
    fn coerce(&self, ty: &Type, given: &Given, variables: &[Sent]) -> Option<Value> {
        Some(match (ty, given) {
            (_, Given::Variable(number)) => {
                let Sent { ty, default, sent } = &variables[*number];
                return self.coerce(ty, sent.as_ref().or(default.as_ref())?, variables);
            }
            (Type::NonNull(inner), _) => return self.coerce(inner, given, variables),
            (_, Given::Null) => Value::Null,
            (Type::List(item), Given::List(items)) => {
                let item = |it| self.coerce(item, it, variables).unwrap_or(Value::Null);
                items.iter().map(item).collect()
            }
            (Type::List(item), single) => json!([self.coerce(item, single, variables)]),
            (Type::Object(number), Given::Object(fields)) => {
                self.coerce_members(&self.objects[*number], fields, variables)
            }
            (_, Given::Int(value)) => json!(value),
            (_, Given::Text(value)) => json!(value),
            (_, Given::Colour(value)) => json!(value),
            (ty, given) => panic!("{given:?} is no {ty:?}"),
        })
    }

    fn coerce_members(&self, members: &[Member], given: &[(String, Given)], variables: &[Sent]) -> Value {
        let value = |member: &Member| {
            let given = given.iter().find(|it| it.0 == member.name);
            let given = given.and_then(|it| self.coerce(&member.ty, &it.1, variables));
            given.or_else(|| self.coerce(&member.ty, member.default.as_ref()?, variables))
        };
        let members = members.iter().filter_map(|it| Some((it.name.clone(), value(it)?)));
        Value::Object(members.collect())
    }
}

/// Writes random values.
struct Writer<'w, 'd> {
    inputs: &'w Inputs,
    dice: &'w mut Dice<'d>,
    /// Those made so far; `None`: the value is a constant.
    variables: Option<Vec<Sent>>,
}

impl Writer<'_, '_> {
    /// A value of a `ty`, in a place that has a default.
    fn value(&mut self, ty: &Type, has_default: bool) -> Given {
        if self.variables.is_some() && self.dice.one_in(if matches!(ty, Type::Object(_)) { 6 } else { 2 }) {
            return self.variable(ty, has_default);
        }
        match ty {
            Type::NonNull(inner) => self.plain(inner),
            _ if self.dice.one_in(6) => Given::Null,
            _ => self.plain(ty),
        }
    }

    /// A value that is neither null nor a variable.
    fn plain(&mut self, ty: &Type) -> Given {
        match ty {
            Type::Int => Given::Int(self.dice.below(100) as i64),
            Type::Text => Given::Text(["", "a", "with \"quotes\""][self.dice.below(3)].into()),
            Type::Colour => Given::Colour(["RED", "GREEN"][self.dice.below(2)]),
            Type::NonNull(inner) => self.plain(inner),
            // One value stands for a list of one.
            Type::List(item) if self.dice.one_in(5) => self.plain(item),
            Type::List(item) => {
                let count = self.dice.below(3);
                Given::List((0..count).map(|_| self.value(item, false)).collect())
            }
            Type::Object(number) => {
                let inputs = self.inputs;
                Given::Object(self.members(&inputs.objects[*number]))
            }
        }
    }

    fn members(&mut self, members: &[Member]) -> Vec<(String, Given)> {
        let mut given = Vec::new();
        for member in members {
            let may_miss = member.default.is_some() || !member.ty.is_non_null();
            if !(may_miss && self.dice.one_in(3)) {
                given.push((member.name.clone(), self.value(&member.ty, member.default.is_some())));
            }
        }
        if self.dice.one_in(2) {
            given.reverse();
        }
        given
    }

    fn variable(&mut self, place: &Type, has_default: bool) -> Given {
        let variables = self.variables.take();
        // Null is sent to no place that takes none.
        let may_be_null = !place.is_non_null();
        let ty = match place {
            Type::NonNull(inner) if has_default && self.dice.one_in(2) => (**inner).clone(),
            Type::NonNull(_) => place.clone(),
            _ if self.dice.one_in(4) => Type::NonNull(Box::new(place.clone())),
            _ => place.clone(),
        };
        let constant = |writer: &mut Self| {
            if may_be_null { writer.value(&ty, false) } else { writer.plain(ty.nullable()) }
        };
        let default = self.dice.one_in(4).then(|| constant(self));
        let may_miss = default.is_some() || !ty.is_non_null();
        let sent = (!(may_miss && self.dice.one_in(2))).then(|| constant(self));
        let mut variables = variables.expect("a constant has no variables");
        variables.push(Sent { ty, default, sent });
        let number = variables.len() - 1;
        self.variables = Some(variables);
        Given::Variable(number)
    }
}

fn graphql(given: &Given) -> String {
    match given {
        Given::Null => "null".into(),
        Given::Int(value) => value.to_string(),
        Given::Text(value) => json!(value).to_string(),
        Given::Colour(value) => (*value).into(),
        Given::List(items) => format!("[{}]", items.iter().map(graphql).collect::<Vec<_>>().join(", ")),
        Given::Object(members) => {
            let member = |(name, value): &(String, Given)| format!("{name}: {}", graphql(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Given::Variable(number) => format!("$v{number}"),
    }
}

fn sent_json(given: &Given) -> Value {
    match given {
        Given::Null => Value::Null,
        Given::Int(value) => json!(value),
        Given::Text(value) => json!(value),
        Given::Colour(value) => json!(value),
        Given::List(items) => items.iter().map(sent_json).collect(),
        Given::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), sent_json(value))).collect())
        }
        Given::Variable(_) => panic!("no variable is sent"),
    }
}

/// The arguments that a resolver gets, and what an operation was that sent them.
struct Played {
    found: Value,
    expected: Value,
    told: String,
    /// Fields of input objects that have their default because a variable was not sent.
    fallbacks: usize,
}

fn play(words: &[u16]) -> Played {
    let mut dice = Dice(words.iter());
    let inputs = Inputs::random(&mut dice);
    let mut writer = Writer { inputs: &inputs, dice: &mut dice, variables: Some(Vec::new()) };
    let given = writer.members(&inputs.arguments);
    let variables = writer.variables.take().expect("they are kept");
    let definition = |(number, it): (usize, &Sent)| {
        let default = it.default.as_ref().map(|it| format!(" = {}", graphql(it))).unwrap_or_default();
        format!("$v{number}: {}{default}", it.ty.text())
    };
    let definitions: Vec<String> = variables.iter().enumerate().map(definition).collect();
    let definitions =
        if definitions.is_empty() { String::new() } else { format!("({})", definitions.join(", ")) };
    let arguments: Vec<String> = given.iter().map(|(name, it)| format!("{name}: {}", graphql(it))).collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let sent = variables.iter().enumerate();
    let sent = sent.filter_map(|(number, it)| Some((format!("v{number}"), sent_json(it.sent.as_ref()?))));
    let sent = Value::Object(sent.collect::<Map<_, _>>());
    let sdl = inputs.sdl();
    let query = format!("query{definitions} {{ e{arguments} }}");
    let found = resolve_arguments(&sdl, &query, &sent);
    let expected = inputs.coerce_members(&inputs.arguments, &given, &variables);
    let fallbacks = given.iter().map(|it| count_fallbacks(&it.1, &variables)).sum();
    Played { found, expected, told: format!("{sdl}\n{query}\n{sent}"), fallbacks }
}

/// Variables in fields of objects that were not sent.
fn count_fallbacks(given: &Given, variables: &[Sent]) -> usize {
    let is_unsent = |it: &Given| matches!(it, Given::Variable(number) if variables[*number].sent.is_none() && variables[*number].default.is_none());
    match given {
        Given::List(items) => items.iter().map(|it| count_fallbacks(it, variables)).sum(),
        Given::Object(members) => {
            members.iter().map(|it| count_fallbacks(&it.1, variables) + usize::from(is_unsent(&it.1))).sum()
        }
        Given::Null | Given::Int(_) | Given::Text(_) | Given::Colour(_) | Given::Variable(_) => 0,
    }
}

/// The arguments that the resolver of `e` gets.
fn resolve_arguments(sdl: &str, query: &str, sent: &Value) -> Value {
    let schema = Arc::new(Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}\n{sdl}")));
    let field = schema.field_by_name(schema.query, "e").expect("it is there");
    let names: Vec<String> = schema.arguments(field).map(|it| schema.input_name(it).to_owned()).collect();
    let found = Arc::new(Mutex::new(Value::Null));
    let kept = Arc::clone(&found);
    let source = Memory::new("memory", schema).field("e", move |call| {
        let given = |it: &String| Some((it.clone(), json_of(&call.argument(it)?)));
        *kept.lock().unwrap() = Value::Object(names.iter().filter_map(given).collect());
        1
    });
    let engine = engine_of(vec![Arc::new(source)], &[]);
    let answer = crate::kit::answer(&engine, query, &sent.to_string()).now_or_never();
    assert_eq!(answer.as_deref(), Some(r#"{"data":{"e":1}}"#), "{sdl}\n{query}\n{sent}");
    found.lock().unwrap().take()
}

fn json_of(value: &memory::Value) -> Value {
    match value {
        memory::Value::Null => Value::Null,
        memory::Value::Bool(value) => json!(value),
        memory::Value::Int(value) => json!(value),
        memory::Value::Float(value) => json!(value),
        memory::Value::Text(value) => json!(&**value),
        memory::Value::Json(value) => serde_json::from_str(value).expect("JSON"),
        memory::Value::List(items) => items.iter().map(json_of).collect(),
        memory::Value::Object(object) => {
            Value::Object(object.fields.iter().map(|(name, it)| (name.to_string(), json_of(it))).collect())
        }
        memory::Value::Records(records) => panic!("an argument is never {records:?}"),
        memory::Value::Error(error) => panic!("{error:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arguments_are_those_of_a_naive_coercion(words in prop::collection::vec(any::<u16>(), 0..400)) {
        let Played { found, expected, told, .. } = play(&words);
        prop_assert_eq!(found, expected, "{}", told);
    }
}

#[test]
fn random_operations_leave_variables_out_of_objects() {
    let mut random = proptest::test_runner::TestRunner::deterministic();
    let words = prop::collection::vec(any::<u16>(), 400);
    let fallbacks = (0..300).map(|_| {
        let words = words.new_tree(&mut random).expect("words").current();
        play(&words).fallbacks
    });
    let fallbacks: usize = fallbacks.sum();
    assert!(fallbacks > 30, "{fallbacks} variables were left out");
}

const SDL: &str = r#"
    input In { i: Int s: String = "d" n: In2 = {k: 7} } input In2 { k: Int = 9 m: Int! = 3 }
    type Query { e(a: In l: [In2!]): Int }
"#;

fn check(query: &str, sent: Value, expected: Value) {
    assert_eq!(resolve_arguments(SDL, query, &sent), expected, "{query} with {sent}");
}

#[test]
fn a_field_whose_variable_was_not_sent_has_its_default() {
    let both = json!({"a": {"s": "d", "n": {"k": 7, "m": 3}}});
    check("query ($s: String) { e(a: {s: $s}) }", json!({}), both.clone());
    check("query ($n: In2) { e(a: {n: $n}) }", json!({}), both);
    check(
        "query ($k: Int) { e(a: {n: {k: $k}}) }",
        json!({}),
        json!({"a": {"s": "d", "n": {"k": 9, "m": 3}}}),
    );
    let list = "query ($k: Int $m: Int) { e(l: [{k: $k}, {m: $m}, {k: $m}]) }";
    let of = |k: i32, m: i32| json!({"k": k, "m": m});
    check(list, json!({}), json!({"l": [of(9, 3), of(9, 3), of(9, 3)]}));
    check(list, json!({"m": 5}), json!({"l": [of(9, 3), of(9, 5), of(5, 3)]}));
}

#[test]
fn null_that_was_sent_stays_null_or_is_refused() {
    let nulls = json!({"s": null, "n": null});
    let expected = json!({"a": {"s": null, "n": null}});
    check("query ($s: String $n: In2) { e(a: {s: $s, n: $n}) }", nulls, expected);
    let schema = Arc::new(Schema::from_sdl(SDL).expect("a sound schema"));
    let engine = engine_of(vec![Arc::new(Memory::new("memory", schema).field("e", |_| 1))], &[]);
    let query = "query ($m: Int) { e(l: [{m: $m}]) }";
    let answer = crate::kit::answer(&engine, query, r#"{"m": null}"#).now_or_never().expect("an answer");
    assert!(answer.contains(r#"Argument \"m\" of non-null type \"Int!\" must not be null."#), "{answer}");
}

#[test]
fn a_plan_shows_the_default_beside_the_variable() {
    let schema = Arc::new(Schema::from_sdl(SDL).expect("a sound schema"));
    let engine = engine_of(vec![Arc::new(Memory::new("memory", schema).field("e", |_| 1))], &[]);
    let plan = print(&engine, "query ($s: String, $i: Int) { e(a: {s: $s, i: $i}) }", "{}");
    assert!(plan.contains(r#"i: $i s: $s else "d""#), "{plan}");
}
