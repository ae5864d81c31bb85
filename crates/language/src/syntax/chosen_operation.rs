//! Removes every operation but the requested one: Hasura ignores the others, so errors in them must not fail the request.
//!
//! **Cost:** one visit per selection that the operation reaches.

use super::ast::{Definition, Document, List, Selection};
use crate::span::Span;

/// Removes the other operations, and the fragments that only they spread; does nothing unless exactly one has the `name`.
pub fn keep_operation(document: &mut Document<'_>, name: &str) {
    let operations = document.definitions.iter().filter_map(|it| match it {
        Definition::Operation(operation) => Some(*operation),
        Definition::Fragment(_) | Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {
            None
        }
    });
    let (asked, others): (Vec<_>, Vec<_>) = operations.partition(|it| document.str(it.name) == name);
    let [asked] = asked.as_slice() else { return };
    if others.is_empty() {
        return;
    }
    let reached = reachable_fragments(document, asked.selections);
    let span = asked.span;
    let mut fragments = reached.iter();
    document.definitions.retain(|it| match it {
        Definition::Operation(operation) => operation.span == span,
        Definition::Fragment(_) => fragments.next().copied().unwrap_or(true),
        Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => true,
    });
}

/// For each fragment of the document, in its order: true if `selections` spread it, directly or through other fragments.
fn reachable_fragments(document: &Document<'_>, selections: List<Selection>) -> Vec<bool> {
    let fragments: Vec<(Span, List<Selection>)> = document
        .definitions
        .iter()
        .filter_map(|it| match it {
            Definition::Fragment(fragment) => Some((fragment.name, fragment.selections)),
            Definition::Operation(_)
            | Definition::Schema(_)
            | Definition::Type(_)
            | Definition::Directive(_) => None,
        })
        .collect();
    let mut by_name: Vec<(&str, usize)> =
        fragments.iter().enumerate().map(|(at, it)| (document.str(it.0), at)).collect();
    by_name.sort_unstable();
    let mut reached = vec![false; fragments.len()];
    let mut open = vec![selections];
    while let Some(list) = open.pop() {
        for selection in document.list(list) {
            match selection {
                Selection::Field(field) => open.push(field.selections),
                Selection::Inline(inline) => open.push(inline.selections),
                Selection::Spread(spread) => {
                    let name = document.str(spread.name);
                    let first = by_name.partition_point(|it| it.0 < name);
                    // Fragments of one name are both kept, so that validation reports the duplicate.
                    for &(_, at) in by_name[first..].iter().take_while(|it| it.0 == name) {
                        if !std::mem::replace(&mut reached[at], true) {
                            open.push(fragments[at].1);
                        }
                    }
                }
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::syntax::parser::parse;

    fn check(text: &str, name: &str, expected: &[&str]) {
        let mut document = parse(text, &Limits::NONE).expect("the document parses");
        keep_operation(&mut document, name);
        let names = document.definitions.iter().map(|it| match it {
            Definition::Operation(it) => document.str(it.name),
            Definition::Fragment(it) => document.str(it.name),
            Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => "other",
        });
        assert_eq!(names.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn the_operation_and_its_fragments_stay() {
        let text = "fragment F on T { ... on U { ...G } } query A { a { ...F } } fragment G on T { ...F } \
                    query B { ...H } fragment H on T { c } fragment I on T { d }";
        check(text, "A", &["F", "A", "G"]);
        check(text, "B", &["B", "H"]);
        check(text, "C", &["F", "A", "G", "B", "H", "I"]);
        check("query A { ...F } fragment I on T { d }", "A", &["A", "I"]);
        check("query A { a } query A { b } query B { c }", "A", &["A", "A", "B"]);
        check(
            "query A { ...F } query B { b } fragment F on T { a } fragment F on T { b }",
            "A",
            &["A", "F", "F"],
        );
    }
}
