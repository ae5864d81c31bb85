//! No fragment spreads itself, directly or through others.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spreads-Must-Not-Form-Cycles>

use crate::span::Span;
use crate::validate::rule_context::{Context, Edge};

/// A fragment on the way down.
struct FragmentFrame {
    fragment: u32,
    /// Places in [`Context::edges`].
    next: u32,
    end: u32,
}

/// State of the search for a fragment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// On the way down, at this depth.
    Open(u32),
    Done,
}

/// Reports cycles. Without any, the fragments in an order in which each comes after those it spreads.
pub(in crate::validate) fn document(cx: &mut Context<'_>) -> Option<Vec<u32>> {
    let count = cx.fragment_scopes.len();
    let mut marks = vec![Mark::Unseen; count];
    let mut order = Vec::with_capacity(count);
    let mut has_cycle = false;
    let mut stack: Vec<FragmentFrame> = Vec::new();
    // The spread that led to each fragment on the way but the first.
    let mut path: Vec<Edge> = Vec::new();
    for root in 0..count as u32 {
        if marks[root as usize] == Mark::Unseen {
            push(cx, root, &mut stack, &mut marks);
        }
        while let Some(top) = stack.last_mut() {
            if top.next == top.end {
                marks[top.fragment as usize] = Mark::Done;
                order.push(top.fragment);
                stack.pop();
                path.pop();
                continue;
            }
            let edge = cx.edges[top.next as usize];
            top.next += 1;
            match marks[edge.fragment as usize] {
                Mark::Done => {}
                Mark::Open(depth) => {
                    has_cycle = true;
                    report(cx, &path[depth as usize..], edge);
                    if cx.is_full() {
                        return None;
                    }
                }
                Mark::Unseen => {
                    path.push(edge);
                    push(cx, edge.fragment, &mut stack, &mut marks);
                }
            }
        }
    }
    (!has_cycle).then_some(order)
}

fn push(cx: &Context<'_>, fragment: u32, stack: &mut Vec<FragmentFrame>, marks: &mut [Mark]) {
    let run = cx.fragment_scopes[fragment as usize].edges;
    marks[fragment as usize] = Mark::Open(stack.len() as u32);
    stack.push(FragmentFrame { fragment, next: run.start, end: run.start + run.len });
}

/// `way`: the spreads between the fragment that `last` closes the cycle to and the one `last` stands in.
#[cold]
fn report(cx: &mut Context<'_>, way: &[Edge], last: Edge) {
    let spans: Vec<Span> = way.iter().chain([&last]).take(20).map(|&edge| span(cx, edge)).collect();
    let name = cx.quoted_text(cx.tables.fragments[last.fragment as usize].ast.name);
    let mut via = String::new();
    for edge in way {
        via.push_str(if via.is_empty() { " via " } else { ", " });
        via.push_str(&format!(
            "\"{}\"",
            cx.quoted_text(cx.tables.fragments[edge.fragment as usize].ast.name)
        ));
        // Bound the message: a cycle may have thousands of names.
        if via.len() > 1000 {
            via.push_str(", ...");
            break;
        }
    }
    cx.report(&spans, format!("Cannot spread fragment \"{name}\" within itself{via}."));
}

fn span(cx: &Context<'_>, edge: Edge) -> Span {
    match cx.document.selections[edge.selection as usize] {
        crate::syntax::ast::Selection::Spread(spread) => spread.span,
        crate::syntax::ast::Selection::Field(field) => field.span,
        crate::syntax::ast::Selection::Inline(inline) => inline.span,
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn every_cycle_is_told_with_its_way() {
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { name ...F }",
            &["2:29 Cannot spread fragment \"F\" within itself."],
        );
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { ...G }\nfragment G on Artist { ...H }\nfragment H on Artist { ...F }",
            &["2:24 3:24 4:24 Cannot spread fragment \"F\" within itself via \"G\", \"H\"."],
        );
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { ...G ...H }\nfragment G on Artist { ...F }\nfragment H on Artist { ...F }",
            &[
                "2:24 3:24 Cannot spread fragment \"F\" within itself via \"G\".",
                "2:29 4:24 Cannot spread fragment \"F\" within itself via \"H\".",
            ],
        );
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { ...G }\nfragment G on Artist { ...H }\nfragment H on Artist { ...G }",
            &["3:24 4:24 Cannot spread fragment \"G\" within itself via \"H\"."],
        );
    }

    #[test]
    fn meeting_twice_is_no_cycle() {
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { ...H ...G }\nfragment G on Artist { ...H }\nfragment H on Artist { name }",
            &[],
        );
    }
}
