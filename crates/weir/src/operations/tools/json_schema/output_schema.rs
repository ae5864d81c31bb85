//! The schema of a tool's answer: the data of its operation.
//!
//! **Invariant:** what the engine may answer fits: a null where the caller's view has one, no member that is required but may be left out,
//! and no type where two fragments give two.
//!
//! **Cost:** one visit of each field after fragments are expanded, which the limits of documents bound, as they bound the recursion.

use super::scalar_schema::{into_object, output_types};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use weir_language::ast::{Definition, Directive, Document, Fragment, List, Operation, Selection};
use weir_language::schema::{SchemaView, TypeId, TypeKind, TypeRef};
use weir_language::wraps::Wraps;

/// Schema of the data of `operation`, which was validated; `None` if the caller sees no such root.
pub(in crate::operations::tools) fn data_schema(
    view: SchemaView<'_>,
    document: &Document<'_>,
    operation: &Operation,
) -> Option<Map<String, Value>> {
    let root = view.root(operation.kind)?;
    let fragments = document.definitions.iter().filter_map(|it| match it {
        Definition::Fragment(fragment) => Some((document.str(fragment.name), fragment)),
        Definition::Operation(_) | Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {
            None
        }
    });
    let writer = OutputWriter { view, document, fragments: fragments.collect() };
    Some(writer.object(&[(operation.selections, root)]))
}

/// A set of selections on a type, and whether it may not apply.
type OpenSet = (List<Selection>, TypeId, bool);

/// A response key.
struct OutputKey<'t> {
    key: &'t str,
    /// `None` if two fields give different types.
    ty: Option<TypeRef>,
    sets: Vec<(List<Selection>, TypeId)>,
    is_required: bool,
}

struct OutputWriter<'v, 'd> {
    view: SchemaView<'v>,
    document: &'d Document<'d>,
    fragments: HashMap<&'d str, &'d Fragment>,
}

impl<'d> OutputWriter<'_, 'd> {
    /// Schema of an object with all of `sets`.
    fn object(&self, sets: &[(List<Selection>, TypeId)]) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for OutputKey { key, ty, sets, is_required } in self.collect(sets) {
            let schema = ty.map(|it| self.value(it, it.wraps, &sets)).unwrap_or_default();
            properties.insert(key.to_owned(), schema.into());
            if is_required {
                required.push(key.into());
            }
        }
        let mut schema = into_object(json!({ "type": "object", "properties": properties }));
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        schema
    }

    /// The response keys of `sets`, in the order in which they are written.
    fn collect(&self, sets: &[(List<Selection>, TypeId)]) -> Vec<OutputKey<'d>> {
        let mut found: Vec<OutputKey<'d>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        // The last is taken first, so sets are kept in reverse.
        let mut open: Vec<(&Selection, TypeId, bool)> = Vec::new();
        let push = |open: &mut Vec<(&'d Selection, TypeId, bool)>, (list, parent, may_lack): OpenSet| {
            open.extend(self.document.list(list).iter().rev().map(|it| (it, parent, may_lack)));
        };
        sets.iter().rev().for_each(|(list, parent)| push(&mut open, (*list, *parent, false)));
        while let Some((selection, parent, may_lack)) = open.pop() {
            match selection {
                Selection::Field(field) => {
                    let key = self.document.str(field.key());
                    let may_lack = may_lack || self.is_conditional(field.directives);
                    let ty = self.field_type(parent, self.document.str(field.name));
                    let place = *places.entry(key).or_insert_with(|| {
                        found.push(OutputKey { key, ty, sets: Vec::new(), is_required: false });
                        found.len() - 1
                    });
                    let entry = &mut found[place];
                    entry.is_required |= !may_lack;
                    entry.ty = entry.ty.filter(|it| Some(*it) == ty);
                    entry.sets.extend(ty.map(|it| (field.selections, it.base)));
                }
                Selection::Inline(inline) => {
                    let on = self.document.str(inline.on);
                    let (on, may_not_apply) = self.narrow(parent, on);
                    let may_lack = may_lack || may_not_apply || self.is_conditional(inline.directives);
                    push(&mut open, (inline.selections, on, may_lack));
                }
                Selection::Spread(spread) => {
                    let Some(fragment) = self.fragments.get(self.document.str(spread.name)) else { continue };
                    let (on, may_not_apply) = self.narrow(parent, self.document.str(fragment.on));
                    let may_lack = may_lack || may_not_apply || self.is_conditional(spread.directives);
                    push(&mut open, (fragment.selections, on, may_lack));
                }
            }
        }
        found
    }

    /// The type that a fragment on `on` selects from in `parent`, and whether some objects of `parent` are not of it.
    fn narrow(&self, parent: TypeId, on: &str) -> (TypeId, bool) {
        match self.view.type_by_name(on).filter(|it| *it != parent) {
            None => (parent, false),
            // A validated fragment on an abstract type applies to each object below which it is allowed.
            Some(on) => (on, self.view.ty(parent).kind != TypeKind::Object),
        }
    }

    /// True if a directive may leave the selection out.
    fn is_conditional(&self, directives: List<Directive>) -> bool {
        let mut names = self.document.list(directives).iter().map(|it| self.document.str(it.name));
        names.any(|it| it == "skip" || it == "include")
    }

    fn field_type(&self, parent: TypeId, name: &str) -> Option<TypeRef> {
        if name == "__typename" {
            return Some(self.view.field_type(self.view.meta().typename));
        }
        self.view.field_by_name(parent, name).map(|it| self.view.field_type(it))
    }

    /// Schema of a value of `ty` within the lists of `wraps`.
    fn value(&self, ty: TypeRef, wraps: Wraps, sets: &[(List<Selection>, TypeId)]) -> Map<String, Value> {
        let is_nullable = !wraps.is_non_null();
        if let Some(item) = wraps.item() {
            let mut schema = into_object(json!({ "type": "array", "items": self.value(ty, item, sets) }));
            set_types(&mut schema, &["array"], is_nullable);
            return schema;
        }
        let mut schema = Map::new();
        match self.view.ty(ty.base).kind {
            TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
                schema = self.object(sets);
                set_types(&mut schema, &["object"], is_nullable);
            }
            TypeKind::Enum => set_types(&mut schema, &["string"], is_nullable),
            TypeKind::Scalar(reader) => {
                set_types(&mut schema, output_types(self.view.type_name(ty.base), reader), is_nullable);
            }
            TypeKind::Input { .. } => {}
        }
        schema
    }
}

/// Sets the types of a schema; none: any value fits.
fn set_types(schema: &mut Map<String, Value>, types: &[&str], is_nullable: bool) {
    let null = is_nullable.then_some("null");
    let all: Vec<&str> = types.iter().copied().chain(null.filter(|_| !types.is_empty())).collect();
    match all.as_slice() {
        [] => {}
        [one] => _ = schema.insert("type".into(), (*one).into()),
        several => _ = schema.insert("type".into(), several.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::limits::Limits;
    use weir_language::parser;
    use weir_language::schema::Schema;

    const SDL: &str = "scalar Any
        interface Named { name: String! }
        type Boat implements Named { name: String!, crew(limit: Int): [Person!]!, kind: Hull, any: Any }
        type Person implements Named { name: String!, age: Int }
        union Thing = Boat | Person
        enum Hull { SAIL }
        type Query { boat: Boat, things: [Thing], named: Named! }";

    fn check(operation: &str, expected: Value) {
        let schema = Schema::from_sdl(SDL).expect("it is sound");
        let document = parser::parse(operation, &Limits::NONE).expect("it is GraphQL");
        let Some(Definition::Operation(parsed)) = document.definitions.first() else { panic!("{operation}") };
        let found = data_schema((&schema).into(), &document, parsed).expect("there is a root");
        assert_eq!(Value::Object(found), expected, "{operation}");
    }

    fn object(types: Value, properties: Value, required: &[&str]) -> Value {
        let mut schema = json!({ "type": types, "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    #[test]
    fn objects_have_the_keys_of_the_answer() {
        let crew = object(
            json!("object"),
            json!({ "name": { "type": "string" }, "age": { "type": ["integer", "null"] } }),
            &["name"],
        );
        let boat = object(
            json!(["object", "null"]),
            json!({
                "title": { "type": "string" },
                "crew": { "type": "array", "items": crew },
                "kind": { "type": ["string", "null"] },
                "any": {},
                "__typename": { "type": "string" },
            }),
            &["title", "crew", "kind", "any", "__typename"],
        );
        check(
            "query ($a: Boolean!) { boat { title: name crew(limit: 1) { name } crew(limit: 1) { age @include(if: $a) } kind any __typename } }",
            object(json!("object"), json!({ "boat": boat }), &["boat"]),
        );
    }

    #[test]
    fn keys_of_fragments_that_may_not_apply_are_not_required() {
        let named = object(
            json!("object"),
            json!({ "name": { "type": "string" }, "kind": { "type": ["string", "null"] } }),
            &["name"],
        );
        check(
            "{ named { ...N ... on Boat { kind } } } fragment N on Named { name }",
            object(json!("object"), json!({ "named": named }), &["named"]),
        );
        let thing = object(json!(["object", "null"]), json!({ "x": {}, "name": { "type": "string" } }), &[]);
        check(
            "{ things { ... on Boat { x: kind ... on Named { name } } ... on Person { x: age } } }",
            object(
                json!("object"),
                json!({ "things": { "type": ["array", "null"], "items": thing } }),
                &["things"],
            ),
        );
    }
}
