//! Places of the members of a schema in its SDL, by coordinate, for errors.
//!
//! Source: GraphQL specification, section 3.14 (schema coordinates).

use std::collections::HashMap;
use weir_language::ast::{Definition, Document, InputDefinition, List, Name, TypeBody};
use weir_language::span::Span;

/// Places by coordinate: `User`, `User.posts`, `User.posts(first:)`.
pub(crate) struct Places(HashMap<String, Span>);

impl Places {
    pub(crate) fn of(document: &Document<'_>) -> Self {
        let mut places = Self(HashMap::new());
        for definition in &document.definitions {
            let Definition::Type(ty) = definition else { continue };
            let name = document.str(ty.name);
            places.put(name.to_owned(), ty.name);
            match ty.body {
                TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => {
                    for field in document.list(fields) {
                        let coordinate = format!("{name}.{}", document.str(field.name));
                        places.inputs(document, field.arguments, |it| format!("{coordinate}({it}:)"));
                        places.put(coordinate.clone(), field.name);
                    }
                }
                TypeBody::Input { fields } => {
                    places.inputs(document, fields, |it| format!("{name}.{it}"));
                }
                TypeBody::Enum { values } => {
                    for value in document.list(values) {
                        places.put(format!("{name}.{}", document.str(value.name)), value.name);
                    }
                }
                TypeBody::Scalar | TypeBody::Union { .. } => {}
            }
        }
        places
    }

    fn put(&mut self, coordinate: String, place: Name) {
        self.0.entry(coordinate).or_insert(place);
    }

    fn inputs(
        &mut self,
        document: &Document<'_>,
        inputs: List<InputDefinition>,
        coordinate: impl Fn(&str) -> String,
    ) {
        for input in document.list(inputs) {
            self.put(coordinate(document.str(input.name)), input.name);
        }
    }

    /// The place of a coordinate, or of the type that it is in.
    pub(crate) fn find(&self, coordinate: &str) -> Option<Span> {
        let ty = || self.0.get(coordinate.split('.').next()?);
        self.0.get(coordinate).or_else(ty).copied()
    }
}
