//! Arguments without Rust types, and the walk over what is selected.

use crate::kit::run;
use weir_runtime::{AnyArguments, AnyInput, Context, Schema, SelectedField, Value, root};

const SDL: &str = "type Query { echo(n: Int = 3, of: Filter, all: [Color!], any: Any): String other: Int }
    input Filter { name: String @validate(maxLength: 3) not: Filter }
    enum Color { RED BLUE } scalar Any";

fn schema() -> Schema {
    let echo = |arguments: &AnyArguments, _: &Context| format!("{:?}", arguments.0);
    let schema = Schema::builder(SDL).resolve("Query.echo", root(echo));
    schema.resolve("Query.other", root(|_: &AnyArguments, _: &Context| 1)).build().expect("a schema")
}

fn echoed(call: &str) -> String {
    run(&schema(), &format!("{{ {call} }}")).replace('\\', "")
}

#[test]
fn all_arguments_that_have_a_value_are_given_with_their_types() {
    let expected = |arguments: &[(Box<str>, AnyInput)]| format!("{arguments:?}");
    let given = AnyInput::Object("Filter".into(), vec![("name".into(), AnyInput::Text("Ada".into()))]);
    let colors = AnyInput::List(vec![AnyInput::Enum("Color".into(), "RED".into())]);
    let any = AnyInput::Scalar("Any".into(), "1.10".into());
    let arguments = [
        ("n".into(), AnyInput::Int(3)),
        ("of".into(), AnyInput::Object("Filter".into(), vec![("not".into(), given)])),
        ("all".into(), colors),
        ("any".into(), any),
    ];
    let answer = echoed(r#"echo(of: {not: {name: "Ada"}}, all: [RED], any: 1.10)"#);
    assert!(answer.contains(&expected(&arguments)), "{answer}");
}

#[test]
fn an_explicit_null_is_told_from_an_absent_argument() {
    assert!(echoed("echo(of: null)").contains(r#"("of", Null)"#));
    assert!(!echoed("echo").contains("of"));
}

#[test]
fn checks_hold_within_input_objects() {
    let answer = echoed(r#"echo(of: {not: {name: "longer"}})"#);
    assert!(answer.contains("BAD_USER_INPUT") && answer.contains("of.not.name"), "{answer}");
}

#[test]
fn a_field_without_arguments_is_called_with_none() {
    assert_eq!(echoed("other"), r#"{"data":{"other":1}}"#);
}

fn walk(field: &SelectedField<'_>, out: &mut String) {
    out.push_str(field.name());
    for ty in field.types() {
        out.push_str(&format!(" {}{}", ty.name(), if ty.is_parent() { "!" } else { "" }));
        out.push('(');
        ty.fields().iter().for_each(|it| walk(it, out));
        out.push(')');
    }
    out.push(' ');
}

#[test]
fn the_walk_merges_aliases_and_leaves_out_what_is_fetched_separately() {
    let sdl = "type Query { user: User } type User { name: String friend: User posts: Int }";
    let seen = |_: &AnyArguments, context: &Context| {
        let mut text = String::new();
        let selected = context.lookahead().selected_field();
        walk(&selected, &mut text);
        Value::object("User", [("name", Value::text(&format!("{} {text}", selected.coordinate())))])
    };
    let posts = weir_runtime::each(|_: &weir_runtime::Object, _: &AnyArguments, _: &Context| 7);
    let schema = Schema::builder(sdl).resolve("Query.user", root(seen)).resolve("User.posts", posts);
    let schema = schema.build().expect("a schema");
    let query = "{ user { __typename name a: friend { name } b: friend { friend { name } } posts } }";
    let answer = run(&schema, query);
    assert!(
        answer.contains("Query.user user User!(name friend User(name friend User(name ) ) )"),
        "{answer}"
    );
}
