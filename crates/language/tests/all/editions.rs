//! Schemas by the September 2026 edition: directives on definitions and extensions of directives. Verdicts are those of graphql-js 17.1,
//! but for the extension of a directive that is not there and for directives that stand on themselves, which graphql-js passes over.

use weir_language::schema::Schema;
use weir_language::schema::print::{Order, print};

fn refused(sdl: &str) -> Vec<String> {
    let errors = Schema::from_sdl(sdl).err().unwrap_or_default();
    errors.into_iter().map(|it| it.message).collect()
}

#[test]
fn directives_on_directives_are_kept() {
    let sdl = "directive @mark(at: Int) on DIRECTIVE_DEFINITION\n\n\
        directive @old @deprecated(reason: \"use `@mark`\") @mark(at: 1) repeatable on FIELD\n\n\
        type Query {\n  a: Int\n}\n";
    let schema = Schema::from_sdl(sdl).expect("it is sound");
    assert_eq!(print(&schema, Order::Defined), sdl);
}

#[test]
fn an_extension_adds_to_its_directive() {
    let sdl = "extend directive @x @deprecated @mark directive @x on FIELD directive @mark on DIRECTIVE_DEFINITION type Query { a: Int }";
    let schema = Schema::from_sdl(sdl).expect("it is sound");
    assert!(
        print(&schema, Order::Defined).contains("directive @x @deprecated @mark on FIELD\n"),
        "{}",
        print(&schema, Order::Defined)
    );
}

#[test]
fn what_may_not_stand_on_a_directive_is_refused() {
    let query = "type Query { a: Int }";
    let check = |sdl: &str, expected: &str| assert_eq!(refused(&format!("{sdl} {query}")), [expected]);
    check(
        "directive @x @skip(if: true) on FIELD",
        "Directive \"@skip\" may not be used on DIRECTIVE_DEFINITION.",
    );
    let once = "The directive \"@deprecated\" can only be used once at this location.";
    check("directive @x on FIELD extend directive @x @deprecated @deprecated", once);
    check("directive @x @deprecated on FIELD extend directive @x @deprecated", once);
    check("extend directive @x @deprecated", "Cannot extend directive \"@x\" because it is not defined.");
    check("directive @x @y on FIELD", "Unknown directive \"@y\".");
}
