//! The texts of PostgreSQL's `ltree`: paths of labels, `lquery` and `ltxtquery`.
//!
//! Source: PostgreSQL's manual, F.22. What only newer versions take is taken here too: hyphens in labels (16), counts behind labels
//! (13); an older server refuses it itself.
//!
//! **Cost:** one pass over a text, without allocation.

/// Characters of one label.
const LABEL_MAX: usize = 1000;
/// Labels of one path.
const LABELS_MAX: usize = 65_535;
/// Modifiers of a label in a query: `@` any case, `*` any ending, `%` words of a label.
const MODIFIERS: [char; 3] = ['@', '*', '%'];

fn is_letter(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '-')
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= LABEL_MAX && text.chars().all(is_letter)
}

/// True for a path: labels between dots, or nothing.
pub(crate) fn is_path(text: &str) -> bool {
    text.is_empty() || (text.split('.').all(is_label) && text.split('.').count() <= LABELS_MAX)
}

/// True for an `lquery`: items between dots, each `*` or labels between bars, with an optional number of repeats.
pub(crate) fn is_lquery(text: &str) -> bool {
    text.split('.').all(is_item) && text.split('.').count() <= LABELS_MAX
}

fn is_item(item: &str) -> bool {
    let (what, count) = match item.split_once('{') {
        Some((what, count)) => (what, count.strip_suffix('}')),
        None => (item, Some(",")),
    };
    let labels = what.strip_prefix('!').unwrap_or(what);
    let is_what = what == "*" || labels.split('|').all(|it| is_label(it.trim_end_matches(MODIFIERS)));
    is_what && count.is_some_and(is_count)
}

/// `2`, `2,`, `,3`, `2,3` or `,`.
fn is_count(text: &str) -> bool {
    let number = |it: &str| it.parse::<u16>().ok().filter(|_| it.bytes().all(|it| it.is_ascii_digit()));
    match text.split_once(',') {
        None => number(text).is_some(),
        Some((low, high)) => {
            let from = number(low);
            let to = number(high);
            let has_both = (low.is_empty() || from.is_some()) && (high.is_empty() || to.is_some());
            has_both && from.unwrap_or(0) <= to.unwrap_or(u16::MAX)
        }
    }
}

/// True for an `ltxtquery`: labels joined by `&` and `|`, optionally negated by `!`, and groups in parentheses.
pub(crate) fn is_ltxtquery(text: &str) -> bool {
    let mut rest = text;
    let mut open = 0_usize;
    let mut wants_label = true;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return !wants_label && open == 0 };
        match (first, wants_label) {
            ('!', true) => {}
            ('(', true) => open += 1,
            (')', false) if open > 0 => open -= 1,
            ('&' | '|', false) => wants_label = true,
            (_, true) => {
                let end = rest.find(|it| !is_letter(it)).unwrap_or(rest.len());
                if !is_label(&rest[..end]) {
                    return false;
                }
                rest = rest[end..].trim_start_matches(MODIFIERS);
                wants_label = false;
                continue;
            }
            (_, false) => return false,
        }
        rest = &rest[first.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: fn(&str) -> bool, right: &[&str], wrong: &[&str]) {
        right.iter().for_each(|it| assert!(is(it), "{it}"));
        wrong.iter().for_each(|it| assert!(!is(it), "{it}"));
    }

    #[test]
    fn paths_are_labels_between_dots() {
        let long = "a".repeat(LABEL_MAX + 1);
        let wrong = [".", "Top.", ".Top", "Top..L2", "Top L2", "a/b", "{a,b}", &long];
        check(is_path, &["", "Top", "Top.L_2.é-1"], &wrong);
    }

    #[test]
    fn queries_of_paths_are_items_between_dots() {
        let right = [
            "*",
            "Top.*{0,2}.sport*@.!football|tennis{1,}.Russ*|Spain",
            "*.astro*",
            "a%@*",
            "!a|b",
            "*{,}.*{3}.*{,4}",
            "a{2}",
        ];
        let wrong = [
            "", ".", "Top.", "a..b", "Top*!", "!", "a|", "|a", "**", "*a", "*{", "*{}", "*{2,1}", "*{-1}",
            "*{+1}", "*{65536}", "*{1}2", "a b", "a&b", "!*", "!!a", "a{1}{2}",
        ];
        check(is_lquery, &right, &wrong);
    }

    #[test]
    fn queries_of_labels_are_conditions() {
        let right = ["Astro*@ & !pictures", "a", "!(a | b%) & c", "a&b|c", " ( a ) ", "!!a"];
        let wrong = ["", " ", "a b", "a &", "& a", "(a", "a)", "()", "!", "a.b", "*", "a & | b", "a !b"];
        check(is_ltxtquery, &right, &wrong);
    }
}
