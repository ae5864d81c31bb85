//! What a request may be made of.

use super::{HEAD, connector, mapping, refused};

/// A type that is asked for by `id` and `no`, with this `http` and, beside it, `more`.
fn seat(http: &str, more: &str) -> String {
    format!(
        "type Query {{ seats: [Seat] @connect(source: \"s\", http: {{GET: \"/seats\"}}, selection: \"id no\") }}
        type Seat @connect(source: \"s\", http: {{{http}}}, selection: \"id no price to: {{id no}}\"{more}) {{ id: ID no: Int price: Int to: Seat }}"
    )
}

#[test]
fn a_batch_of_several_keys_is_a_list_of_objects() {
    for body in ["$batch { id no }", "all: $batch { no: id id: no->toString }"] {
        let text =
            format!("{HEAD}{}", seat(&format!("POST: \"/s\", body: \"{body}\""), ", batch: {maxSize: 9}"));
        let mapping = mapping(&text);
        let seat = connector(&mapping, "Seat", "");
        let keys: Vec<&str> = seat.keys.iter().map(|it| &*it.name).collect();
        assert_eq!((keys.as_slice(), seat.batch_max), (&["id", "no"][..], Some(9)), "{body}");
    }
    let check = |body: &str, place: &str, message: &str| {
        refused(&seat(&format!("POST: \"/s\", body: \"{body}\""), ""), &[(place, message)]);
    };
    check("$batch { id nos }", "nos", "`Seat` has no field `nos`; did you mean `no`?");
    check("$batch { id to }", "to }", "`to` is no single value: a key is a scalar or enum");
    check(
        "$batch { id to { no } }",
        "{ no }",
        "`$batch` has fields that are single values: write `$batch.id`",
    );
    check(
        "$batch { id no: $.no }",
        "$.no",
        "`$batch` gives fields by their names: write `$batch { id other: name }`",
    );
}
