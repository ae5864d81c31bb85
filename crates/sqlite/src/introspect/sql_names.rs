//! Names and lists in the statements that SQLite keeps of tables and indexes.

/// The list in parentheses of a CREATE INDEX: where it begins, and where it has ended.
pub(crate) fn find_key_list(sql: &str) -> (usize, usize) {
    let mut at = 0;
    let mut open = None;
    let mut depth = 0_u32;
    while at < sql.len() {
        match sql.as_bytes()[at] {
            b'(' => {
                open.get_or_insert(at);
                depth += 1;
            }
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (open.unwrap_or(at), at + 1);
                }
            }
            _ => {}
        }
        at = find_token_end(sql, at);
    }
    (open.unwrap_or(sql.len()), sql.len())
}

/// All words and quoted names of `sql`, without their quotes.
pub(crate) fn find_names(sql: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    while at < sql.len() {
        let end = find_token_end(sql, at);
        let token = &sql[at..end];
        match token.as_bytes()[0] {
            quote @ (b'"' | b'`' | b'\'') => {
                let quote = char::from(quote).to_string();
                let inner = token[1..].strip_suffix(&quote).unwrap_or(&token[1..]);
                names.push(inner.replace(&quote.repeat(2), &quote));
            }
            b'[' => names.push(token[1..].trim_end_matches(']').to_owned()),
            b'-' | b'/' => {}
            _ => names.push(token.to_owned()),
        }
        at = end;
    }
    names
}

/// The end of the token at `at`: a quoted text or name, a comment, a word, or one other character.
pub(crate) fn find_token_end(sql: &str, at: usize) -> usize {
    let rest = &sql[at..];
    let after =
        |from: usize, end: &str| rest[from..].find(end).map_or(rest.len(), |it| from + it + end.len());
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    let Some(first) = rest.chars().next() else { return at };
    let length = match first {
        '"' | '`' | '\'' => {
            let quote = &rest[..1];
            let mut end = after(1, quote);
            // A doubled quote stands for one.
            while rest[end..].starts_with(quote) {
                end = after(end + 1, quote);
            }
            end
        }
        '[' => after(1, "]"),
        '-' if rest.starts_with("--") => after(2, "\n"),
        '/' if rest.starts_with("/*") => after(2, "*/"),
        it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
        it => it.len_utf8(),
    };
    at + length
}
