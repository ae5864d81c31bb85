//! SDL to a schema by the builder's calls.

use weir_language::ast::{Definition, Document, InputDefinition, List, TypeBody, TypeExpr};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{InputId, Schema, TypeRef};

pub fn schema(sdl: &str) -> Schema {
    let document = parser::parse(sdl, &Limits::NONE).expect("SDL");
    let mut b = SchemaBuilder::new();
    for definition in &document.definitions {
        let Definition::Type(ty) = definition else { continue };
        let name = document.str(ty.name);
        match ty.body {
            TypeBody::Object { interfaces, fields } | TypeBody::Interface { interfaces, fields } => {
                let id = if matches!(ty.body, TypeBody::Object { .. }) {
                    b.object(name, "")
                } else {
                    b.interface(name, "")
                };
                match name {
                    "Query" | "query_root" => {
                        b.query(id);
                    }
                    "Mutation" => {
                        b.mutation(id);
                    }
                    _ => {}
                }
                for interface in document.list(interfaces) {
                    let interface = b.reference(document.str(interface.0));
                    b.implement(interface);
                }
                for field in document.list(fields) {
                    let ty = type_ref(&mut b, &document, field.ty);
                    b.field(document.str(field.name), "", ty);
                    inputs(&mut b, &document, field.arguments, SchemaBuilder::argument);
                }
            }
            TypeBody::Union { members } => {
                b.union(name, "");
                for member in document.list(members) {
                    let member = b.reference(document.str(member.0));
                    b.member(member);
                }
            }
            TypeBody::Enum { values } => {
                b.enumeration(name, "");
                for value in document.list(values) {
                    b.enum_value(document.str(value.name), "");
                }
            }
            TypeBody::Input { fields } => {
                b.input_object(name, "");
                inputs(&mut b, &document, fields, SchemaBuilder::input_field);
            }
            TypeBody::Scalar => {
                b.scalar(name, "", weir_language::schema::ScalarReader::Json);
            }
        }
    }
    b.build().unwrap_or_else(|errors| panic!("{errors:?}"))
}
fn type_ref(b: &mut SchemaBuilder, document: &Document<'_>, ty: TypeExpr) -> TypeRef {
    TypeRef { base: b.reference(document.str(ty.name)), wraps: ty.wraps }
}
fn inputs(
    b: &mut SchemaBuilder,
    document: &Document<'_>,
    list: List<InputDefinition>,
    add: fn(&mut SchemaBuilder, &str, &str, TypeRef) -> InputId,
) {
    for input in document.list(list) {
        let ty = type_ref(b, document, input.ty);
        add(b, document.str(input.name), "", ty);
        if let Some(default) = input.default {
            b.default(document.str(document.value(default).span));
        }
    }
}
