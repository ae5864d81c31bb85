//! What is answered finds its row: each value of each type of values that a store answers is taken back by filters, keys and writes, in
//! both databases. Filters take it as it was written, too.
//!
//! The types are those of the model: of one that is new the match below is not whole.

use crate::kit;
use crate::kit::in_postgres;
use weir_language::json::{Json, JsonRef};
use weir_native::model::Scalar;

/// Ways to ask for a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Equal,
    Truth,
    Near,
    Shape,
}

/// Values of a type, as JSON. No two are equal.
struct Case {
    ty: &'static str,
    search: &'static str,
    asked: Asked,
    is_key: bool,
    values: &'static [&'static str],
}

const TEXTS: &[&str] = &[
    r#""""#,
    r#"" ""#,
    r#""a""#,
    r#""A""#,
    r#""a ""#,
    r#""ä""#,
    r#""a\u0308""#,
    r#""it's""#,
    r#""\\""#,
    r#""\"""#,
    r#""%_""#,
    r#""05""#,
    r#""5""#,
    r#""5.0""#,
    r#""0x1""#,
    r#""null""#,
    r#""true""#,
    r#""{\"a\": 1}""#,
    r#""a\nb\tc""#,
    r#""🎵 東京""#,
    r#""99999999999999999999""#,
];

const LONGS: &[&str] = &[
    "0",
    "-1",
    "2147483648",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775806",
    "-9223372036854775808",
];

const FLOATS: &[&str] = &[
    "0",
    "0.5",
    "3",
    "0.1",
    "0.30000000000000004",
    "0.3",
    "1e15",
    "9007199254740993",
    "9007199254740994",
    "4611686018427387905",
    "1e22",
    "1e300",
    "-1.5e-7",
    "5e-324",
    "1.7976931348623157e308",
    "123456789.12345679",
];

const TIMES: &[&str] = &[
    r#""2003""#,
    r#""2003-02""#,
    r#""1999-12-31""#,
    r#""2020-01-01T00:00:00.7Z""#,
    r#""2020-01-01T00:00:00.700001Z""#,
    r#""2020-01-01T00:30:00+02:00""#,
    r#""0001-01-01T00:00:00Z""#,
    r#""1969-12-31T23:59:59.999999Z""#,
    r#""9999-12-31T23:59:59Z""#,
];

const POINTS: &[&str] = &[
    r#"{"longitude":0,"latitude":0}"#,
    r#"{"longitude":-122.4783,"latitude":37.8199}"#,
    r#"{"longitude":0.1,"latitude":-0.30000000000000004}"#,
    r#"{"longitude":180,"latitude":90}"#,
];

const POLYGONS: &[&str] = &[
    r#"{"coordinates":[{"points":[{"longitude":1.5,"latitude":2},{"longitude":3,"latitude":2},{"longitude":3,"latitude":4.25}]}]}"#,
    r#"{"coordinates":[{"points":[{"longitude":10,"latitude":10},{"longitude":20,"latitude":10},{"longitude":20,"latitude":20},{"longitude":10,"latitude":20}]},{"points":[{"longitude":12,"latitude":12},{"longitude":14,"latitude":12},{"longitude":14,"latitude":14}]}]}"#,
];

const MULTI_POLYGONS: &[&str] = &[
    r#"{"polygons":[{"coordinates":[{"points":[{"longitude":-5,"latitude":-5},{"longitude":-4,"latitude":-5},{"longitude":-4,"latitude":-4}]}]},{"coordinates":[{"points":[{"longitude":30,"latitude":30},{"longitude":31,"latitude":30},{"longitude":31,"latitude":31}]}]}]}"#,
];

/// The case of a type, and the type after it.
fn case(scalar: Scalar) -> (Case, Option<Scalar>) {
    let equal = |ty, is_key, values| Case { ty, search: "", asked: Asked::Equal, is_key, values };
    let place = |ty, asked, values| Case { ty, search: "", asked, is_key: false, values };
    match scalar {
        Scalar::String => {
            (Case { search: "(by: [exact])", ..equal("String", true, TEXTS) }, Some(Scalar::Int))
        }
        Scalar::Int => {
            let values = &["0", "1", "-7", "2147483647", "-2147483648"];
            (equal("Int", true, values), Some(Scalar::Int64))
        }
        Scalar::Int64 => (equal("Int64", true, LONGS), Some(Scalar::Float)),
        Scalar::Float => (equal("Float", false, FLOATS), Some(Scalar::Boolean)),
        Scalar::Boolean => {
            let values = &["true", "false"];
            (Case { asked: Asked::Truth, ..equal("Boolean", false, values) }, Some(Scalar::DateTime))
        }
        Scalar::DateTime => (equal("DateTime", false, TIMES), Some(Scalar::Point)),
        Scalar::Point => (place("Point", Asked::Near, POINTS), Some(Scalar::Polygon)),
        Scalar::Polygon => (place("Polygon", Asked::Shape, POLYGONS), Some(Scalar::MultiPolygon)),
        Scalar::MultiPolygon => (place("MultiPolygon", Asked::Shape, MULTI_POLYGONS), None),
    }
}

impl Case {
    fn sdl(&self) -> String {
        let Self { ty, search, .. } = self;
        let list = if matches!(self.asked, Asked::Equal) {
            format!("vs: [{ty}] @search{search}")
        } else {
            String::new()
        };
        let keyed = if self.is_key { format!("type K {{ v: {ty}! @id n: Int }}") } else { String::new() };
        format!("type T {{ n: Int! @id m: Int v: {ty} @search{search} {list} }} {keyed} enum E {{ a A b }}")
    }

    /// The selection of a value.
    fn selected(&self) -> &'static str {
        match self.ty {
            "Point" => "v { longitude latitude }",
            "Polygon" => "v { coordinates { points { longitude latitude } } }",
            "MultiPolygon" => "v { polygons { coordinates { points { longitude latitude } } } }",
            _ => "v",
        }
    }

    /// Filters that `v` meets, where it was answered for a value.
    fn filters(&self, v: &str) -> Vec<String> {
        match self.asked {
            Asked::Equal => vec![
                format!(r#"{{"v":{{"eq":{v}}}}}"#),
                format!(r#"{{"v":{{"in":[{v}]}}}}"#),
                format!(r#"{{"vs":{{"eq":{v}}}}}"#),
                format!(r#"{{"not":{{"not":{{"v":{{"eq":{v}}}}}}}}}"#),
            ],
            Asked::Truth => vec![format!(r#"{{"v":{v}}}"#)],
            Asked::Near => vec![format!(r#"{{"v":{{"near":{{"distance":0.001,"coordinate":{v}}}}}}}"#)],
            Asked::Shape => {
                let name = if self.ty == "Polygon" { "polygon" } else { "multiPolygon" };
                vec![format!(r#"{{"v":{{"intersects":{{"{name}":{v}}}}}}}"#)]
            }
        }
    }
}

/// A store that is asked.
struct Store<'s> {
    ask: &'s dyn Fn(&str, &str) -> String,
    case: &'s Case,
    database: &'static str,
}

impl Store<'_> {
    /// The value at `path` below `data`, as it is written.
    fn read(&self, operation: &str, variables: &str, path: &[&str]) -> String {
        let answer = (self.ask)(operation, variables);
        let json = Json::parse(answer.as_bytes(), 100).expect("JSON");
        let start: Option<JsonRef<'_>> = json.root().get("data");
        let found = path.iter().fold(start, |found, key| found.and_then(|it| it.get(key)));
        let place = format!("{} {}: {operation} {variables}: {answer}", self.database, self.case.ty);
        found.filter(|it| !it.is_null()).unwrap_or_else(|| panic!("{place}")).raw().to_owned()
    }

    fn check(&self) {
        let Case { asked, values, is_key, .. } = self.case;
        let selected = self.case.selected();
        let add =
            format!("mutation ($i: [AddTInput!]!) {{ addT(input: $i) {{ numUids t {{ n {selected} }} }} }}");
        for (n, value) in values.iter().enumerate() {
            let list = if *asked == Asked::Equal { format!(r#","vs":[{value}]"#) } else { String::new() };
            let variables = format!(r#"{{"i":[{{"n":{n},"v":{value}{list}}}]}}"#);
            self.read(&add, &variables, &["addT", "t"]);
        }
        let shown: Vec<String> = (0..values.len()).map(|n| self.shown(n)).collect();
        for (n, v) in shown.iter().enumerate() {
            self.check_filters(n, v);
            self.check_filters(n, values[n]);
            // Written back it is answered alike.
            let variables = format!(r#"{{"i":{{"filter":{{"n":{{"eq":{n}}}}},"set":{{"v":{v}}}}}}}"#);
            self.read(
                "mutation ($i: UpdateTInput!) { updateT(input: $i) { t { n } } }",
                &variables,
                &["updateT", "t"],
            );
            assert_eq!(self.shown(n), *v, "{} {}", self.database, self.case.ty);
            // An empty key is refused, as Dgraph refuses it.
            if *is_key && v != r#""""# {
                self.check_key(n, v);
            }
        }
        for (n, v) in shown.iter().enumerate() {
            let filter = &self.case.filters(v)[0];
            let deleted = format!(r#"[{{"n":{n}}}]"#);
            let found = self.read(
                "mutation ($f: TFilter!) { deleteT(filter: $f) { t { n } } }",
                &format!(r#"{{"f":{filter}}}"#),
                &["deleteT", "t"],
            );
            assert_eq!(found, deleted, "{} {} {v}", self.database, self.case.ty);
        }
    }

    /// The value of the object `n`, as it is answered.
    fn shown(&self, n: usize) -> String {
        let selected = self.case.selected();
        self.read(&format!("{{ getT(n: {n}) {{ {selected} }} }}"), "", &["getT", "v"])
    }

    /// The object, and no other one, is found and changed by its value, a number also as a literal.
    fn check_filters(&self, n: usize, v: &str) {
        if v.parse::<f64>().is_ok() {
            let operation = format!("{{ queryT(filter: {{v: {{eq: {v}}}}}) {{ n }} }}");
            let found = self.read(&operation, "", &["queryT"]);
            assert_eq!(found, format!(r#"[{{"n":{n}}}]"#), "{} {operation}", self.database);
        }
        for filter in self.case.filters(v) {
            let variables = format!(r#"{{"f":{filter},"i":{{"filter":{filter},"set":{{"m":{n}}}}}}}"#);
            let only = format!(r#"[{{"n":{n}}}]"#);
            for (operation, field) in [
                ("query ($f: TFilter!) { queryT(filter: $f) { n } }", &["queryT"][..]),
                ("mutation ($i: UpdateTInput!) { updateT(input: $i) { t { n } } }", &["updateT", "t"]),
            ] {
                let found = self.read(operation, &variables, field);
                assert_eq!(found, only, "{} {} {filter}", self.database, self.case.ty);
            }
        }
    }

    /// It is a key: its object is found, changed in place of a new one, and deleted.
    fn check_key(&self, n: usize, v: &str) {
        let ty = self.case.ty;
        let variables = format!(
            r#"{{"v":{v},"i":[{{"v":{v},"n":{n}}}],"u":{{"filter":{{"v":{{"eq":{v}}}}},"set":{{"n":-1}}}},"f":{{"v":{{"in":[{v}]}}}}}}"#
        );
        let add = "mutation ($i: [AddKInput!]!) { addK(input: $i, upsert: true) { numUids k { v } } }";
        let row = format!(r#"[{{"v":{v}}}]"#);
        for (operation, path, expected) in [
            (add, &["addK", "k"][..], row.as_str()),
            (add, &["addK", "k"], &row),
            (&*format!("query ($v: {ty}!) {{ getK(v: $v) {{ v }} }}"), &["getK", "v"], v),
            ("{ aggregateK { count } }", &["aggregateK", "count"], "1"),
            ("mutation ($u: UpdateKInput!) { updateK(input: $u) { k { v } } }", &["updateK", "k"], &row),
            ("mutation ($f: KFilter!) { deleteK(filter: $f) { k { v } } }", &["deleteK", "k"], &row),
        ] {
            assert_eq!(self.read(operation, &variables, path), expected, "{} {operation}", self.database);
        }
    }
}

#[test]
fn what_is_answered_finds_its_row() {
    let enums = Case {
        ty: "E",
        search: "",
        asked: Asked::Equal,
        is_key: false,
        values: &[r#""a""#, r#""A""#, r#""b""#],
    };
    let mut cases = vec![enums];
    let mut next = Some(Scalar::String);
    while let Some(scalar) = next {
        let (case, after) = case(scalar);
        cases.push(case);
        next = after;
    }
    for case in &cases {
        let served = kit::serve(&case.sdl(), "");
        Store { ask: &|query, variables| served.ask(query, variables), case, database: "SQLite" }.check();
        let served = in_postgres::serve(&case.sdl(), "");
        Store { ask: &|query, variables| served.ask(query, variables), case, database: "PostgreSQL" }.check();
    }
}
