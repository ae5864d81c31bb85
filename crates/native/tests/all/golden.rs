//! The generated schemas, as they are: those of `tests/schemas` beside their types, and that of the restaurants against
//! the names that were promised.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use weir_language::ast::{Definition, Document, InputDefinition, List, TypeBody};
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

/// Every member of a document as a line: `City.country(filter: CountryFilter): Country!`.
fn members(text: &str) -> BTreeSet<String> {
    let document = parser::parse(text, &Limits::NONE).expect("SDL");
    let mut lines = BTreeSet::new();
    for definition in &document.definitions {
        match definition {
            Definition::Type(ty) => type_members(&document, ty, &mut lines),
            Definition::Directive(directive) => {
                lines.insert(format!(
                    "@{}{}",
                    document.str(directive.name),
                    arguments(&document, directive.arguments)
                ));
            }
            Definition::Operation(_) | Definition::Fragment(_) | Definition::Schema(_) => {}
        }
    }
    lines
}

fn type_members(
    document: &Document<'_>,
    ty: &weir_language::ast::TypeDefinition,
    lines: &mut BTreeSet<String>,
) {
    let name = document.str(ty.name);
    match ty.body {
        TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => {
            for field in document.list(fields) {
                let arguments = arguments(document, field.arguments);
                lines.insert(format!(
                    "{name}.{}{arguments}: {}",
                    document.str(field.name),
                    document.str(field.ty.span)
                ));
            }
        }
        TypeBody::Input { fields } => {
            for field in document.list(fields) {
                lines.insert(format!("{name}.{}: {}", document.str(field.name), document.str(field.ty.span)));
            }
        }
        TypeBody::Enum { values } => {
            for value in document.list(values) {
                lines.insert(format!("{name}.{}", document.str(value.name)));
            }
        }
        TypeBody::Scalar => {
            lines.insert(format!("scalar {name}"));
        }
        TypeBody::Union { .. } => {
            lines.insert(format!("union {name}"));
        }
    }
}

fn arguments(document: &Document<'_>, list: List<InputDefinition>) -> String {
    if list.is_empty() {
        return String::new();
    }
    let one = |it: &InputDefinition| format!("{}: {}", document.str(it.name), document.str(it.ty.span));
    let mut all: Vec<String> = document.list(list).iter().map(one).collect();
    all.sort();
    format!("({})", all.join(", "))
}

/// Promised parts of the schema that are not generated, by the beginning of the line, with the reason.
const LEFT_OUT: [(&str, &str); 40] = [
    ("@hasInverse", "a directive of types, not of requests"),
    ("@search", "as above"),
    ("@embedding", "as above; refused"),
    ("@dgraph", "as above; refused"),
    ("@id", "as above"),
    ("@default", "as above"),
    ("@withSubscription", "as above"),
    ("@secret", "as above"),
    ("@auth", "as above"),
    ("@custom", "as above"),
    ("@remote", "as above"),
    ("@remoteResponse", "as above"),
    ("@lambda", "as above; refused"),
    ("@lambdaOnMutate", "as above; refused"),
    ("@generate", "as above"),
    ("DgraphIndex", "an argument of such a directive"),
    ("AuthRule", "as above"),
    ("HTTPMethod", "as above"),
    ("Mode", "as above"),
    ("CustomHTTP", "as above"),
    ("DgraphDefault", "as above"),
    ("GenerateQueryParams", "as above"),
    ("GenerateMutationParams", "as above"),
    ("IntRange", "no Int of these types is searched, so that nothing takes it"),
    ("IntFilter", "as above"),
    ("Int64Range", "these types have no Int64"),
    ("Int64Filter", "as above"),
    ("scalar Int64", "as above"),
    ("StringRange", "no String of these types is searched so"),
    ("StringExactFilter", "as above"),
    ("StringRegExpFilter", "as above"),
    ("StringNgramFilter", "as above"),
    ("StringFullTextFilter", "as above"),
    ("Point", "these types have no shapes"),
    ("Polygon", "as above"),
    ("MultiPolygon", "as above"),
    ("NearFilter", "as above"),
    ("WithinFilter", "as above"),
    ("ContainsFilter", "as above"),
    ("IntersectsFilter", "as above"),
];

/// Generated parts beyond the promise: filters and orders through edges.
const OURS: [&str; 20] = [
    "CountryFilter.cities: CityFilter",
    "CityFilter.country: CountryFilter",
    "CityFilter.restaurants: RestaurantAddressFilter",
    "CityOrder.country: CountryOrder",
    "LocationFilter.city: CityFilter",
    "LocationOrder.city: CityOrder",
    "RestaurantAddressFilter.city: CityFilter",
    "RestaurantAddressFilter.restaurant: RestaurantFilter",
    "RestaurantAddressOrder.city: CityOrder",
    "RestaurantAddressOrder.restaurant: RestaurantOrder",
    "RestaurantFilter.addr: RestaurantAddressFilter",
    "RestaurantFilter.cuisines: CuisineFilter",
    "RestaurantFilter.dishes: DishFilter",
    "RestaurantOrder.addr: RestaurantAddressOrder",
    "CuisineFilter.restaurants: RestaurantFilter",
    "CuisineFilter.dishes: DishFilter",
    "DishFilter.cuisine: CuisineFilter",
    "DishFilter.servedBy: RestaurantFilter",
    "DishOrder.cuisine: CuisineOrder",
    "DishOrder.servedBy: RestaurantOrder",
];

#[test]
fn the_restaurants_get_the_names_that_were_promised() {
    let read = |path: &str| fs::read_to_string(folder(path)).expect("a text");
    let promised = members(&read("promise/restaurants.graphql"));
    let made = members(&generated(&read("schemas/restaurants.graphql")));
    let same_name = |line: &str, name: &str| {
        line.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    // `PointList`, `PointRef` and `PointGeoFilter` go with `Point`.
    let kin = ["", "List", "Ref", "ListRef", "GeoFilter"];
    let is_of = |line: &str, name: &str| kin.iter().any(|suffix| same_name(line, &format!("{name}{suffix}")));
    let missing: Vec<&String> = promised.difference(&made).collect();
    let (known, unknown): (Vec<&String>, Vec<&String>) =
        missing.into_iter().partition(|line| LEFT_OUT.iter().any(|(name, _)| is_of(line, name)));
    assert!(unknown.is_empty(), "promised, but not made: {unknown:#?}");
    let is_made = |name: &str| !known.iter().any(|line| is_of(line, name));
    let made_after_all: Vec<&str> = LEFT_OUT.iter().map(|it| it.0).filter(|name| is_made(name)).collect();
    assert!(made_after_all.is_empty(), "said to be left out, but made: {made_after_all:?}");
    let more: BTreeSet<&str> = made.difference(&promised).map(String::as_str).collect();
    assert_eq!(more, BTreeSet::from(OURS));
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
