//! Layouts as text: tables with their columns, then where each field is, then what is indexed.

use super::{Database, IndexKind, Layout, Storage};
use crate::model::{FieldId, Model};
use crate::sdl;
use weir_relational::catalog::{ColumnId, Table, TableId, TableKind};

fn model(text: &str) -> Model {
    sdl::read(text).expect("sound types").model
}

fn layout(text: &str) -> (Model, Layout) {
    let model = model(text);
    let layout = Layout::new(&model, Database::Sqlite, "main");
    (model, layout)
}

fn name(layout: &Layout, table: TableId) -> &str {
    &layout.relations.catalog.table(table).name
}

/// `Dish: id name text? cuisine_id integer? -> Cuisine`.
fn table(layout: &Layout, table: &Table) -> String {
    let column = |(at, column): (usize, &weir_relational::catalog::Column)| {
        let key = table.foreign_keys.iter().find(|key| key.columns == [ColumnId(at as u32)]);
        let target = key.map_or_else(String::new, |key| format!("->{}", name(layout, key.target)));
        let null = if column.nullable { "?" } else { "" };
        format!(" {}{null}{target}", column.name)
    };
    let columns: String = table.columns.iter().enumerate().map(column).collect();
    let view = if table.kind == TableKind::View { " (view)" } else { "" };
    format!("{}{view}:{columns}", table.name)
}

fn tables(layout: &Layout) -> Vec<String> {
    layout.relations.catalog.tables.iter().map(|it| table(layout, it)).collect()
}

fn columns(layout: &Layout, table: TableId, columns: &[ColumnId]) -> String {
    let table = layout.relations.catalog.table(table);
    let names: Vec<&str> = columns.iter().map(|&it| table.column(it).name.as_str()).collect();
    names.join(" ")
}

/// Storage of a field: `Dish.name: column name`.
fn place(model: &Model, layout: &Layout, id: FieldId) -> String {
    let field = model.field(id);
    let own = match &layout.all[field.owner.index()] {
        Some(view) => view.table,
        None => layout.tables[field.owner.index()],
    };
    let way = |by: weir_relational::catalog::RelationshipId| {
        let way = layout.relations.relationship(by);
        assert_eq!(way.from, own, "a way begins at the rows of the field's owner");
        name(layout, way.to)
    };
    let text = match layout.fields[id.index()] {
        Storage::Id(column) => format!("id {}", columns(layout, own, &[column])),
        Storage::Column(column) => format!("column {}", columns(layout, own, &[column])),
        Storage::Instant { text, at } => format!("instant {}", columns(layout, own, &[text, at])),
        Storage::Point { longitude, latitude } => {
            format!("point {}", columns(layout, own, &[longitude, latitude]))
        }
        Storage::Shape { text, bounds: [west, south, east, north] } => {
            format!("shape {}", columns(layout, own, &[text, west, south, east, north]))
        }
        Storage::Values { table, owner, place, value, at, by } => {
            assert_eq!(way(by), name(layout, table));
            let all: Vec<ColumnId> = [owner, place, value].into_iter().chain(at).collect();
            format!("values {}({})", name(layout, table), columns(layout, table, &all))
        }
        Storage::ToOne { column, by } => format!("to one {} {}", columns(layout, own, &[column]), way(by)),
        Storage::ToOneBack { table, column, by } => {
            format!("to one back {}.{} {}", name(layout, table), columns(layout, table, &[column]), way(by))
        }
        Storage::ToMany { table, column, by } => {
            format!("to many {}.{} {}", name(layout, table), columns(layout, table, &[column]), way(by))
        }
        Storage::Join { table, ours, theirs, by } => {
            format!("join {}({}) {}", name(layout, table), columns(layout, table, &[ours, theirs]), way(by))
        }
    };
    let all = layout.to_all[id.index()].map_or_else(String::new, |by| format!(", {}", way(by)));
    format!("{}.{}: {text}{all}", model.ty(field.owner).name, field.name)
}

fn places(model: &Model, layout: &Layout) -> Vec<String> {
    (0..model.fields.len() as u32).map(|at| place(model, layout, FieldId(at))).collect()
}

/// Edges alone.
fn edges(model: &Model, layout: &Layout) -> Vec<String> {
    let mut all = places(model, layout);
    all.retain(|it| it.contains(": to ") || it.contains(": join"));
    all
}

fn indexes(layout: &Layout) -> Vec<String> {
    let line = |it: &super::Index| {
        let kind = match it.kind {
            IndexKind::Tree => "",
            IndexKind::Prefix => "prefix ",
            IndexKind::Unique => "unique ",
            IndexKind::Terms => "terms ",
            IndexKind::Fulltext => "fulltext ",
            IndexKind::Trigrams => "trigrams ",
            IndexKind::Boxes => "boxes ",
        };
        format!("{kind}{} on {}({})", it.name, name(layout, it.table), columns(layout, it.table, &it.columns))
    };
    layout.indexes.iter().map(line).collect()
}

const RESTAURANTS: &str = include_str!("../../tests/schemas/restaurants.graphql");

#[test]
fn a_type_is_a_table_and_an_edge_a_column_or_a_table_of_pairs() {
    let (model, layout) = layout(RESTAURANTS);
    assert_eq!(
        tables(&layout),
        [
            "Country: cid id name",
            "City: cid id name country_id?->Country",
            "Location: id type",
            "RestaurantAddress: id lat long address locality city_id?->City zipcode?",
            "Restaurant: id xid name pic? addr_id?->RestaurantAddress rating? costFor2? currency? createdAt createdAt_at",
            "Cuisine: id name",
            "Dish: id name pic? price description? isVeg cuisine_id?->Cuisine servedBy_id?->Restaurant",
            "Location_all (view): id type lat long address locality city_id? zipcode?",
            "Cuisine_restaurants: cuisine_id->Cuisine restaurant_id->Restaurant",
        ]
    );
    assert_eq!(
        edges(&model, &layout),
        [
            "Country.cities: to many City.country_id City",
            "City.country: to one country_id Country",
            "City.restaurants: to many RestaurantAddress.city_id RestaurantAddress",
            "Location.city: to one city_id City",
            "RestaurantAddress.city: to one city_id City",
            "RestaurantAddress.restaurant: to one back Restaurant.addr_id Restaurant",
            "Restaurant.addr: to one addr_id RestaurantAddress",
            "Restaurant.cuisines: join Cuisine_restaurants(restaurant_id cuisine_id) Cuisine",
            "Restaurant.dishes: to many Dish.servedBy_id Dish",
            "Cuisine.restaurants: join Cuisine_restaurants(cuisine_id restaurant_id) Restaurant",
            "Cuisine.dishes: to many Dish.cuisine_id Dish",
            "Dish.cuisine: to one cuisine_id Cuisine",
            "Dish.servedBy: to one servedBy_id Restaurant",
        ]
    );
}

#[test]
fn keys_edges_and_searches_are_indexed_once() {
    let (_, layout) = layout(RESTAURANTS);
    assert_eq!(
        indexes(&layout),
        [
            "unique Country_id_key on Country(id)",
            "unique City_id_key on City(id)",
            "City_country_id_idx on City(country_id)",
            "RestaurantAddress_city_id_idx on RestaurantAddress(city_id)",
            "unique Restaurant_xid_key on Restaurant(xid)",
            "terms Restaurant_name_terms on Restaurant(name)",
            "unique Restaurant_addr_id_key on Restaurant(addr_id)",
            "Restaurant_rating_idx on Restaurant(rating)",
            "Restaurant_createdAt_at_idx on Restaurant(createdAt_at)",
            "unique Cuisine_name_key on Cuisine(name)",
            "Dish_name_idx on Dish(name)",
            "terms Dish_name_terms on Dish(name)",
            "Dish_price_idx on Dish(price)",
            "Dish_isVeg_idx on Dish(isVeg)",
            "Dish_cuisine_id_idx on Dish(cuisine_id)",
            "Dish_servedBy_id_idx on Dish(servedBy_id)",
            "Cuisine_restaurants_restaurant_id_cuisine_id_idx on Cuisine_restaurants(restaurant_id cuisine_id)",
        ]
    );
}

#[test]
fn interfaces_have_a_registry_and_a_view_and_keep_their_lists() {
    let (model, layout) = layout(
        "interface Post @secret(field: \"pin\") { id: ID! slug: String! @id(interface: true) text: String @search(by: [fulltext])
           tags: [String] @search(by: exact) author: Author @hasInverse(field: posts) likedBy: [Author] }
         type Question implements Post { solved: Boolean } type Answer implements Post { at: [DateTime] }
         type Author { name: String! posts: [Post] best: Post owns: [Thing] } union Thing = Question | Author",
    );
    assert_eq!(
        tables(&layout),
        [
            "Post: id type slug",
            "Question: id slug text? author_id?->Author solved? pin?",
            "Answer: id slug text? author_id?->Author pin?",
            "Author: id name best_id?->Post",
            "Thing: id type",
            "Post_all (view): id type slug text? author_id? pin?",
            "Post_likedBy: post_id->Post author_id->Author",
            "Author_owns: author_id->Author thing_id->Thing",
            "Post_tags: place id->Post value",
            "Answer_at: place id->Answer value value_at",
        ]
    );
    let all = places(&model, &layout);
    for expected in [
        "Post.tags: values Post_tags(id place value)",
        "Question.tags: values Post_tags(id place value)",
        "Answer.at: values Answer_at(id place value value_at)",
        "Post.author: to one author_id Author",
        "Question.author: to one author_id Author",
        "Author.posts: to many Post_all.author_id Post_all, Post_all",
        "Author.best: to one best_id Post, Post_all",
        "Answer.likedBy: join Post_likedBy(post_id author_id) Author",
        "Author.owns: join Author_owns(author_id thing_id) Thing",
        "Post.slug: column slug",
    ] {
        assert!(all.iter().any(|it| it == expected), "{expected}\n{}", all.join("\n"));
    }
    let all = indexes(&layout);
    for expected in [
        "unique Post_slug_key on Post(slug)",
        "unique Question_slug_key on Question(slug)",
        "fulltext Answer_text_fulltext on Answer(text)",
        "Post_tags_value_idx on Post_tags(value)",
        "unique Post_tags_id_value_key on Post_tags(id value)",
        "Author_best_id_idx on Author(best_id)",
    ] {
        assert!(all.iter().any(|it| it == expected), "{expected}\n{}", all.join("\n"));
    }
    let view = layout.all[0].as_ref().expect("the view");
    let answer: Vec<ColumnId> = view.members[1].iter().flatten().copied().collect();
    assert_eq!(columns(&layout, layout.tables[2], &answer), "id slug text author_id pin");
}

#[test]
fn one_to_one_edges_are_one_unique_column_wherever_their_types_stand() {
    let forth = "type A { n: Int b: B @hasInverse(field: a) } type B { a: A n: Int }";
    let back = "type B { a: A n: Int } type A { n: Int b: B @hasInverse(field: a) }";
    for text in [forth, back] {
        let (model, layout) = layout(text);
        let mut edges = edges(&model, &layout);
        edges.sort();
        assert_eq!(edges, ["A.b: to one b_id B", "B.a: to one back A.b_id A"]);
        assert_eq!(indexes(&layout), ["unique A_b_id_key on A(b_id)"]);
    }
    let (model, layout) = layout(
        "type C { n: Int i: I @hasInverse(field: c) } interface I { c: C } type A implements I { a: Int }",
    );
    let edges = edges(&model, &layout);
    assert_eq!(
        edges,
        ["C.i: to one i_id I, I_all", "I.c: to one back C.i_id C", "A.c: to one back C.i_id C"]
    );
}

#[test]
fn an_edge_to_its_own_type_has_two_columns_that_differ() {
    let (model, layout) = layout(
        "type Person { name: String friends: [Person] @hasInverse(field: friends) person: [Person] spouse: Person @hasInverse(field: spouse) }",
    );
    assert_eq!(
        edges(&model, &layout),
        [
            "Person.friends: join Person_friends(person_id friends_id) Person",
            "Person.person: join Person_person(person_id person_id_2) Person",
            "Person.spouse: to one spouse_id Person",
        ]
    );
    assert_eq!(indexes(&layout)[0], "unique Person_spouse_id_key on Person(spouse_id)");
}

#[test]
fn names_that_would_meet_give_way_to_those_of_fields() {
    let (model, layout) = layout(
        "type T { id: String! @id x: T x_id: Int at: DateTime at_at: String Name: Int name: Int type: Int }
         type t { place: Point place_longitude: Int area: Polygon @search } interface I { type: String id: Int } type sqlite_x implements I { n: Int }",
    );
    assert_eq!(
        tables(&layout),
        [
            "T: uid id x_id_2?->T x_id? at? at_at_2? at_at? Name? name_2? type?",
            "t_2: id place_longitude_2? place_latitude? place_longitude? area? area_west? area_south? area_east? area_north?",
            "I: id type",
            "t_sqlite_x: uid type? id? n?",
            "I_all (view): uid object_type type? id?",
        ]
    );
    assert!(places(&model, &layout).contains(&"t.place: point place_longitude_2 place_latitude".to_owned()));
    assert_eq!(indexes(&layout)[2], "boxes t_2_area_boxes on t_2(area_west area_south area_east area_north)");
}

#[test]
fn fields_that_are_unique_together_are_indexed_together() {
    let (_, layout) = layout("type T @unique(fields: [up, at]) { up: T at: DateTime }");
    assert_eq!(indexes(&layout), ["T_up_id_idx on T(up_id)", "unique T_up_id_at_at_key on T(up_id at_at)"]);
}

#[test]
fn texts_that_an_index_holds_whole_have_a_bound_in_postgresql() {
    let text = "type T @unique(fields: [n, u]) @unique(fields: [a, b]) { n: Int u: Int a: String b: String \
                key: String @id list: [String] more: [Int] exact: String @search(by: [exact]) hash: String @search(by: [hash]) }";
    let bytes = |database| Layout::new(&model(text), database, "public").bytes_max;
    let some = |bytes| Some(bytes);
    let none = None;
    let expected = [none, none, some(1300), some(1300), some(2600), some(2600), none, some(2600), none];
    assert_eq!(bytes(Database::Postgres), expected);
    assert_eq!(bytes(Database::Sqlite), [none; 9]);
}

#[test]
fn types_are_those_of_the_database() {
    let text = "type T { s: String n: Int big: Int64 x: Float b: Boolean }";
    let declared = |database| {
        let layout = Layout::new(&model(text), database, "public");
        let columns = layout.relations.catalog.tables[0].columns.clone();
        let types: Vec<String> = columns.iter().map(|it| format!("{} {}", it.declared, it.oid)).collect();
        types.join(", ")
    };
    assert_eq!(declared(Database::Sqlite), "INTEGER 0, TEXT 0, INTEGER 0, INTEGER 0, REAL 0, INTEGER 0");
    assert_eq!(
        declared(Database::Postgres),
        "bigint 20, text 25, integer 23, bigint 20, double precision 701, boolean 16"
    );
}
