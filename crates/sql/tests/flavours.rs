//! Each file of `tests/golden/flavours` is a question and what every flavour is sent for it: flavours that are sent the
//! same share a heading. `WEIR_BLESS=1` writes what stands below the question.

mod texts;

use std::path::Path;
use texts::{Sent, api, sent};
use weir_sql::postgres::flavour::Flavour;
use weir_sql::postgres::types::Types;

/// Each statement, and what it binds: the types are declared when it is prepared.
fn said(sent: &Sent) -> String {
    let mut out = String::new();
    let mut say = |words: &str, sql: &str, oids: &[u32], values: &[String]| {
        out.push_str(&format!("{words}{sql}\n"));
        let first = oids.len() - values.len();
        let types = Types::builtin();
        for (at, &oid) in oids.iter().enumerate() {
            let ty = types.by_oid(oid).map_or("any", |it| &it.cast);
            let value = at.checked_sub(first).and_then(|it| values.get(it));
            let value = value.map_or_else(String::new, |it| format!(" = {it}"));
            out.push_str(&format!("-- ${} {ty}{value}\n", at + 1));
        }
    };
    for (change, values) in &sent.changes {
        say("", &change.sql, &change.types, values);
    }
    if let Some(read) = &sent.read {
        say("", &read.sql, &read.oids, &sent.values);
        if let Some(merged) = &read.merged {
            say("-- for many at once:\n", &merged.sql, &merged.oids, &[]);
        }
    }
    out
}

#[test]
fn each_flavour_is_sent_what_it_is_good_at() {
    let api = api();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/flavours");
    let bless = std::env::var("WEIR_BLESS").is_ok_and(|it| it == "1");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let question: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("-- ")).collect();
        let question = question.join("\n");
        let mut said_to: Vec<(String, Vec<&str>)> = Vec::new();
        for flavour in Flavour::ALL {
            let said = said(&sent(&api, flavour, &question));
            match said_to.iter_mut().find(|it| it.0 == said) {
                Some(known) => known.1.push(flavour.name()),
                None => said_to.push((said, vec![flavour.name()])),
            }
        }
        let mut expected: String = question.lines().map(|line| format!("-- {line}\n")).collect();
        for (said, flavours) in said_to {
            expected.push_str(&format!("\n-- {}\n{said}", flavours.join(", ")));
        }
        cases += 1;
        if bless {
            std::fs::write(&path, expected).unwrap();
        } else if text != expected {
            wrong.push(format!("{}: expected\n{text}\nbut found\n{expected}", path.display()));
        }
    }
    assert!(cases > 10, "the cases are there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
