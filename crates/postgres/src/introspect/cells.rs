//! Reads rows in PostgreSQL's text format, column after column.
//!
//! **Invariant:** a row that is not as it was asked for gives empty values, never a panic: catalogs of compatible databases are
//! emulated, and what they leave out must not take the rest along.

/// The columns of one row that are not read yet.
pub(crate) struct Cells<'r, I: Iterator<Item = Option<&'r [u8]>>>(pub(crate) I);

impl<'r, I: Iterator<Item = Option<&'r [u8]>>> Cells<'r, I> {
    fn next(&mut self) -> Option<&'r str> {
        self.0.next().flatten().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// A text; null is empty.
    pub(crate) fn text(&mut self) -> String {
        self.next().unwrap_or_default().to_owned()
    }

    /// The first letter of a text.
    pub(crate) fn letter(&mut self) -> char {
        self.next().and_then(|text| text.chars().next()).unwrap_or(' ')
    }

    /// A number; 0 for null and for numbers out of range.
    pub(crate) fn number(&mut self) -> u32 {
        self.next().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// A number that may be missing.
    pub(crate) fn count(&mut self) -> Option<u64> {
        self.next().and_then(|text| text.parse().ok())
    }

    /// A boolean.
    pub(crate) fn flag(&mut self) -> bool {
        self.letter() == 't'
    }

    /// An array of texts; a null in it is empty.
    pub(crate) fn texts(&mut self) -> Vec<String> {
        items(self.next().unwrap_or("{}"))
    }

    /// An array of numbers.
    pub(crate) fn numbers(&mut self) -> Vec<u32> {
        self.texts().iter().map(|text| text.parse().unwrap_or(0)).collect()
    }
}

/// The items of an array's text form, of one dimension: `{a,"b, \"c\"",NULL}`, or `[0:1]={a,b}`.
/// Source: PostgreSQL's manual, section 8.15.6.
fn items(text: &str) -> Vec<String> {
    let start = if text.starts_with('[') { text.find("={").map_or(0, |at| at + 1) } else { 0 };
    let inner = text[start..].strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    let mut items = Vec::new();
    let mut rest = inner.chars();
    while !rest.as_str().is_empty() {
        let mut item = String::new();
        if rest.as_str().starts_with('"') {
            rest.next();
            while let Some(c) = rest.next().filter(|&c| c != '"') {
                item.extend(if c == '\\' { rest.next() } else { Some(c) });
            }
            rest.next();
        } else {
            item.extend(rest.by_ref().take_while(|&c| c != ','));
            if item == "NULL" {
                item.clear();
            }
        }
        items.push(item);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(items(text), expected, "{text}");
    }

    #[test]
    fn arrays_are_read_from_their_text_form() {
        check("{}", &[]);
        check("{a,b c,}", &["a", "b c"]);
        check(
            r#"{"a, b","c \"d\" \\ {e}",NULL,"NULL","",🎸}"#,
            &["a, b", r#"c "d" \ {e}"#, "", "NULL", "", "🎸"],
        );
        check("[0:1]={701,25}", &["701", "25"]);
        check("nonsense", &[]);
    }

    #[test]
    fn a_row_that_ends_early_gives_empty_values() {
        let mut cells = Cells([Some(&b"x"[..]), None].into_iter());
        assert_eq!((cells.text(), cells.text(), cells.number()), ("x".into(), String::new(), 0));
        assert_eq!((cells.count(), cells.flag(), cells.texts()), (None, false, Vec::new()));
    }
}
