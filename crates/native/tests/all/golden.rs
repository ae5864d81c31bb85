//! The generated schemas, as they are: those of `tests/schemas` beside their types.
//!
//! Dgraph's API of the restaurants has more than is made for them: directives of types (`@search`, `@id`), as they are no part of
//! requests, with their inputs (`DgraphIndex`, `AuthRule`); and filters, scalars and shapes that none of these types uses (`IntFilter`,
//! `Int64`, `Point`). It lacks filters and orders through edges.

use std::fs;
use std::path::{Path, PathBuf};
use weir_language::limits::Limits;
use weir_language::schema::print::{Order, print};
use weir_language::schema::{EnumValueId, FieldId, InputId, TypeKind, builtin};
use weir_language::validate::{Options, validate};
use weir_language::{parser, report};
use weir_native::api::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use weir_native::{api, sdl};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn api(text: &str) -> Api {
    let read = sdl::read(text).expect("sound types");
    api::generate(read.model).expect("a sound schema")
}

/// The API of a text of types, as SDL.
fn generated(text: &str) -> String {
    print(&api(text).schema, Order::Defined)
}

/// The texts of types with the names of their files.
fn types() -> Vec<(PathBuf, String)> {
    let paths = fs::read_dir(folder("schemas")).expect("a folder").map(|it| it.expect("an entry").path());
    let is_types = |path: &PathBuf| {
        let path = path.to_string_lossy();
        path.ends_with(".graphql") && !path.ends_with(".api.graphql")
    };
    paths.filter(is_types).map(|path| (path.clone(), fs::read_to_string(path).expect("a text"))).collect()
}

#[test]
fn golden_every_schema_is_the_one_beside_its_types() {
    let mut wrong = Vec::new();
    for (path, text) in types() {
        let made = generated(&text);
        let golden = path.with_extension("api.graphql");
        if std::env::var_os("WEIR_BLESS").is_some() {
            fs::write(&golden, &made).expect("a golden file can be written");
        }
        if fs::read_to_string(&golden).unwrap_or_default() != made {
            wrong.push(format!("{} is not what is made", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\n`make bless` writes them anew", wrong.join("\n"));
}

#[test]
fn every_member_of_every_schema_has_a_meaning() {
    for (path, text) in types() {
        let api = api(&text);
        let schema = &api.schema;
        let types = builtin::TYPES as usize..schema.types.len();
        let mut bare: Vec<&str> = Vec::new();
        for ty in schema.types[types].iter() {
            for id in ty.fields.range().map(|at| FieldId(at as u32)) {
                let arguments = schema.arguments(id).filter(|it| api.input(*it) == InputMeaning::None);
                bare.extend(arguments.map(|it| schema.input_name(it)));
                bare.extend((api.field(id) == FieldMeaning::None).then(|| schema.field_name(id)));
            }
            let members = ty.members.range().map(|at| at as u32);
            match ty.kind {
                TypeKind::Input { .. } => {
                    let bare_inputs = members.map(InputId).filter(|it| api.input(*it) == InputMeaning::None);
                    bare.extend(bare_inputs.map(|it| schema.input_name(it)));
                }
                TypeKind::Enum => {
                    let values = members.map(EnumValueId);
                    let values = values.filter(|it| api.enum_value(*it) == EnumMeaning::None);
                    bare.extend(values.map(|it| schema.str(schema.enum_value(it).name)));
                }
                TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
            }
        }
        assert!(bare.is_empty(), "{}: {bare:?} mean nothing", path.display());
        let named = api.model.type_ids().zip(&api.model.types);
        for (id, ty) in named {
            let of_schema = schema.type_by_name(&ty.name).expect("a type");
            assert_eq!(api.ty(of_schema), Some(id), "{}", ty.name);
        }
    }
}

/// A file of the tree.
fn page(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

/// Number of operations in `text`, all of them of `api`.
fn operations(api: &Api, text: &str) -> usize {
    let document = parser::parse(text, &Limits::STANDARD).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let options = Options {
        limits: Limits::STANDARD,
        suggestions: true,
        edition_2026: false,
        subscriptions_beside: false,
    };
    let errors = validate(&api.schema, &document, &options).err().unwrap_or_default();
    assert!(errors.is_empty(), "{}", report::text("operations", text, &errors));
    document.definitions.len()
}

#[test]
fn the_queries_of_the_example_are_ones_of_its_types() {
    let api = api(&page("examples/restaurants/schema.graphql"));
    assert_eq!(operations(&api, &page("examples/restaurants/queries.graphql")), 7);
}

#[test]
fn the_queries_of_the_manual_are_ones_of_its_types() {
    let page = page("docs/sources/native.md") + &page("docs/sources/native/api.md");
    let blocks = page.split("```graphql\n").skip(1).map(|it| it.split("```").next().unwrap_or_default());
    let (types, asked): (Vec<&str>, Vec<&str>) = blocks.partition(|it| it.starts_with("type "));
    let api = api(&types.concat());
    let counts: Vec<usize> = asked.iter().map(|text| operations(&api, text)).collect();
    assert_eq!(counts, [1, 1]);
}
