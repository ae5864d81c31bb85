//! Depth and nodes of operations as Hasura's `api_limits` count them: fields with a selection set, fragments expanded.
//!
//! **Cost:** one visit per selection of a text that was not seen before; fragments are counted once, whatever spreads them.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use weir_language::ast::{Definition, Document, List, Selection};
use weir_language::limits::Limits;
use weir_language::parser::{self, Edition};

/// Size of the cache of shapes, in bytes.
const SHAPES_BYTES_MAX: u64 = 8 << 20;

/// Root fields that do not count for the depth.
const INTROSPECTION: [&str; 2] = ["__schema", "__type"];

/// Measures of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationShape {
    /// Fields with a selection set on the longest way, without introspection.
    pub(super) depth: u32,
    /// Fields with a selection set.
    pub(super) nodes: u32,
}

/// Operations of a document, each by its name; no shape where one spreads what is not there or spreads itself.
type NamedShapes = Arc<[(Box<str>, Option<OperationShape>)]>;

/// Weight of a cached document.
#[derive(Clone)]
struct ShapeBytes;

impl Weighter<Box<str>, NamedShapes> for ShapeBytes {
    fn weight(&self, text: &Box<str>, shapes: &NamedShapes) -> u64 {
        /// Overhead per cache entry, in bytes; an estimate.
        const ENTRY_BYTES: usize = 128;
        (text.len() + 64 * shapes.len() + ENTRY_BYTES) as u64
    }
}

/// Shapes of the operations of texts.
pub(super) struct OperationShapes {
    known: Cache<Box<str>, NamedShapes, ShapeBytes>,
    limits: Limits,
}

impl OperationShapes {
    /// An empty cache of texts that are parsed within `limits`.
    pub(super) fn new(limits: Limits) -> Self {
        Self { known: Cache::with_weighter(1024, SHAPES_BYTES_MAX, ShapeBytes), limits }
    }

    /// Shape of the operation of `text` that a request chooses; `None` if the engine refuses it.
    pub(super) fn find(&self, text: &str, operation_name: Option<&str>) -> Option<OperationShape> {
        let shapes = match self.known.get(text) {
            Some(shapes) => shapes,
            None => {
                let shapes: NamedShapes = measure(text, &self.limits)?.into();
                self.known.insert(text.into(), Arc::clone(&shapes));
                shapes
            }
        };
        match (operation_name, &*shapes) {
            (None, [only]) => only.1,
            (None, _) => None,
            (Some(name), all) => all.iter().find(|it| &*it.0 == name).and_then(|it| it.1),
        }
    }
}

/// A selection set with what it spreads.
#[derive(Default)]
struct Measured<'t> {
    own: OperationShape,
    /// Fragments, each with the depth of its place; none in introspection.
    spreads: Vec<(&'t str, Option<u32>)>,
}

/// Shapes of all operations of `text`; `None` if it cannot be parsed.
///
/// Each is measured by itself, because Hasura's protocol runs the named one whatever is wrong with the others.
fn measure(text: &str, limits: &Limits) -> Option<Vec<(Box<str>, Option<OperationShape>)>> {
    let document = parser::parse_edition(text, limits, Edition::September2026).ok()?;
    let mut operations = Vec::new();
    let mut fragments = HashMap::new();
    for definition in &document.definitions {
        match definition {
            Definition::Operation(operation) => {
                operations.push((
                    document.str(operation.name),
                    measure_selections(&document, operation.selections),
                ));
            }
            Definition::Fragment(fragment) => {
                fragments
                    .insert(document.str(fragment.name), measure_selections(&document, fragment.selections));
            }
            // Validation refuses them; they add nothing to an operation.
            Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {}
        }
    }
    let totals = total_fragments(&fragments);
    let total = |name: &str| totals.get(name).copied().flatten();
    Some(operations.into_iter().map(|(name, it)| (name.into(), add_spreads(&it, total))).collect())
}

/// Measures `selections` without the fragments that they spread.
fn measure_selections<'t>(document: &Document<'t>, selections: List<Selection>) -> Measured<'t> {
    let mut measured = Measured::default();
    let mut open = vec![(selections, 0, true)];
    while let Some((selections, depth, is_deep)) = open.pop() {
        for selection in document.list(selections) {
            match selection {
                Selection::Field(field) if field.braces => {
                    let is_deep = is_deep && !INTROSPECTION.contains(&document.str(field.name));
                    let depth = if is_deep { depth + 1 } else { 0 };
                    measured.own.nodes += 1;
                    measured.own.depth = measured.own.depth.max(depth);
                    open.push((field.selections, depth, is_deep));
                }
                Selection::Field(_) => {}
                Selection::Inline(inline) => open.push((inline.selections, depth, is_deep)),
                Selection::Spread(spread) => {
                    measured.spreads.push((document.str(spread.name), is_deep.then_some(depth)));
                }
            }
        }
    }
    measured
}

/// `measured` with the totals of its fragments; `None` if one has no total.
fn add_spreads(
    measured: &Measured<'_>,
    total: impl Fn(&str) -> Option<OperationShape>,
) -> Option<OperationShape> {
    measured.spreads.iter().try_fold(measured.own, |sum, (name, depth)| {
        let below = total(name)?;
        // A fragment without objects adds nothing to the way that leads to it.
        let depth = depth.filter(|_| below.depth > 0).map_or(0, |it| it.saturating_add(below.depth));
        Some(OperationShape { depth: sum.depth.max(depth), nodes: sum.nodes.saturating_add(below.nodes) })
    })
}

/// Totals of all fragments; `None` for those that reach themselves or what is not there.
fn total_fragments<'t>(
    fragments: &HashMap<&'t str, Measured<'t>>,
) -> HashMap<&'t str, Option<OperationShape>> {
    let mut totals: HashMap<&'t str, Option<OperationShape>> = HashMap::new();
    for (first, measured) in fragments {
        // Fragments on the way to the current one, each with the place of its next spread.
        let mut way = Vec::new();
        if !totals.contains_key(first) {
            totals.insert(first, None);
            way.push((*first, measured, 0));
        }
        while let Some((name, measured, next)) = way.last_mut() {
            let spread = measured.spreads.get(*next);
            *next += 1;
            match spread {
                Some((below, _)) => {
                    // A fragment on the way has no total yet, so none of those that spread it from below has one.
                    if let Some(measured) = fragments.get(below)
                        && !totals.contains_key(below)
                    {
                        totals.insert(below, None);
                        way.push((below, measured, 0));
                    }
                }
                None => {
                    let total = add_spreads(measured, |it| totals.get(it).copied().flatten());
                    totals.insert(name, total);
                    way.pop();
                }
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth and nodes of the operation of `text` with this name.
    fn check(text: &str, name: Option<&str>, expected: Option<(u32, u32)>) {
        let shapes = OperationShapes::new(Limits::STANDARD);
        let find = || shapes.find(text, name).map(|it| (it.depth, it.nodes));
        assert_eq!([find(), find()], [expected; 2], "{text}");
    }

    #[test]
    fn fields_with_a_set_are_counted() {
        check("{ viewer { name } }", None, Some((1, 1)));
        check("{ viewer { albums { title } } }", None, Some((2, 2)));
        check("{ a { b { c } d { e { f } } } g { h } i }", None, Some((3, 5)));
        check("{ a ... { b { c } ... on T { d { e } } } }", None, Some((1, 2)));
        check("{ a {} }", None, Some((1, 1)));
        check("mutation { a: b { c } d: b { c } }", None, Some((1, 2)));
    }

    #[test]
    fn fragments_count_where_they_are_spread() {
        let text = "query A { a { ...F ...F } } query B { ...G } fragment F on T { b { ...G } } fragment G on T { c { d } }";
        check(text, Some("A"), Some((3, 5)));
        check(text, Some("B"), Some((1, 1)));
        check(text, Some("C"), None);
        check(text, None, None);
        check("{ a { ...F } } fragment F on T { b }", None, Some((1, 1)));
    }

    #[test]
    fn introspection_has_no_depth() {
        check("{ __schema { types { fields { name } } } a { b } }", None, Some((1, 4)));
        let text = "{ __schema { types { ...F } } } fragment F on __Type { ofType { ofType { name } } }";
        check(text, None, Some((0, 4)));
        check("{ i: __type(name: \"A\") { ofType { name } } }", None, Some((0, 2)));
    }

    #[test]
    fn what_the_engine_refuses_has_no_shape() {
        for text in [
            "{",
            "{ ...F }",
            "{ ...F } fragment F on T { ...F }",
            "{ ...F } fragment F on T { a { ...G } } fragment G on T { ...H } fragment H on T { ...F }",
            "type A { a: Int }",
        ] {
            check(text, None, None);
        }
    }

    #[test]
    fn faults_elsewhere_in_a_text_hide_no_operation() {
        for beside in [
            "query B { ...No }",
            "query B { ...F } fragment F on T { ...F }",
            "fragment F on T { a { ...G } } fragment G on T { ...F ...No }",
            "type A { a: Int }",
            "query A { ...No }",
        ] {
            check(
                &format!("query A {{ a {{ ...D }} }} fragment D on T {{ b {{ c }} }} {beside}"),
                Some("A"),
                Some((2, 2)),
            );
        }
        let text = "query A { ...F } query B { ...G } fragment F on T { a { ...G } } fragment G on T { b { c } ...H } fragment H on T { ...I } \
                    fragment I on T { d { ...H } }";
        check(text, Some("A"), None);
        check(text, Some("B"), None);
    }

    #[test]
    fn fragments_that_double_are_counted_without_expansion() {
        let mut text = "{ ...F0 }".to_owned();
        for number in 0..60 {
            let next = number + 1;
            text.push_str(&format!(" fragment F{number} on T {{ a {{ ...F{next} ...F{next} }} }}"));
        }
        text.push_str(" fragment F60 on T { b { c } }");
        check(&text, None, Some((61, u32::MAX)));
    }
}
