//! Random operations, and their costs as the specification reads: a recursion over selections and JSON, without a plan.

use serde_json::{Map, Value, json};

/// Types with all that decides costs.
pub(super) const SDL: &str = r#"
    directive @cost(weight: String!) on ARGUMENT_DEFINITION | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR
    directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
    interface Named {
      name: String
      friends(first: Int = 3, last: Int): [Named] @listSize(assumedSize: 7, slicingArguments: ["first", "last"], requireOneSlicingArgument: false)
    }
    type Cat implements Named @cost(weight: "2") { name: String friends(first: Int = 3, last: Int): [Named] lives: Int @cost(weight: "0.5") house: House }
    type Dog implements Named { name: String friends(first: Int = 3, last: Int): [Named] house: House @cost(weight: "3") tags: [Tag] }
    type House {
      id: Int
      pets(page: PageInput, ids: [Int]): [Pet] @listSize(slicingArguments: ["page.first", "ids"], requireOneSlicingArgument: false)
      grid: [[Cat]]
      connection(first: Int @cost(weight: "4")): Conn @listSize(slicingArguments: ["first"], sizedFields: ["edges"], requireOneSlicingArgument: false)
    }
    scalar Tag @cost(weight: "0.25")
    type Conn @cost(weight: "0.125") { edges: [Edge] total: Int }
    type Edge { node: Pet }
    union Pet = Cat | Dog
    input PageInput { first: Int @cost(weight: "1.5") after: String filter: PageInput }
    type Query {
      house(where: [PageInput]): House
      named: [Named]
      pets(first: Int): [Pet] @listSize(assumedSize: 10, slicingArguments: ["first"], requireOneSlicingArgument: false)
    }
"#;

/// Variables of all operations; `absent` is not sent.
pub(super) const VARIABLES: &str = r#"{"four": 4, "minus": -3, "null": null, "page": {"first": 2, "filter": {"after": "x"}}, "ids": [1, 2]}"#;

/// Fields after which nothing is nested any more: fewer than the limit of aliases.
const FIELDS_MAX: u32 = 120;
/// Size of a list that nothing limits.
const LIST_SIZE: u64 = 100;
const COST_MAX: u64 = 9_007_199_254_740_991_000;

/// A field of the schema, as far as costs depend on it.
struct FieldFact {
    returns: &'static str,
    lists: u32,
    weight: Option<u64>,
    assumed: Option<u64>,
    slicing: &'static [&'static str],
    sized: Option<&'static str>,
}

fn fact(on: &str, field: &str) -> FieldFact {
    let plain =
        |returns, lists| FieldFact { returns, lists, weight: None, assumed: None, slicing: &[], sized: None };
    match (on, field) {
        (_, "friends") => FieldFact { assumed: Some(7), slicing: &["first", "last"], ..plain("Named", 1) },
        ("Cat", "lives") => FieldFact { weight: Some(500), ..plain("Int", 0) },
        ("Dog", "house") => FieldFact { weight: Some(3000), ..plain("House", 0) },
        (_, "house") => plain("House", 0),
        ("Dog", "tags") => plain("Tag", 1),
        ("House", "pets") => FieldFact { slicing: &["page.first", "ids"], ..plain("Pet", 1) },
        ("House", "grid") => plain("Cat", 2),
        ("House", "connection") => {
            FieldFact { slicing: &["first"], sized: Some("edges"), ..plain("Conn", 0) }
        }
        ("Conn", "edges") => plain("Edge", 1),
        ("Edge", "node") => plain("Pet", 0),
        ("Query", "named") => plain("Named", 1),
        ("Query", "pets") => FieldFact { assumed: Some(10), slicing: &["first"], ..plain("Pet", 1) },
        (_, "name" | "id" | "total" | "__typename") => plain("String", 0),
        other => panic!("{other:?}"),
    }
}

fn type_weight(ty: &str) -> u64 {
    match ty {
        "Cat" => 2000,
        "Tag" => 250,
        "Conn" => 125,
        "Int" | "String" => 0,
        _ => 1000,
    }
}

fn possible(ty: &'static str) -> &'static [&'static str] {
    match ty {
        "Named" | "Pet" => &["Cat", "Dog"],
        "Cat" => &["Cat"],
        "Dog" => &["Dog"],
        "House" => &["House"],
        "Conn" => &["Conn"],
        "Edge" => &["Edge"],
        _ => &[],
    }
}

/// Random numbers.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// An argument: its name, its text, and its value with variables put in; `None`: absent.
type Argument = (&'static str, &'static str, Option<Value>);

struct Field {
    name: &'static str,
    alias: String,
    arguments: Vec<Argument>,
    below: Selection,
}

/// A part of a selection, which may stand in a fragment on a type, left out, or written twice.
enum Part {
    Field(Field),
    Fragment { on: Option<&'static str>, is_left_out: bool, is_twice: bool, below: Selection },
}

/// Selections at the root, or below a field.
#[derive(Default)]
pub(super) struct Selection(Vec<Part>);

/// A number for the argument `name`; without the argument, its default counts.
fn number_argument(dice: &mut Dice, name: &'static str, default: Option<Value>) -> Argument {
    match dice.below(8) {
        0 => (name, "5", Some(json!(5))),
        1 => (name, "0", Some(json!(0))),
        2 => (name, "-1", Some(json!(-1))),
        3 => (name, "null", Some(Value::Null)),
        4 => (name, "$four", Some(json!(4))),
        5 => (name, "$minus", Some(json!(-3))),
        6 => (name, "$absent", default),
        _ => (name, "", default),
    }
}

/// A page for the argument `name`.
fn page_argument(dice: &mut Dice, name: &'static str) -> Argument {
    match dice.below(5) {
        0 => (name, "{first: 6, after: \"y\"}", Some(json!({"first": 6, "after": "y"}))),
        1 => (
            name,
            "{first: $four, filter: {first: 1, after: $nothing}}",
            Some(json!({"first": 4, "filter": {"first": 1}})),
        ),
        2 => {
            (name, "{filter: {filter: {first: null}}}", Some(json!({"filter": {"filter": {"first": null}}})))
        }
        3 => (name, "$page", Some(json!({"first": 2, "filter": {"after": "x"}}))),
        _ => (name, "", None),
    }
}

impl Selection {
    pub(super) fn random(dice: &mut Dice, depth: u32) -> Self {
        let mut number = 0;
        Self::of_type(dice, "Query", depth, &mut number)
    }

    fn of_type(dice: &mut Dice, on: &'static str, depth: u32, number: &mut u32) -> Self {
        let mut parts = vec![Part::Field(Self::field(dice, on, 0, number))];
        for _ in 0..dice.below(4) {
            let is_abstract = matches!(on, "Named" | "Pet");
            let depth = if *number > FIELDS_MAX { 0 } else { depth };
            if dice.below(3) == 0 && depth > 0 {
                let ty = if is_abstract { Some(dice.pick(&["Cat", "Dog"])) } else { None };
                let below = Self::of_type(dice, ty.unwrap_or(on), depth - 1, number);
                let is_left_out = dice.below(5) == 0;
                let is_twice = dice.below(3) == 0;
                parts.push(Part::Fragment { on: ty, is_left_out, is_twice, below });
            } else {
                parts.push(Part::Field(Self::field(dice, on, depth, number)));
            }
        }
        Self(parts)
    }

    fn field(dice: &mut Dice, on: &'static str, depth: u32, number: &mut u32) -> Field {
        let names: &[&'static str] = match on {
            _ if depth == 0 => &["__typename"],
            "Query" => &["named", "pets", "house"],
            "Named" => &["name", "friends", "friends"],
            "Pet" => &["__typename"],
            "Cat" => &["name", "friends", "lives", "house"],
            "Dog" => &["name", "friends", "tags", "house"],
            "House" => &["id", "pets", "grid", "connection"],
            "Conn" => &["edges", "edges", "total"],
            _ => &["node"],
        };
        let name = dice.pick(names);
        *number += 1;
        let alias = format!("f{number}");
        let arguments = Self::arguments(dice, on, name);
        let returns = fact(on, name).returns;
        let is_leaf = possible(returns).is_empty();
        let below = if is_leaf { Self::default() } else { Self::of_type(dice, returns, depth - 1, number) };
        Field { name, alias, arguments, below }
    }

    fn arguments(dice: &mut Dice, on: &str, field: &str) -> Vec<Argument> {
        match (on, field) {
            (_, "friends") => {
                vec![number_argument(dice, "first", Some(json!(3))), number_argument(dice, "last", None)]
            }
            ("Query", "pets") | ("House", "connection") => vec![number_argument(dice, "first", None)],
            ("House", "pets") => {
                let ids: [Argument; 4] = [
                    ("ids", "[1, 2, 3]", Some(json!([1, 2, 3]))),
                    ("ids", "$ids", Some(json!([1, 2]))),
                    ("ids", "[$four]", Some(json!([4]))),
                    ("ids", "", None),
                ];
                let [a, b, c, d] = ids;
                let ids = match dice.below(4) {
                    0 => a,
                    1 => b,
                    2 => c,
                    _ => d,
                };
                vec![page_argument(dice, "page"), ids]
            }
            ("Query", "house") => {
                let (name, text, value) = page_argument(dice, "where");
                // One value is a list of one; a variable of the item's type is not.
                if text == "$page" {
                    let list = json!([{"first": 2, "filter": {"after": "x"}}, {}]);
                    vec![(name, "[$page, {}]", Some(list))]
                } else {
                    vec![(name, text, value)]
                }
            }
            _ => Vec::new(),
        }
    }

    /// The operation's text.
    pub(super) fn operation(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        let types = [
            ("$four", "Int"),
            ("$minus", "Int"),
            ("$absent", "Int"),
            ("$nothing", "String"),
            ("$page", "PageInput"),
            ("$ids", "[Int]"),
        ];
        let used = types.iter().filter(|it| text.contains(it.0)).map(|it| format!("{}: {} ", it.0, it.1));
        let used: String = used.collect();
        if used.is_empty() { format!("query {text}") } else { format!("query ({used}) {text}") }
    }

    fn write(&self, text: &mut String) {
        text.push_str("{ ");
        for part in &self.0 {
            match part {
                Part::Field(field) => {
                    text.push_str(&format!("{}: {}", field.alias, field.name));
                    let given = field.arguments.iter().filter(|it| !it.1.is_empty());
                    let given: Vec<String> = given.map(|it| format!("{}: {}", it.0, it.1)).collect();
                    if !given.is_empty() {
                        text.push_str(&format!("({})", given.join(", ")));
                    }
                    if !field.below.0.is_empty() {
                        field.below.write(text);
                    }
                    text.push(' ');
                }
                Part::Fragment { on, is_left_out, is_twice, below } => {
                    for _ in 0..=u32::from(*is_twice) {
                        text.push_str("... ");
                        on.iter().for_each(|it| text.push_str(&format!("on {it} ")));
                        text.push_str(if *is_left_out { "@skip(if: true) " } else { "" });
                        below.write(text);
                    }
                }
            }
        }
        text.push_str("} ");
    }

    /// The fields of an object of type `on`. Aliases differ, so only fragments that are written twice repeat fields.
    fn fields<'s>(&'s self, on: &str, found: &mut Vec<&'s Field>) {
        for part in &self.0 {
            match part {
                Part::Field(field) => found.push(field),
                Part::Fragment { is_left_out: true, .. } => {}
                Part::Fragment { on: Some(ty), .. } if *ty != on => {}
                Part::Fragment { below, .. } => below.fields(on, found),
            }
        }
    }

    /// Cost of the operation before it runs.
    pub(super) fn estimate(&self) -> u64 {
        self.cost_of("Query", None).min(COST_MAX).div_ceil(1000)
    }

    fn cost_of(&self, on: &'static str, sized: Option<(&str, u64)>) -> u64 {
        let mut fields = Vec::new();
        self.fields(on, &mut fields);
        let costs = fields.into_iter().map(|field| field.cost(on, sized));
        costs.fold(0, u64::saturating_add).min(COST_MAX)
    }

    /// Cost of the operation by its answer.
    pub(super) fn actual(&self, data: &Value) -> u64 {
        self.actual_of("Query", data).div_ceil(1000)
    }

    fn actual_of(&self, on: &'static str, object: &Value) -> u64 {
        let mut fields = Vec::new();
        self.fields(on, &mut fields);
        fields.into_iter().map(|field| field.actual(on, &object[&field.alias])).sum()
    }

    /// The keys of an object of type `on`.
    fn keys(&self, on: &str) -> Vec<&str> {
        let mut fields = Vec::new();
        self.fields(on, &mut fields);
        fields.into_iter().map(|it| it.alias.as_str()).collect()
    }
}

impl Field {
    fn value(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = names.next();
        let argument = self.arguments.iter().find(|it| Some(it.0) == first)?;
        names.try_fold(argument.2.as_ref()?, |value, name| value.get(name))
    }

    /// Size that the arguments say.
    fn size(&self, fact: &FieldFact) -> u64 {
        let number = |path: &&str| match self.value(path)? {
            Value::Array(items) => Some(items.len() as u64),
            value => value.as_u64(),
        };
        fact.slicing.iter().filter_map(number).max().or(fact.assumed).unwrap_or(LIST_SIZE)
    }

    fn arguments_cost(&self, on: &str) -> u64 {
        let costs = self.arguments.iter().filter_map(|(name, _, value)| {
            let weight = if (on, self.name, *name) == ("House", "connection", "first") { 4000 } else { 0 };
            Some(input_cost(value.as_ref()?, if matches!(*name, "page" | "where") { 1000 } else { weight }))
        });
        costs.sum()
    }

    fn cost(&self, on: &str, sized: Option<(&str, u64)>) -> u64 {
        let fact = fact(on, self.name);
        let size = self.size(&fact);
        let below = fact.sized.map(|name| (name, size));
        let own = |ty: &str| fact.weight.unwrap_or_else(|| type_weight(ty));
        let objects = possible(fact.returns).iter();
        let object = objects.map(|ty| own(ty).saturating_add(self.below.cost_of(ty, below))).max();
        let mut cost = object.unwrap_or_else(|| own(fact.returns));
        for depth in 0..fact.lists {
            let inherited = sized.filter(|it| it.0 == self.name).map(|it| it.1);
            let times = if depth == 0 { inherited.unwrap_or(size) } else { LIST_SIZE };
            cost = cost.saturating_mul(times);
        }
        cost.saturating_add(self.arguments_cost(on)).min(COST_MAX)
    }

    fn actual(&self, on: &str, value: &Value) -> u64 {
        let fact = fact(on, self.name);
        self.arguments_cost(on) + self.actual_value(&fact, value)
    }

    fn actual_value(&self, fact: &FieldFact, value: &Value) -> u64 {
        let own = |ty: &str| fact.weight.unwrap_or_else(|| type_weight(ty));
        match value {
            Value::Null => 0,
            Value::Array(items) => items.iter().map(|it| self.actual_value(fact, it)).sum(),
            Value::Object(members) => {
                let keys: Vec<&str> = members.keys().map(String::as_str).collect();
                let is_fit = |ty: &&&'static str| self.below.keys(ty) == keys;
                let fitting: Vec<&'static str> =
                    possible(fact.returns).iter().filter(is_fit).copied().collect();
                let weight = fitting.iter().map(|it| own(it)).max().expect("a type fits");
                weight + self.below.actual_of(fitting[0], value)
            }
            _ => own(fact.returns),
        }
    }
}

/// Cost of a value whose place has this weight.
fn input_cost(value: &Value, weight: u64) -> u64 {
    match value {
        Value::Null => 0,
        Value::Array(items) => items.iter().map(|it| input_cost(it, weight)).sum(),
        Value::Object(members) => {
            let weights = |name: &str| match name {
                "first" => 1500,
                "filter" => 1000,
                _ => 0,
            };
            let below = members.iter().map(|(name, value)| input_cost(value, weights(name)));
            weight + below.sum::<u64>()
        }
        _ => weight,
    }
}

/// The data of a root field: animals and houses, three levels deep.
pub(super) fn zoo(field: &str) -> Value {
    match field {
        "house" => house(3),
        _ => json!([animal("Cat", 3), null, animal("Dog", 3)]),
    }
}

fn house(depth: u32) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let pets = json!([animal("Dog", depth - 1), animal("Cat", depth - 1)]);
    let edges: Vec<Value> = vec![json!({"node": animal("Cat", depth - 1)}), json!({"node": null})];
    let cat = animal("Cat", depth - 1);
    let grid = json!([[cat.clone(), cat], []]);
    json!({"id": 1, "pets": pets, "grid": grid, "connection": {"edges": edges, "total": 2}})
}

fn animal(ty: &str, depth: u32) -> Value {
    let mut members = Map::new();
    members.insert("__typename".into(), ty.into());
    members.insert("name".into(), "a \"b\" {[".into());
    members.insert("lives".into(), json!(7));
    members.insert("tags".into(), json!(["x", null, "y]"]));
    members.insert("house".into(), if depth == 0 { Value::Null } else { house(depth - 1) });
    let friends =
        if depth == 0 { json!([]) } else { json!([animal("Dog", depth - 1), animal("Cat", depth - 1)]) };
    members.insert("friends".into(), friends);
    Value::Object(members)
}
