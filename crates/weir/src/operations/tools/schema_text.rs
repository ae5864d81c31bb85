//! Types as SDL, as a caller sees them, for the tools that look at the schema.
//!
//! **Invariant:** a text is at most as long as its bound; what is left out is said.

use std::collections::HashSet;
use std::collections::VecDeque;
use weir_language::schema::{FieldId, InputId, Run, SchemaView, TypeId, TypeKind, TypeRef};

/// Appends the type `id`.
pub(super) fn write_type(view: SchemaView<'_>, id: TypeId, out: &mut String) {
    let ty = view.ty(id);
    write_description(view.str(ty.description), "", out);
    let name = view.type_name(id);
    match ty.kind {
        TypeKind::Scalar(_) => out.push_str(&format!("scalar {name}\n")),
        TypeKind::Union => {
            let members: Vec<&str> = view.possible_types(id).map(|it| view.type_name(it)).collect();
            out.push_str(&format!("union {name} = {}\n", members.join(" | ")));
        }
        TypeKind::Enum => {
            out.push_str(&format!("enum {name} {{\n"));
            for value in view.enum_values(id).map(|it| view.enum_value(it)) {
                write_description(view.str(value.description), "  ", out);
                out.push_str(&format!("  {}\n", view.str(value.name)));
            }
            out.push_str("}\n");
        }
        TypeKind::Input { one_of } => {
            let mark = if one_of { " @oneOf" } else { "" };
            out.push_str(&format!("input {name}{mark} {{\n"));
            for input in view.inputs(ty.members) {
                write_description(view.str(view.input(input).description), "  ", out);
                out.push_str(&format!("  {}\n", input_text(view, input)));
            }
            out.push_str("}\n");
        }
        TypeKind::Object | TypeKind::Interface => {
            let keyword = if ty.kind == TypeKind::Object { "type" } else { "interface" };
            let interfaces: Vec<&str> = view.interfaces(id).map(|it| view.type_name(it)).collect();
            let implements = if interfaces.is_empty() {
                String::new()
            } else {
                format!(" implements {}", interfaces.join(" & "))
            };
            out.push_str(&format!("{keyword} {name}{implements} {{\n"));
            for field in view.fields(id) {
                write_description(view.str(view.field(field).description), "  ", out);
                out.push_str(&format!("  {}\n", field_text(view, field)));
            }
            out.push_str("}\n");
        }
    }
}

/// A field with its arguments and type.
pub(super) fn field_text(view: SchemaView<'_>, field: FieldId) -> String {
    let arguments = arguments_text(view, view.field(field).arguments);
    let ty = view.type_text(view.field_type(field));
    format!("{}{arguments}: {ty}", view.field_name(field))
}

fn arguments_text(view: SchemaView<'_>, arguments: Run) -> String {
    let all: Vec<String> = view.inputs(arguments).map(|it| input_text(view, it)).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}

fn input_text(view: SchemaView<'_>, input: InputId) -> String {
    let found = view.input(input);
    let default = found.default.map(|it| format!(" = {}", view.str(it.literal))).unwrap_or_default();
    format!("{}: {}{default}", view.str(found.name), view.type_text(found.ty))
}

/// Appends a description on one line, as a comment.
fn write_description(description: &str, indent: &str, out: &mut String) {
    for line in description.lines().map(str::trim).filter(|it| !it.is_empty()) {
        out.push_str(&format!("{indent}# {line}\n"));
    }
}

/// The type `id` and those that it leads to in `depth` steps, in at most `bytes_max` bytes.
pub(super) fn write_types(view: SchemaView<'_>, id: TypeId, depth: u32, bytes_max: usize) -> String {
    let mut seen = HashSet::from([id]);
    let mut pending = VecDeque::from([(id, 0)]);
    let mut out = String::new();
    let mut left_out: Vec<&str> = Vec::new();
    while let Some((id, level)) = pending.pop_front() {
        let mut text = String::new();
        write_type(view, id, &mut text);
        if out.len() + text.len() > bytes_max {
            left_out.push(view.type_name(id));
            continue;
        }
        out.push_str(&text);
        out.push('\n');
        if level < depth {
            let next = next_types(view, id).into_iter().filter(|it| seen.insert(it.base));
            pending.extend(next.map(|it| (it.base, level + 1)));
        }
    }
    if !left_out.is_empty() {
        let count = left_out.len();
        left_out.truncate(20);
        out.push_str(&format!("# {count} types are left out, such as: {}\n", left_out.join(", ")));
    }
    out
}

/// Types of the members of `id`, but scalars, whose names say all.
fn next_types(view: SchemaView<'_>, id: TypeId) -> Vec<TypeRef> {
    let ty = view.ty(id);
    let mut found = Vec::new();
    match ty.kind {
        TypeKind::Object | TypeKind::Interface => {
            for field in view.fields(id) {
                found.push(view.field_type(field));
                found.extend(view.inputs(view.field(field).arguments).map(|it| view.input(it).ty));
            }
        }
        TypeKind::Input { .. } => found.extend(view.inputs(ty.members).map(|it| view.input(it).ty)),
        TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Union => {}
    }
    found.retain(|it| !matches!(view.ty(it.base).kind, TypeKind::Scalar(_)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::schema::Schema;

    const SDL: &str = "type Query { \"All boats\" boat(where: Where = { a: 1 }, n: Int): [Boat!]! }
        \"A ship.\" type Boat implements Named { name: String! kind: Sail }
        interface Named { name: String! }
        enum Sail { SAIL MOTOR }
        union Any = Boat
        input Where @oneOf { a: Int b: Sail }";

    fn check(name: &str, depth: u32, bytes_max: usize, expected: &str) {
        let schema = Schema::from_sdl(SDL).expect("it is sound");
        let view = SchemaView::from(&schema);
        let id = view.type_by_name(name).expect("it exists");
        assert_eq!(write_types(view, id, depth, bytes_max), expected);
    }

    #[test]
    fn types_are_printed_with_those_that_they_lead_to() {
        let boat = "# A ship.\ntype Boat implements Named {\n  name: String!\n  kind: Sail\n}\n\n";
        let kind = "enum Sail {\n  SAIL\n  MOTOR\n}\n\n";
        let query = "type Query {\n  # All boats\n  boat(where: Where = { a: 1 }, n: Int): [Boat!]!\n}\n\n";
        let input = "input Where @oneOf {\n  a: Int\n  b: Sail\n}\n\n";
        check("Boat", 0, 1000, boat);
        check("Boat", 1, 1000, &format!("{boat}{kind}"));
        check("Query", 9, 1000, &format!("{query}{boat}{input}{kind}"));
        check(
            "Query",
            1,
            query.len() + 10,
            &format!("{query}# 2 types are left out, such as: Boat, Where\n"),
        );
        check("Any", 1, 1000, "union Any = Boat\n\n");
        check("Named", 0, 1000, "interface Named {\n  name: String!\n}\n\n");
    }
}
