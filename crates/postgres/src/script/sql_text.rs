//! Cuts a text of SQL into statements, as psql does: semicolons in quotes, comments, parentheses and bodies of functions end none.
//!
//! **Invariant:** a piece ends behind its beginning, so each walk ends; bytes of a text are never changed.

/// Kind of a piece of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// A literal or a name in quotes; without its end if it has none.
    Quoted,
    Comment,
    /// A word: a name or keyword.
    Word,
    Blank,
    /// One other character.
    Sign(u8),
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The end of the piece of `sql` that begins at `at`, for readers of lines: quotes may go over several.
pub fn end_of_piece(sql: &str, at: usize) -> usize {
    piece(sql.as_bytes(), at).1
}

/// The piece at `at`, which is within the text, and its end.
fn piece(sql: &[u8], at: usize) -> (Piece, usize) {
    let next = sql.get(at + 1).copied();
    match sql[at] {
        b'\'' => (Piece::Quoted, find_quote_end(sql, at + 1, b'\'', false)),
        b'e' | b'E' if next == Some(b'\'') => (Piece::Quoted, find_quote_end(sql, at + 2, b'\'', true)),
        b'"' => (Piece::Quoted, find_quote_end(sql, at + 1, b'"', false)),
        b'-' if next == Some(b'-') => {
            let length = sql[at..].iter().position(|it| *it == b'\n');
            (Piece::Comment, length.map_or(sql.len(), |it| at + it))
        }
        b'/' if next == Some(b'*') => (Piece::Comment, after_comment(sql, at + 2)),
        b'$' => match tag(&sql[at..]) {
            Some(tag) => {
                let body = at + tag.len();
                let length = sql[body..].windows(tag.len()).position(|it| it == tag);
                (Piece::Quoted, length.map_or(sql.len(), |it| body + it + tag.len()))
            }
            None => (Piece::Sign(b'$'), at + 1),
        },
        byte if is_word(byte) => {
            // A dollar within a word belongs to it and begins no quote.
            let length = sql[at..].iter().position(|it| !is_word(*it) && *it != b'$');
            (Piece::Word, length.map_or(sql.len(), |it| at + it))
        }
        byte if byte.is_ascii_whitespace() => (Piece::Blank, at + 1),
        byte => (Piece::Sign(byte), at + 1),
    }
}

/// The position behind the closing `quote` of the piece open at `at`; a doubled quote begins another piece.
fn find_quote_end(sql: &[u8], mut at: usize, quote: u8, escapes: bool) -> usize {
    while at < sql.len() && sql[at] != quote {
        at += if escapes && sql[at] == b'\\' { 2 } else { 1 };
    }
    // Behind an escape, a doubled quote goes on with escapes.
    if escapes && sql.get(at + 1) == Some(&quote) {
        return after_doubled(sql, at + 2, quote);
    }
    (at + 1).min(sql.len())
}

/// The place behind the `quote` that closes a text with escapes, behind a doubled quote.
fn after_doubled(sql: &[u8], mut at: usize, quote: u8) -> usize {
    while at < sql.len() {
        match sql[at] {
            b'\\' => at += 2,
            byte if byte == quote && sql.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    sql.len()
}

/// The place behind a comment that is open at `at`; comments nest.
fn after_comment(sql: &[u8], mut at: usize) -> usize {
    let mut depth = 1_usize;
    while depth > 0 && at < sql.len() {
        (depth, at) = match (sql[at], sql.get(at + 1)) {
            (b'*', Some(b'/')) => (depth - 1, at + 2),
            (b'/', Some(b'*')) => (depth + 1, at + 2),
            _ => (depth, at + 1),
        };
    }
    at.min(sql.len())
}

/// The tag with which a quoted text begins, if one does: `$$`, `$body$`.
fn tag(sql: &[u8]) -> Option<&[u8]> {
    let length = 1 + sql[1..].iter().position(|it| !is_word(*it))?;
    let is_tag = sql[length] == b'$' && !sql[1].is_ascii_digit();
    is_tag.then(|| &sql[..=length])
}

/// The first word of `sql`; empty if it begins with something else.
pub fn first_word(sql: &str) -> &str {
    let mut at = 0;
    while at < sql.len() {
        match piece(sql.as_bytes(), at) {
            (Piece::Comment | Piece::Blank, end) => at = end,
            (Piece::Word, end) => return &sql[at..end],
            (Piece::Quoted | Piece::Sign(_), _) => break,
        }
    }
    ""
}

/// The statements of `sql`, without semicolons; a part without words and signs is not a statement.
pub fn statements(sql: &str) -> Vec<&str> {
    let bytes = sql.as_bytes();
    let mut found = Vec::new();
    let mut statement = Progress::default();
    let mut at = 0;
    let mut begin = 0;
    while at < bytes.len() {
        let (kind, end) = piece(bytes, at);
        if statement.take(kind, &sql[at..end]) {
            if statement.is_some {
                found.push(sql[begin..at].trim());
            }
            (begin, statement) = (end, Progress::default());
        }
        at = end;
    }
    if statement.is_some {
        found.push(sql[begin..].trim());
    }
    found
}

/// The part of a statement that has been read.
#[derive(Default)]
struct Progress {
    /// True if there is more than blanks and comments.
    is_some: bool,
    parentheses: usize,
    /// Number of words so far, up to the few that name the created object.
    words: usize,
    /// True of a statement that creates something.
    creates: bool,
    /// True of a function or procedure, whose body may hold statements.
    is_routine: bool,
    /// Blocks `BEGIN … END` and `CASE … END` that are open in such a body.
    blocks: usize,
}

impl Progress {
    /// Takes the next piece; true if it ends the statement.
    fn take(&mut self, kind: Piece, text: &str) -> bool {
        match kind {
            Piece::Blank | Piece::Comment => return false,
            Piece::Sign(b';') if self.parentheses == 0 && self.blocks == 0 => return true,
            Piece::Sign(b'(') => self.parentheses += 1,
            Piece::Sign(b')') => self.parentheses = self.parentheses.saturating_sub(1),
            Piece::Word => self.word(text),
            Piece::Sign(_) | Piece::Quoted => {}
        }
        self.is_some = true;
        false
    }

    fn word(&mut self, word: &str) {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        self.creates |= self.words == 0 && is("create");
        // `CREATE FUNCTION`, `CREATE OR REPLACE FUNCTION`.
        self.is_routine |= self.creates && self.words <= 3 && (is("function") || is("procedure"));
        self.words += 1;
        if self.is_routine && self.parentheses == 0 {
            match () {
                () if is("begin") => self.blocks += 1,
                () if self.blocks > 0 && is("case") => self.blocks += 1,
                () if is("end") => self.blocks = self.blocks.saturating_sub(1),
                () => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(sql: &str, expected: &[&str]) {
        assert_eq!(statements(sql), expected, "{sql}");
    }

    #[test]
    fn a_semicolon_ends_a_statement_where_it_stands_alone() {
        check("", &[]);
        check(" ; -- nothing; here\n/* nor; /* here; */ */;", &[]);
        check("SELECT 1; SELECT 2", &["SELECT 1", "SELECT 2"]);
        check("SELECT 'a;''b;'; SELECT \";\"", &["SELECT 'a;''b;'", "SELECT \";\""]);
        check(
            r"SELECT E'a\';b'';c\\'; SELECT 'a\'; SELECT 3",
            &[r"SELECT E'a\';b'';c\\'", r"SELECT 'a\'", "SELECT 3"],
        );
        check("DO $$ BEGIN; END $$; SELECT $a$;$b$;$a$", &["DO $$ BEGIN; END $$", "SELECT $a$;$b$;$a$"]);
        check("SELECT a$b$; SELECT $1; SELECT 2", &["SELECT a$b$", "SELECT $1", "SELECT 2"]);
        check(
            "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3",
            &["CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)", "SELECT 3"],
        );
        check("BEGIN; SELECT 1; END; SELECT 2", &["BEGIN", "SELECT 1", "END", "SELECT 2"]);
        let body = "CREATE OR REPLACE FUNCTION f(a int) RETURNS int BEGIN ATOMIC SELECT CASE a WHEN 1 THEN 2 END; SELECT 3; END";
        check(&format!("{body}; SELECT 4;"), &[body, "SELECT 4"]);
        check("SELECT 'open; SELECT 2", &["SELECT 'open; SELECT 2"]);
        check("/* why; */ SELECT 1 -- end;\n;", &["/* why; */ SELECT 1 -- end;"]);
    }

    proptest! {
        #[test]
        fn every_text_is_cut(sql in "[a-z;'\"$ \\\\/*\\-()éE\n]{0,60}") {
            let mut rest = sql.as_str();
            for statement in statements(&sql) {
                let at = rest.find(statement);
                prop_assert!(at.is_some(), "{statement} is not in {rest}");
                rest = &rest[at.unwrap_or(0) + statement.len()..];
            }
        }
    }
}
