//! Documents of the grammar, chosen by bytes: a fuzzer that changes a byte changes one choice.

/// Choices left to make. Once the bytes are used up every choice is the first, so that all texts end.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
    out: String,
}

const NAMES: [&str; 12] =
    ["a", "b", "id", "on", "query", "type", "input", "fragment", "Album", "T", "_", "a_long_name_of_a_field"];
const STRINGS: [&str; 9] = [
    r#""""#,
    r#""x""#,
    r#""\"\\\n\u00e9\u{1F600}\ud83d\ude00""#,
    "\"\"\"\n  block\n\n    more\n  \"\"\"",
    "\"\"\"a \\\"\"\" b\"\"\"",
    "\"\"\" indented\n  second\"\"\"",
    "\"\"\"ends with \\\n\"\"\"",
    "\"a text that is long enough for a line with two of it to be broken, or so it is hoped\"",
    "\"\u{7F}\u{85}é\u{200B}\"",
];
const LOCATIONS: [&str; 4] = ["FIELD", "QUERY", "OBJECT", "VARIABLE_DEFINITION"];

/// A document; of executable definitions if `executable`, else of the type system.
pub(crate) fn document(bytes: &[u8], executable: bool) -> String {
    let mut choices = Choices { bytes: bytes.iter(), out: String::new() };
    for _ in 0..=choices.below(3) {
        if executable {
            choices.executable()
        } else {
            choices.type_system()
        }
        choices.out.push('\n');
    }
    choices.out
}

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.bytes.next().map_or(0, |&byte| byte as usize % count)
    }

    fn maybe(&mut self) -> bool {
        self.below(3) == 1
    }

    fn pick(&mut self, texts: &[&str]) {
        let text = texts[self.below(texts.len())];
        self.out.push_str(text);
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self) {
        self.pick(&NAMES);
    }

    /// `open`, one to four of `item`, `close`.
    fn some(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self)) {
        self.put(open);
        for _ in 0..=self.below(4) {
            item(self);
            self.pick(&[" ", ", ", "\n", " # comment\r\n"]);
        }
        self.put(close);
    }

    fn description(&mut self) {
        if self.maybe() {
            self.pick(&STRINGS);
            self.put(" ");
        }
    }

    fn value(&mut self, depth: usize, constant: bool) {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => self.pick(&["0", "-12", "9007199254740993"]),
            1 => self.pick(&["1.5", "-0.0", "1e400", "2E-7"]),
            2 => self.pick(&STRINGS),
            3 => self.pick(&["true", "false", "null"]),
            4 if !constant => {
                self.put("$");
                self.name();
            }
            4 | 5 => self.name(),
            6 => self.some("[", "]", |choices| choices.value(depth - 1, constant)),
            _ => self.some("{", "}", |choices| {
                choices.name();
                choices.put(":");
                choices.value(depth - 1, constant);
            }),
        }
    }

    fn arguments(&mut self, constant: bool) {
        if self.maybe() {
            self.some("(", ")", |choices| {
                choices.name();
                choices.put(": ");
                choices.value(3, constant);
            });
        }
    }

    fn directives(&mut self, constant: bool) {
        while self.maybe() {
            self.put(" @");
            self.name();
            self.arguments(constant);
        }
        self.put(" ");
    }

    fn selections(&mut self, depth: usize) {
        self.some("{", "}", |choices| match choices.below(5) {
            0 => choices.name(),
            1 => {
                choices.put("...f");
                choices.name();
                choices.directives(false);
            }
            2 if depth > 0 => {
                choices.put("... ");
                if choices.maybe() {
                    choices.put("on ");
                    choices.name();
                }
                choices.directives(false);
                choices.selections(depth - 1);
            }
            _ => {
                if choices.maybe() {
                    choices.name();
                    choices.put(": ");
                }
                choices.name();
                choices.arguments(false);
                choices.directives(false);
                if depth > 0 && choices.maybe() {
                    choices.selections(depth - 1);
                }
            }
        });
    }

    fn type_expr(&mut self) {
        let lists = self.below(3);
        self.out.extend(std::iter::repeat_n("[", lists));
        self.name();
        for _ in 0..lists {
            self.pick(&["]", "!]"]);
        }
        self.pick(&["", "!"]);
    }

    fn default(&mut self) {
        if self.maybe() {
            self.put(" = ");
            self.value(3, true);
        }
    }

    fn executable(&mut self) {
        match self.below(4) {
            0 => self.selections(4),
            1 => {
                self.description();
                self.put("fragment f");
                self.name();
                self.put(" on ");
                self.name();
                self.directives(false);
                self.selections(4);
            }
            _ => {
                self.description();
                self.pick(&["query ", "mutation ", "subscription "]);
                if self.maybe() {
                    self.name();
                }
                if self.maybe() {
                    self.some("(", ")", |choices| {
                        choices.description();
                        choices.put("$");
                        choices.name();
                        choices.put(": ");
                        choices.type_expr();
                        choices.default();
                        choices.directives(true);
                    });
                }
                self.directives(false);
                self.selections(4);
            }
        }
    }

    fn input(&mut self) {
        self.description();
        self.name();
        self.put(": ");
        self.type_expr();
        self.default();
        self.directives(true);
    }

    fn fields(&mut self) {
        if self.maybe() {
            self.put(" implements ");
            self.name();
            self.pick(&["", " & T", " & T & b"]);
        }
        self.directives(true);
        self.some("{", "}", |choices| {
            choices.description();
            choices.name();
            if choices.maybe() {
                choices.some("(", ")", Self::input);
            }
            choices.put(": ");
            choices.type_expr();
            choices.directives(true);
        });
    }

    fn type_system(&mut self) {
        let kinds = if self.maybe() {
            self.put("extend ");
            6
        } else {
            self.description();
            7
        };
        match self.below(kinds) {
            0 => self.some("schema {", "}", |choices| choices.put("query: T")),
            1 => {
                self.pick(&["type ", "interface "]);
                self.name();
                self.fields();
            }
            2 => {
                self.put("union ");
                self.name();
                self.directives(true);
                self.pick(&["= a", "= | a | b", "= T | Album | a"]);
            }
            3 => {
                self.put("enum ");
                self.name();
                self.directives(true);
                self.some("{", "}", |choices| {
                    choices.description();
                    choices.name();
                    choices.directives(true);
                });
            }
            4 => {
                self.put("input ");
                self.name();
                self.directives(true);
                self.some("{", "}", Self::input);
            }
            5 => {
                self.put("scalar ");
                self.name();
                self.put(" @a");
            }
            _ => self.directive_definition(),
        }
    }

    fn directive_definition(&mut self) {
        self.put("directive @");
        self.name();
        if self.maybe() {
            self.some("(", ")", Self::input);
        }
        self.pick(&[" on ", " repeatable on | "]);
        self.pick(&LOCATIONS);
        self.pick(&["", " | ENUM"]);
    }
}
