//! Statements and shards per request over the operations of the golden cases: what the model of Citus' planner says of a cluster.
//!
//! The cluster of `docs/sources/cockroachdb-yugabyte-citus.md` refused 40 of 230 operations. Here at most 8 of 230 may be refused, each
//! with words and before it is sent.

use crate::citus::{FAR, OF_A_TENANT, judged_sent, shop, spread_chinook};
use crate::citus_model::{Model, Reach};
use crate::flavours::cases;
use crate::texts::{Sent, all_sent, api_over};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use weir_engine::caller::Identity;
use weir_relational::catalog::Catalog;
use weir_relational::dialect::flavour::Flavour;

/// The operations without variables of a golden suite.
fn suite(name: &str) -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.retain(|it| it.extension().is_some_and(|it| it == "graphql"));
    found.sort();
    let texts = found.iter().map(|it| std::fs::read_to_string(it).unwrap());
    texts.filter(|it| !it.contains('$')).collect()
}

/// Counts over requests.
#[derive(Debug, Default)]
struct Counts {
    asked: usize,
    refused: usize,
    broken: Vec<String>,
    /// Requests by the number of their statements.
    statements: BTreeMap<usize, usize>,
    /// Requests by the most that one of their statements asks.
    reaches: BTreeMap<&'static str, usize>,
}

impl Counts {
    fn add(&mut self, catalog: &Catalog, questions: &[String]) {
        let api = api_over(catalog.clone());
        let model = Model::new(catalog);
        for question in questions {
            // Requests that GraphQL refuses, or that ask no database, are no operations of Citus.
            let sent = all_sent(&Identity::admin(), &api, Flavour::Citus, question).unwrap_or_default();
            if sent.is_empty() {
                continue;
            }
            self.asked += 1;
            if sent.iter().any(|it| it.is_refused) {
                self.refused += 1;
                continue;
            }
            let count = |it: &Sent| it.changes.len() + it.reads.len();
            *self.statements.entry(sent.iter().map(count).sum()).or_default() += 1;
            let judged = sent.iter().map(|it| judged_sent(&model, question, it));
            let (broken, reached): (Vec<_>, Vec<_>) = judged.unzip();
            self.broken.extend(broken.into_iter().flatten());
            *self.reaches.entry(widest(&reached.concat())).or_default() += 1;
        }
    }
}

fn widest(reached: &[Reach]) -> &'static str {
    if reached.contains(&Reach::Several) {
        "several"
    } else if reached.iter().any(|it| matches!(it, Reach::One(_))) {
        "one"
    } else {
        "coordinator"
    }
}

#[test]
fn at_most_8_of_230_operations_are_refused() {
    let mut music = Counts::default();
    let of_flavours = cases().into_iter().map(|it| it.2);
    let all = [suite("chinook"), suite("chinook_hasura"), of_flavours.collect()].concat();
    let far = FAR.iter().map(|&it| it.to_owned());
    music.add(&spread_chinook(), &all.into_iter().chain(far).collect::<Vec<_>>());
    let mut tenants = Counts::default();
    tenants.add(&shop(), &OF_A_TENANT.iter().map(|&it| it.to_owned()).collect::<Vec<_>>());
    println!("music: {music:#?}\ntenants: {tenants:#?}");
    let broken = [music.broken, tenants.broken].concat();
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
    let asked = music.asked + tenants.asked;
    let refused = music.refused + tenants.refused;
    assert!(asked > 150, "the cases are there: {asked}");
    assert!(refused * 230 <= 8 * asked, "{refused} of {asked}");
    assert!(!tenants.reaches.contains_key("several"), "{:?}", tenants.reaches);
    // A tenant's query is one statement; a change, one for each table and one for what is below.
    assert!(tenants.statements.keys().all(|it| *it <= 2), "{:?}", tenants.statements);
}
