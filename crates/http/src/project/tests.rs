//! Projections of answers: small cases, and random ones against a slow and obvious implementation.

mod evaluators;

pub(crate) use evaluators::agree;

use super::{Projection, row_key};
use crate::sdl::{self, ConnectorId, KeyField, Mapping};
use crate::selection::inputs::{Args, ConfigValues, Inputs, Keys};
use crate::selection::tests::CONFIG;
use crate::selection::value::Value as Setting;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use weir_engine::plan::output_plan::{
    OutputField, OutputKind, OutputPlan, ResponseKey, SelectionSet, SelectionSetId,
};
use weir_engine::rows::{Bitmap, Column, Data, Table, Texts};
use weir_engine::source::{AnswerForm, Ids, NoHeaders, PlanNode, Protocol, RequestCache};
use weir_language::ast::{Definition, Document, List, OperationKind, Selection};
use weir_language::json::{Json, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{FieldId, Schema, TypeId};
use weir_language::value::Variables;

const HEAD: &str =
    "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])
  @source(name: \"s\", http: {baseURL: \"http://host\"})\n";

/// The output plan of a query, without fragments and arguments.
struct Planned {
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    output: OutputPlan,
    root: SelectionSetId,
    cache: RequestCache,
}

fn members(
    schema: &Schema,
    output: &mut OutputPlan,
    document: &Document<'_>,
    on: TypeId,
    list: List<Selection>,
) -> SelectionSetId {
    let mut fields = Vec::new();
    for selection in document.list(list) {
        let Selection::Field(field) = selection else { continue };
        let id = schema.field_by_name(on, document.str(field.name)).expect("a field");
        let ty = schema.field(id).ty;
        let member = if field.braces {
            OutputKind::Object(members(schema, output, document, ty.base, field.selections))
        } else {
            OutputKind::Leaf
        };
        let key = ResponseKey::new(document.str(field.key()));
        fields.push(OutputField {
            key,
            field: id,
            ty,
            arguments_start: 0,
            arguments_len: 0,
            member,
            same_as: None,
            offset: 0,
            membership: 0,
        });
    }
    output.sets.push(SelectionSet {
        on,
        start: output.fields.len() as u32,
        len: fields.len() as u32,
        hidden: Vec::new(),
        is_entity: false,
    });
    output.fields.extend(fields);
    SelectionSetId(output.sets.len() as u32 - 1)
}

fn plan_query(schema: &Arc<Schema>, on: TypeId, query: &str) -> Planned {
    let document = parser::parse(query, &Limits::NONE).expect("a query");
    let Definition::Operation(operation) = document.definitions[0] else { panic!("no query") };
    let mut output = OutputPlan::default();
    let root = members(schema, &mut output, &document, on, operation.selections);
    Planned {
        schema: Arc::clone(schema),
        ids: Arc::new(Ids::default()),
        output,
        root,
        cache: RequestCache::default(),
    }
}

impl Planned {
    fn node<'p>(&'p self, fields: &'p [u32]) -> PlanNode<'p> {
        PlanNode {
            schema: &self.schema,
            ids: &self.ids,
            output: &self.output,
            set: self.root,
            fields,
            kind: OperationKind::Query,
            parent_keys: None,
            answer: AnswerForm::Rows,
            facts: &[],
            protocol: Protocol::GraphqlOverHttp,
            text: "",
            conditions_max: 1_000,
            variables: &[],
            part: None,
            cache: &self.cache,
        }
    }

    fn fields(&self) -> Vec<u32> {
        self.output.set(self.root).range().map(|it| it as u32).collect()
    }
}

/// Runs a projection over answers.
fn run(
    mapping: &Mapping,
    planned: &Planned,
    projection: &Projection,
    answers: &[&str],
    keys: Keys<'_>,
) -> Table {
    let variables = Variables::default();
    let args = Args {
        schema: &mapping.schema,
        ids: &planned.ids,
        output: &planned.output,
        variables: &variables,
        arguments: &[],
    };
    let object = || Setting::Object(Vec::new());
    let config = Setting::read(CONFIG, 9).expect("JSON");
    let settings = ConfigValues { config, env: object(), context: object() };
    let inputs = Inputs {
        args,
        keys,
        settings: &settings,
        headers: &NoHeaders,
        caller: None,
        selection: "",
        response: None,
    };
    let tapes: Vec<Json<'_>> =
        answers.iter().map(|it| Json::parse(it.as_bytes(), 100).expect("JSON")).collect();
    let rows: Vec<_> = tapes.iter().map(|it| Some(it.root())).collect();
    projection.run(&rows, &inputs, &[])
}

/// A table's row as JSON; errors in the place of values.
fn row_json(output: &OutputPlan, set: SelectionSetId, table: &Table, row: usize) -> Value {
    let members = output.members(set).iter().zip(&table.columns);
    Value::Object(
        members
            .map(|(of, column)| (of.key.name().to_owned(), cell(output, of.member, column, row)))
            .collect(),
    )
}

fn cell(output: &OutputPlan, member: OutputKind, column: &Column, row: usize) -> Value {
    if let Some(error) = column.errors.iter().find(|it| it.row as usize == row) {
        assert!(column.nulls.get(row), "a failed cell is null");
        return Value::String(format!("! {} {}", error.error.code, error.error.message));
    }
    if column.nulls.get(row) {
        return Value::Null;
    }
    match &column.data {
        Data::Bool(values) => json!(values[row]),
        Data::Int(values) => json!(values[row]),
        Data::Text(texts) => Value::String(String::from_utf8(texts.get(row).to_vec()).expect("UTF-8")),
        Data::Json(texts) => serde_json::from_slice(texts.get(row)).expect("JSON"),
        Data::List { offsets, items } => {
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            Value::Array(range.map(|item| cell(output, member, items, item)).collect())
        }
        Data::Object(table) => match member {
            OutputKind::Object(set) => row_json(output, set, table, row),
            other => panic!("an object for {other:?}"),
        },
        other => panic!("no data of a source: {other:?}"),
    }
}

fn mapping(text: &str) -> Arc<Mapping> {
    Arc::new(sdl::read(&format!("{HEAD}{text}"), "s").unwrap_or_else(|it| panic!("{text}\n{}", it[0])))
}

/// Checks the result of `query` for `Query.a: TYPE` mapped by `selection`, with `answer`.
#[track_caller]
fn check(types: &str, selection: &str, query: &str, answer: &str, expected: Value) {
    let selection = selection.replace('"', "\\\"");
    let text = format!(
        "{types} type Query {{ a: A @connect(source: \"s\", http: {{GET: \"/a\"}}, selection: \"{selection}\") }}"
    );
    let mapping = mapping(&text);
    let planned = plan_query(&mapping.schema, mapping.schema.query, &format!("{{ a {query} }}"));
    let fields = planned.fields();
    let id = mapping.of_field(planned.output.fields[fields[0] as usize].field).expect("a connector");
    let projection = Projection::field(&mapping, id, &planned.node(&fields), fields[0]);
    let table = run(&mapping, &planned, &projection, &[answer], Keys::NONE);
    assert_eq!(
        row_json(&planned.output, planned.root, &table, 0)["a"],
        expected,
        "{selection} {query} {answer}"
    );
}

#[test]
fn values_come_out_as_they_are_written() {
    let types = "scalar Any type A { i: Int f: Float s: String b: Boolean id: ID e: E any: Any l: [[Int]] o: O os: [O!]! } enum E { ON OFF } type O { x: Int y: String }";
    let selection = "i f s b id e any l o { x y } os { x y }";
    let query = "{ id s f any e b i l os { y } o { y x } }";
    check(
        types,
        selection,
        query,
        r#"{"x": {}, "i": 1.0, "f": 0.10, "s": "\u00e9\/\n", "b": true, "id": 12, "e": "ON", "any": {"k": [1e2, null]},
            "l": [[1, null], null, []], "o": {"z": 1, "y": "a", "x": 1e2}, "os": [{"y": "b"}, {"x": 1}]}"#,
        json!({"id": "12", "s": "é/\n", "f": 0.1, "any": {"k": [1e2, null]}, "e": "ON", "b": true, "i": 1,
            "l": [[1, null], null, []], "os": [{"y": "b"}, {"y": null}], "o": {"y": "a", "x": 100}}),
    );
    check(types, selection, query, "null", Value::Null);
    check(types, selection, "{ i s os { x } }", "{}", json!({"i": null, "s": null, "os": null}));
}

#[test]
fn digits_of_floats_are_copied() {
    let mapping =
        mapping("type Query { a: [Float] @connect(source: \"s\", http: {GET: \"/a\"}, selection: \"$.f\") }");
    let planned = plan_query(&mapping.schema, mapping.schema.query, "{ a }");
    let projection = Projection::field(&mapping, ConnectorId(0), &planned.node(&planned.fields()), 0);
    let table = run(
        &mapping,
        &planned,
        &projection,
        &[r#"{"f": [0.10, 12345678901234567890.123, 1e5, 1e400]}"#],
        Keys::NONE,
    );
    let Data::List { items, .. } = &table.columns[0].data else { panic!("no list") };
    let Data::Json(texts) = &items.data else { panic!("no digits") };
    assert_eq!(texts.bytes, b"0.1012345678901234567890.1231e5");
    assert_eq!((items.errors[0].row, items.errors[0].error.code), (3, "FLOAT_RANGE"));
}

#[test]
fn values_of_other_types_are_errors_of_their_cells() {
    let types = "type A { i: Int f: Float s: String b: Boolean id: ID e: E l: [Int] o: O } enum E { ON } type O { x: Int }";
    let all = "i f s b id e l o { x }";
    let wrong = |message: &str| format!("! SERVICE_VALUE {message}");
    check(
        types,
        all,
        "{ i f s b id e l o { x } }",
        r#"{"i": "1", "f": "1", "s": 1, "b": 0, "id": 1.5, "e": 1, "l": {}, "o": [{}]}"#,
        json!({"i": wrong("Int cannot represent a string."), "f": wrong("Float cannot represent a string."),
            "s": wrong("String cannot represent a number."), "b": wrong("Boolean cannot represent a number."),
            "id": wrong("ID cannot represent a number."), "e": wrong("E cannot represent a number."),
            "l": wrong("A list was expected, and the service gave another value."),
            "o": wrong("An object was expected, and the service gave another value.")}),
    );
    check(
        types,
        all,
        "{ i e l o { x } }",
        r#"{"i": 2147483648, "e": "OFF", "l": [1, 99999999999999999999, 1.5], "o": {"x": -2147483648}}"#,
        json!({"i": "! INT_RANGE Int cannot represent a number of more than 32 bits.",
            "e": "! ENUM_VALUE Enum \"E\" cannot represent the value it was given.",
            "l": [1, "! INT_RANGE Int cannot represent a number of more than 32 bits.",
                wrong("Int cannot represent the non-integer value 1.5.")],
            "o": {"x": -2147483648}}),
    );
    check(
        types,
        all,
        "{ i }",
        "[1]",
        json!(wrong("An object was expected, and the service gave another value.")),
    );
}

#[test]
fn mappings_rename_regroup_and_make_values() {
    let types =
        "type A { n: Int city: String tags: [String] o: O p: [O] first: O } type O { x: Int y: String }";
    check(
        types,
        "$.data { n: $.num.ber city: addr.city tags: list.name o: { x: num.ber y: addr.city } p: $([{x: num.ber, y: 'k'}]) first: list->first { x: id y: name } }",
        "{ first { y x } p { y } o { x y } tags city n }",
        r#"{"data": {"num": {"ber": 7}, "addr": {"city": "Ulm"}, "list": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}}"#,
        json!({"first": {"y": "a", "x": 1}, "p": [{"y": "k"}], "o": {"x": 7, "y": "Ulm"}, "tags": ["a", "b"], "city": "Ulm", "n": 7}),
    );
    check(
        types,
        "n: l->size $.in { city: c $.deep { tags } } o: $(o ?? {x: 0}) { x: x y: $('y') } p: l->map({x: @, y: @->toString}) first: $({x: n, y: null})",
        "{ n city tags p { y x } o { x y } first { x y } }",
        r#"{"l": [3, 4], "n": 5, "in": {"c": "C", "deep": {"tags": ["t"]}}, "o": null}"#,
        json!({"n": 2, "city": "C", "tags": ["t"], "p": [{"y": "3", "x": 3}, {"y": "4", "x": 4}], "o": {"x": 0, "y": "y"}, "first": {"x": 5, "y": null}}),
    );
    check(
        types,
        "n: a->add(1) city tags o { x y } p { x y } first { x y }",
        "{ n city }",
        r#"{"a": "x", "city": "C"}"#,
        json!({"n": "! SERVICE_VALUE The value cannot be made of what the service gave: `->add` cannot take a string.", "city": "C"}),
    );
}

#[test]
fn null_has_no_members_but_as_an_item_of_a_list() {
    let types = "type A { n: O l: [O] m: [[O]] } type O { id: Int }";
    check(
        types,
        "n { id: $ } l { id: $ } m { id: @ }",
        "{ n { id } l { id } m { id } }",
        r#"{"n": null, "l": [1, null], "m": [[null], null]}"#,
        json!({"n": null, "l": [{"id": 1}, {"id": null}], "m": [[{"id": null}], null]}),
    );
    let types = "type A { n: O } type O { id: Int }";
    check(types, "n: $(n) { id: $ }", "{ n { id } }", r#"{"n": null}"#, json!({"n": null}));
}

#[test]
fn a_reference_without_its_key_is_null() {
    let check = |id: &str, selection: &str, query: &str, answer: &str, expected: Value| {
        let of = |field: &str, ty: &str| {
            if selection.contains(&format!("{field}:")) { format!("{field}: {ty} ") } else { String::new() }
        };
        let fields = format!("{}{}", of("o", "E"), of("os", "[E]"));
        let entity = format!(
            "type E @connect(source: \"s\", http: {{GET: \"/e/{{$this.id}}\"}}, selection: \"id name\") {{ id: {id} name: String }}"
        );
        check(&format!("type A {{ {fields}}} {entity}"), selection, query, answer, expected);
    };
    let all = "o: {id: k.id} os: $([{id: k.id}, {id: l}])";
    check(
        "Int!",
        all,
        "{ o { id } os { id } }",
        r#"{"k": {"id": null}, "l": 2}"#,
        json!({"o": null, "os": [null, {"id": 2}]}),
    );
    // Also where nothing but another's field is asked for, and where the key has to be made.
    check("Int!", all, "{ o { name } }", r#"{"k": null}"#, json!({"o": null}));
    check("Int!", "o: {id: k->first}", "{ o { id } }", r#"{"k": []}"#, json!({"o": null}));
    check(
        "Int!",
        "os: k->map({id: @.id})",
        "{ os { id } }",
        r#"{"k": [{}, {"id": 7}]}"#,
        json!({"os": [null, {"id": 7}]}),
    );
    // An object with more than its key exists also without the key, if the key is nullable.
    check("Int!", "o: {id: k name: n}", "{ o { name } }", r#"{"n": "x"}"#, json!({"o": null}));
    check("Int", "o: {id: k name: n}", "{ o { name } }", r#"{"n": "x"}"#, json!({"o": {"name": "x"}}));
    check("Int", "o: {id: k}", "{ o { id } }", r#"{"n": "x"}"#, json!({"o": null}));
    // A value that is no key, and an object of the service's own, are what they are.
    check(
        "Int!",
        "o: {id: k}",
        "{ o { id } }",
        r#"{"k": "x"}"#,
        json!({"o": {"id": "! SERVICE_VALUE Int cannot represent a string."}}),
    );
    check("Int!", "o: o { id name }", "{ o { id } }", r#"{"o": {"name": "x"}}"#, json!({"o": {"id": null}}));
}

#[test]
fn what_a_row_was_asked_by_is_its_own() {
    let mapping = mapping(
        "type Query { t: T @connect(source: \"s\", http: {GET: \"/t\"}, selection: \"id\") }
         type T { id: ID x: [X] @connect(source: \"s\", http: {GET: \"/x/{$this.id}\"}, selection: \"of: $this.id n\") } type X { of: ID n: Int }",
    );
    let ty = mapping.schema.type_by_name("T").expect("T");
    let planned = plan_query(&mapping.schema, ty, "{ x { of n } }");
    let fields = planned.fields();
    let id = mapping.of_field(planned.output.fields[fields[0] as usize].field).expect("a connector");
    let projection = Projection::field(&mapping, id, &planned.node(&fields), fields[0]);
    let mut texts = Texts::default();
    ["a", "b"].iter().for_each(|it| texts.push(it.as_bytes()));
    let columns = [Column { data: Data::Text(texts), ..Column::default() }];
    let names = [KeyField { name: "id".into(), field: None, parts: Vec::new(), is_optional: false }];
    let keys = Keys { columns: &columns, names: &names, start: 0, end: 2 };
    let table = run(&mapping, &planned, &projection, &[r#"[{"n": 1}, {"n": 2}]"#, r#"[{"n": 3}]"#], keys);
    assert_eq!(
        row_json(&planned.output, planned.root, &table, 0),
        json!({"x": [{"of": "a", "n": 1}, {"of": "a", "n": 2}]})
    );
    assert_eq!(row_json(&planned.output, planned.root, &table, 1), json!({"x": [{"of": "b", "n": 3}]}));
}

/// The keys of the items of `answer`, with the items; `None` for an item without a key.
fn item_keys<'t>(
    mapping: &Mapping,
    connector: &sdl::Connector,
    items: &sdl::Items,
    answer: &'t Json<'_>,
) -> Vec<Option<(Vec<u8>, JsonRef<'t>)>> {
    let ids = Ids::default();
    let output = OutputPlan::default();
    let variables = Variables::default();
    let args =
        Args { schema: &mapping.schema, ids: &ids, output: &output, variables: &variables, arguments: &[] };
    let object = || Setting::Object(Vec::new());
    let settings = ConfigValues { config: object(), env: object(), context: object() };
    let inputs = Inputs {
        args,
        keys: Keys::NONE,
        settings: &settings,
        headers: &NoHeaders,
        caller: None,
        selection: "",
        response: None,
    };
    let mut found = Vec::new();
    for item in items.of(answer.root()) {
        let mut key = Vec::new();
        found.push(items.key(item, &connector.selection, &inputs, &mut key).then_some((key, item)));
    }
    found
}

#[test]
fn entities_of_a_batch_are_matched_by_key_and_keep_their_keys() {
    let mapping = mapping(
        "type Query { t: T @connect(source: \"s\", http: {GET: \"/t\"}, selection: \"id\") }
         type T @connect(source: \"s\", http: {GET: \"/ts\", queryParams: \"id: $batch.id\"}, selection: \"$.items { id: ref.id n }\") { id: ID n: Int }",
    );
    let ty = mapping.schema.type_by_name("T").expect("T");
    let id = mapping.of_type(ty).expect("a connector");
    let connector = mapping.connector(id);
    let answer = Json::parse(
        br#"{"items": [{"ref": {"id": 2.0}, "n": 20}, null, {"n": 9}, {"ref": {"id": "1"}, "n": "x"}]}"#,
        9,
    )
    .expect("JSON");
    let items = connector.items.as_ref().expect("a batch");
    let found = item_keys(&mapping, connector, items, &answer);
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    let mut nulls = Bitmap::default();
    nulls.set(2);
    let columns = [Column { data: Data::Int(vec![1, 2, 0]), nulls, ..Column::default() }];
    let place = |row| {
        let mut key = Vec::new();
        row_key(&columns, &[], row, &mut key);
        found.iter().flatten().position(|it| it.0 == key)
    };
    assert_eq!((place(0), place(1), place(2)), (Some(1), Some(0), None));

    let mut planned = plan_query(&mapping.schema, ty, "{ n id }");
    let hidden: FieldId = mapping.schema.field_by_name(ty, "id").expect("id");
    planned.output.sets[0].hidden.push(hidden);
    let fields = planned.fields();
    let projection = Projection::entity(&mapping, id, &planned.node(&fields));
    let rows: Vec<String> = found.iter().flatten().map(|it| it.1.raw().to_owned()).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let table = run(&mapping, &planned, &projection, &rows, Keys::NONE);
    assert_eq!(row_json(&planned.output, planned.root, &table, 0), json!({"n": 20, "id": "2"}));
    assert_eq!(
        row_json(&planned.output, planned.root, &table, 1)["n"],
        "! SERVICE_VALUE Int cannot represent a string."
    );
    let Data::Text(keys) = &table.hidden[0].data else { panic!("a key is text") };
    assert_eq!(keys.bytes, b"21");
}

/// The obvious way: member by member, over a tree.
fn naive(document: &Document<'_>, list: List<Selection>, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|it| naive(document, list, it)).collect(),
        Value::Object(object) => {
            let mut out = Map::new();
            for selection in document.list(list) {
                let Selection::Field(field) = selection else { continue };
                let name = document.str(field.name);
                let key = document.str(field.key());
                // The mapping of the random cases: `n` stands under `num.n`, `t` is called `text`.
                let found = match name {
                    "n" => object.get("num").and_then(|it| it.get("n")),
                    "t" => object.get("text"),
                    other => object.get(other),
                };
                let found = found.unwrap_or(&Value::Null);
                let found =
                    if field.braces { naive(document, field.selections, found) } else { found.clone() };
                out.insert(key.to_owned(), found);
            }
            Value::Object(out)
        }
        _ => Value::Null,
    }
}

fn object() -> impl Strategy<Value = Value> {
    let text = || "[a-z\"\\\\\n é]{0,6}".prop_map(Value::from);
    let leaf = (
        proptest::option::of(any::<i32>()),
        proptest::option::of(text()),
        proptest::option::of(any::<bool>()),
    );
    let object = leaf.prop_map(|(n, t, b)| {
        let mut members = Map::new();
        members.insert("other".into(), json!([{"n": 1}]));
        n.map(|n| members.insert("num".into(), json!({"m": 0, "n": n})));
        t.map(|t| members.insert("text".into(), t));
        b.map(|b| members.insert("b".into(), b.into()));
        Value::Object(members)
    });
    object.prop_recursive(3, 12, 4, |inner| {
        (
            inner.clone(),
            proptest::option::of(inner.clone()),
            proptest::collection::vec(proptest::option::of(inner), 0..3),
        )
            .prop_map(|(mut value, o, l)| {
                value["o"] = json!(o);
                value["l"] = json!(l);
                value
            })
    })
}

proptest! {
    #[test]
    fn a_projection_gives_what_the_obvious_way_gives(answer in object(), query in prop::sample::select(vec![
        "{ a { n t b } }", "{ a { b x: n y: t n } }", "{ a { o { t n o { b } } l { n l { t } } } }",
        "{ a { l { l { l { n } o { n } } b } n } }", "{ a { o { l { b t } } } }",
    ])) {
        let members = "n: num.n t: text b";
        let mut text = String::new();
        let mut selection = members.to_owned();
        for depth in (0..4).rev() {
            let below = if depth == 3 { String::new() } else { format!("o: A{} l: [A{}]", depth + 1, depth + 1) };
            text.push_str(&format!("type A{depth} {{ n: Int t: String b: Boolean {below} }} "));
            if depth < 3 {
                selection = format!("{members} o {{ {selection} }} l {{ {selection} }}");
            }
        }
        text.push_str(&format!("type Query {{ a: A0 @connect(source: \"s\", http: {{GET: \"/\"}}, selection: \"{selection}\") }}"));
        let mapping = mapping(&text);
        let planned = plan_query(&mapping.schema, mapping.schema.query, query);
        let fields = planned.fields();
        let projection = Projection::field(&mapping, ConnectorId(0), &planned.node(&fields), fields[0]);
        let table = run(&mapping, &planned, &projection, &[&answer.to_string()], Keys::NONE);
        let document = parser::parse(query, &Limits::NONE).expect("a query");
        let Definition::Operation(operation) = document.definitions[0] else { panic!("no query") };
        let expected = naive(&document, operation.selections, &json!({"a": answer}));
        prop_assert_eq!(row_json(&planned.output, planned.root, &table, 0), expected);
    }

    #[test]
    fn no_answer_makes_a_projection_panic(answer in "[\\[\\]{}:,\"nltobx0-9.e ]{0,30}", value in object()) {
        let mapping = mapping("scalar Any type A { n: [Int] t: Any o: A2 l: [A2] } type A2 { n: Int }
            type Query { a: A @connect(source: \"s\", http: {GET: \"/\"}, selection: \"$.x.y { n: n.x t: l->map(@.x) o { n } l: n { n: n->first } }\") }");
        let planned = plan_query(&mapping.schema, mapping.schema.query, "{ a { n t o { n } l { n } } }");
        let fields = planned.fields();
        let projection = Projection::field(&mapping, ConnectorId(0), &planned.node(&fields), fields[0]);
        let text = if serde_json::from_str::<Value>(&answer).is_ok() { answer } else { json!({"x": [{"y": value}]}).to_string() };
        if Json::parse(text.as_bytes(), 100).is_ok() {
            let table = run(&mapping, &planned, &projection, &[&text], Keys::NONE);
            prop_assert_eq!(table.rows, 1);
        }
    }
}
