//! Functions, policies and views that read settings of the session: whether these are set when they run.
//!
//! Texts are searched for the call of `current_setting` with a literal; a name that is made up while it runs is not found.

use super::cells::Cells;
use crate::address::CallerSettings;
use weir_relational::catalog::Warning;

/// The statement, whose parameter is the schemas that are served, a `text[]`.
pub const SETTING_READERS: &str = include_str!("setting_readers.sql");

/// Name of the function that reads a setting.
const READS: &str = "current_setting";

/// The warnings about a row of the answer to [`SETTING_READERS`], where transactions have the settings `caller`.
pub fn judge_reader<'r>(
    row: impl Iterator<Item = Option<&'r [u8]>>,
    caller: &CallerSettings,
) -> Vec<Warning> {
    let mut cells = Cells(row);
    let (kind, place, text) = (cells.text(), cells.text(), cells.text());
    judge(&kind, &text, caller).into_iter().map(|reason| Warning::new(place.clone(), reason)).collect()
}

/// A call of `current_setting`.
struct SettingUse<'t> {
    /// Name of the setting, in lower case.
    name: String,
    /// The text before the call.
    before: &'t str,
}

/// The calls in `text` that name their setting.
fn find_uses(text: &str) -> Vec<SettingUse<'_>> {
    // Only ASCII changes, so places stay.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (at, _) in lower.match_indices(READS) {
        let after = lower[at + READS.len()..].trim_start();
        let Some(quoted) = after.strip_prefix('(').map(str::trim_start).and_then(|it| it.strip_prefix('\''))
        else {
            continue;
        };
        if let Some((name, _)) = quoted.split_once('\'') {
            found.push(SettingUse { name: name.to_owned(), before: &text[..at] });
        }
    }
    found
}

/// The reasons for which what has this text finds a setting otherwise than its author may think.
fn judge(kind: &str, text: &str, caller: &CallerSettings) -> Vec<String> {
    let is_secured = caller.row_security.is_some();
    let in_reads = caller.in_reads || is_secured;
    let runs_in_reads = matches!(kind, "function" | "policy" | "view");
    let what = match kind {
        "trigger" => "the trigger function",
        "policy" | "write_policy" => "the policy",
        "view" => "the view",
        _ => "the function",
    };
    let mut reasons: Vec<String> = Vec::new();
    for SettingUse { name, before } in find_uses(text) {
        let reason = match &*name {
            "hasura.user" | "hasura.tracecontext" if runs_in_reads && !in_reads => format!(
                "{what} reads the setting `{name}`, which mutations alone set: set `postgres.session_in_reads: true`"
            ),
            "hasura.user" if kind == "trigger" && reads_json_bare(text, before) => format!(
                "{what} takes `current_setting('{name}', …)` for JSON without `nullif(…, '')`: where another program writes over a connection \
                 that had a session, the setting is an empty text, which is none"
            ),
            "hasura.user" | "hasura.tracecontext" => continue,
            "request.jwt.claims" | "request.headers" if is_secured => continue,
            "request.jwt.claims" | "request.headers" => format!(
                "{what} reads the setting `{name}`, which is not set: configure `postgres.row_level_security`"
            ),
            _ if name.starts_with("request.") => {
                format!(
                    "{what} reads the setting `{name}`, which is not set: read `request.jwt.claims` or `request.headers`"
                )
            }
            _ => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// True if a setting that is read behind `before` may become JSON as it is.
fn reads_json_bare(text: &str, before: &str) -> bool {
    let before = before.trim_end().to_ascii_lowercase();
    let before = before.strip_suffix('(').map_or("", str::trim_end);
    !before.ends_with("nullif") && text.to_ascii_lowercase().contains("json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::RowSecurity;

    fn check(kind: &str, text: &str, caller: &CallerSettings, expected: &[&str]) {
        let found = judge(kind, text, caller);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        found.iter().zip(expected).for_each(|(found, part)| assert!(found.contains(part), "{found}"));
    }

    #[test]
    fn a_setting_that_is_not_set_when_it_is_read_is_told() {
        let mutations = CallerSettings { in_mutations: true, ..CallerSettings::default() };
        let reads = CallerSettings { in_reads: true, ..mutations.clone() };
        let rules = RowSecurity { role_claim: "role".into(), anonymous_role: None, headers: Box::default() };
        let secured = CallerSettings { row_security: Some(rules), ..mutations.clone() };
        let text = "SELECT Current_Setting( 'hasura.user' , 't')::json ->> 'x-hasura-user-id'";
        for kind in ["function", "policy", "view"] {
            check(kind, text, &mutations, &["mutations alone set"]);
            check(kind, text, &reads, &[]);
            check(kind, text, &secured, &[]);
        }
        check("volatile", text, &mutations, &[]);
        check("write_policy", text, &mutations, &[]);
        let claims = "((current_setting('request.jwt.claims', true))::json ->> 'sub')";
        check("policy", claims, &mutations, &["configure `postgres.row_level_security`"]);
        check("trigger", claims, &reads, &["configure `postgres.row_level_security`"]);
        check("policy", claims, &secured, &[]);
        check(
            "policy",
            "current_setting('request.jwt.claim.sub', true)",
            &secured,
            &["which is not set: read"],
        );
        check("function", "current_setting('app.tenant') || current_setting($1)", &mutations, &[]);
    }

    #[test]
    fn a_trigger_that_takes_an_empty_text_for_json_is_told() {
        let mutations = CallerSettings { in_mutations: true, ..CallerSettings::default() };
        let bare = "without `nullif(…, '')`";
        check("trigger", "v json := current_setting('hasura.user', 't');", &mutations, &[bare]);
        check("trigger", "current_setting('hasura.user', true)::jsonb ->> 'a'", &mutations, &[bare]);
        check("trigger", "NULLIF ( current_setting('hasura.user', true), '')::json", &mutations, &[]);
        check("trigger", "new.who := current_setting('hasura.user', true);", &mutations, &[]);
    }
}
