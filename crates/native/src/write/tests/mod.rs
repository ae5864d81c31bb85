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
use store::Store;
use types::TYPES;
use words::Mutation;

/// Does the mutations that `tape` says, one after another.
fn check(tape: &[u32]) -> Result<(), TestCaseError> {
    let (store, mut oracle, mut choices) = (Store::new(), Oracle::default(), Choices::new(tape));
    let mut done = Vec::new();
    while !choices.is_over() {
        let mutation = choices.mutation();
        let expected = oracle.run(&mutation);
        let found = store.run(&mutation);
        done.push(mutation);
        match (&expected, &found) {
            (Err(expected), Err(found)) if found.ends_with(expected.as_str()) => {}
            _ if expected == found => {}
            _ => {
                return Err(TestCaseError::fail(format!(
                    "expected {expected:?}, found {found:?} after{}",
                    lines(&done)
                )));
            }
        }
        for (ty, of) in TYPES.iter().enumerate() {
            let (expected, found) = (oracle.all(ty), store.all(ty));
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

fn lines(done: &[Mutation]) -> String {
    done.iter().map(|it| format!("\n{it:?}")).collect()
}

#[test]
fn any_mutations_do_what_they_do_to_maps() {
    let config =
        Config { cases: 300, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&vec(any::<u32>(), 0..400), |tape| check(&tape));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
