//! CHECK clauses in the statement of a table, which SQLite tells by no pragma.

use super::sql_names::find_token_end;

/// A CHECK of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckClause {
    /// The name that CONSTRAINT gives it.
    pub name: Option<String>,
    /// `CHECK (price > 0)`, as the statement has it.
    pub definition: String,
}

/// All CHECK clauses of `sql`, a CREATE TABLE, in their order.
pub fn find_check_clauses(sql: &str) -> Vec<CheckClause> {
    let mut clauses = Vec::new();
    // The two words before the current one decide whether a clause has a name.
    let mut before: [&str; 2] = ["", ""];
    let mut depth = 0_u32;
    let mut at = 0;
    while at < sql.len() {
        let end = find_token_end(sql, at);
        let token = &sql[at..end];
        let is_gap = token.trim().is_empty() || token.starts_with("--") || token.starts_with("/*");
        match token {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        // Deeper than the list of columns stands an expression, whose words are no clauses.
        if depth == 1
            && token.eq_ignore_ascii_case("check")
            && let Some(close) = find_close(sql, end)
        {
            let name = before[0].eq_ignore_ascii_case("constraint").then(|| unquote(before[1]));
            clauses.push(CheckClause { name, definition: sql[at..close].to_owned() });
            before = ["", ""];
            at = close;
            continue;
        }
        if !is_gap {
            before = [before[1], token];
        }
        at = end;
    }
    clauses
}

/// The end of the parentheses that begin behind `from`; nothing if another token comes first.
fn find_close(sql: &str, from: usize) -> Option<usize> {
    let mut depth = 0_u32;
    let mut at = from;
    while at < sql.len() {
        let end = find_token_end(sql, at);
        match &sql[at..end] {
            "(" => depth += 1,
            ")" if depth == 1 => return Some(end),
            ")" => depth = depth.checked_sub(1)?,
            token => {
                let is_gap = token.trim().is_empty() || token.starts_with("--") || token.starts_with("/*");
                if depth == 0 && !is_gap {
                    return None;
                }
            }
        }
        at = end;
    }
    None
}

fn unquote(name: &str) -> String {
    let Some(first) = name.chars().next().filter(|it| matches!(it, '"' | '`' | '\'' | '[')) else {
        return name.to_owned();
    };
    let quote = if first == '[' { ']' } else { first };
    let inner = name[1..].strip_suffix(quote).unwrap_or(&name[1..]);
    if first == '[' {
        inner.to_owned()
    } else {
        inner.replace(&quote.to_string().repeat(2), &quote.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: &[(Option<&str>, &str)]) {
        let found = find_check_clauses(sql);
        let found: Vec<_> = found.iter().map(|it| (it.name.as_deref(), it.definition.as_str())).collect();
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn checks_are_found_with_their_names_and_nothing_else_is() {
        check("CREATE TABLE t (a INTEGER CHECK (a > 0), b)", &[(None, "CHECK (a > 0)")]);
        check(
            "CREATE TABLE t (a, b, CONSTRAINT \"a \"\"or\"\" b\" check(a IN (1, 2) OR b = ')'), CHECK (b))",
            &[(Some("a \"or\" b"), "check(a IN (1, 2) OR b = ')')"), (None, "CHECK (b)")],
        );
        check("CREATE TABLE t (a DEFAULT ('check (1)'), \"check\" TEXT) -- CHECK (a)", &[]);
        check(
            "CREATE TABLE t (a CONSTRAINT small /* really */ CHECK\n-- why\n(a < 9) NOT NULL)",
            &[(Some("small"), "CHECK\n-- why\n(a < 9)")],
        );
        check("CREATE TABLE t (a CHECK (a > 0", &[]);
        check("CREATE TABLE t (a AS (check (1)))", &[]);
    }
}
