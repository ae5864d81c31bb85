//! The normal form of an executable document: two texts have the same one if they differ in nothing but white space, commas,
//! comments, the spelling of strings, and fields `__typename`, which client libraries add by themselves.
//!
//! Source: Hasura v2's allow list, which compares documents this way.
//!
//! **Cost:** one more pass of the lexer over a text that was parsed; only the result is allocated.

use super::ast::{Document, Selection};
use super::lexer::{Lexer, TokenKind};
use crate::span::Span;
use crate::string_value;

/// The tokens of `document` without fields `__typename`, each followed by a line feed.
pub fn normal_form(document: &Document<'_>) -> String {
    let mut skipped: Vec<Span> = document.selections.iter().filter_map(|it| typename(document, it)).collect();
    skipped.sort_unstable_by_key(|it| it.start);
    let mut skipped = skipped.into_iter().peekable();
    let text = document.text;
    let mut out = String::with_capacity(text.len());
    let mut lexer = Lexer::new(text);
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::Eof || token.kind == TokenKind::Bad {
            return out;
        }
        while skipped.next_if(|it| it.end <= token.start).is_some() {}
        if skipped.peek().is_some_and(|it| it.start <= token.start) {
            continue;
        }
        let raw = Span::new(token.start, token.end).of(text);
        match token.kind {
            TokenKind::String | TokenKind::Block => {
                string_value::write_json(&string_value::decode(raw), &mut out)
            }
            _ => out.push_str(raw),
        }
        out.push('\n');
    }
}

/// The span of a field `__typename`.
fn typename(document: &Document<'_>, selection: &Selection) -> Option<Span> {
    match selection {
        Selection::Field(field) => (document.str(field.name) == "__typename").then_some(field.span),
        Selection::Spread(_) | Selection::Inline(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::syntax::parser::parse;

    fn form(text: &str) -> String {
        normal_form(&parse(text, &Limits::NONE).unwrap_or_else(|error| panic!("{text}: {error:?}")))
    }

    #[test]
    fn layout_comments_and_typename_do_not_matter() {
        let plain = form("query A($a: [Int!] = [1, 2]) { b(c: $a) { d e: f } ...F } fragment F on Q { g }");
        for other in [
            "query A($a:[Int!]=[1 2]){b(c:$a){d,e:f}...F}fragment F on Q{g}",
            "# a\nquery A($a: [Int!] = [1, 2]) { __typename b(c: $a) { d __typename e: f } ...F }\n# b\nfragment F on Q { g t: __typename @skip(if: false) }",
            "\u{feff}query A($a: [Int!] = [1, 2]) { b(c: $a) { __typename d e: f t: __typename } ... F }, fragment F on Q { __typename g }",
        ] {
            assert_eq!(form(other), plain, "{other}");
        }
        assert_eq!(form("{ ... on A { __typename b } }"), form("{ ... on A { b } }"));
    }

    #[test]
    fn everything_else_matters() {
        let plain = form("query A($a: Int = 1) { b(c: $a, d: \"1\") { e f } }");
        for other in [
            "query B($a: Int = 1) { b(c: $a, d: \"1\") { e f } }",
            "query ($a: Int = 1) { b(c: $a, d: \"1\") { e f } }",
            "query A($b: Int = 1) { b(c: $b, d: \"1\") { e f } }",
            "query A($a: Int = 2) { b(c: $a, d: \"1\") { e f } }",
            "query A($a: Int) { b(c: $a, d: \"1\") { e f } }",
            "query A($a: Int = 1) { b(d: \"1\", c: $a) { e f } }",
            "query A($a: Int = 1) { b(c: $a, d: 1) { e f } }",
            "query A($a: Int = 1) { b(c: $a, d: \"1\") { f e } }",
            "query A($a: Int = 1) { b(c: $a, d: \"1\") { e g: f } }",
            "query A($a: Int = 1) { b(c: $a, d: \"1\") { e f @skip(if: true) } }",
            "query A($a: Int = 1) { b(c: $a, d: \"1\") { e f } } query B { b }",
            "subscription A($a: Int = 1) { b(c: $a, d: \"1\") { e f } }",
        ] {
            assert_ne!(form(other), plain, "{other}");
        }
        assert_ne!(form("{ a }"), form("query { a }"));
        assert_ne!(form("{ a { __typename } }"), form("{ a }"));
        assert_ne!(form(r#"{ a(b: "x\"\n}") }"#), form(r#"{ a(b: "x") }"#));
    }

    #[test]
    fn strings_are_compared_by_their_values() {
        assert_eq!(form(r#"{ a(b: "x\u0079 \"z\" \\ a") }"#), form(r#"{ a(b: """xy "z" \ a""") }"#));
    }

    /// Texts of random shape: other layout and `__typename` anywhere keep the normal form; another name
    /// somewhere changes it.
    #[test]
    fn random_documents_keep_their_form_under_all_that_does_not_matter() {
        let mut random = Random(7);
        for _ in 0..500 {
            let document = random.document();
            let plain = form(&document.replace("__T", "").replace("__W", " "));
            for _ in 0..4 {
                let typename =
                    ["", " __typename ", ",t:__typename@skip(if:true)\n", " __typename __typename "];
                let white = [" ", "\n", " , ", " #c\n", "\t"];
                let varied: String = document
                    .split("__")
                    .map(|piece| match piece.split_at_checked(1) {
                        Some(("T", rest)) => format!("{}{rest}", typename[random.below(4)]),
                        Some(("W", rest)) => format!("{}{rest}", white[random.below(5)]),
                        _ => piece.to_owned(),
                    })
                    .collect();
                assert_eq!(form(&varied), plain, "{varied}");
                assert_ne!(form(&varied.replacen("f0", "g0", 1)), plain, "{varied}");
            }
        }
    }

    /// A generator of numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % end as u64) as usize
        }
        /// A document in which `__T` marks places for `__typename`, and `__W` white space.
        fn document(&mut self) -> String {
            let mut out = "query__WA{__Tf0".to_owned();
            let mut depth = 1;
            for number in 1..2 + self.below(12) {
                match self.below(5) {
                    0 if depth < 6 => {
                        out.push_str("{__T__Wx");
                        depth += 1;
                    }
                    1 if depth < 6 => {
                        out.push_str("__W...__Won__WT{__Tx");
                        depth += 1;
                    }
                    2 if depth > 1 => {
                        out.push_str("__W__T}");
                        depth -= 1;
                        out.push_str(&format!("__Wf{number}"));
                    }
                    3 => out.push_str(&format!("__Wa{number}:f(b:\"c #{number}\"__Wd:[1__W2])")),
                    _ => out.push_str(&format!("__Wf{number}")),
                }
            }
            out.push_str(&"__T}".repeat(depth));
            out
        }
    }
}
