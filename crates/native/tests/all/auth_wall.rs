//! Random rules and objects: what a caller reads is what the admin reads in a store that holds the visible objects alone, in both
//! databases. Writes are in `auth_wall_writes`.

use crate::kit::{self, Served, in_postgres};
use crate::postgres_kit::release::on_one_release;
use std::fmt::Write;
use std::sync::Arc;
use weir_engine::caller::{Claims, Identity, Token};
use weir_native::auth::claims;
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::Types;

/// A store that answers a document for a caller.
type Answering = Box<dyn Fn(&str, &Identity) -> String>;

/// Numbers that look random, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A rule of parts or pies.
#[derive(Debug)]
pub(crate) enum Rule {
    /// `$ROLE` is A.
    Role,
    /// `n` is less than `$N`.
    Less,
    /// `n` is there.
    HasNumber,
    /// A neighbour has an `n` less than `$N`.
    Neighbour,
    /// `n` equals `$MISSING`.
    Missing,
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
}

impl Rule {
    pub(crate) fn random(numbers: &mut Numbers, depth: usize) -> Self {
        match numbers.below(if depth == 0 { 5 } else { 9 }) {
            0 => Self::Role,
            1 => Self::Less,
            2 => Self::HasNumber,
            3 => Self::Neighbour,
            4 => Self::Missing,
            5 | 6 => Self::Any((0..2).map(|_| Self::random(numbers, depth - 1)).collect()),
            7 => Self::All((0..2).map(|_| Self::random(numbers, depth - 1)).collect()),
            _ => Self::Not(Box::new(Self::random(numbers, depth - 1))),
        }
    }

    /// As SDL, of a type and its edge.
    pub(crate) fn text(&self, ty: &str, edge: &str) -> String {
        let list = |rules: &[Self]| rules.iter().map(|it| it.text(ty, edge)).collect::<Vec<_>>().join(" ");
        let leaf = |text: &str| format!("{{ rule: \"\"\"{text}\"\"\" }}");
        match self {
            Self::Role => leaf(r#"{ $ROLE: { eq: "A" } }"#),
            Self::Less => {
                leaf(&format!("query($N: Int!) {{ query{ty}(filter: {{ n: {{ lt: $N }} }}) {{ name }} }}"))
            }
            Self::HasNumber => leaf(&format!("query {{ query{ty} {{ n }} }}")),
            Self::Neighbour => leaf(&format!(
                "query($N: Int) {{ query{ty} {{ {edge}(filter: {{ n: {{ lt: $N }} }}) {{ name }} }} }}"
            )),
            Self::Missing => leaf(&format!(
                "query($MISSING: Int) {{ query{ty}(filter: {{ n: {{ eq: $MISSING }} }}) {{ name }} }}"
            )),
            Self::All(rules) => format!("{{ and: [{}] }}", list(rules)),
            Self::Any(rules) => format!("{{ or: [{}] }}", list(rules)),
            Self::Not(rule) => format!("{{ not: {} }}", rule.text(ty, edge)),
        }
    }

    /// True if an object passes; `grants` is false below an odd number of `not`.
    pub(crate) fn passes(
        &self,
        caller: &Asker,
        n: Option<i64>,
        neighbours: &[Option<i64>],
        grants: bool,
    ) -> bool {
        let less = |n: &Option<i64>| n.zip(caller.n).is_some_and(|(n, than)| n < than);
        match self {
            Self::Role => caller.is_a,
            Self::Less | Self::Neighbour if caller.n.is_none() => !grants,
            Self::Missing => !grants,
            Self::Less => less(&n),
            Self::HasNumber => n.is_some(),
            Self::Neighbour => neighbours.iter().any(less),
            Self::All(rules) => rules.iter().all(|it| it.passes(caller, n, neighbours, grants)),
            Self::Any(rules) => rules.iter().any(|it| it.passes(caller, n, neighbours, grants)),
            Self::Not(rule) => !rule.passes(caller, n, neighbours, !grants),
        }
    }
}

/// Claims of a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub(crate) is_a: bool,
    pub(crate) n: Option<i64>,
}

impl Asker {
    /// The caller of stores of the types `sdl`.
    pub(crate) fn identity(self, sdl: &str) -> Identity {
        let read = Types::read(sdl, Database::Sqlite).expect("the types are sound");
        let api = weir_native::api::generate(read.model).expect("the API is sound");
        let native = Native::new(api, read.layout, Database::Sqlite);
        let role = self.is_a.then(|| ("ROLE".to_owned(), "\"A\"".to_owned()));
        let token = Token::of(role.into_iter().chain(self.n.map(|it| ("N".to_owned(), it.to_string()))));
        let variables = claims::variables(native.token_variables(), &token);
        let claims = Arc::new(Claims::new(variables, token));
        Identity { role: "user".into(), is_backend: false, is_anonymous: false, claims }
    }
}

/// Callers with all, some and no claims.
pub(crate) const ASKERS: [Asker; 4] = [
    Asker { is_a: false, n: None },
    Asker { is_a: true, n: None },
    Asker { is_a: false, n: Some(2) },
    Asker { is_a: true, n: Some(4) },
];

/// Pies and parts; a part belongs to one pie or none.
#[derive(Debug)]
struct Objects {
    pies: Vec<Option<i64>>,
    parts: Vec<(Option<i64>, Option<usize>)>,
}

impl Objects {
    fn random(numbers: &mut Numbers) -> Self {
        let number = |numbers: &mut Numbers| Some(numbers.below(6) as i64).filter(|it| *it < 5);
        let pies: Vec<_> = (0..5).map(|_| number(numbers)).collect();
        let parts = (0..8).map(|_| (number(numbers), Some(numbers.below(7)).filter(|it| *it < 5)));
        let parts = parts.collect();
        Self { pies, parts }
    }

    /// A mutation that adds those that are seen, with the edges between them.
    fn added(&self, pies: &[bool], parts: &[bool]) -> Vec<String> {
        let n = |n: Option<i64>| n.map_or(String::new(), |it| format!(", n: {it}"));
        let mut first = String::new();
        let mut second = String::new();
        for (at, _) in pies.iter().enumerate().filter(|it| *it.1) {
            write!(first, "{{ name: \"pie{at}\"{} }} ", n(self.pies[at])).expect("a string takes all");
        }
        for (at, _) in parts.iter().enumerate().filter(|it| *it.1) {
            let (number, pie) = self.parts[at];
            let pie = pie
                .filter(|it| pies[*it])
                .map_or(String::new(), |it| format!(", pie: {{ name: \"pie{it}\" }}"));
            write!(second, "{{ name: \"part{at}\"{}{pie} }} ", n(number)).expect("a string takes all");
        }
        let add = |ty: &str, list: String| format!("mutation {{ add{ty}(input: [{list}]) {{ numUids }} }}");
        let all = [("Pie", first), ("Part", second)].into_iter().filter(|it| !it.1.is_empty());
        all.map(|(ty, list)| add(ty, list)).collect()
    }
}

const REQUESTS: [&str; 14] = [
    "{ queryPie { name n } }",
    "{ queryPie(first: 2, offset: 1) { name parts(first: 1) { name n } } }",
    "{ queryPart { name pie { name parts { name } } } }",
    "{ queryPart @cascade { name pie { n } } }",
    "{ queryPie @cascade { name parts { n } } }",
    "{ queryPie(filter: { parts: { n: { le: 2 } } }) { name } }",
    "{ queryPie(filter: { not: { parts: { n: { le: 2 } } } }) { name } }",
    "{ queryPart(filter: { has: [pie] }) { name } }",
    "{ queryPart(filter: { not: { has: [pie] } }) { name } }",
    "{ queryPie(filter: { has: [parts] }) { name } }",
    "{ queryPart(order: { pie: { desc: name } }) { name } }",
    "{ queryPart(filter: { pie: { parts: { n: { ge: 1 } } } }) { name } }",
    "{ getPie(name: \"pie1\") { name parts { name } } getPart(name: \"part2\") { name pie { name } } }",
    "{ queryPie { name partsAggregate(filter: { n: { lt: 9 } }) { nMax nSum } } }",
];

fn filled(sdl: &str, mutations: &[String]) -> Served {
    let served = kit::serve(sdl, "");
    for mutation in mutations {
        let answer = served.ask(mutation, "");
        assert!(!answer.contains("errors"), "{answer}");
    }
    served
}

pub(crate) fn types(pie: &str, part: &str) -> String {
    format!(
        "type Pie {pie} {{ name: String! @id  n: Int @search  parts: [Part] @hasInverse(field: pie) }}\n\
         type Part {part} {{ name: String! @id  n: Int @search  pie: Pie }}"
    )
}

/// The objects that pass the rules of their types for a caller.
fn seen(pie: &Rule, part: &Rule, asker: &Asker, objects: &Objects) -> (Vec<bool>, Vec<bool>) {
    let pies = (0..5).map(|at| {
        let parts = objects.parts.iter().filter(|it| it.1 == Some(at)).map(|it| it.0);
        pie.passes(asker, objects.pies[at], &parts.collect::<Vec<_>>(), true)
    });
    let parts = objects.parts.iter().map(|(n, pie)| {
        let pie: Vec<Option<i64>> = pie.map(|it| objects.pies[it]).into_iter().collect();
        part.passes(asker, *n, &pie, true)
    });
    (pies.collect(), parts.collect())
}

/// Random rules and objects, `cases` times: `ask` answers as the caller from a store of the types with these mutations.
fn reads(cases: usize, store: &dyn Fn(&str, &[String]) -> Answering) {
    let mut numbers = Numbers(0x005e_ed0f_a117);
    for _ in 0..cases {
        let pie = Rule::random(&mut numbers, 2);
        let part = Rule::random(&mut numbers, 2);
        let objects = Objects::random(&mut numbers);
        let rule = |it: &Rule, ty, edge| format!("@auth(query: {})", it.text(ty, edge));
        let sdl = types(&rule(&pie, "Pie", "parts"), &rule(&part, "Part", "pie"));
        let whole = store(&sdl, &objects.added(&[true; 5], &[true; 8]));
        for asker in ASKERS {
            let caller = asker.identity(&sdl);
            let (pies, parts) = seen(&pie, &part, &asker, &objects);
            let seen = filled(&types("", ""), &objects.added(&pies, &parts));
            for request in REQUESTS {
                let given = whole(request, &caller);
                let expected = seen.ask(request, "");
                assert_eq!(given, expected, "{request}\n{sdl}\n{asker:?}\n{objects:?}");
            }
        }
    }
}

#[test]
fn a_caller_reads_what_the_admin_reads_where_only_that_is_on_sqlite() {
    reads(25, &|sdl, added| {
        let served = filled(sdl, added);
        Box::new(move |request, caller| served.ask_as(request, caller))
    });
}

#[test]
fn a_caller_reads_what_the_admin_reads_where_only_that_is_on_postgres() {
    on_one_release("reads of rules", || {
        reads(8, &|sdl, added| {
            let served = in_postgres::serve(sdl, "");
            for mutation in added {
                let answer = served.ask(mutation, "");
                assert!(!answer.contains("errors"), "{answer}");
            }
            Box::new(move |request, caller| served.ask_as(request, caller))
        });
    });
}
