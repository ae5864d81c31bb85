//! Served parts of a database and their names.

use rusqlite::Connection;
use weir_hasura::model::{Model, ModelOptions, RelationshipNames, Track};
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::RelationshipKind;
use weir_sqlite::introspect::{SqliteOptions, enum_values, read};

fn model(sql: &str, entries: &str, options: ModelOptions<'_>) -> (Model, Vec<String>) {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
    let tables: Vec<TableEntry> = serde_json::from_str(entries).unwrap();
    let options = ModelOptions { tables: &tables, ..options };
    let (model, warnings) = Model::build(catalog, options, &mut |table| enum_values(&connection, table));
    (model, warnings.iter().map(ToString::to_string).collect())
}

/// One line per table, one per renamed column, enum and relationship.
fn written(model: &Model) -> String {
    let mut out = String::new();
    for (_, table, tracked) in model.all() {
        out.push_str(&format!("{} {}\n", table.name, tracked.name));
        for (at, (column, name)) in table.columns.iter().zip(&tracked.columns).enumerate() {
            if name.as_ref() != Some(&column.name) {
                out.push_str(&format!("  {} = {name:?}\n", column.name));
            }
            if let Some(values) = tracked.enums[at] {
                out.push_str(&format!(
                    "  {} of {}\n",
                    column.name,
                    model.relations.catalog.table(values).name
                ));
            }
        }
        for value in &tracked.enum_values {
            out.push_str(&format!("  {} {:?}\n", value.value, value.comment));
        }
        for &id in &tracked.relationships {
            let relationship = model.relations.relationship(id);
            let to = model.relations.catalog.table(relationship.to);
            let on: Vec<String> = relationship
                .on
                .iter()
                .map(|&(ours, theirs)| format!("{}={}", table.column(ours).name, to.column(theirs).name))
                .collect();
            let kind = match relationship.kind {
                RelationshipKind::Object { certain: true } => "one",
                RelationshipKind::Object { certain: false } => "perhaps one",
                RelationshipKind::Array => "many",
            };
            let first = if relationship.insert_first { " first" } else { "" };
            out.push_str(&format!("  {}: {kind} {} {}{first}\n", relationship.name, to.name, on.join(",")));
        }
    }
    out
}

fn check(sql: &str, entries: &str, options: ModelOptions<'_>, expected: &str, expected_warnings: &[&str]) {
    let (model, warnings) = model(sql, entries, options);
    assert_eq!(written(&model).trim_end(), expected.trim(), "{sql}");
    assert_eq!(warnings, expected_warnings, "{sql}");
}

const CHINOOK: &str = include_str!("../../../../examples/chinook/chinook.sql");

#[test]
fn chinook_gets_the_names_of_hasuras_console() {
    check(
        CHINOOK,
        "[]",
        ModelOptions::default(),
        "
Album Album
  Album_Artist: one Artist ArtistId=ArtistId first
  Album_Tracks: many Track AlbumId=AlbumId
Artist Artist
  Artist_Albums: many Album ArtistId=ArtistId
Customer Customer
  Customer_Employee: perhaps one Employee SupportRepId=EmployeeId first
  Customer_Invoices: many Invoice CustomerId=CustomerId
Employee Employee
  Employee_Employee: perhaps one Employee ReportsTo=EmployeeId first
  Employee_Customers: many Customer EmployeeId=SupportRepId
  Employee_Employees: many Employee EmployeeId=ReportsTo
Genre Genre
  Genre_Tracks: many Track GenreId=GenreId
Invoice Invoice
  Invoice_Customer: one Customer CustomerId=CustomerId first
  Invoice_InvoiceLines: many InvoiceLine InvoiceId=InvoiceId
InvoiceLine InvoiceLine
  InvoiceLine_Track: one Track TrackId=TrackId first
  InvoiceLine_Invoice: one Invoice InvoiceId=InvoiceId first
MediaType MediaType
  MediaType_Tracks: many Track MediaTypeId=MediaTypeId
Playlist Playlist
  Playlist_PlaylistTracks: many PlaylistTrack PlaylistId=PlaylistId
PlaylistTrack PlaylistTrack
  PlaylistTrack_Track: one Track TrackId=TrackId first
  PlaylistTrack_Playlist: one Playlist PlaylistId=PlaylistId first
Track Track
  Track_MediaType: one MediaType MediaTypeId=MediaTypeId first
  Track_Genre: perhaps one Genre GenreId=GenreId first
  Track_Album: perhaps one Album AlbumId=AlbumId first
  Track_InvoiceLines: many InvoiceLine TrackId=TrackId
  Track_PlaylistTracks: many PlaylistTrack TrackId=TrackId",
        &[],
    );
}

const GAMES: &str = "CREATE TABLE team(id INTEGER PRIMARY KEY, albums TEXT);
    CREATE TABLE game(id INTEGER PRIMARY KEY, home INTEGER NOT NULL REFERENCES team, away INTEGER REFERENCES team);
    CREATE TABLE coach(team_id INTEGER PRIMARY KEY REFERENCES team, name TEXT);";

#[test]
fn two_keys_between_the_same_tables_get_the_column_appended_and_a_unique_key_leads_to_one_row() {
    check(
        GAMES,
        "[]",
        ModelOptions::default(),
        "
coach coach
  coach_team: one team team_id=id first
game game
  game_team_home: one team home=id first
  game_team_away: perhaps one team away=id first
team team
  team_coach: perhaps one coach id=team_id
  team_games_home: many game id=home
  team_games_away: many game id=away",
        &[],
    );
}

#[test]
fn short_names_leave_out_the_own_table_and_make_way_for_columns() {
    check(
        "CREATE TABLE artist(id INTEGER PRIMARY KEY, albums TEXT);
         CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artist);",
        "[]",
        ModelOptions { relationship_names: RelationshipNames::Short, ..ModelOptions::default() },
        "
album album
  artist_artist: perhaps one artist artist=id first
artist artist
  albums_artist: many album id=artist",
        &[
            "`album.artist`: there is another field of that name: it is called `artist_artist`",
            "`artist.albums`: there is another field of that name: it is called `albums_artist`",
        ],
    );
}

const BLOG: &str = "CREATE TABLE users(id INTEGER PRIMARY KEY, editor TEXT);
    CREATE TABLE articles(id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES users,
      editor_id INTEGER REFERENCES users, category INTEGER REFERENCES categories);
    CREATE TABLE categories(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES categories, cover_id INTEGER REFERENCES articles);
    CREATE TABLE profiles(user_id INTEGER PRIMARY KEY REFERENCES users, note TEXT, user TEXT);
    CREATE TABLE staff(id INTEGER PRIMARY KEY, managerId INTEGER REFERENCES staff, a INTEGER, b INTEGER,
      FOREIGN KEY (a, b) REFERENCES versions(a, b));
    CREATE TABLE versions(a INTEGER, b INTEGER, PRIMARY KEY (a, b));";

#[test]
fn hasura_s_names_are_the_column_without_id_and_the_name_of_the_child() {
    check(
        BLOG,
        "[]",
        ModelOptions { relationship_names: RelationshipNames::Hasura, ..ModelOptions::default() },
        "
articles articles
  author: one users author_id=id first
  editor: perhaps one users editor_id=id first
  category_category: perhaps one categories category=id first
  categories: many categories id=cover_id
categories categories
  parent: perhaps one categories parent_id=id first
  cover: perhaps one articles cover_id=id first
  articles: many articles id=category
  children: many categories id=parent_id
profiles profiles
  user_user_id: one users user_id=id first
staff staff
  manager: perhaps one staff managerId=id first
  version: perhaps one versions a=a,b=b first
  staff: many staff id=managerId
users users
  profile: perhaps one profiles id=user_id
  articles_author_id: many articles id=author_id
  articles_editor_id: many articles id=editor_id
versions versions
  staff: many staff a=a,b=b",
        &[
            "`articles.category`: there is another field of that name: it is called `category_category`",
            "`profiles.user`: there is another field of that name: it is called `user_user_id`",
        ],
    );
}

#[test]
fn the_rule_for_names_is_proposed_by_the_names_there_are() {
    let check = |sql: &str, expected: RelationshipNames| {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        assert_eq!(RelationshipNames::propose(&catalog), expected, "{sql}");
    };
    check(BLOG, RelationshipNames::Hasura);
    check(CHINOOK, RelationshipNames::Short);
    check(GAMES, RelationshipNames::Short);
    let albums = "CREATE TABLE artist(id INTEGER PRIMARY KEY, albums TEXT);
        CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artist);";
    check(albums, RelationshipNames::Long);
    check("CREATE TABLE plain(id INTEGER PRIMARY KEY);", RelationshipNames::Long);
}

#[test]
fn odd_names_are_mapped_and_clashes_resolved_with_a_reason() {
    check(
        "CREATE TABLE \"Order Details\"(\"unit price\" REAL, \"🎵\" TEXT, \"1st\" INTEGER, \"__x\" INTEGER, \"_and\" INTEGER,
           \"true\" INTEGER, \"select\" INTEGER);
         CREATE TABLE a(x INTEGER); CREATE TABLE a_max(x INTEGER); CREATE TABLE order_by(x INTEGER);
         CREATE TABLE a_aggregate(x INTEGER); CREATE TABLE \"名前\"(x INTEGER); CREATE TABLE String(x geometry);
         CREATE TABLE geometry(x INTEGER);",
        "[]",
        ModelOptions::default(),
        "
Order Details Order_Details
  unit price = Some(\"unit_price\")
  🎵 = None
  1st = Some(\"_1st\")
  __x = Some(\"_x\")
  _and = Some(\"_and_2\")
  true = Some(\"true_2\")
String String_2
a a
a_aggregate a_aggregate_2
a_max a_max_2
geometry geometry_2
order_by order_by_2",
        &[
            "`Order Details`: its name is no GraphQL name: it is called `Order_Details`",
            "`String`: its name is taken by the API: it is called `String_2`",
            "`a_aggregate`: its name is taken by the API: it is called `a_aggregate_2`",
            "`a_max`: its name is taken by the API: it is called `a_max_2`",
            "`geometry`: its name is taken by the API: it is called `geometry_2`",
            "`order_by`: its name is taken by the API: it is called `order_by_2`",
            "`名前`: its name holds no letter a GraphQL name may have: it needs a `custom_name`",
            "`Order Details.unit price`: its name is no GraphQL name: it is called `unit_price`",
            "`Order Details.🎵`: its name holds no letter a GraphQL name may have: it needs a `custom_name`",
            "`Order Details.1st`: its name is no GraphQL name: it is called `_1st`",
            "`Order Details.__x`: its name is no GraphQL name: it is called `_x`",
            "`Order Details._and`: its name is taken by the API: it is called `_and_2`",
            "`Order Details.true`: its name is taken by the API: it is called `true_2`",
        ],
    );
}

#[test]
fn entries_rename_and_replace_what_the_rules_give() {
    check(
        GAMES,
        r#"[{"table": "game", "configuration": {"custom_name": "Match", "column_config": {"home": {"custom_name": "host"}}},
             "object_relationships": [
               {"name": "hosts", "using": {"foreign_key_constraint_on": "home"}},
               {"name": "odd", "using": {"foreign_key_constraint_on": "id"}},
               {"name": "trainer", "using": {"manual_configuration": {"remote_table": {"schema": "main", "name": "coach"},
                 "column_mapping": {"home": "team_id"}, "insertion_order": "after_parent"}}}]},
            {"table": "team", "array_relationships": [
               {"name": "guests", "using": {"foreign_key_constraint_on": {"table": "game", "column": "away"}}}]},
            {"table": "nowhere"}, {"table": {"schema": "public", "name": "team"}}]"#,
        ModelOptions::default(),
        "
coach coach
  coach_team: one team team_id=id first
game Match
  home = Some(\"host\")
  hosts: one team home=id first
  trainer: perhaps one coach home=team_id
  Match_team_away: perhaps one team away=id first
team team
  guests: many game id=away
  team_coach: perhaps one coach id=team_id
  team_Matches_host: many game id=home",
        &[
            "`nowhere`: there is no table `nowhere`",
            "`team`: there is no table `team` in schema `public`; did you mean schema `main`?",
            "`game.odd`: `game` has no such foreign key on column `id`",
        ],
    );
}

#[test]
fn listed_tables_have_what_their_entries_name() {
    check(
        GAMES,
        r#"[{"table": "team"}, {"table": "game", "object_relationships": [
            {"name": "hosts", "using": {"foreign_key_constraint_on": ["home"]}},
            {"name": "lost", "using": {"manual_configuration": {"remote_table": "coach", "column_mapping": {"home": "team_id"}}}}]}]"#,
        ModelOptions { track: Track::Listed, ..ModelOptions::default() },
        "
game game
  hosts: one team home=id first
team team",
        &["`game.lost`: table `coach` is not tracked"],
    );
}

#[test]
fn root_fields_take_custom_names_that_are_free() {
    let (model, warnings) = model(
        "CREATE TABLE a(x INTEGER PRIMARY KEY); CREATE TABLE b(x INTEGER);",
        r#"[{"table": "a", "configuration": {"custom_root_fields": {
            "select": "all", "select_by_pk": {"name": "one", "comment": "one of all"}, "delete": "insert_b",
            "insert": "all", "update": "1"}}}]"#,
        ModelOptions::default(),
    );
    let fields = &model.tables[0].as_ref().unwrap().root_fields;
    assert_eq!(fields.select.name.as_deref(), Some("all"));
    assert_eq!(fields.select_by_pk.name.as_deref(), Some("one"));
    assert_eq!(fields.select_by_pk.comment.as_deref(), Some("one of all"));
    assert_eq!((&fields.delete.name, &fields.insert.name, &fields.update.name), (&None, &None, &None));
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}

#[test]
fn enum_tables_give_their_values_to_the_columns_that_refer_to_them() {
    check(
        "CREATE TABLE colour(name TEXT PRIMARY KEY, comment TEXT); INSERT INTO colour VALUES ('red', 'warm'), ('blue', NULL);
         CREATE TABLE odd(name TEXT PRIMARY KEY); INSERT INTO odd VALUES ('not a name');
         CREATE TABLE empty(name TEXT PRIMARY KEY);
         CREATE TABLE car(id INTEGER PRIMARY KEY, paint TEXT NOT NULL REFERENCES colour);",
        r#"[{"table": "colour", "is_enum": true}, {"table": "odd", "is_enum": true}, {"table": "empty", "is_enum": true},
            {"table": "car", "is_enum": true}]"#,
        ModelOptions::default(),
        "
car car
  paint of colour
  car_colour: one colour paint=name first
colour colour
  blue \"\"
  red \"warm\"
  colour_cars: many car name=paint
empty empty
odd odd",
        &[
            "`odd`: it cannot be an enum and is served as a table: its value `not a name` is no GraphQL name",
            "`empty`: it cannot be an enum and is served as a table: it has no rows",
            "`car`: it cannot be an enum and is served as a table: its primary key has to be a text",
        ],
    );
}
