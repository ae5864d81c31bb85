//! Converts the answer to an introspection query to SDL.
//!
//! Both `{"data": {"__schema": …}}` and `{"__schema": …}` are read, as servers and tools write them.
//!
//! Source: GraphQL specification, section 4.

use serde_json::Value;
use std::fmt::Write;
use weir_language::json::quote;
use weir_language::schema::builtin;

/// Returns `text` if it is SDL, else converts it from the answer to an introspection query.
/// # Errors
/// The text is JSON but not such an answer.
pub(super) fn sdl_of(text: String) -> Result<String, String> {
    // SDL never begins with `{`, except for schemas in the oldest drafts.
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return Ok(text);
    }
    let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|cause| format!("it begins as JSON and is none: {cause}"))?;
    let schema = [&json["data"]["__schema"], &json["__schema"]].into_iter().find(|it| it.is_object());
    let schema = schema.ok_or("it is JSON without `__schema`: ask the server by an introspection query")?;
    let mut out = String::new();
    roots(schema, &mut out);
    for directive in items(&schema["directives"]) {
        definition(directive, &mut out);
    }
    for ty in items(&schema["types"]).filter(|it| !builtin::is_built_in_name(word(&it["name"]))) {
        type_of(ty, &mut out);
    }
    Ok(out)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn names(list: &Value) -> Vec<&str> {
    items(list).map(|it| word(&it["name"])).collect()
}

fn roots(schema: &Value, out: &mut String) {
    describe(schema, out);
    out.push_str("schema {");
    for (kind, member) in
        [("query", "queryType"), ("mutation", "mutationType"), ("subscription", "subscriptionType")]
    {
        let name = word(&schema[member]["name"]);
        if !name.is_empty() {
            let _ = write!(out, " {kind}: {name}");
        }
    }
    out.push_str(" }\n");
}

/// Definition of a directive that is not built in.
fn definition(directive: &Value, out: &mut String) {
    let name = word(&directive["name"]);
    if matches!(name, "skip" | "include" | "deprecated" | "specifiedBy" | "oneOf") {
        return;
    }
    describe(directive, out);
    let _ = write!(out, "directive @{name}");
    arguments(&directive["args"], out);
    if directive["isRepeatable"] == Value::Bool(true) {
        out.push_str(" repeatable");
    }
    let places: Vec<&str> = items(&directive["locations"]).map(word).collect();
    let _ = writeln!(out, " on {}", places.join(" | "));
}

fn type_of(ty: &Value, out: &mut String) {
    describe(ty, out);
    let name = word(&ty["name"]);
    match word(&ty["kind"]) {
        "SCALAR" => {
            let _ = write!(out, "scalar {name}");
            if let Some(url) = ty["specifiedByURL"].as_str() {
                out.push_str(" @specifiedBy(url: ");
                quote(url, out);
                out.push(')');
            }
            out.push('\n');
        }
        "UNION" => {
            let _ = writeln!(out, "union {name} = {}", names(&ty["possibleTypes"]).join(" | "));
        }
        "ENUM" => {
            let _ = writeln!(out, "enum {name} {{");
            for value in items(&ty["enumValues"]) {
                describe(value, out);
                out.push_str(word(&value["name"]));
                deprecate(value, out);
                out.push('\n');
            }
            out.push_str("}\n");
        }
        "INPUT_OBJECT" => {
            let one_of = if ty["isOneOf"] == Value::Bool(true) { " @oneOf" } else { "" };
            let _ = writeln!(out, "input {name}{one_of} {{");
            items(&ty["inputFields"]).for_each(|it| input(it, out));
            out.push_str("}\n");
        }
        kind => {
            let interfaces = names(&ty["interfaces"]);
            let implements = if interfaces.is_empty() { "" } else { " implements " };
            let keyword = if kind == "INTERFACE" { "interface" } else { "type" };
            let _ = writeln!(out, "{keyword} {name}{implements}{} {{", interfaces.join(" & "));
            for field in items(&ty["fields"]) {
                describe(field, out);
                out.push_str(word(&field["name"]));
                arguments(&field["args"], out);
                out.push_str(": ");
                reference(&field["type"], out);
                deprecate(field, out);
                out.push('\n');
            }
            out.push_str("}\n");
        }
    }
}

fn arguments(list: &Value, out: &mut String) {
    if items(list).next().is_some() {
        out.push_str("(\n");
        items(list).for_each(|it| input(it, out));
        out.push(')');
    }
}

/// An argument or input field.
fn input(given: &Value, out: &mut String) {
    describe(given, out);
    let _ = write!(out, "{}: ", word(&given["name"]));
    reference(&given["type"], out);
    if let Some(default) = given["defaultValue"].as_str() {
        let _ = write!(out, " = {default}");
    }
    deprecate(given, out);
    out.push('\n');
}

/// A type reference with list and non-null wrappers.
fn reference(ty: &Value, out: &mut String) {
    let mut ty = ty;
    let mut ends = Vec::new();
    loop {
        match word(&ty["kind"]) {
            "LIST" => {
                out.push('[');
                ends.push(']');
            }
            "NON_NULL" => ends.push('!'),
            _ => break,
        }
        ty = &ty["ofType"];
    }
    out.push_str(word(&ty["name"]));
    out.extend(ends.into_iter().rev());
}

fn describe(of: &Value, out: &mut String) {
    if let Some(words) = of["description"].as_str().filter(|it| !it.is_empty()) {
        quote(words, out);
        out.push('\n');
    }
}

fn deprecate(of: &Value, out: &mut String) {
    if of["isDeprecated"] == Value::Bool(true) {
        out.push_str(" @deprecated");
        if let Some(reason) = of["deprecationReason"].as_str() {
            out.push_str("(reason: ");
            quote(reason, out);
            out.push(')');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::compose::Graph;
    use weir_engine::engine::{Body, Engine, Request, Settings};
    use weir_engine::memory::Memory;
    use weir_language::schema::Schema;
    use weir_language::schema::print::{Order, print};

    const QUESTION: &str = "{ __schema { description queryType { name } mutationType { name } subscriptionType { name }
        directives { name description isRepeatable locations args(includeDeprecated: true) { ...i } }
        types { kind name description specifiedByURL isOneOf interfaces { name } possibleTypes { name }
          fields(includeDeprecated: true) { name description isDeprecated deprecationReason args(includeDeprecated: true) { ...i } type { ...t } }
          inputFields(includeDeprecated: true) { ...i } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } } } }
        fragment i on __InputValue { name description defaultValue isDeprecated deprecationReason type { ...t } }
        fragment t on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }";

    /// The answer of a server with the schema `sdl` to an introspection query, and the schema that it serves.
    fn print_round(sdl: &str) -> (String, String) {
        let schema = Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"));
        let source = std::sync::Arc::new(Memory::new("main", std::sync::Arc::new(schema)));
        let graph = Graph::compose(vec![source], &[]).expect("one source composes");
        let engine = Engine::new(graph, Settings::STANDARD);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let caller = engine.caller(&weir_engine::caller::Identity::admin());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        let served = print(engine.schema(), Order::ByName);
        match runtime.block_on(engine.execute(Request::new(QUESTION, deadline), &caller)).body {
            Body::Whole(bytes) => (String::from_utf8(bytes).expect("it is UTF-8"), served),
            _ => panic!("it is answered at once"),
        }
    }

    #[test]
    fn a_schema_is_the_same_by_introspection() {
        let sdl = "\"\"\"all\"\"\" schema { query: Root } \"b \\\" c\" directive @tag(name: String! = \"x\") repeatable on FIELD | QUERY \
            type Root implements Node & Named { id: ID! name(first: Int = 3, of: In = {a: [1, 2], k: X} @deprecated(reason: \"no\")): [[String!]]! \
            old: Int @deprecated u: U k: Kind } interface Node { id: ID! } interface Named implements Node { id: ID! name(first: Int, of: In): [[String!]]! } \
            union U = Root | Other type Other { \"words\" a: Date } enum Kind { X \"why\" Y @deprecated(reason: \"gone\") } \
            input In { a: [Int!] = [1] k: Kind! = X } input One @oneOf { a: Int b: String } scalar Date @specifiedBy(url: \"https://a.example/\")";
        let read = |text: &str| {
            print(&Schema::from_sdl(text).unwrap_or_else(|it| panic!("{it:?}\n{text}")), Order::ByName)
        };
        let (json, served) = print_round(sdl);
        assert_eq!(read(&sdl_of(json.clone()).unwrap_or_else(|it| panic!("{it}: {json}"))), served);
        let bare = json.trim_start_matches("{\"data\":").trim_end_matches('}').to_owned() + "}}";
        assert_eq!(read(&sdl_of(bare.clone()).unwrap_or_else(|it| panic!("{it}: {bare}"))), served);
        assert_eq!(sdl_of("type Query { a: Int }".into()).as_deref(), Ok("type Query { a: Int }"));
        for (text, part) in [("{ a: 1 }", "begins as JSON"), ("{\"errors\": []}", "without `__schema`")] {
            assert!(sdl_of(text.into()).is_err_and(|it| it.contains(part)), "{text}");
        }
    }
}
