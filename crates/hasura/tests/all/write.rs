//! Mutations over Chinook and over odd tables: what is answered, and what is in the database after.

use crate::kit::{CHINOOK, Served, serve};
use weir_engine::source::Protocol;

/// Asks on a fresh copy; each answer in turn.
fn check(sql: &str, asked: &[(&str, &str)]) {
    let served = serve(sql);
    for (query, expected) in asked {
        let (query, variables) = query.split_once(" with ").unwrap_or((query, ""));
        assert_eq!(served.ask(query, variables), *expected, "{query} {variables}");
    }
}

/// The message of the only error.
fn message(served: &Served, query: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(&served.ask(query, "")).unwrap();
    answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{query}: {answer}")).to_owned()
}

#[test]
fn rows_are_inserted_with_their_defaults_whatever_columns_each_has() {
    check(
        CHINOOK,
        &[
            (
                r#"mutation { insert_Artist(objects: [{Name: "With"}, {ArtistId: 900}, {}, {Name: null}]) { affected_rows returning { ArtistId Name } } }"#,
                r#"{"data":{"insert_Artist":{"affected_rows":4,"returning":[{"ArtistId":276,"Name":"With"},{"ArtistId":900,"Name":null},{"ArtistId":901,"Name":null},{"ArtistId":902,"Name":null}]}}}"#,
            ),
            (
                r#"mutation { insert_Album_one(object: { Title: "Trying now", ArtistId: 1 }) { Title } }"#,
                r#"{"data":{"insert_Album_one":{"Title":"Trying now"}}}"#,
            ),
            (
                r#"mutation { insert_Genre(objects: []) { affected_rows returning { GenreId } } }"#,
                r#"{"data":{"insert_Genre":{"affected_rows":0,"returning":[]}}}"#,
            ),
            (
                r#"mutation { insert_Genre(objects: {GenreId: 101, Name: "One"}) { n: affected_rows a: returning { Name } b: returning { GenreId } __typename } }"#,
                r#"{"data":{"insert_Genre":{"n":1,"a":[{"Name":"One"}],"b":[{"GenreId":101}],"__typename":"Genre_mutation_response"}}}"#,
            ),
            (
                r#"mutation ($rows: [Genre_insert_input!]!) { insert_Genre(objects: $rows) { returning { GenreId Name } } } with {"rows": [{"GenreId": 201, "Name": "A"}, {"Name": "B", "GenreId": 202}]}"#,
                r#"{"data":{"insert_Genre":{"returning":[{"GenreId":201,"Name":"A"},{"GenreId":202,"Name":"B"}]}}}"#,
            ),
            (
                r#"mutation ($n: String, $m: String) { insert_Artist_one(object: {Name: $n}) { Name } two: insert_Artist_one(object: {Name: $m}) { Name } } with {"n": "x'); DROP TABLE Artist; --"}"#,
                r#"{"data":{"insert_Artist_one":{"Name":"x'); DROP TABLE Artist; --"},"two":{"Name":null}}}"#,
            ),
        ],
    );
}

#[test]
fn nested_rows_find_their_own_parents() {
    check(
        CHINOOK,
        &[
            (
                r#"mutation { insert_Album(objects: [{Title: "One", Album_Artist: {data: {Name: "First"}}}, {Title: "Two", Album_Artist: {data: {Name: "Second"}}}]) { affected_rows returning { Title Album_Artist { Name } } } }"#,
                r#"{"data":{"insert_Album":{"affected_rows":4,"returning":[{"Title":"One","Album_Artist":{"Name":"First"}},{"Title":"Two","Album_Artist":{"Name":"Second"}}]}}}"#,
            ),
            (
                r#"mutation { insert_Artist(objects: [{Name: "New", Artist_Albums: {data: [{Title: "A"}, {Title: "B", Album_Tracks: {data: [{Name: "T", MediaTypeId: 1, Milliseconds: 1, UnitPrice: "0.99"}]}}]}}, {Name: "Newer", Artist_Albums: {data: [{Title: "C"}]}}]) { affected_rows returning { Name Artist_Albums(order_by: {Title: asc}) { Title Album_Tracks { Name UnitPrice } } } } }"#,
                r#"{"data":{"insert_Artist":{"affected_rows":6,"returning":[{"Name":"New","Artist_Albums":[{"Title":"A","Album_Tracks":[]},{"Title":"B","Album_Tracks":[{"Name":"T","UnitPrice":0.99}]}]},{"Name":"Newer","Artist_Albums":[{"Title":"C","Album_Tracks":[]}]}]}}}"#,
            ),
            (
                r#"mutation ($a: Artist_obj_rel_insert_input) { insert_Album_one(object: {Title: "v", Album_Artist: $a}) { Album_Artist { Name } } } with {"a": {"data": {"Name": "from outside"}}}"#,
                r#"{"data":{"insert_Album_one":{"Album_Artist":{"Name":"from outside"}}}}"#,
            ),
            (
                r#"mutation { insert_Artist_one(object: {Name: "none", Artist_Albums: {data: []}}) { Artist_Albums { Title } } }"#,
                r#"{"data":{"insert_Artist_one":{"Artist_Albums":[]}}}"#,
            ),
        ],
    );
}

#[test]
fn what_a_parent_determines_cannot_be_given_too() {
    let served = serve(CHINOOK);
    assert_eq!(
        message(
            &served,
            r#"mutation { insert_Artist_one(object: {Artist_Albums: {data: [{Title: "A", ArtistId: 3}]}}) { Name } }"#
        ),
        "cannot insert \"ArtistId\" columns as their values are already being determined by parent insert"
    );
    assert_eq!(
        message(
            &served,
            r#"mutation { insert_Album_one(object: {Title: "A", ArtistId: 3, Album_Artist: {data: {Name: "x"}}}) { Title } }"#
        ),
        "cannot insert object relationship \"Album_Artist\" as \"ArtistId\" column values are already determined"
    );
    assert_eq!(
        message(
            &served,
            r#"mutation { insert_Album_one(object: {Title: "A", Album_Artist: {data: {ArtistId: 1}, on_conflict: {constraint: Artist_pkey}}}) { Title } }"#
        ),
        "cannot proceed to insert object relation \"Album_Artist\" since insert to table \"Artist\" affects zero rows"
    );
}

#[test]
fn conflicts_are_ignored_or_update_what_is_there() {
    check(
        CHINOOK,
        &[
            (
                r#"mutation { insert_Genre_one(object: {GenreId: 1, Name: "Again"}, on_conflict: {constraint: Genre_pkey}) { Name } }"#,
                r#"{"data":{"insert_Genre_one":null}}"#,
            ),
            (
                r#"mutation { insert_Genre(objects: [{GenreId: 1, Name: "Again"}, {GenreId: 300, Name: "New"}], on_conflict: {constraint: Genre_pkey, update_columns: []}) { affected_rows returning { Name } } }"#,
                r#"{"data":{"insert_Genre":{"affected_rows":1,"returning":[{"Name":"New"}]}}}"#,
            ),
            (
                r#"mutation { insert_Genre(objects: [{GenreId: 1, Name: "Again"}, {GenreId: 2, Name: "Twice"}], on_conflict: {constraint: Genre_pkey, update_columns: [Name], where: {Name: {_eq: "Rock"}}}) { affected_rows returning { GenreId Name } } }"#,
                r#"{"data":{"insert_Genre":{"affected_rows":1,"returning":[{"GenreId":1,"Name":"Again"}]}}}"#,
            ),
            (
                r#"mutation { insert_Album_one(object: {Title: "A", Album_Artist: {data: {ArtistId: 1, Name: "AC"}, on_conflict: {constraint: Artist_pkey, update_columns: [Name]}}}) { ArtistId Album_Artist { Name } } }"#,
                r#"{"data":{"insert_Album_one":{"ArtistId":1,"Album_Artist":{"Name":"AC"}}}}"#,
            ),
            (
                r#"mutation { insert_Genre_one(object: {}, on_conflict: {constraint: Genre_pkey}) { Name } }"#,
                r#"{"data":{"insert_Genre_one":{"Name":null}}}"#,
            ),
        ],
    );
}

#[test]
fn rows_are_updated_by_key_by_filter_and_many_in_order() {
    check(
        CHINOOK,
        &[
            (
                r#"mutation { update_Track_by_pk(pk_columns: {TrackId: 1}, _inc: {Milliseconds: 5, Bytes: -1}, _set: {Name: "N", Composer: null}) { Name Milliseconds Bytes Composer } }"#,
                r#"{"data":{"update_Track_by_pk":{"Name":"N","Milliseconds":343724,"Bytes":11170333,"Composer":null}}}"#,
            ),
            (
                r#"mutation { update_Album_by_pk(pk_columns: {AlbumId: 99999}, _set: {Title: "x"}) { Title } }"#,
                r#"{"data":{"update_Album_by_pk":null}}"#,
            ),
            (
                r#"mutation { update_Album(where: {Album_Artist: {Name: {_eq: "AC/DC"}}}, _set: {Title: "Same"}) { affected_rows returning { AlbumId Title Album_Artist { Name } } } }"#,
                r#"{"data":{"update_Album":{"affected_rows":2,"returning":[{"AlbumId":1,"Title":"Same","Album_Artist":{"Name":"AC/DC"}},{"AlbumId":4,"Title":"Same","Album_Artist":{"Name":"AC/DC"}}]}}}"#,
            ),
            (
                r#"mutation { update_Album_many(updates: [{where: {AlbumId: {_eq: 1}}, _set: {Title: "1"}}, {where: {AlbumId: {_eq: 4}}, _set: {Title: "4"}}]) { returning { Album_Artist { Artist_Albums(order_by: {AlbumId: asc}) { Title } } } } }"#,
                r#"{"data":{"update_Album_many":[{"returning":[{"Album_Artist":{"Artist_Albums":[{"Title":"1"},{"Title":"Same"}]}}]},{"returning":[{"Album_Artist":{"Artist_Albums":[{"Title":"1"},{"Title":"4"}]}}]}]}}"#,
            ),
            (
                r#"mutation { update_Album_many(updates: [{where: {AlbumId: {_eq: 1}}, _set: {Title: "1"}}, {where: {AlbumId: {_lt: 3}}, _set: {Title: "2"}}]) { affected_rows returning { AlbumId Title } } }"#,
                r#"{"data":{"update_Album_many":[{"affected_rows":1,"returning":[{"AlbumId":1,"Title":"1"}]},{"affected_rows":2,"returning":[{"AlbumId":1,"Title":"2"},{"AlbumId":2,"Title":"2"}]}]}}"#,
            ),
            (
                r#"mutation { update_Album(where: {ArtistId: {_eq: 1}}, _set: {}) { affected_rows returning { Title } } }"#,
                r#"{"data":{"update_Album":{"affected_rows":0,"returning":[]}}}"#,
            ),
            (
                r#"mutation ($s: Album_set_input!, $i: Int!) { update_Album_by_pk(pk_columns: {AlbumId: $i}, _set: $s) { Title } } with {"s": {"Title": "From outside"}, "i": 1}"#,
                r#"{"data":{"update_Album_by_pk":{"Title":"From outside"}}}"#,
            ),
        ],
    );
    let served = serve(CHINOOK);
    assert_eq!(
        message(
            &served,
            "mutation { update_Track_by_pk(pk_columns: {TrackId: 1}, _inc: {Bytes: 1}, _set: {Bytes: 2}) { Bytes } }"
        ),
        "Column found in multiple operators: ['Bytes']."
    );
}

#[test]
fn deleted_rows_are_answered_as_they_were() {
    check(
        CHINOOK,
        &[
            (
                "mutation { delete_InvoiceLine_by_pk(InvoiceLineId: 1) { InvoiceLineId UnitPrice } again: delete_InvoiceLine_by_pk(InvoiceLineId: 1) { InvoiceLineId } }",
                r#"{"data":{"delete_InvoiceLine_by_pk":{"InvoiceLineId":1,"UnitPrice":0.99},"again":null}}"#,
            ),
            (
                "mutation { delete_PlaylistTrack(where: {PlaylistId: {_eq: 18}}) { affected_rows returning { TrackId PlaylistTrack_Playlist { Name } } } }",
                r#"{"data":{"delete_PlaylistTrack":{"affected_rows":1,"returning":[{"TrackId":597,"PlaylistTrack_Playlist":{"Name":"On-The-Go 1"}}]}}}"#,
            ),
            (
                "mutation { delete_PlaylistTrack(where: {}) { affected_rows } } ",
                r#"{"data":{"delete_PlaylistTrack":{"affected_rows":8714}}}"#,
            ),
        ],
    );
}

#[test]
fn a_failing_field_undoes_the_whole_mutation() {
    let served = serve(CHINOOK);
    let query = r#"mutation { a: insert_Genre_one(object: {GenreId: 401, Name: "a"}) { Name } b: insert_Genre_one(object: {GenreId: 401, Name: "b"}) { Name } }"#;
    let words = "Uniqueness violation. duplicate key value violates unique constraint \"Genre_pkey\"";
    assert_eq!(message(&served, query), words);
    assert_eq!(served.plain("SELECT CAST(count(*) AS TEXT) FROM Genre WHERE GenreId = 401"), 0);
    let hasura = String::from_utf8(served.bytes(query, "", Protocol::Hasura, 60)).unwrap();
    assert!(hasura.contains("constraint-violation") && hasura.contains("$.selectionSet.b"), "{hasura}");
    assert_eq!(
        message(&served, r#"mutation { insert_Album_one(object: {ArtistId: 99999, Title: "x"}) { Title } }"#),
        "Foreign key violation. a referenced row is missing or still referenced"
    );
    assert_eq!(
        message(&served, "mutation { insert_Album_one(object: {ArtistId: 1}) { Title } }"),
        "Not-NULL violation. null value in column \"Title\" violates not-null constraint"
    );
    assert_eq!(
        message(&served, "mutation { delete_Artist_by_pk(ArtistId: 1) { Name } }"),
        "Foreign key violation. a referenced row is missing or still referenced"
    );
}

#[test]
fn fields_run_in_order_and_see_each_other() {
    check(
        CHINOOK,
        &[(
            r#"mutation { a: insert_Genre_one(object: {GenreId: 401, Name: "a"}) { Name } b: update_Genre_by_pk(pk_columns: {GenreId: 401}, _set: {Name: "b"}) { Name } c: delete_Genre_by_pk(GenreId: 401) { Name } }"#,
            r#"{"data":{"a":{"Name":"a"},"b":{"Name":"b"},"c":{"Name":"b"}}}"#,
        )],
    );
}

const ODD: &str = r#"
    CREATE TABLE "it's ""odd"""("select" INTEGER PRIMARY KEY, "the word" TEXT DEFAULT 'none', doubled INTEGER AS ("select" * 2), "rowid" TEXT);
    CREATE TABLE pair(x TEXT, y INTEGER, z BIGINT DEFAULT 7, PRIMARY KEY(y, x)) WITHOUT ROWID;
    CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node, flag BOOLEAN, doc JSONB);
    CREATE TABLE log(line TEXT);
    CREATE VIEW door AS SELECT line FROM log;
    CREATE TRIGGER door_in INSTEAD OF INSERT ON door BEGIN INSERT INTO log VALUES (upper(new.line)); END;"#;

#[test]
fn odd_tables_are_written_too() {
    check(
        ODD,
        &[
            (
                r#"mutation { insert_it_s_odd(objects: [{}, {select: 9, the_word: "x", rowid: "r"}]) { returning { select the_word doubled rowid } } }"#,
                r#"{"data":{"insert_it_s_odd":{"returning":[{"select":1,"the_word":"none","doubled":2,"rowid":null},{"select":9,"the_word":"x","doubled":18,"rowid":"r"}]}}}"#,
            ),
            (
                r#"mutation { insert_pair_one(object: {x: "a", y: 1}) { x y z } update_pair_by_pk(pk_columns: {x: "a", y: 1}, _inc: {z: "9007199254740993"}) { z } delete_pair_by_pk(x: "a", y: 1) { z } }"#,
                r#"{"data":{"insert_pair_one":{"x":"a","y":1,"z":7},"update_pair_by_pk":{"z":9007199254741000},"delete_pair_by_pk":{"z":9007199254741000}}}"#,
            ),
            (
                r#"mutation { insert_node_one(object: {id: 1, flag: true, doc: {a: [1.50, "x"]}, node_nodes: {data: [{id: 2, node_nodes: {data: {id: 3}}}]}}) { flag doc node_nodes { id node_nodes { id node_node { id } } } } }"#,
                r#"{"data":{"insert_node_one":{"flag":true,"doc":{"a":[1.50,"x"]},"node_nodes":[{"id":2,"node_nodes":[{"id":3,"node_node":{"id":2}}]}]}}}"#,
            ),
            (
                r#"mutation { insert_door(objects: [{line: "a"}, {line: "b"}]) { affected_rows returning { line } } }"#,
                r#"{"data":{"insert_door":{"affected_rows":2,"returning":[{"line":"a"},{"line":"b"}]}}}"#,
            ),
            ("{ log { line } }", r#"{"data":{"log":[{"line":"A"},{"line":"B"}]}}"#),
        ],
    );
}

#[test]
fn json_columns_are_edited_in_place() {
    let served = serve(ODD);
    let update =
        |what: &str| format!("mutation {{ update_node(where: {{}}, {what}) {{ returning {{ doc }} }} }}");
    served.ask(r#"mutation { insert_node_one(object: {id: 1, doc: {a: 1.50, b: [1, "x", 2]}}) { id } }"#, "");
    let asked = [
        ("_append: {doc: {c: true}}", r#"{"a":1.50,"b":[1,"x",2],"c":true}"#),
        ("_delete_key: {doc: \"c\"}", r#"{"a":1.50,"b":[1,"x",2]}"#),
        (r#"_delete_at_path: {doc: ["b", "1"]}"#, r#"{"a":1.50,"b":[1,2]}"#),
        ("_set: {doc: [2]}", "[2]"),
        ("_prepend: {doc: 1}", "[1,2]"),
        ("_delete_elem: {doc: -1}", "[1]"),
    ];
    for (what, expected) in asked {
        let expected = format!(r#"{{"data":{{"update_node":{{"returning":[{{"doc":{expected}}}]}}}}}}"#);
        assert_eq!(served.ask(&update(what), ""), expected, "{what}");
    }
    assert_eq!(
        message(&served, &update("_delete_at_path: {doc: [\"x\"]}")),
        "path element is not an integer"
    );
    assert_eq!(message(&served, &update("_append: {doc: null}")), "unexpected null value for type 'jsonb'");
}

#[test]
fn known_rows_are_inserted_without_rendering_again_however_many() {
    let served = serve(CHINOOK);
    let query = "mutation ($rows: [Artist_insert_input!]!) { insert_Artist(objects: $rows) \
        { affected_rows returning { Name Artist_Albums { Title } } } }";
    let row = |name: &str| {
        format!(
            r#"{{"Name": "{name}", "Artist_Albums": {{"data": [{{"Title": "{name} 1"}}, {{"Title": "{name} 2"}}]}}}}"#
        )
    };
    let returned = |name: &str| {
        format!(r#"{{"Name":"{name}","Artist_Albums":[{{"Title":"{name} 1"}},{{"Title":"{name} 2"}}]}}"#)
    };
    let ask = |names: &[&str]| {
        let rows: Vec<String> = names.iter().map(|name| row(name)).collect();
        let expected: Vec<String> = names.iter().map(|name| returned(name)).collect();
        let answer = served.ask(query, &format!(r#"{{"rows": [{}]}}"#, rows.join(",")));
        let count = 3 * names.len();
        let expected = expected.join(",");
        let expected =
            format!(r#"{{"data":{{"insert_Artist":{{"affected_rows":{count},"returning":[{expected}]}}}}}}"#);
        assert_eq!(answer, expected);
    };
    ask(&["a", "b"]);
    let before = served.source.renderings();
    ask(&["c"]);
    ask(&["d", "e", "f"]);
    assert_eq!(served.source.renderings(), before);
    let mixed = served.ask(query, r#"{"rows": [{"Name": "g"}, {"ArtistId": 900}]}"#);
    assert!(
        mixed.contains(r#"[{"Name":"g","Artist_Albums":[]},{"Name":null,"Artist_Albums":[]}]"#),
        "{mixed}"
    );
}

#[test]
fn numbers_with_exponents_are_taken_wherever_a_number_is() {
    let price = "CREATE TABLE price (id INTEGER PRIMARY KEY, amount MONEY, share DECIMAL(10, 5), size REAL)";
    let found = r#"{"data":{"price":[{"id":1},{"id":2}]}}"#;
    check(
        price,
        &[
            (
                "mutation { insert_price(objects: [{id: 1, amount: 2.5e1, share: 1e-5, size: 1e3}]) { affected_rows } }",
                r#"{"data":{"insert_price":{"affected_rows":1}}}"#,
            ),
            (
                r#"mutation ($row: price_insert_input!) { insert_price(objects: [$row]) { affected_rows } } with {"row": {"id": 2, "amount": "25e0", "share": 1E-5, "size": 1e3}}"#,
                r#"{"data":{"insert_price":{"affected_rows":1}}}"#,
            ),
            (
                "mutation { update_price(where: {amount: {_eq: 250e-1}}, _inc: {amount: 5e-1}) { affected_rows } }",
                r#"{"data":{"update_price":{"affected_rows":2}}}"#,
            ),
            (
                "{ price(where: {amount: {_in: [1e0, 2.55e1]}, share: {_lt: 2e-5}, size: {_gte: 1e3}}, order_by: {id: asc}) { id } }",
                found,
            ),
            (
                r#"query ($in: [numeric!], $to: numeric) { price(where: {amount: {_in: $in}, share: {_lt: $to}}, order_by: {id: asc}) { id } } with {"in": ["255e-1", 1e0], "to": 2e-5}"#,
                found,
            ),
        ],
    );
}
