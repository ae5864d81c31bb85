//! The words and codes of errors, for clients of both endpoints and for operators.

use super::*;
use std::io;

fn check(fields: &str, protocol: Protocol, expected: &str) {
    let body = fields.replace('|', "\0") + "\0\0";
    let error = Box::new(DatabaseError::read(body.as_bytes()));
    let is_told = |it: &DatabaseError| (&*it.schema, &*it.table) == ("public", "Album");
    let error = source_error(Error::Database { error, statement: 0 }, protocol, Some(3), &is_told);
    let shown = match error {
        SourceError::Rejected { error, field } => {
            assert_eq!(field, Some(3));
            format!("{}: {}", error.code, error.message)
        }
        other => other.to_string(),
    };
    assert_eq!(shown, expected, "{fields}");
}

#[test]
fn violated_constraints_are_told_in_hasuras_words() {
    check(
        "SERROR|C23505|Mduplicate key value violates unique constraint \"PK\"|DKey (a)=(7) already exists.|spublic|tAlbum|nPK",
        Protocol::Hasura,
        "constraint-violation: Uniqueness violation. duplicate key value violates unique constraint \"PK\"",
    );
    check(
        "C23514|Mnew row for relation \"Album\" violates check constraint \"c\"|spublic|tAlbum|nc",
        Protocol::Hasura,
        "permission-error: Check constraint violation. new row for relation \"Album\" violates check constraint \"c\"",
    );
    check(
        "C23502|Mnull value in column \"Title\" of relation \"Album\" violates not-null constraint|spublic|tAlbum|cTitle",
        Protocol::GraphqlOverHttp,
        "NOT_NULL_VIOLATION: Not-NULL violation. null value in column \"Title\" of relation \"Album\" violates not-null constraint",
    );
}

#[test]
fn what_is_too_long_is_named_as_far_as_it_may_be() {
    check(
        "C54000|Mindex row size 2720 exceeds btree version 4 maximum 2704 for index \"i\"|spublic|tAlbum|ni|R_bt_check_third_page",
        Protocol::GraphqlOverHttp,
        "LIMIT_STATEMENT: a value is too long for an index over it: `i` of `Album`",
    );
    check(
        "C54000|Mindex row size 2720 exceeds btree version 4 maximum 2704 for index \"s\"|spublic|tsecret|ns|R_bt_check_third_page",
        Protocol::GraphqlOverHttp,
        "LIMIT_STATEMENT: a value is too long for an index over it",
    );
    check(
        "C54001|Mstack depth limit exceeded|Rcheck_stack_depth",
        Protocol::GraphqlOverHttp,
        "LIMIT_STATEMENT: the request's conditions are nested too deep for the database",
    );
    check(
        "C54011|Mtarget lists can have at most 1664 entries|Raddtlist",
        Protocol::GraphqlOverHttp,
        "LIMIT_STATEMENT: the request makes a statement that is too large for the database",
    );
}

#[test]
fn tables_that_are_not_tracked_are_not_named() {
    check(
        "C23503|Minsert or update on table \"secret\" violates foreign key constraint \"s\"|spublic|tsecret|ns",
        Protocol::GraphqlOverHttp,
        "FOREIGN_KEY_VIOLATION: Foreign key violation. a referenced row is missing or still referenced",
    );
}

#[test]
fn values_are_not_repeated() {
    check(
        "C22P02|Minvalid input syntax for type integer: \"abc\"",
        Protocol::Hasura,
        "data-exception: invalid input syntax for type integer",
    );
    check(
        "C22P02|Mmalformed array literal: \"{{\"secret\"},{\"2\"}}\"",
        Protocol::Hasura,
        "data-exception: malformed array literal",
    );
    check(
        "C22003|Mvalue \"99\" is out of range for type smallint",
        Protocol::GraphqlOverHttp,
        "INVALID_VALUE: value is out of range for type smallint",
    );
    check(
        "C22003|M\"1e400\" is out of range for type double precision",
        Protocol::GraphqlOverHttp,
        "INVALID_VALUE: a value is out of range for type double precision",
    );
    check(
        "C42601|Msyntax error in tsvector: \"':x\"|Rprssyntaxerror",
        Protocol::Hasura,
        "data-exception: syntax error in tsvector",
    );
    check(
        "C42601|Msyntax error at or near \"x\"|Rscanner_yyerror",
        Protocol::GraphqlOverHttp,
        "DATABASE_ERROR: database query error",
    );
    check(
        "CXX000|Mcontains: Operation on mixed SRID geometries|Rpg_error",
        Protocol::Hasura,
        "data-exception: contains: Operation on mixed SRID geometries",
    );
    check("CXX000|Mcache lookup failed", Protocol::Hasura, "unexpected: database query error");
    check(
        "C2201B|Minvalid regular expression: x",
        Protocol::GraphqlOverHttp,
        "INVALID_PATTERN: invalid regular expression: x",
    );
}

#[test]
fn other_states_say_who_can_mend_it() {
    check("C40001|Mcould not serialize", Protocol::Hasura, &format!("concurrent-update: {CONCURRENT}"));
    check("C57014|Mcanceling", Protocol::GraphqlOverHttp, "the source did not answer before the deadline");
    check("C53300|Msorry", Protocol::GraphqlOverHttp, "the source has no capacity left");
    check(
        "C53100|Mcould not extend file",
        Protocol::GraphqlOverHttp,
        "STORE_FULL: the database's disk is full: make room on it, then send the mutation again; what it has can still be read",
    );
    check("SFATAL|C57P01|Mbye", Protocol::GraphqlOverHttp, "the source is unavailable: FATAL 57P01: bye");
    check(
        "C42703|Mcolumn a.b does not exist",
        Protocol::GraphqlOverHttp,
        &format!("SCHEMA_CHANGED: {CHANGED}"),
    );
    for context in [
        "PL/pgSQL function f() line 1 at RETURN QUERY",
        "SQL function \"f\" statement 1",
        "SQL-Funktion »f« Anweisung 1",
    ] {
        let fields = format!("C42703|Mcolumn a.b does not exist|W{context}");
        check(&fields, Protocol::GraphqlOverHttp, "DATABASE_ERROR: database query error");
    }
    check("CP0001|Msecret", Protocol::Hasura, "unexpected: database query error");
}

#[test]
fn a_text_that_the_encoding_cannot_hold_is_not_told_and_the_encoding_is() {
    check(
        "C22P05|Mcharacter with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"|Rreport_untranslatable_char",
        Protocol::GraphqlOverHttp,
        "INVALID_TEXT: a character has no equivalent in the database's encoding \"LATIN1\"",
    );
    check(
        "C22021|Minvalid byte sequence for encoding \"UTF8\": 0xff|Rreport_invalid_encoding",
        Protocol::GraphqlOverHttp,
        "INVALID_TEXT: a text has bytes that the encoding \"UTF8\" does not have",
    );
}

#[test]
fn only_a_server_that_was_not_reached_is_unavailable() {
    let check = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    check(Error::unavailable(refused), "PostgreSQL is unavailable: connection refused");
    check(Error::unavailable("h does not answer"), "PostgreSQL is unavailable: h does not answer");
    let untrusted = io::Error::other("the server does not offer TLS");
    check(Error::unavailable(untrusted), "PostgreSQL cannot be used: the server does not offer TLS");
    let said = DatabaseError::read(b"SFATAL\0C28P01\0Mpassword authentication failed\0\0");
    check(
        Error::unavailable(said),
        "PostgreSQL refuses the connection: FATAL 28P01: password authentication failed",
    );
}

#[test]
fn a_connection_that_breaks_at_the_commit_leaves_a_doubt() {
    let error = Error::Unconfirmed("reset".into());
    let error = source_error(error, Protocol::GraphqlOverHttp, None, &|_| true);
    assert_eq!(error.code(), "WRITE_UNCONFIRMED");
    let expected = format!("WRITE_UNCONFIRMED: {UNCONFIRMED}");
    check("C40003|Mresult is ambiguous", Protocol::GraphqlOverHttp, &expected);
    check("C08007|Mlost", Protocol::GraphqlOverHttp, &expected);
}
