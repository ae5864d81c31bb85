//! Cleans the output of `pg_dump`: without comments, empty lines, session settings and psql commands.
//!
//! **Invariant:** a line within quotes or between `COPY … FROM stdin` and its end is data and stays.

use weir_postgres::script::sql_text::end_of_piece;

/// Prefixes of session settings.
const SETTINGS: [&str; 12] = [
    "SET statement_timeout = ",
    "SET lock_timeout = ",
    "SET idle_in_transaction_session_timeout = ",
    "SET transaction_timeout = ",
    "SET client_encoding = ",
    "SET standard_conforming_strings = ",
    "SET xmloption = ",
    "SET client_min_messages = ",
    "SET row_security = ",
    "SET default_tablespace = ",
    "SET default_with_oids = ",
    "SET default_table_access_method = ",
];
/// Lines that fail on a server that is not empty, or that hide its schemas from the session.
const LINES: [&str; 3] = [
    "SELECT pg_catalog.set_config('search_path', '', false);",
    "CREATE SCHEMA public;",
    "COMMENT ON SCHEMA public IS 'standard public schema';",
];

/// `dump` without these lines.
pub(super) fn strip_noise(dump: &str) -> String {
    let mut out = String::with_capacity(dump.len());
    let mut at = 0;
    while at < dump.len() {
        let line = dump[at..].split_once('\n').map_or(&dump[at..], |it| it.0);
        let mut end = at + line.len();
        if is_noise(line) {
            at = end + 1;
            continue;
        }
        // A quoted text may span several lines.
        let mut piece = at;
        while piece < end {
            piece = end_of_piece(dump, piece);
        }
        if piece > end {
            end = dump[piece..].find('\n').map_or(dump.len(), |it| piece + it);
        }
        if line.starts_with("COPY ") && line.ends_with(" FROM stdin;") {
            end = dump[end..].find("\n\\.\n").map_or(dump.len(), |it| end + it + 3);
        }
        out.push_str(&dump[at..end]);
        out.push('\n');
        at = end + 1;
    }
    out
}

fn is_noise(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("--")
        // psql commands.
        || line.starts_with("\\restrict ")
        || line.starts_with("\\unrestrict ")
        || LINES.contains(&line)
        || SETTINGS.iter().any(|it| line.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_goes_and_data_stays() {
        let dump = "--\n-- PostgreSQL database dump\n--\n\n\\restrict k\n\nSET lock_timeout = 0;\nSET check_function_bodies = false;\n\
            SELECT pg_catalog.set_config('search_path', '', false);\nCREATE SCHEMA public;\nCREATE SCHEMA stock;\n\n\
            CREATE FUNCTION f() RETURNS text\n    LANGUAGE sql\n    AS $$\n-- mine\n\nSELECT 'a';\n$$;\n\n\
            INSERT INTO a VALUES ('one\n\n-- two\nSET lock_timeout = 0;\n', 'é''');\n\n\
            COPY b (c) FROM stdin;\nit's\n\n-- three\n\\.\n\n\\unrestrict k\n";
        let expected = "SET check_function_bodies = false;\nCREATE SCHEMA stock;\n\
            CREATE FUNCTION f() RETURNS text\n    LANGUAGE sql\n    AS $$\n-- mine\n\nSELECT 'a';\n$$;\n\
            INSERT INTO a VALUES ('one\n\n-- two\nSET lock_timeout = 0;\n', 'é''');\n\
            COPY b (c) FROM stdin;\nit's\n\n-- three\n\\.\n";
        assert_eq!(strip_noise(dump), expected);
        assert_eq!(strip_noise(""), "");
        assert_eq!(strip_noise("SELECT 'open"), "SELECT 'open\n");
    }
}
