//! Fragments of one document have different names.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Name-Uniqueness>

use crate::syntax::ast::Fragment;
use crate::validate::rule_context::Context;

/// Reports `fragment`, whose name (number `name`) was taken before.
#[cold]
pub(in crate::validate) fn duplicate(cx: &mut Context<'_>, name: u32, fragment: &Fragment) {
    let first = cx.tables.fragments[cx.fragment_by_name[name as usize] as usize].ast.name;
    let message = format!("There can be only one fragment named \"{}\".", cx.quoted_text(fragment.name));
    cx.report(&[first, fragment.name], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn a_fragment_name_is_used_once() {
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { name }\nfragment F on Artist { id }",
            &["2:10 3:10 There can be only one fragment named \"F\"."],
        );
        check("query A { artist(id: 1) { ...A } }\nfragment A on Artist { name }", &[]);
    }
}
