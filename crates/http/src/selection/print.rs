//! Prints a selection in canonical form: single spaces, double quotes only where needed.
//!
//! **Invariant:** what is written reads back as the same selection.

use super::{Expr, ExprId, Grammar, Member, Selection, Start, Step, StepKind};

/// Prints `selection`.
pub(super) fn print(selection: &Selection) -> String {
    let mut printer = Printer { selection, out: Vec::new() };
    match selection.expr(selection.root()) {
        Expr::Members(members) => printer.members(members),
        Expr::Null
        | Expr::Bool(_)
        | Expr::Number(_)
        | Expr::Text(_)
        | Expr::Array(_)
        | Expr::Object(_)
        | Expr::Merged(_)
        | Expr::Path { .. }
        | Expr::Coalesce(_)
        | Expr::IfMissing(_) => printer.in_member(selection.root()),
    }
    String::from_utf8(printer.out).unwrap_or_default()
}

struct Printer<'s> {
    selection: &'s Selection,
    out: Vec<u8>,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn key(&mut self, key: &str) {
        if is_word(key) {
            self.push(key);
        } else {
            self.push_quoted(key);
        }
    }

    /// True if `key`, as the beginning of a value, would be read as a literal.
    fn is_literal_name(&self, key: &str) -> bool {
        self.selection.grammar == Grammar::Unified
            && (matches!(key, "true" | "false" | "null") || !is_word(key))
    }

    /// True if `key` with `steps` behind it, as the only entry, would be read as a literal.
    fn is_literal(&self, key: &str, steps: &[Step]) -> bool {
        self.is_literal_name(key) && !matches!(steps.first().map(|it| &it.kind), Some(StepKind::Members(_)))
    }

    /// Prints a string; quotes, backslashes and line ends are escaped.
    fn push_quoted(&mut self, text: &str) {
        self.push("\"");
        for letter in text.chars() {
            match letter {
                '\n' => self.push("\\n"),
                '"' | '\\' => {
                    self.push("\\");
                    self.push(letter.encode_utf8(&mut [0; 4]));
                }
                letter => self.push(letter.encode_utf8(&mut [0; 4])),
            }
        }
        self.push("\"");
    }

    fn members(&mut self, members: &[Member]) {
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.push(" ");
            }
            match (&member.name, self.selection.expr(member.value)) {
                (Some(name), Expr::Path { start: Start::Key(key), steps })
                    if key == name
                        && steps.iter().all(names_itself)
                        && (members.len() > 1 || !self.is_literal(key, steps)) =>
                {
                    self.key(key);
                    self.steps(steps);
                    continue;
                }
                (None, Expr::Path { start: Start::Key(key), steps }) if !member.is_spread => {
                    self.key(key);
                    self.steps(steps);
                    continue;
                }
                (Some(name), _) => {
                    self.key(name);
                    self.push(": ");
                }
                (None, _) if member.is_spread => self.push("... "),
                (None, _) => {}
            }
            self.in_member(member.value);
        }
    }

    /// Prints a value among members.
    fn in_member(&mut self, id: ExprId) {
        match self.selection.expr(id) {
            Expr::Path { start: Start::Value(inner), steps } => {
                self.push("$(");
                self.value(*inner);
                self.push(")");
                self.steps(steps);
            }
            Expr::Path { .. } => self.value(id),
            Expr::Members(members) => {
                self.push("{ ");
                self.members(members);
                self.push(" }");
            }
            Expr::Null
            | Expr::Bool(_)
            | Expr::Number(_)
            | Expr::Text(_)
            | Expr::Array(_)
            | Expr::Object(_)
            | Expr::Merged(_)
            | Expr::Coalesce(_)
            | Expr::IfMissing(_) => {
                self.push("$(");
                self.value(id);
                self.push(")");
            }
        }
    }

    /// Prints a value elsewhere.
    fn value(&mut self, id: ExprId) {
        match self.selection.expr(id) {
            Expr::Null => self.push("null"),
            Expr::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Expr::Number(digits) => self.push(digits),
            Expr::Text(text) => self.push_quoted(text),
            Expr::Array(items) => {
                self.push("[");
                self.list(items);
                self.push("]");
            }
            Expr::Object(members) => {
                self.push("{");
                self.pairs(members);
                self.push("}");
            }
            Expr::Merged(parts) => self.merged(parts),
            Expr::Members(members) => {
                self.push("{ ");
                self.members(members);
                self.push(" }");
            }
            Expr::Path { start, steps } => {
                self.start(start);
                self.steps(steps);
            }
            Expr::Coalesce(choices) => self.choices(choices, " ?? "),
            Expr::IfMissing(choices) => self.choices(choices, " ?! "),
        }
    }

    fn pairs(&mut self, members: &[(Box<str>, ExprId)]) {
        for (at, (key, value)) in members.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.key(key);
            self.push(": ");
            self.operand(*value, false);
        }
    }

    fn merged(&mut self, parts: &[ExprId]) {
        self.push("{");
        for (at, part) in parts.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            match self.selection.expr(*part) {
                Expr::Object(members) if !members.is_empty() => self.pairs(members),
                _ => {
                    self.push("... ");
                    self.operand(*part, true);
                }
            }
        }
        self.push("}");
    }

    fn choices(&mut self, choices: &[ExprId], between: &str) {
        for (at, choice) in choices.iter().enumerate() {
            self.push(if at > 0 { between } else { "" });
            self.operand(*choice, true);
        }
    }

    /// Prints an operand; `tight` adds parentheses around a choice inside a choice.
    fn operand(&mut self, id: ExprId, tight: bool) {
        if tight && matches!(self.selection.expr(id), Expr::Coalesce(_) | Expr::IfMissing(_)) {
            self.in_member(id);
        } else {
            self.value(id);
        }
    }

    fn list(&mut self, items: &[ExprId]) {
        for (at, item) in items.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.operand(*item, false);
        }
    }

    fn start(&mut self, start: &Start) {
        match start {
            Start::Scope => self.push("$"),
            Start::Current => self.push("@"),
            Start::Key(key) if self.is_literal_name(key) => {
                self.push("$.");
                self.key(key);
            }
            Start::Key(key) => self.key(key),
            Start::Local(name) => {
                self.push("$");
                self.push(name);
            }
            Start::Variable(variable) => {
                self.push("$");
                self.push(variable.name());
            }
            Start::Value(id) => {
                self.push("$(");
                self.value(*id);
                self.push(")");
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[ExprId]) {
        self.push("->");
        self.push(name);
        if !arguments.is_empty() {
            self.push("(");
            self.list(arguments);
            self.push(")");
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.kind {
                StepKind::Key(key) => {
                    self.push(".");
                    self.key(key);
                }
                StepKind::Optional => self.push("?"),
                StepKind::Bind { name, value } => {
                    self.push("->as($");
                    self.push(name);
                    if let Some(value) = value {
                        self.push(", ");
                        self.value(*value);
                    }
                    self.push(")");
                }
                StepKind::Call(call) => self.call(call.method.name(), &call.arguments),
                StepKind::UnknownCall { name, arguments } => self.call(name, arguments),
                StepKind::Members(members) => {
                    self.push(" { ");
                    self.members(members);
                    self.push(" }");
                }
            }
        }
    }
}

fn is_word(key: &str) -> bool {
    let mut bytes = key.bytes();
    let starts = bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
    starts && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// True if a name followed by this step still names its member.
pub(super) const fn names_itself(step: &Step) -> bool {
    match step.kind {
        StepKind::Optional | StepKind::Members(_) => true,
        StepKind::Key(_) | StepKind::Bind { .. } | StepKind::Call(_) | StepKind::UnknownCall { .. } => false,
    }
}
