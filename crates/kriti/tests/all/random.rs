//! Random documents are read as they were written, and random texts do no harm.

use crate::support::{is_evaluated_within_limits, render};
use proptest::prelude::*;
use weir_language::json::quote;

/// A document: the text of a template, and the JSON that it gives.
type Document = (String, String);

fn joined(parts: &[Document], open: &str, close: &str) -> Document {
    let join = |it: Vec<&str>, comma: &str| format!("{open}{}{close}", it.join(comma));
    let template = join(parts.iter().map(|it| &*it.0).collect(), " , # next\n");
    (template, join(parts.iter().map(|it| &*it.1).collect(), ","))
}

fn leaf() -> impl Strategy<Value = Document> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?";
    prop_oneof![
        Just(("null".to_owned(), "null".to_owned())),
        any::<bool>().prop_map(|it| (it.to_string(), it.to_string())),
        number.prop_map(|it| (it.clone(), it)),
        any::<String>().prop_map(|text| {
            let mut json = String::new();
            quote(&text, &mut json);
            // A brace is escaped, so that no two of them begin an expression.
            (json.replace('{', "\\{"), json)
        }),
        Just(("$body.a.b[1]".to_owned(), "20".to_owned())),
        Just(("$body?.x.y".to_owned(), "null".to_owned())),
    ]
}

fn document() -> impl Strategy<Value = Document> {
    leaf().prop_recursive(6, 60, 5, |inner| {
        let key = "[a-z\"{\\\\é]{0,6}";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|it| joined(&it, "[", "]")),
            prop::collection::btree_map(key, inner.clone(), 0..5).prop_map(|members| {
                let member = |(key, (template, json)): (String, Document)| {
                    let mut quoted = String::new();
                    quote(&key, &mut quoted);
                    (format!("{} : {template}", quoted.replace('{', "\\{")), format!("{quoted}:{json}"))
                };
                joined(&members.into_iter().map(member).collect::<Vec<_>>(), "{", "}")
            }),
            inner.clone().prop_map(|(template, json)| (format!("{{{{ {template} }}}}"), json)),
            inner.clone().prop_map(|(template, json)| (format!("( {template}\t)"), json)),
            inner.clone().prop_map(|(template, json)| (format!("(null) ?? ({template})"), json)),
            inner.clone().prop_map(|(template, json)| {
                (format!("{{{{if 1 < 2}}}} {template} {{{{else}}}} $none {{{{end}}}}"), json)
            }),
            inner.prop_map(|(template, json)| {
                (format!("{{{{range _, x := [1, 2]}}}} {template} {{{{end}}}}"), format!("[{json},{json}]"))
            }),
        ]
    })
}

/// Parts of templates in any order.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{{",
        "}}",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        ".",
        ",",
        ":",
        ":=",
        "?",
        "??",
        "==",
        "!=",
        "<",
        ">=",
        "&&",
        "||",
        " ",
        "\n",
        "#",
        "_",
        "if",
        "elif",
        "else",
        "end",
        "range",
        "in",
        "not",
        "null",
        "true",
        "1",
        "-2.5",
        "x",
        "$body",
        "$body.rows",
        "size",
        "concat",
        "\\",
        "\\u00e9",
        "é",
        "{{if ",
        "{{else}}",
        "{{end}}",
        "{{range _, x := ",
    ]);
    prop::collection::vec(scrap, 0..40).prop_map(|it| it.concat())
}

proptest! {
    #[test]
    fn documents_are_read_as_they_were_written((template, json) in document()) {
        let rendered = render(&template);
        prop_assert_eq!(rendered.as_deref(), Ok(json.as_str()), "{}", template);
    }

    #[test]
    fn json_gives_itself((_, json) in document()) {
        is_evaluated_within_limits(&json);
    }

    #[test]
    fn scraps_are_evaluated_or_refused(text in scraps()) {
        is_evaluated_within_limits(&text);
    }

    #[test]
    fn texts_are_evaluated_or_refused(text in any::<String>()) {
        is_evaluated_within_limits(&text);
    }
}
