//! Refusals of PostgreSQL with an ambiguous code: the message gives a remedy, and names nothing.
//!
//! They are known by the routine of the server, as its messages are translated.

use weir_postgres::error::DatabaseError;

/// A refusal as clients receive it: code, Hasura's code, and message.
pub(super) type ExplainedRefusal = (&'static str, &'static str, String);

const NOT_POPULATED: &str = "the materialized view was never filled: refresh it first";
const REPLICA_IDENTITY: &str = "the table's changes are published and its rows have no identity there: give the table a replica identity";
const NO_PATTERNS: &str =
    "the database matches no pattern and no part of a text by a collation that is not deterministic";
const ROW_SECURITY: &str = "new row violates a row-level security policy";
const SEQUENCE: &str = "the login at the database may not use the sequence of a column: grant it USAGE";
const RIGHT: &str = "the login at the database lacks a right that the request needs: the log names it";
const NO_UPSERT: &str = "a table or view with rules takes no `on_conflict`";
const NO_RETURNING: &str =
    "the rule that does the change of the view gives no rows back: it needs a RETURNING clause";

/// Routines that match a text with a pattern or look for a part of it.
const MATCHERS: &[&str] =
    &["GenericMatchText", "Generic_Text_IC_like", "pg_set_regex_collation", "text_position_setup"];

/// Explains `error`, if its cause is known.
pub(super) fn explain_refusal(error: &DatabaseError) -> Option<ExplainedRefusal> {
    let refusal = |code, hasura, words: &str| Some((code, hasura, words.to_owned()));
    match (&error.sqlstate, &*error.routine) {
        (b"55000", "ExecOpenScanRelation") => refusal("DATABASE_ERROR", "unexpected", NOT_POPULATED),
        (b"55000", "CheckCmdReplicaIdentity") => refusal("DATABASE_ERROR", "unexpected", REPLICA_IDENTITY),
        (b"42501", "ExecWithCheckOptions") => refusal("CHECK_VIOLATION", "permission-error", ROW_SECURITY),
        (b"42501", "nextval_internal") => refusal("DATABASE_ERROR", "unexpected", SEQUENCE),
        (b"42501", _) => refusal("DATABASE_ERROR", "unexpected", RIGHT),
        (b"0A000", "RewriteQuery") if error.message.contains("ON CONFLICT") => {
            refusal("NOT_SUPPORTED", "not-supported", NO_UPSERT)
        }
        (b"0A000", "RewriteQuery") => refusal("NOT_SUPPORTED", "not-supported", NO_RETURNING),
        (b"0A000", routine) if MATCHERS.contains(&routine) => {
            refusal("NOT_SUPPORTED", "not-supported", NO_PATTERNS)
        }
        _ => None,
    }
}

/// Words for a text that the database's encoding cannot hold: the encoding is named, the text is not.
pub(super) fn explain_encoding(error: &DatabaseError) -> Option<String> {
    let mut names = error.message.split('"').skip(1).step_by(2);
    match &*error.routine {
        "report_untranslatable_char" => {
            let encoding = names.nth(1)?;
            Some(format!("a character has no equivalent in the database's encoding \"{encoding}\""))
        }
        "report_invalid_encoding" => {
            let encoding = names.next()?;
            Some(format!("a text has bytes that the encoding \"{encoding}\" does not have"))
        }
        _ => None,
    }
}
