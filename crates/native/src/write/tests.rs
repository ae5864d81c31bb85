//! Random mutations, done by the product on a SQLite database and by an oracle on maps: answers and what is stored have to
//! be the same, and the database sound, after each.

mod choose;
mod oracle;
mod store;
mod types;
mod words;

use choose::Choices;
use oracle::Oracle;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::OracleStore;
use types::{PERSON, TYPES};
use words::{Given, Operation, OracleInput};

/// Does the mutations that `tape` says, one after another.
fn check(tape: &[u32]) -> Result<(), TestCaseError> {
    let mut choices = Choices::new(tape);
    run(std::iter::from_fn(|| (!choices.is_over()).then(|| choices.mutation())))
}

/// Does `mutations`, one after another.
fn run(mutations: impl IntoIterator<Item = Operation>) -> Result<(), TestCaseError> {
    let store = OracleStore::new();
    let mut oracle = Oracle::default();
    let mut done = Vec::new();
    for mutation in mutations {
        let expected = oracle.run(&mutation);
        let found = store.run(&mutation);
        done.push(mutation);
        match (&expected, &found) {
            (Err(expected), Err(found)) if tells(found, expected) => {}
            _ if expected == found => {}
            _ => {
                return Err(TestCaseError::fail(format!(
                    "expected {expected:?}, found {found:?} after{}",
                    lines(&done)
                )));
            }
        }
        for (ty, of) in TYPES.iter().enumerate() {
            let expected = oracle.all(ty);
            let found = store.all(ty);
            if expected != found {
                let name = of.name;
                return Err(TestCaseError::fail(format!(
                    "{name}: expected\n{expected:#}\nfound\n{found:#}\nafter{}",
                    lines(&done)
                )));
            }
        }
        if let Some(complaint) = store.complaint() {
            return Err(TestCaseError::fail(format!("{complaint} after{}", lines(&done))));
        }
    }
    Ok(())
}

/// True if one of the lines of `found` contains one of the reasons in `expected`.
fn tells(found: &str, expected: &str) -> bool {
    found.lines().any(|told| expected.lines().any(|reason| told.ends_with(reason)))
}

fn lines(done: &[Operation]) -> String {
    done.iter().map(|it| format!("\n{it:?}")).collect()
}

#[test]
fn any_mutations_do_what_they_do_to_maps() {
    let config = Config::default();
    let config = Config { cases: config.cases.max(300), max_shrink_iters: 4000, ..config };
    let config = Config { failure_persistence: None, ..config };
    let outcome = TestRunner::new(config).run(&vec(any::<u32>(), 0..400), |tape| check(&tape));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

fn person(nick: &str, fields: impl IntoIterator<Item = (&'static str, Given)>) -> OracleInput {
    let nick = ("nick", Given::Text(nick.into()));
    OracleInput { ty: PERSON, id: None, fields: [nick].into_iter().chain(fields).collect() }
}

fn friends(all: Vec<OracleInput>) -> (&'static str, Given) {
    ("friends", Given::Objects(all))
}

/// Without the rule that the key of a patch is a name of its object, both statements write `p2`: the smallest of the tapes that
/// fail then with `UNIQUE constraint failed: Person.nick`.
#[test]
fn a_partner_with_the_key_that_an_update_sets_is_refused_before_it_is_made() {
    let age = || ("age", Given::Int(1));
    let add = Operation::Add { ty: PERSON, inputs: vec![person("p0", [age()])], upsert: false };
    let spouse = ("spouse", Given::Object(Box::new(person("p2", [age()]))));
    let set = Some(person("p2", [spouse]));
    let rename = Operation::Update { ty: PERSON, keys: Vec::new(), set, remove: None };
    run([add, rename]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_has_the_key_that_an_update_sets_is_the_object_it_changes() {
    let age = || ("age", Given::Int(1));
    let add = |nick| Operation::Add { ty: PERSON, inputs: vec![person(nick, [age()])], upsert: false };
    let rename = |friend| {
        let set = Some(person("p1", [friends(vec![friend])]));
        Operation::Update { ty: PERSON, keys: vec!["p0".into()], set, remove: None }
    };
    let mutations = [
        add("p0"),
        rename(person("p1", [age()])),
        rename(person("p2", [age(), friends(vec![person("p1", [])])])),
        add("p0"),
        rename(person("p1", [])),
    ];
    run(mutations).unwrap_or_else(|error| panic!("{error}"));
}
