//! Random rules, objects and mutations, in both databases: a judge of this test says by the state before and after whether the
//! caller may have made each change.
//!
//! No write touches an object outside the rules, none ends with a new object that they forbid, and an update or delete of all that a
//! filter finds takes exactly those that they allow. The judge knows nothing of the product.

use crate::auth_wall::{ASKERS, Asker, Numbers, Rule, types};
use crate::kit::{self, in_postgres};
use crate::postgres_kit::release::on_one_release;
use std::collections::BTreeMap;
use weir_engine::caller::Identity;
use weir_language::json::{Json, JsonRef};

/// Sets of rules.
const CASES: usize = 12;
/// Mutations of each caller.
const MUTATIONS: usize = 24;

/// Operations of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    Query,
    Add,
    Update,
    Delete,
}

/// Rules of pies and parts, by operation.
#[derive(Debug)]
struct Rules([[Option<Rule>; 4]; 2]);

impl Rules {
    fn random(numbers: &mut Numbers) -> Self {
        let mut one = || (numbers.below(4) > 0).then(|| Rule::random(numbers, 1));
        Self(std::array::from_fn(|_| std::array::from_fn(|_| one())))
    }

    fn sdl(&self) -> String {
        let of = |at: usize, ty: &str, edge: &str| {
            let names = ["query", "add", "update", "delete"];
            let all = names.iter().zip(&self.0[at]);
            let all = all.filter_map(|(name, it)| Some(format!("{name}: {}", it.as_ref()?.text(ty, edge))));
            let all: Vec<String> = all.collect();
            if all.is_empty() { String::new() } else { format!("@auth({})", all.join(" ")) }
        };
        types(&of(0, "Pie", "parts"), &of(1, "Part", "pie"))
    }
}

/// An object: its number, and of a part its pie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Object {
    n: Option<i64>,
    pie: Option<String>,
}

/// All objects by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct World([BTreeMap<String, Object>; 2]);

const PIE: usize = 0;
const PART: usize = 1;

impl World {
    fn read(answer: &str) -> Self {
        let json = Json::parse(answer.as_bytes(), 50).expect("JSON");
        let data = json.root().get("data").expect("data");
        let text = |it: JsonRef<'_>, key: &str| Some(it.get(key)?.as_str()?.into_owned());
        let list = |key: &str| {
            let items = data.get(key).into_iter().flat_map(JsonRef::items);
            let object = |it: JsonRef<'_>| {
                let n = it.get("n").and_then(|it| it.as_number()?.parse().ok());
                let pie = it.get("pie").and_then(|it| text(it, "name"));
                (text(it, "name").expect("a name"), Object { n, pie })
            };
            items.map(object).collect()
        };
        Self([list("queryPie"), list("queryPart")])
    }

    fn get(&self, ty: usize, name: &str) -> Option<&Object> {
        self.0[ty].get(name)
    }

    fn neighbours(&self, ty: usize, name: &str) -> Vec<Option<i64>> {
        match ty {
            PIE => {
                self.0[PART].values().filter(|it| it.pie.as_deref() == Some(name)).map(|it| it.n).collect()
            }
            _ => {
                let pie = self.get(PART, name).and_then(|it| it.pie.as_deref());
                pie.and_then(|it| self.get(PIE, it)).map(|it| it.n).into_iter().collect()
            }
        }
    }
}

const ALL: &str = "{ queryPie { name n } queryPart { name n pie { name } } }";

/// Says what a caller may do.
struct Judge<'j> {
    rules: &'j Rules,
    asker: Asker,
    before: &'j World,
    after: &'j World,
}

impl Judge<'_> {
    fn allows(&self, right: Right, ty: usize, name: &str) -> bool {
        let world = if right == Right::Add { self.after } else { self.before };
        let Some(object) = world.get(ty, name) else { return false };
        let rule = self.rules.0[ty][right as usize].as_ref();
        rule.is_none_or(|it| it.passes(&self.asker, object.n, &world.neighbours(ty, name), true))
    }

    fn is_new(&self, ty: usize, name: &str) -> bool {
        self.before.get(ty, name).is_none()
    }

    /// True if the caller may link to it: it sees the object, or makes it.
    fn may_link(&self, ty: usize, name: &str) -> bool {
        self.is_new(ty, name) || self.allows(Right::Query, ty, name)
    }

    fn may_change(&self, ty: usize, name: &str) -> bool {
        self.is_new(ty, name) || self.allows(Right::Update, ty, name)
    }

    /// The first change that the caller may not make.
    fn fault(&self) -> Option<String> {
        let before = self.before;
        let after = self.after;
        for ty in [PIE, PART] {
            for (name, old) in &before.0[ty] {
                match after.get(ty, name) {
                    None if !self.allows(Right::Delete, ty, name) => return Some(format!("deletes {name}")),
                    Some(new) if new.n != old.n && !self.allows(Right::Update, ty, name) => {
                        return Some(format!("changes {name}"));
                    }
                    None | Some(_) => {}
                }
            }
            let new = after.0[ty].keys().filter(|it| self.is_new(ty, it));
            if let Some(name) = new.into_iter().find(|it| !self.allows(Right::Add, ty, it)) {
                return Some(format!("adds {name}"));
            }
        }
        let parts = after.0[PART].iter();
        parts.filter_map(|(name, new)| self.edge_fault(name, new.pie.as_deref())).next()
    }

    fn edge_fault(&self, part: &str, to: Option<&str>) -> Option<String> {
        let from = self.before.get(PART, part).and_then(|it| it.pie.as_deref());
        if from == to {
            return None;
        }
        let from = from.filter(|it| self.after.get(PIE, it).is_some());
        let by_part = self.may_change(PART, part);
        match (from, to) {
            // The pie went, and its edges with it.
            (None, None) => None,
            (Some(from), None) => {
                let is_allowed = by_part || self.allows(Right::Update, PIE, from);
                (!is_allowed).then(|| format!("cuts {part} from {from}"))
            }
            (from, Some(to)) => {
                let is_linked = by_part && self.may_link(PIE, to)
                    || self.may_change(PIE, to) && self.may_link(PART, part);
                let may_lose = from.is_none_or(|it| self.allows(Right::Update, PIE, it));
                (!(is_linked && may_lose)).then(|| format!("moves {part} from {from:?} to {to}"))
            }
        }
    }
}

/// Both databases with the same objects.
struct Stores {
    sqlite: kit::Served,
    postgres: in_postgres::Served,
}

impl Stores {
    fn new(sdl: &str) -> Self {
        Self { sqlite: kit::serve(sdl, ""), postgres: in_postgres::serve(sdl, "") }
    }

    fn admin(&self, mutation: &str) {
        for answer in [self.sqlite.ask(mutation, ""), self.postgres.ask(mutation, "")] {
            assert!(!answer.contains("errors"), "{mutation}: {answer}");
        }
    }

    /// The answer of both.
    fn ask(&self, mutation: &str, caller: &Identity) -> String {
        let answer = self.sqlite.ask_as(mutation, caller);
        assert_eq!(answer, self.postgres.ask_as(mutation, caller), "{mutation}");
        answer
    }

    fn world(&self) -> World {
        let world = World::read(&self.sqlite.ask(ALL, ""));
        assert_eq!(world, World::read(&self.postgres.ask(ALL, "")), "the databases differ");
        world
    }
}

/// Expected effect of a mutation: the change of the objects that its filter finds and that may be changed.
enum Exactly {
    Nothing,
    Sets { ty: usize, less: Option<i64>, n: i64 },
    Deletes { ty: usize, less: Option<i64> },
}

/// Writes random mutations.
struct Writer {
    numbers: Numbers,
    made: usize,
}

impl Writer {
    fn new_name(&mut self) -> String {
        self.made += 1;
        format!("new{}", self.made)
    }

    /// The name of an object that is there, mostly.
    fn name(&mut self, world: &World, ty: usize) -> String {
        let names: Vec<&String> = world.0[ty].keys().collect();
        match names.len() {
            0 => "none".into(),
            count if self.numbers.below(12) > 0 => names[self.numbers.below(count)].clone(),
            _ => "none".into(),
        }
    }

    fn n(&mut self) -> String {
        self.numbers.below(6).to_string()
    }

    fn filter(&mut self) -> (String, Option<i64>) {
        let less = Some(self.numbers.below(7) as i64).filter(|it| *it < 6);
        (less.map_or("{}".into(), |it| format!("{{ n: {{ lt: {it} }} }}")), less)
    }

    fn new_part(&mut self) -> String {
        let name = self.new_name();
        let n = self.n();
        format!("{{ name: \"{name}\", n: {n} }}")
    }

    /// Links to parts and new parts.
    fn parts(&mut self, world: &World) -> String {
        let one = |it: &mut Self| match it.numbers.below(2) {
            0 => it.new_part(),
            _ => format!("{{ name: \"{}\" }}", it.name(world, PART)),
        };
        (0..1 + self.numbers.below(2)).map(|_| one(self)).collect::<Vec<_>>().join(" ")
    }

    /// A mutation that ends a link of a pie or of a part.
    fn unlinking(&mut self, world: &World, ty: usize) -> String {
        let pie = self.name(world, PIE);
        let part = self.name(world, PART);
        if ty == PIE {
            return format!(
                "updatePie(input: {{ filter: {{ name: {{ eq: \"{pie}\" }} }}, remove: {{ parts: [{{ name: \"{part}\" }}] }} }})"
            );
        }
        format!("updatePart(input: {{ filter: {{ name: {{ eq: \"{part}\" }} }}, remove: {{ pie: null }} }})")
    }

    fn mutation(&mut self, world: &World) -> (String, Exactly) {
        let ty = self.numbers.below(2);
        let name = ["Pie", "Part"][ty];
        let text = match self.numbers.below(9) {
            0 | 1 => {
                let (filter, less) = self.filter();
                let n = self.numbers.below(6) as i64;
                let text = format!("update{name}(input: {{ filter: {filter}, set: {{ n: {n} }} }})");
                return (wrapped(&text), Exactly::Sets { ty, less, n });
            }
            2 => {
                let (filter, less) = self.filter();
                return (wrapped(&format!("delete{name}(filter: {filter})")), Exactly::Deletes { ty, less });
            }
            3 => {
                let new = self.new_name();
                let n = self.n();
                let parts = self.parts(world);
                format!("addPie(input: [{{ name: \"{new}\", n: {n}, parts: [{parts}] }}])")
            }
            4 => {
                let new = self.new_name();
                let n = self.n();
                let pie = match self.numbers.below(2) {
                    0 => format!("{{ name: \"{}\" }}", self.name(world, PIE)),
                    _ => self.new_part(),
                };
                format!("addPart(input: [{{ name: \"{new}\", n: {n}, pie: {pie} }}])")
            }
            5 => {
                let old = self.name(world, ty);
                let new = self.new_name();
                let n = self.n();
                format!(
                    "add{name}(upsert: true, input: [{{ name: \"{old}\", n: {n} }}, {{ name: \"{new}\", n: {n} }}])"
                )
            }
            6 => {
                let pie = self.name(world, PIE);
                let parts = self.parts(world);
                format!(
                    "updatePie(input: {{ filter: {{ name: {{ eq: \"{pie}\" }} }}, set: {{ parts: [{parts}] }} }})"
                )
            }
            7 => {
                let part = self.name(world, PART);
                let pie = self.name(world, PIE);
                format!(
                    "updatePart(input: {{ filter: {{ name: {{ eq: \"{part}\" }} }}, set: {{ pie: {{ name: \"{pie}\" }} }} }})"
                )
            }
            _ => self.unlinking(world, ty),
        };
        (wrapped(&text), Exactly::Nothing)
    }
}

fn wrapped(field: &str) -> String {
    format!("mutation {{ m: {field} {{ numUids }} }}")
}

/// Checks that all that may be changed was.
fn check_exact(judge: &Judge<'_>, exactly: &Exactly) -> Result<(), String> {
    let (ty, less, right) = match *exactly {
        Exactly::Nothing => return Ok(()),
        Exactly::Sets { ty, less, .. } => (ty, less, Right::Update),
        Exactly::Deletes { ty, less } => (ty, less, Right::Delete),
    };
    for (name, old) in &judge.before.0[ty] {
        let is_found = less.is_none_or(|less| old.n.is_some_and(|it| it < less));
        let is_taken = is_found && judge.allows(right, ty, name);
        let now = judge.after.get(ty, name).map(|it| it.n);
        let expected = match *exactly {
            Exactly::Sets { n, .. } if is_taken => Some(Some(n)),
            Exactly::Deletes { .. } if is_taken => None,
            _ => Some(old.n),
        };
        if now != expected {
            return Err(format!("{name} is {now:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

#[test]
fn no_write_touches_or_leaves_what_the_rules_forbid() {
    on_one_release("writes of rules", write_at_random);
}

fn write_at_random() {
    let mut numbers = Numbers(0x0bad_c0de_5eed);
    let mut changed = 0;
    let mut denied = 0;
    for case in 0..CASES {
        let rules = Rules::random(&mut numbers);
        let sdl = rules.sdl();
        let stores = Stores::new(&sdl);
        let mut writer = Writer { numbers: Numbers(case as u64 + 7), made: 0 };
        stores.admin(
            r#"mutation { addPie(input: [
                { name: "p0", n: 0, parts: [{ name: "a", n: 1 }, { name: "b" }] }
                { name: "p1", n: 2, parts: [{ name: "c", n: 3 }] }
                { name: "p2" } { name: "p3", n: 5, parts: [{ name: "d", n: 5 }, { name: "e", n: 0 }] }
            ]) { numUids } }"#,
        );
        for asker in ASKERS {
            let caller = asker.identity(&sdl);
            for _ in 0..MUTATIONS {
                let before = stores.world();
                let (mutation, exactly) = writer.mutation(&before);
                let answer = stores.ask(&mutation, &caller);
                let after = stores.world();
                let judge = Judge { rules: &rules, asker, before: &before, after: &after };
                let what = || format!("{mutation}\n{answer}\n{asker:?}\n{sdl}\n{before:?}\n{after:?}");
                if let Some(fault) = judge.fault() {
                    panic!("it {fault}: {}", what());
                }
                if let Err(fault) = check_exact(&judge, &exactly) {
                    panic!("{fault}: {}", what());
                }
                let is_denied = answer.contains("\"m\":null");
                assert!(!is_denied || before == after, "denied and done: {}", what());
                changed += usize::from(before != after);
                denied += usize::from(is_denied);
            }
        }
    }
    println!("{changed} changes, {denied} denials");
    assert!(changed > CASES * MUTATIONS / 2 && denied > CASES, "{changed} changes, {denied} denials");
}
