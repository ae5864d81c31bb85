//! Strings as literals.
//!
//! **Invariant:** decoding what is written gives the text again; for block strings if [`is_block_printable`] holds
//! or the text was a block string's value.
//! Source: graphql-js, `printString` and `printBlockString`.

pub use crate::string_value::write_graphql as string;

/// Appends `text` as a `"""…"""` literal, its lines ended by `\n` and not indented.
pub fn block_string(text: &str, out: &mut String) {
    let is_blank = |line: &str| matches!(line.bytes().next(), None | Some(b' ' | b'\t'));
    let single = !text.contains(['\n', '\r']);
    // Else the first line would lend its lack of indentation to no one, and the others would lose theirs.
    let leading = !single && text.split(['\n', '\r']).skip(1).all(is_blank);
    let triple_at_end = text.ends_with(r#"""""#);
    let trailing = text.ends_with('\\') || text.ends_with('"') && !triple_at_end;
    let tall = !single || trailing || leading || triple_at_end || text.encode_utf16().nth(70).is_some();
    out.push_str(r#"""""#);
    if tall && !(single && text.starts_with([' ', '\t'])) || leading {
        out.push('\n');
    }
    let mut rest = text;
    while let Some(at) = rest.find(r#"""""#) {
        out.push_str(&rest[..at]);
        out.push_str(r#"\""""#);
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    if tall {
        out.push('\n');
    }
    out.push_str(r#"""""#);
}

/// True if the block string of `text` decodes to `text` again.
#[must_use]
pub fn is_block_printable(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let control = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\n');
    if text.bytes().any(control) {
        return false;
    }
    let is_empty = |line: &str| line.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    let mut lines = text.split('\n');
    let first_is_empty = lines.next().is_none_or(is_empty);
    let last_is_empty = lines.next_back().map_or(first_is_empty, is_empty);
    let indented = |line: &str| is_empty(line) || line.starts_with([' ', '\t']);
    !(first_is_empty || last_is_empty || text.contains('\n') && text.split('\n').all(indented))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, quoted: &str, block: &str, printable: bool) {
        let mut short = String::new();
        let mut tall = String::new();
        string(text, &mut short);
        block_string(text, &mut tall);
        assert_eq!((short.as_str(), tall.as_str()), (quoted, block));
        assert_eq!(is_block_printable(text), printable, "{text:?}");
        assert_eq!(crate::string_value::decode(&short), text);
        assert_eq!(crate::string_value::decode(&tall) == text, printable, "{text:?}");
    }

    #[test]
    fn strings_are_printed_as_graphql_js_prints_them() {
        check("", r#""""#, r#""""""""#, true);
        check("a\"b\\", r#""a\"b\\""#, "\"\"\"\na\"b\\\n\"\"\"", true);
        check("a\nb", r#""a\nb""#, "\"\"\"\na\nb\n\"\"\"", true);
        check(" a", r#"" a""#, "\"\"\" a\"\"\"", true);
        check("a\n b", r#""a\n b""#, "\"\"\"\na\n b\n\"\"\"", true);
        check("\n", r#""\n""#, "\"\"\"\n\n\n\"\"\"", false);
        check("a\n", r#""a\n""#, "\"\"\"\na\n\n\"\"\"", false);
        check("say \"\"\"", r#""say \"\"\"""#, "\"\"\"\nsay \\\"\"\"\n\"\"\"", true);
    }
}
