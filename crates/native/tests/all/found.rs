//! Filters over patterns and places find rows through their indexes, and the same rows as without.

use crate::kit;
use crate::kit::Served;
use crate::kit::in_postgres;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::functions::FunctionFlags;
use weir_native::layout::{Database, IndexKind};
use weir_native::store::{Building, Types};

const TYPES: &str = r#"
type Spot {
  id: ID!
  name: String @search(by: [regexp])
  line: String @search(by: [ngram])
  at: Point @search
  area: Polygon @search
  parts: MultiPolygon @search
  tags: [String] @search(by: [trigram])
}
interface Thing { id: ID! label: String @search(by: [regexp]) place: Point @search }
type Red implements Thing { a: Int }
type Blue implements Thing { b: Int }
"#;

/// SQLite's query plan for `query`.
fn way(served: &Served, query: &str) -> String {
    let explained = served.explain(query);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for name in
        ["regex", "sequence", "near", "within", "contains", "intersects", "west", "south", "east", "north"]
    {
        let named = format!("weir_{name}");
        served.beside.create_scalar_function(named.as_str(), -1, flags, |_| Ok(0)).expect("it is registered");
    }
    let sql = explained.lines().map(str::trim).find(|it| it.starts_with("SELECT")).expect("a statement");
    let mut statement = served.beside.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect(sql);
    let rows = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>();
    rows.expect("rows").join("; ")
}

/// Checks how rows of a query with `filter` are found: `through` is part of SQLite's plan.
fn check(of: &str, filter: &str, through: &str) {
    let served = kit::serve(TYPES, "");
    let way = way(&served, &format!("{{ query{of}(filter: {filter}) {{ id }} }}"));
    assert!(way.contains(through), "{filter}: {way}");
}

#[test]
fn a_pattern_that_needs_three_letters_is_looked_for_in_their_index() {
    check("Spot", r#"{name: {regexp: "/^Ber.*n$/"}}"#, "SEARCH t0 USING INTEGER PRIMARY KEY");
    check("Spot", r#"{name: {regexp: "/^Ber.*n$/"}}"#, "SCAN Spot_name_trigrams VIRTUAL TABLE INDEX");
    check("Spot", r#"{line: {ngram: "quick fox"}}"#, "SCAN Spot_line_trigrams VIRTUAL TABLE INDEX");
    check("Thing", r#"{label: {regexp: "/abc/i"}}"#, "SCAN Red_label_trigrams VIRTUAL TABLE INDEX");
    check("Thing", r#"{label: {regexp: "/abc/i"}}"#, "SCAN Blue_label_trigrams VIRTUAL TABLE INDEX");
    check("Spot", r#"{tags: {regexp: "/abc/"}}"#, "SCAN Spot_tags_value_trigrams VIRTUAL TABLE INDEX");
}

#[test]
fn a_pattern_that_may_fit_anything_is_a_scan() {
    let served = kit::serve(TYPES, "");
    let way = way(&served, r#"{ querySpot(filter: {name: {regexp: "/^b.*n$/"}}) { id } }"#);
    assert_eq!(way, "SCAN t0");
}

#[test]
fn a_place_is_looked_for_in_the_index_of_boxes() {
    let here = "{longitude: 1, latitude: 2}";
    let area = "{coordinates: [{points: [{longitude: 0, latitude: 0}, {longitude: 1, latitude: 0}, {longitude: 1, latitude: 1}]}]}";
    // All four sides are asked for.
    for (of, filter, index) in [
        ("Spot", format!("{{at: {{near: {{distance: 10, coordinate: {here}}}}}}}"), "Spot_at_boxes"),
        ("Spot", format!("{{at: {{within: {{polygon: {area}}}}}}}"), "Spot_at_boxes"),
        ("Spot", format!("{{area: {{contains: {{point: {here}}}}}}}"), "Spot_area_boxes"),
        ("Spot", format!("{{area: {{intersects: {{polygon: {area}}}}}}}"), "Spot_area_boxes"),
        ("Spot", format!("{{parts: {{within: {{polygon: {area}}}}}}}"), "Spot_parts_boxes"),
        ("Thing", format!("{{place: {{within: {{polygon: {area}}}}}}}"), "Blue_place_boxes"),
    ] {
        check(of, &filter, &format!("SCAN {index} VIRTUAL TABLE INDEX 2:B0D1B2D3"));
    }
}

#[test]
fn while_an_index_is_built_rows_are_looked_at_one_by_one_or_the_filter_is_not_there() {
    let types = "interface I { id: ID! name: String @search(by: [term, regexp]) at: Point @search } type A implements I { a: Int } type B implements I { b: Int }";
    let sql = "INSERT INTO A(id, name, at_longitude, at_latitude) VALUES (1, 'abcd', 1, 2);
        INSERT INTO I(id, type) VALUES (1, 'A'); DELETE FROM A_name_trigrams; DELETE FROM A_at_boxes;";
    let building = |kind, is_needed, name: &str| {
        let types = Types::read(types, Database::Sqlite).expect("sound types");
        let field = types.layout.indexes.iter().find(|it| it.name == name).and_then(|it| it.field);
        assert!(field.is_some(), "{name}");
        Building { name: name.to_owned(), field, kind, is_needed, waits_for: None }
    };
    let building = [
        building(IndexKind::Terms, true, "A_name_terms"),
        building(IndexKind::Trigrams, false, "A_name_trigrams"),
        building(IndexKind::Boxes, false, "A_at_boxes"),
    ];
    let served = kit::serve_without(types, sql, &building);
    let ask = |of: &str, filter: &str| served.ask(&format!("{{ query{of}(filter: {filter}) {{ id }} }}"), "");
    let near = "{at: {near: {distance: 1, coordinate: {longitude: 1, latitude: 2}}}}";
    for of in ["A", "I"] {
        let found = format!(r#"{{"data":{{"query{of}":[{{"id":"0x1"}}]}}}}"#);
        assert_eq!(ask(of, r#"{name: {regexp: "/bcd/"}}"#), found);
        assert_eq!(ask(of, near), found);
        let refused = ask(of, r#"{name: {allofterms: "abcd"}}"#);
        assert!(refused.contains("Field \\\"allofterms\\\" is not defined by type"), "{refused}");
    }
}

#[test]
fn a_place_in_postgresql_is_looked_for_in_the_index_of_its_bounds() {
    let served = in_postgres::serve(TYPES, "");
    for (filter, index) in [
        ("{at: {near: {distance: 10, coordinate: {longitude: 1, latitude: 2}}}}", "Spot_at_boxes"),
        ("{area: {contains: {point: {longitude: 1, latitude: 2}}}}", "Spot_area_boxes"),
    ] {
        let explained = kit::explain(&served.engine, &format!("{{ querySpot(filter: {filter}) {{ id }} }}"));
        let start = explained.find("SELECT").expect("a statement");
        let sql = explained[start..].split("\n\n").next().unwrap_or_default();
        let place = r#"'{"bounds":[0,1,2,3],"point":[1,2]}'"#;
        let asked = format!(
            "SET enable_seqscan = off; SET enable_bitmapscan = off; PREPARE q(text, text) AS {sql}; EXPLAIN EXECUTE q({place}, '10')"
        );
        let way = served.database.run(&asked);
        assert!(way.contains(&format!("Index Scan using \"{index}\"")), "{explained}\n{way}");
    }
}

#[test]
fn what_is_no_place_is_refused_in_filters_and_in_mutations() {
    let served = kit::serve(TYPES, "");
    let line = "{coordinates: [{points: [{longitude: 0, latitude: 0}, {longitude: 1, latitude: 1}, {longitude: 2, latitude: 2}]}]}";
    let hole = "{coordinates: [{points: [{longitude: 0, latitude: 0}, {longitude: 1, latitude: 1}, {longitude: 2, latitude: 0}]}, {points: []}]}";
    for (query, message) in [
        (format!("{{ querySpot(filter: {{at: {{within: {{polygon: {line}}}}}}}) {{ id }} }}"), "polygon: a ring has at least three points"),
        (format!("{{ querySpot(filter: {{at: {{within: {{polygon: {hole}}}}}}}) {{ id }} }}"), "polygon: a ring has at least three points"),
        ("{ querySpot(filter: {area: {contains: {point: {longitude: 181, latitude: 0}}}}) { id } }".into(), "place: longitudes are between"),
        ("{ querySpot(filter: {at: {near: {distance: -1, coordinate: {longitude: 1, latitude: 0}}}}) { id } }".into(), "a distance is not negative"),
        (format!("mutation {{ addSpot(input: [{{area: {line}}}]) {{ numUids }} }}"), "polygon: a ring has at least three points"),
        (format!("mutation {{ addSpot(input: [{{parts: {{polygons: [{hole}]}}}}]) {{ numUids }} }}"), "polygon: a ring has at least three points"),
    ] {
        let answer = served.ask(&query, "");
        assert!(answer.contains(message) && answer.contains("\"errors\""), "{query}: {answer}");
    }
}

/// A short text of few letters, so that patterns fit often.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        select(&["a", "b", "B", "c", "k", "\u{212a}", "s", "ß", "\"", " ", "é", "xyz"][..]),
        0..8,
    )
    .prop_map(|it| it.concat())
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => text().prop_map(|it| regex::escape(&it)),
        1 => select(&[".*", ".", "[a-c]", "[ab]", "(abc)+", "a?", "b{2,3}", "^", "$", "\\b", "(?i:bc)"][..])
            .prop_map(str::to_owned),
        1 => (text(), text()).prop_map(|(a, b)| format!("({}|{})", regex::escape(&a), regex::escape(&b))),
    ];
    let pieces = prop::collection::vec(piece, 1..5).prop_map(|it| it.concat());
    (pieces, any::<bool>()).prop_map(|(it, fold)| format!("/{it}/{}", if fold { "i" } else { "" }))
}

/// A store with `texts` as names and as tags of spots whose ids count from one.
fn with_texts(texts: &[String]) -> Served {
    let served = kit::serve(TYPES, "");
    for (at, text) in texts.iter().enumerate() {
        let id = at as i64 + 1;
        served.beside.execute("INSERT INTO Spot(id, name) VALUES (?1, ?2)", (id, text)).expect("a row");
        served.beside.execute("INSERT INTO Spot_tags(id, value) VALUES (?1, ?2)", (id, text)).expect("a row");
    }
    served
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn patterns_find_what_a_scan_finds(texts in prop::collection::vec(text(), 1..40), patterns in prop::collection::vec(pattern(), 20)) {
        let served = with_texts(&texts);
        for pattern in patterns {
            let (inner, flags) = pattern[1..].rsplit_once('/').expect("slashes");
            let fits = regex::RegexBuilder::new(inner).case_insensitive(flags == "i").dot_matches_new_line(true).build().expect("it compiles");
            let fitting = (1..).zip(&texts).filter(|it| fits.is_match(it.1));
            let expected: Vec<String> = fitting.map(|it| format!("{{\"id\":\"{:#x}\"}}", it.0)).collect();
            let expected = format!("{{\"data\":{{\"a\":[{0}],\"b\":[{0}]}}}}", expected.join(","));
            let variables = serde_json::json!({ "p": pattern, "f": { "tags": { "regexp": pattern } } }).to_string();
            let query = "query ($p: String, $f: SpotFilter) { a: querySpot(filter: {name: {regexp: $p}}) { id } b: querySpot(filter: $f) { id } }";
            prop_assert_eq!(served.ask(query, &variables), expected, "{} {:?}", pattern, texts);
        }
    }
}

/// Squares of a small map: a shape is a set of them, and so what lies in what, or touches it, is plain to see.
const SIDE: i64 = 6;

/// A polygon of whole squares: a rectangle, perhaps with one cut out of its middle.
#[derive(Clone, Debug)]
struct Block {
    outer: [i64; 4],
    hole: Option<[i64; 4]>,
}

fn rectangle(within: [i64; 4]) -> impl Strategy<Value = [i64; 4]> {
    let [west, south, east, north] = within;
    (west..east, south..north).prop_flat_map(move |(x, y)| {
        (x + 1..=east, y + 1..=north).prop_map(move |(to_x, to_y)| [x, y, to_x, to_y])
    })
}

fn block() -> impl Strategy<Value = Block> {
    rectangle([0, 0, SIDE, SIDE]).prop_flat_map(|outer| {
        let [west, south, east, north] = outer;
        let has_room = east - west > 2 && north - south > 2;
        let inner = if has_room { [west + 1, south + 1, east - 1, north - 1] } else { [0, 0, 1, 1] };
        (rectangle(inner), any::<bool>())
            .prop_map(move |(hole, cut)| Block { outer, hole: (cut && has_room).then_some(hole) })
    })
}

impl Block {
    fn rings(&self) -> Vec<Vec<[i64; 2]>> {
        let ring = |[w, s, e, n]: [i64; 4]| vec![[w, s], [e, s], [e, n], [w, n]];
        std::iter::once(self.outer).chain(self.hole).map(ring).collect()
    }
    fn has(&self, x: i64, y: i64) -> bool {
        let lies = |[w, s, e, n]: [i64; 4]| w <= x && x < e && s <= y && y < n;
        lies(self.outer) && !self.hole.is_some_and(lies)
    }
    /// As `PolygonRef`.
    fn given(&self) -> serde_json::Value {
        let point = |[x, y]: &[i64; 2]| serde_json::json!({ "longitude": x, "latitude": y });
        let rings = self.rings();
        let rings =
            rings.iter().map(|it| serde_json::json!({ "points": it.iter().map(point).collect::<Vec<_>>() }));
        serde_json::json!({ "coordinates": rings.collect::<Vec<_>>() })
    }
}

fn squares(of: &[Block]) -> Vec<(i64, i64)> {
    let all = (0..SIDE).flat_map(|x| (0..SIDE).map(move |y| (x, y)));
    all.filter(|(x, y)| of.iter().any(|it| it.has(*x, *y))).collect()
}

fn lies_in(inner: &[Block], outer: &[Block]) -> bool {
    let outer = squares(outer);
    squares(inner).iter().all(|it| outer.contains(it))
}

fn meets(a: &[Block], b: &[Block]) -> bool {
    let b = squares(b);
    squares(a)
        .iter()
        .any(|(x, y)| b.iter().any(|(to_x, to_y)| (x - to_x).abs() <= 1 && (y - to_y).abs() <= 1))
}

/// True if one of the squares that a point touches exists.
fn holds(of: &[Block], [x, y]: [f64; 2]) -> bool {
    squares(of).iter().any(|(w, s)| {
        let w = *w as f64;
        let s = *s as f64;
        w <= x && x <= w + 1.0 && s <= y && y <= s + 1.0
    })
}

/// Great circle in metres on the same sphere, by the angle between two directions.
fn metres(a: [f64; 2], b: [f64; 2]) -> f64 {
    let direction = |[x, y]: [f64; 2]| {
        let x = x.to_radians();
        let y = y.to_radians();
        [y.cos() * x.cos(), y.cos() * x.sin(), y.sin()]
    };
    let a = direction(a);
    let b = direction(b);
    let chord: f64 = (0..3).map(|it| (a[it] - b[it]).powi(2)).sum();
    2.0 * 6_371_008.8 * (chord.sqrt() / 2.0).min(1.0).asin()
}

#[derive(Clone, Debug)]
struct Spot {
    at: [f64; 2],
    area: Block,
    /// One or two blocks that share nothing.
    parts: Vec<Block>,
}

fn spot() -> impl Strategy<Value = Spot> {
    let at = (0..=2 * SIDE, 0..=2 * SIDE).prop_map(|(x, y)| [x as f64 / 2.0, y as f64 / 2.0]);
    (at, block(), block(), block()).prop_map(|(at, area, one, other)| {
        let is_apart = !meets(std::slice::from_ref(&one), std::slice::from_ref(&other));
        let parts = if is_apart { vec![one, other] } else { vec![one] };
        Spot { at, area, parts }
    })
}

/// Statements that make the spots, with ids from one.
fn inserts(spots: &[Spot]) -> String {
    let bounds = |of: &[Block]| {
        let least = |at: usize| of.iter().map(|it| it.outer[at]).min().unwrap_or(0);
        let most = |at: usize| of.iter().map(|it| it.outer[at]).max().unwrap_or(0);
        format!("{}, {}, {}, {}", least(0), least(1), most(2), most(3))
    };
    let row = |(at, it): (i64, &Spot)| {
        let area = it.area.rings();
        let parts: Vec<_> = it.parts.iter().map(Block::rings).collect();
        format!(
            r#"INSERT INTO "Spot"(id, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north, parts, parts_west, parts_south, parts_east, parts_north)
               VALUES ({at}, {}, {}, '{}', {}, '{}', {});"#,
            it.at[0],
            it.at[1],
            serde_json::json!(area),
            bounds(std::slice::from_ref(&it.area)),
            serde_json::json!(parts),
            bounds(&it.parts),
        )
    };
    (1..).zip(spots).map(row).collect()
}

const PLACES: &str = "query ($p: PointRef!, $q: PolygonRef!, $m: MultiPolygonRef!, $d: Float!) {
  near: querySpot(filter: {at: {near: {distance: $d, coordinate: $p}}}) { id }
  beside: querySpot(filter: {area: {near: {distance: $d, coordinate: $p}}}) { id }
  lies: querySpot(filter: {at: {within: {polygon: $q}}}) { id }
  within: querySpot(filter: {area: {within: {polygon: $q}}}) { id }
  parts: querySpot(filter: {parts: {within: {polygon: $q}}}) { id }
  contains: querySpot(filter: {area: {contains: {polygon: $q}}}) { id }
  covers: querySpot(filter: {parts: {contains: {point: $p}}}) { id }
  meets: querySpot(filter: {area: {intersects: {polygon: $q}}}) { id }
  all: querySpot(filter: {parts: {intersects: {multiPolygon: $m}}}) { id }
}";

/// Asks for all that stands to a spot in any way, and compares with what the squares say.
fn check_places(
    ask: &dyn Fn(&str, &str) -> String,
    spots: &[Spot],
    other: &Spot,
    distance: f64,
) -> Result<(), TestCaseError> {
    let area = std::slice::from_ref(&other.area);
    let variables = serde_json::json!({
        "p": { "longitude": other.at[0], "latitude": other.at[1] },
        "q": other.area.given(),
        "m": { "polygons": other.parts.iter().map(Block::given).collect::<Vec<_>>() },
        "d": distance,
    });
    let found: serde_json::Value = serde_json::from_str(&ask(PLACES, &variables.to_string())).expect("JSON");
    let is_near = |it: &Spot| metres(it.at, other.at) <= distance;
    // An edge is as near as its nearest point: looked for along it in small steps, so the distance is not exact.
    let to_area = |it: &Spot| {
        if holds(std::slice::from_ref(&it.area), other.at) {
            0.0
        } else {
            it.area
                .rings()
                .iter()
                .flat_map(|ring| (0..4).map(move |at| (ring[at], ring[(at + 1) % 4])))
                .flat_map(|([ax, ay], [bx, by])| {
                    (0..=1000).map(move |step| {
                        let share = f64::from(step) / 1000.0;
                        [ax as f64 + (bx - ax) as f64 * share, ay as f64 + (by - ay) as f64 * share]
                    })
                })
                .map(|point| metres(point, other.at))
                .fold(f64::INFINITY, f64::min)
        }
    };
    let area_of = |it: &Spot| vec![it.area.clone()];
    type Rule<'r> = (&'static str, Box<dyn Fn(&Spot) -> Option<bool> + 'r>);
    let rules: Vec<Rule<'_>> = vec![
        ("near", Box::new(|it| Some(is_near(it)))),
        ("beside", Box::new(|it| ((to_area(it) - distance).abs() > 500.0).then(|| to_area(it) <= distance))),
        ("lies", Box::new(|it| Some(holds(area, it.at)))),
        ("within", Box::new(|it| Some(lies_in(&area_of(it), area)))),
        ("parts", Box::new(|it| Some(lies_in(&it.parts, area)))),
        ("contains", Box::new(|it| Some(lies_in(area, &area_of(it))))),
        ("covers", Box::new(|it| Some(holds(&it.parts, other.at)))),
        ("meets", Box::new(|it| Some(meets(&area_of(it), area)))),
        ("all", Box::new(|it| Some(meets(&it.parts, &other.parts)))),
    ];
    for (name, rule) in &rules {
        let ids = found["data"][*name].as_array().unwrap_or_else(|| panic!("{found}"));
        for (at, spot) in (1..).zip(spots) {
            let is_found = ids.iter().any(|it| it["id"] == format!("{at:#x}"));
            if let Some(expected) = rule(spot) {
                prop_assert_eq!(is_found, expected, "{} {:?} {:?} {}", name, spot, other, distance);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn places_stand_to_each_other_as_their_squares_do(spots in prop::collection::vec(spot(), 1..30), others in prop::collection::vec((spot(), 1.0..400_000.0), 10)) {
        let served = kit::serve(TYPES, &inserts(&spots));
        for (other, distance) in others {
            check_places(&|query, variables| served.ask(query, variables), &spots, &other, distance)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    #[test]
    fn places_in_postgresql_do_too(spots in prop::collection::vec(spot(), 30), others in prop::collection::vec((spot(), 1.0..400_000.0), 10)) {
        let served = in_postgres::serve(TYPES, &inserts(&spots));
        for (other, distance) in others {
            check_places(&|query, variables| served.ask(query, variables), &spots, &other, distance)?;
        }
    }
}
