//! One text of a statement for both databases.
//!
//! `$1` is a parameter, a cast such as `::jsonb` holds for PostgreSQL alone, and `{…}` stands for what differs.

/// The databases that hold state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Postgres,
    Sqlite,
}

/// Casts that SQLite does without.
const CASTS: [&str; 7] =
    ["::timestamptz", "::uuid", "::jsonb", "::json", "::integer", "::text", "::interval"];

/// `text` for `dialect`.
pub(super) fn render(text: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (token, after) = behind.split_once('}').unwrap_or((behind, ""));
        out.push_str(before);
        out.push_str(&render_token(token, dialect));
        rest = after;
    }
    out.push_str(rest);
    match dialect {
        Dialect::Postgres => out,
        Dialect::Sqlite => CASTS.iter().fold(out, |out, cast| out.replace(cast, "")).replace('$', "?"),
    }
}

fn render_token(token: &str, dialect: Dialect) -> String {
    const TEXT: &str = "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'";
    let (name, operand) = token.split_once(':').unwrap_or((token, ""));
    match (name, dialect) {
        // The schema of the tables.
        ("hdb", Dialect::Postgres) => "hdb_catalog.".to_owned(),
        ("hdb" | "locked", Dialect::Sqlite) => String::new(),
        // Rows that others hold are passed over.
        ("locked", Dialect::Postgres) => "FOR UPDATE SKIP LOCKED".to_owned(),
        // The text of a time with a zone, and of one in UTC without.
        ("utc", Dialect::Postgres) => format!("to_char({operand} AT TIME ZONE 'UTC', {TEXT})"),
        ("plain", Dialect::Postgres) => format!("to_char({operand}, {TEXT})"),
        ("utc" | "plain", Dialect::Sqlite) => operand.to_owned(),
        // A time for a column without a zone.
        ("to_plain", Dialect::Postgres) => format!("({operand}::timestamptz AT TIME ZONE 'UTC')"),
        ("to_plain", Dialect::Sqlite) => operand.to_owned(),
        // The texts of a JSON list.
        ("each", Dialect::Postgres) => {
            format!("(SELECT value FROM jsonb_array_elements_text({operand}::jsonb) AS each_text(value))")
        }
        ("each", Dialect::Sqlite) => format!("(SELECT value FROM json_each({operand}))"),
        // The time of the lease: that of the database, where servers may be on several machines.
        ("now", Dialect::Postgres) => "clock_timestamp()".to_owned(),
        ("now", Dialect::Sqlite) => operand.to_owned(),
        _ => format!("{{{token}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_for_both() {
        let text =
            "UPDATE {hdb}a SET b = $1::jsonb WHERE c IN {each:$2} AND {utc:d} > $3::timestamptz {locked}";
        let sqlite = "UPDATE a SET b = ?1 WHERE c IN (SELECT value FROM json_each(?2)) AND d > ?3 ";
        assert_eq!(render(text, Dialect::Sqlite), sqlite);
        let postgres = render(text, Dialect::Postgres);
        assert!(
            postgres.starts_with(
                "UPDATE hdb_catalog.a SET b = $1::jsonb WHERE c IN (SELECT value FROM jsonb_array"
            )
        );
        assert!(postgres.ends_with("FOR UPDATE SKIP LOCKED"), "{postgres}");
    }
}
