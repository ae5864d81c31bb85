//! Conditions that can fail by the row, and values on which they do: for the walls of errors.

use crate::role_kit::side::Database;
use crate::wall_kit::ask::Random;
use serde_json::Value;

/// Texts of rows that are seen: no pattern takes long on them.
pub(crate) const SEEN: &[&str] = &["b", "ab", "b c", "note"];

/// Texts on which a pattern may end in its lone escape, or take very many steps.
pub(crate) const HIDDEN: &[&str] = &[
    "secret",
    "x",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "s\\",
];

const LIKES: &[&str] = &["secre\\", "%\\", "x\\", "\\", "b%", "%c", "s\\\\\\", "se\\%", "_\\"];
const REGEXES: &[&str] = &[
    "(",
    "^(a|aa)+\\1b$",
    "((a*)*)*\\1b",
    "^(a+)(a+)(a+)(a+)(a+)(a+)(a+)(a+)\\1\\2\\3\\4\\5\\6\\7\\8b$",
    "^(?=.*e)(.)\\1?s",
    "[z-a]",
    "a{2,3}",
    "^b",
    "b$|c",
    "*a",
    "a\\",
    "(?!b).",
];
const SIMILARS: &[&str] = &["(b|c)%", "%\\", "[b", "a{2", "_", "s(e|f)%\\"];

/// Writes conditions that can fail.
pub(crate) struct Fallible<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) database: Database,
}

impl Fallible<'_> {
    fn pick(&mut self, of: &[&str]) -> String {
        of[self.random.below(of.len() as u32) as usize].to_owned()
    }

    pub(crate) fn text(&mut self) -> String {
        let (operators, patterns): (&[&str], _) = match self.random.below(4) {
            0 | 1 => (&["_like", "_nlike", "_ilike", "_nilike"], LIKES),
            2 => (&["_regex", "_nregex", "_iregex", "_niregex"], REGEXES),
            _ => (&["_similar", "_nsimilar"], SIMILARS),
        };
        let operator = self.pick(operators);
        let pattern = self.pick(patterns);
        format!("{{{operator}: {}}}", Value::String(pattern))
    }

    fn document(&mut self) -> String {
        match (self.random.below(4), self.database) {
            (0, _) => "{_has_key: \"a\"}".to_owned(),
            (1, _) => "{_has_keys_any: [\"a\", \"b\"]}".to_owned(),
            (2, _) => "{_has_keys_all: [\"a\"]}".to_owned(),
            (_, Database::Postgres) => format!("{{_cast: {{String: {}}}}}", self.text()),
            (_, Database::Sqlite) => "{_contains: \"{}\"}".to_owned(),
        }
    }

    /// A condition on notes.
    pub(crate) fn note(&mut self, depth: u32) -> String {
        if depth == 0 {
            return format!("{{body: {}}}", self.text());
        }
        match self.random.below(12) {
            0 | 1 => format!("{{body: {}}}", self.text()),
            2 => format!("{{doc: {}}}", self.document()),
            3 => format!("{{marks: {}}}", self.mark(depth - 1)),
            4 => format!("{{person: {}}}", self.person(depth - 1)),
            5 => format!("{{_not: {}}}", self.note(depth - 1)),
            6 => format!("{{_or: [{}, {}]}}", self.note(depth - 1), self.note(depth - 1)),
            7 => format!("{{_and: [{}, {{owner_id: {{_eq: 1}}}}]}}", self.note(depth - 1)),
            8 => self.predicate("marks_aggregate", "weight", "avg"),
            9 => self.predicate("marks_aggregate", "weight", "sum"),
            _ if self.database == Database::Sqlite => format!("{{body: {}, size: {{_gt: 0}}}}", self.text()),
            _ => match self.random.below(10) {
                0 => "{inverse: {_gt: 1}}".to_owned(),
                1 => "{inverse: {_is_null: true}}".to_owned(),
                2 => "{raw: {_eq: {a: 1}}}".to_owned(),
                3 => format!("{{folded: {}}}", self.text()),
                4 => "{_not: {numbers: {_contains: [1]}}}".to_owned(),
                5 => "{room: {_eq: \"(1,1),(0,0)\"}}".to_owned(),
                6..=8 => self.shape(),
                _ => "{path: {_matches: \"*.a.*{1,}.b\"}}".to_owned(),
            },
        }
    }

    /// A condition on shapes on a plane or on the globe, of which some fail where the systems of both differ.
    fn shape(&mut self) -> String {
        let point = r#"{type: "Point", coordinates: [1, 2]}"#;
        let plane = |by: &str| format!("{{shape: {{{by}: {point}}}}}");
        let near = |by: &str| format!("{{{by}: {{distance: 1, from: {point}}}}}");
        match self.random.below(14) {
            0 => plane("_eq"),
            1 => format!("{{shape: {{_in: [{point}]}}}}"),
            2 => plane("_st_contains"),
            3 => plane("_st_crosses"),
            4 => plane("_st_equals"),
            5 => plane("_st_intersects"),
            6 => plane("_st_overlaps"),
            7 => plane("_st_touches"),
            8 => plane("_st_within"),
            9 => plane("_st_3d_intersects"),
            10 => format!(
                "{{shape: {}}}",
                near(["_st_d_within", "_st_3d_d_within"][self.random.below(2) as usize])
            ),
            11 => format!("{{shape: {{_cast: {{geography: {}}}}}}}", near("_st_d_within")),
            12 => format!("{{spot: {}}}", near("_st_d_within")),
            _ => {
                format!("{{spot: {{_st_intersects: {point}, _cast: {{geometry: {{_st_within: {point}}}}}}}}}")
            }
        }
    }

    /// A condition by a function over related rows.
    fn predicate(&mut self, field: &str, column: &str, function: &str) -> String {
        let bound = self.random.below(3);
        format!("{{{field}: {{{function}: {{arguments: {column}, predicate: {{_gt: {bound}}}}}}}}}")
    }

    pub(crate) fn mark(&mut self, depth: u32) -> String {
        match self.random.below(3) {
            0 if depth > 0 => format!("{{note: {}}}", self.note(depth - 1)),
            _ => format!("{{label: {}}}", self.text()),
        }
    }

    pub(crate) fn person(&mut self, depth: u32) -> String {
        match self.random.below(4) {
            0 if depth > 0 => format!("{{notes: {}}}", self.note(depth - 1)),
            1 => self.predicate("notes_aggregate", "size", "sum"),
            _ => format!("{{name: {}}}", self.text()),
        }
    }
}

/// A literal of a condition as the JSON of a variable.
pub(crate) fn write_json(literal: &str) -> String {
    let mut out = String::new();
    let mut rest = literal;
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let length = match first {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|it| {
                    let is_end = it == '"' && !escaped;
                    escaped = it == '\\' && !escaped;
                    is_end
                });
                end.expect("a text ends") + 2
            }
            it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            it => it.len_utf8(),
        };
        let token = &rest[..length];
        let is_name =
            is_word(first) && !first.is_ascii_digit() && !matches!(token, "true" | "false" | "null");
        out.push_str(&if is_name { format!("\"{token}\"") } else { token.to_owned() });
        rest = &rest[length..];
    }
    out
}
