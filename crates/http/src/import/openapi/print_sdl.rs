//! Prints the SDL: origin, omissions, sources, root fields, types.

use super::document;
use super::document::Document;
use super::graphql_names;
use super::operations::{Operation, Operations};
use super::parameters::Argument;
use super::servers::ServerAddress;
use super::types::{Field, NamedKind, NamedType, Way};
use weir_language::string_value::write_json;

/// Maximum width of a line before its parts get lines of their own.
const WIDTH_MAX: usize = 110;

/// Prints the whole text.
pub(super) fn sdl(document: &Document, operations: &Operations<'_>, origin: &str) -> String {
    let info = |key: &str| document.get(&["info"]).and_then(|it| document::text(it, key));
    let title = info("title").unwrap_or("Services");
    let file = origin.rsplit('/').next().unwrap_or(origin);
    let version = info("version").map_or_else(String::new, |it| format!(" {it}"));
    let mut out = comment(&format!(
        "{title}{version}, made from {file} by `weir import openapi`: a text to begin with."
    ));
    let base = ServerAddress::of(document, origin);
    notes(document, operations, base.is_unknown, &mut out);
    let source = graphql_names::field(&title.to_lowercase());
    out.push_str("\nextend schema\n");
    out.push_str(
        "  @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])\n",
    );
    out.push_str(&format!(
        "  @source(name: {}, http: {{baseURL: {}}})\n",
        quote_graphql_text(&source),
        quote_graphql_text(&base.url)
    ));
    if operations.reading.is_empty() {
        out.push_str(&format!("\ntype Query {{\n{}}}\n", placeholder(&source)));
    }
    for (root, fields) in [("Query", &operations.reading), ("Mutation", &operations.writing)] {
        if fields.is_empty() {
            continue;
        }
        let fields: Vec<String> = fields.iter().map(|it| root_field(it, &source)).collect();
        out.push_str(&format!("\ntype {root} {{\n{}}}\n", fields.join("\n")));
    }
    for made in &operations.types.made {
        a_type(made, &mut out);
    }
    for scalar in &operations.types.scalars {
        out.push_str(&format!("\nscalar {scalar}\n"));
    }
    out
}

/// Notes for the editor, as comments.
fn notes(document: &Document, operations: &Operations<'_>, is_base_unknown: bool, out: &mut String) {
    if is_base_unknown {
        out.push_str(&comment(
            "It does not say where the services listen: put their address into `baseURL`.",
        ));
    }
    let schemes: Vec<&str> =
        document.members(&["components", "securitySchemes"]).map(|it| it.0.as_str()).collect();
    if !schemes.is_empty() {
        let words = format!(
            "The services want credentials ({}). To forward the client's, add to `http`: headers: [{{name: \"Authorization\", from: \"Authorization\"}}]",
            schemes.join(", ")
        );
        out.push_str(&comment(&words));
    }
    for (heading, lines) in [("Left out:", &operations.left_out), ("Different:", &operations.types.notes)] {
        if lines.is_empty() {
            continue;
        }
        out.push_str(&comment(heading));
        for line in lines {
            out.push_str(&comment(&format!("- {line}")));
        }
    }
}

/// A placeholder query field for services that only write, since a schema needs one.
fn placeholder(source: &str) -> String {
    format!(
        "  \"Nothing can be read here, and a schema needs a query: true, whatever the services answer.\"\n  placeholder: Boolean\n    @connect(source: {}, http: {{GET: \"/\"}}, isSuccess: \"$(true)\", selection: \"$(true)\")\n",
        quote_graphql_text(source)
    )
}

fn root_field(field: &Operation, source: &str) -> String {
    let mut out = print_description(field.description.as_deref(), "  ");
    let deprecated = if field.deprecated { " @deprecated" } else { "" };
    out.push_str(&format!("  {}{}: {}{deprecated}\n", field.name, arguments(field), field.ty));
    let own = field.base.as_deref().map(|it| format!("{it}/{}", field.path.trim_start_matches('/')));
    let mut http =
        vec![format!("{}: {}", field.method, quote_graphql_text(own.as_ref().unwrap_or(&field.path)))];
    if !field.query.is_empty() {
        http.push(format!("queryParams: {}", quote_graphql_text(&field.query.join(" "))));
    }
    if !field.headers.is_empty() {
        let each = |it: &(String, String)| {
            format!("{{name: {}, value: {}}}", quote_graphql_text(&it.0), quote_graphql_text(&it.1))
        };
        http.push(format!("headers: [{}]", field.headers.iter().map(each).collect::<Vec<_>>().join(", ")));
    }
    if let Some(body) = &field.body {
        http.push(format!("body: {}", quote_graphql_text(body)));
    }
    let source = own.is_none().then(|| format!("source: {}", quote_graphql_text(source)));
    let rest = [format!("http: {{{}}}", http.join(", ")), selection(&field.selection)];
    let parts: Vec<String> = source.into_iter().chain(rest).collect();
    let line = format!("    @connect({})\n", parts.join(", "));
    if line.len() <= WIDTH_MAX && !line.trim_end().contains('\n') {
        return out + &line;
    }
    out.push_str("    @connect(\n");
    for part in parts {
        out.push_str(&format!("      {part}\n"));
    }
    out + "    )\n"
}

fn arguments(field: &Operation) -> String {
    if field.arguments.is_empty() {
        return String::new();
    }
    let each = |it: &Argument| format!("{}: {}", it.name, it.ty);
    let line = format!("({})", field.arguments.iter().map(each).collect::<Vec<_>>().join(", "));
    if line.len() + field.name.len() <= WIDTH_MAX && field.arguments.iter().all(|it| it.description.is_none())
    {
        return line;
    }
    let each = |it: &Argument| {
        format!("{}    {}: {}\n", print_description(it.description.as_deref(), "    "), it.name, it.ty)
    };
    format!("(\n{}  )", field.arguments.iter().map(each).collect::<String>())
}

/// A selection on one line, or as a block if it is long.
fn selection(text: &str) -> String {
    if text.len() <= WIDTH_MAX - 30 {
        return format!("selection: {}", quote_graphql_text(text));
    }
    let mut out = "selection: \"\"\"".to_string();
    let mut width = WIDTH_MAX;
    for word in text.split(' ') {
        if width + word.len() + 1 > WIDTH_MAX - 6 {
            out.push_str("\n      ");
            width = 0;
        } else {
            out.push(' ');
        }
        out.push_str(word);
        width += word.len() + 1;
    }
    out + "\n      \"\"\""
}

fn a_type(made: &NamedType, out: &mut String) {
    out.push('\n');
    out.push_str(&print_description(made.description.as_deref(), ""));
    match &made.kind {
        NamedKind::Enum(values) => {
            let values: String = values.iter().map(|it| format!("  {it}\n")).collect();
            out.push_str(&format!("enum {} {{\n{values}}}\n", made.name));
        }
        NamedKind::Object(fields) => {
            let word = if made.way == Way::Out { "type" } else { "input" };
            let fields: String = fields.iter().map(a_field).collect();
            out.push_str(&format!("{word} {} {{\n{fields}}}\n", made.name));
        }
    }
}

fn a_field(field: &Field) -> String {
    let bang = if field.required { "!" } else { "" };
    // A required input cannot be deprecated; the mark is left out.
    let deprecated = if field.deprecated && !field.required { " @deprecated" } else { "" };
    format!(
        "{}  {}: {}{bang}{deprecated}\n",
        print_description(field.description.as_deref(), "  "),
        field.name,
        field.shape.ty
    )
}

fn print_description(words: Option<&str>, indent: &str) -> String {
    words.map_or_else(String::new, |it| format!("{indent}{}\n", quote_graphql_text(it)))
}

/// JSON string syntax is also GraphQL string syntax.
fn quote_graphql_text(text: &str) -> String {
    let mut out = String::new();
    write_json(text, &mut out);
    out
}

fn comment(words: &str) -> String {
    format!("# {}\n", words.replace(|it: char| it.is_control(), " "))
}
