//! A mutation that is refused because of a hidden object is answered as if the caller saw the object: no
//! message, code or count tells the two apart.

use crate::auth::Both;

const SDL: &str = r#"
type Seat @unique(fields: ["row", "number"]) @auth(
  query: { rule: "query($LOGIN: String!) { querySeat(filter: { by: { eq: $LOGIN } }) { __typename } }" }
) {
  code: String! @id
  nick: String @id
  row: String
  number: Int
  by: String @search(by: [hash])
  lamp: Lamp @hasInverse(field: seat)
}
type Lamp @auth(
  query: { rule: "query($LOGIN: String!) { queryLamp(filter: { by: { eq: $LOGIN } }) { __typename } }" }
) {
  name: String! @id
  by: String @search(by: [hash])
  seat: Seat!
}
"#;

/// The same objects; those that stand in the way are `owner`'s.
fn store(owner: &str) -> Both {
    let taken = format!(
        r#"mutation {{ addSeat(input: [
            {{ code: "s1", nick: "n1", row: "A", number: 1, by: "{owner}", lamp: {{ name: "l1", by: "{owner}" }} }}
            {{ code: "s2", nick: "n2", row: "A", number: 2, by: "{owner}" }}
            {{ code: "own", nick: "mine", row: "B", number: 1, by: "bob", lamp: {{ name: "l2", by: "{owner}" }} }}
        ]) {{ numUids }} }}"#
    );
    Both::new(SDL, &[&taken])
}

const BOB: &str = r#"{"LOGIN": "bob"}"#;

const MUTATIONS: &[&str] = &[
    r#"mutation { addSeat(input: [{ code: "s1" }]) { numUids seat { code } } }"#,
    r#"mutation { addSeat(input: [{ code: "new", nick: "n1" }]) { numUids } }"#,
    r#"mutation { addSeat(input: [{ code: "s1", nick: "n2" }]) { numUids } }"#,
    r#"mutation { addSeat(input: [{ code: "new", row: "A", number: 1, by: "bob" }]) { numUids seat { code } } }"#,
    r#"mutation { addSeat(upsert: true, input: [{ code: "own", row: "A", number: 1 }]) { numUids } }"#,
    r#"mutation { addSeat(upsert: true, input: [{ code: "s1", nick: "n2" }]) { numUids } }"#,
    r#"mutation { updateSeat(input: { filter: { code: { eq: "own" } }, set: { row: "A", number: 2 } }) { numUids } }"#,
    r#"mutation { updateSeat(input: { filter: { code: { eq: "own" } }, set: { nick: "n1" } }) { numUids } }"#,
    // The lamp that is there would be left without a seat.
    r#"mutation { updateSeat(input: { filter: { code: { eq: "own" } }, set: { lamp: { name: "l3" } } }) { numUids } }"#,
    r#"mutation { updateSeat(input: { filter: { code: { eq: "own" } }, remove: { lamp: null } }) { numUids } }"#,
];

#[test]
fn a_hidden_object_in_the_way_is_answered_as_one_that_is_seen() {
    let hidden = store("ann");
    let seen = store("bob");
    for mutation in MUTATIONS {
        let of = |both: &Both| {
            let caller = both.caller(BOB);
            [both.sqlite.ask_as(mutation, &caller), both.postgres.ask_as(mutation, &caller)]
        };
        let hidden = of(&hidden);
        let seen = of(&seen);
        assert_eq!(hidden, seen, "{mutation}");
        assert_eq!(hidden[0], hidden[1], "{mutation}");
        assert!(!hidden[0].contains("errors"), "{mutation}: {}", hidden[0]);
    }
    let all = r#"{ querySeat(order: { asc: code }) { code nick row number lamp { name } } }"#;
    assert_eq!(hidden.sqlite.ask(all, ""), seen.sqlite.ask(all, ""));
    assert_eq!(hidden.postgres.ask(all, ""), seen.sqlite.ask(all, ""));
}

#[test]
fn the_admin_is_told_what_stands_in_the_way() {
    let both = store("ann");
    for (mutation, words) in [
        (MUTATIONS[0], "id s1 already exists for field code inside type Seat"),
        (MUTATIONS[3], "an object with the same row and number already exists inside type Seat"),
        (MUTATIONS[8], "type Lamp requires a value for field seat, so it cannot be removed"),
    ] {
        for answer in [both.sqlite.ask(mutation, ""), both.postgres.ask(mutation, "")] {
            assert!(answer.contains(words), "{answer}");
        }
    }
}
