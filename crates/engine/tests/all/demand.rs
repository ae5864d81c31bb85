//! Costs of operations: estimates and actual costs against a naive reading of the specification, refusals, and attempts to get round them.

mod naive;

use crate::kit::{Documents, settings};
use naive::{Dice, SDL, Selection, VARIABLES, zoo};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::{Facts, Identity};
use weir_engine::compose::{Graph, Join};
use weir_engine::demand::{
    COST_MAX, CostDirective, CostRule, CostWeight, DemandControl, DemandMode, ListSize, OperationCost, Rule,
    SpentCost, read_cost_rules,
};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::observer::{ObservedFetch, ObservedOperation, ObservedStage, Observer};
use weir_engine::source::{PlanError, PlanNode, PreparedFetch, Protocol, Source};
use weir_engine::span::SpanContext;
use weir_language::json::Json;
use weir_language::limits::Limits;
use weir_language::schema::sdl::parse_sdl;
use weir_language::schema::{Schema, Visibility};

/// Writes down the costs of operations.
#[derive(Debug, Default)]
struct Costs(Mutex<Vec<OperationCost>>);

impl Observer for Costs {
    fn operation(&self, _: &ObservedOperation<'_>) -> u64 {
        1
    }
    fn source(&self, _: &str) -> u32 {
        0
    }
    fn stage(&self, _: &ObservedStage<'_>) {}
    fn fetch_begins(&self, _: u32, _: Option<SpanContext>) -> Option<SpanContext> {
        None
    }
    fn fetch_ended(&self, _: &ObservedFetch<'_>) {}
    fn cost(&self, _: Option<u64>, cost: &OperationCost) {
        self.0.lock().unwrap().push(*cost);
    }
}

/// A source that every role sees.
struct Open(Arc<Documents>);

impl Source for Open {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        self.0.prepare(node)
    }
    fn profile(&self, _: &Identity, _: &mut Facts) {}
    fn visibility(&self, _: &[u64]) -> Option<Visibility> {
        None
    }
}

/// An engine with demand control, its source, and its observer.
struct Gate {
    engine: Engine,
    source: Arc<Documents>,
    costs: Arc<Costs>,
}

/// The rules that `sdl` says.
fn rules(sdl: &str) -> Vec<CostRule> {
    let document = parse_sdl(sdl).expect("it parses");
    let name = |it: &weir_language::ast::Directive| CostDirective::of(document.str(it.name));
    read_cost_rules(&document, "test", &name).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn gate_of(sdl: &str, control: DemandControl, answer: fn(&str) -> Value) -> Gate {
    let source = Documents::new("zoo", sdl, move |name, _| Ok(answer(name)));
    let graph = Graph::compose(vec![Arc::new(Open(Arc::clone(&source)))], &[]).expect("one source");
    assert_eq!(graph.check_cost_rules(&control.rules), []);
    let costs = Arc::<Costs>::default();
    let observer = Some(Arc::clone(&costs) as Arc<dyn Observer>);
    let demand = Some(Arc::new(control));
    Gate {
        engine: Engine::new(graph, Settings { demand, observer, limits: Limits::NONE, ..settings() }),
        source,
        costs,
    }
}

fn gate(control: DemandControl) -> Gate {
    gate_of(SDL, DemandControl { rules: rules(SDL), ..control }, zoo)
}

/// A limit that refuses all that costs anything.
fn closed() -> DemandControl {
    DemandControl { max: Some(0), ..DemandControl::STANDARD }
}

impl Gate {
    fn answer(&self, request: Request<'_>, variables: &str, role: &str) -> Value {
        let variables = Json::parse(variables.as_bytes(), 64).expect("variables are JSON");
        let request = Request { variables: Some(variables.root()), ..request };
        let caller = self.engine.caller(&Identity { role: role.into(), ..Identity::admin() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("it starts");
        let response = runtime.block_on(self.engine.execute(request, &caller));
        match response.body {
            Body::Whole(bytes) => serde_json::from_slice(&bytes).expect("JSON"),
            other => panic!("it is short: {other:?}"),
        }
    }

    fn ask(&self, query: &str, variables: &str) -> Value {
        let request = Request::new(query, Instant::now() + Duration::from_secs(5));
        self.answer(Request { shows_cost: true, ..request }, variables, "user")
    }

    /// The estimate of a refused operation, of which no source heard.
    #[track_caller]
    fn refused(&self, query: &str, variables: &str) -> u64 {
        self.source.asked();
        let found = self.ask(query, variables);
        let extensions = &found["errors"][0]["extensions"];
        assert_eq!(extensions["code"], "COST_ESTIMATED_TOO_EXPENSIVE", "{found}");
        assert_eq!(found.get("data"), None);
        assert!(self.source.asked().is_empty());
        extensions["cost"]["estimated"].as_u64().expect("a number")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A random operation costs as much as the specification says, before and after it runs.
    #[test]
    fn costs_are_those_of_the_specification(seed: u64) {
        let selection = Selection::random(&mut Dice(seed), 5);
        let query = selection.operation();
        let gate = gate(DemandControl::STANDARD);
        let found = gate.ask(&query, VARIABLES);
        let cost = &found["extensions"]["cost"];
        prop_assert_eq!(cost["estimated"].as_u64(), Some(selection.estimate()), "{} {}", &query, &found);
        prop_assert_eq!(cost["actual"].as_u64(), Some(selection.actual(&found["data"])), "{} {}", &query, &found);
        prop_assert_eq!(gate.costs.0.lock().unwrap().len(), 1);
        // A warm plan says the same.
        prop_assert_eq!(&gate.ask(&query, VARIABLES)["extensions"]["cost"], cost);
    }
}

#[test]
fn a_refusal_names_cost_and_limit_before_any_source_is_asked() {
    let gate = gate(DemandControl { max: Some(4), ..DemandControl::STANDARD });
    let found = gate.ask("{ house { id } pets(first: 2) { ... on Dog { name } } }", "{}");
    assert_eq!(
        found,
        json!({"errors": [{
            "message": "the operation may cost 5, 4 are allowed: ask for fewer fields, or for shorter lists",
            "extensions": {"code": "COST_ESTIMATED_TOO_EXPENSIVE", "cost": {"estimated": 5, "max": 4}},
        }]})
    );
    assert!(gate.source.asked().is_empty());
    let request = Request::new("{ pets(first: 9) { __typename } }", Instant::now() + Duration::from_secs(5));
    let found = gate.answer(Request { protocol: Protocol::Hasura, ..request }, "{}", "user");
    assert_eq!(found["errors"][0]["extensions"]["code"], "cost-limit-exceeded", "{found}");
    assert_eq!(found["errors"][0]["extensions"]["cost"], json!({"estimated": 18, "max": 4}));
    let over = OperationCost { estimated: 5, max: Some(4), actual: None };
    assert_eq!(gate.costs.0.lock().unwrap()[0], over);
}

#[test]
fn limits_are_per_role_and_may_be_only_measured() {
    let role_max = [("big".into(), 100), ("small".into(), 1)].into_iter().collect();
    let exempt_roles = vec!["admin".into(), "small".into()];
    let control = DemandControl { max: Some(4), role_max, exempt_roles, ..DemandControl::STANDARD };
    let enforced = gate(control.clone());
    let is_refused = |gate: &Gate, role: &str| {
        let request =
            Request::new("{ pets(first: 3) { __typename } }", Instant::now() + Duration::from_secs(5));
        gate.answer(request, "{}", role).get("data").is_none()
    };
    let roles = ["user", "big", "small", "admin"];
    assert_eq!(roles.map(|it| is_refused(&enforced, it)), [true, false, true, false]);
    let measured = gate(DemandControl { mode: DemandMode::Measure, ..control });
    assert_eq!(roles.map(|it| is_refused(&measured, it)), [false; 4]);
    let over: Vec<bool> = measured.costs.0.lock().unwrap().iter().map(OperationCost::is_over).collect();
    assert_eq!(over, [true, false, true, false]);
}

#[test]
fn exactly_one_slicing_argument_is_demanded_where_the_schema_says_so() {
    let sdl = "
        directive @listSize(slicingArguments: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
        type Query { items(first: Int, last: Int): [Int] @listSize(slicingArguments: [\"first\", \"last\"]) }";
    let control = DemandControl { rules: rules(sdl), ..DemandControl::STANDARD };
    let enforced = gate_of(sdl, control.clone(), |_| json!([1]));
    let code = |gate: &Gate, query: &str, variables: &str| {
        gate.ask(query, variables)["errors"][0]["extensions"]["code"].as_str().map(str::to_owned)
    };
    let wrong = Some("COST_INVALID_SLICING_ARGUMENTS".to_owned());
    assert_eq!(code(&enforced, "{ items(first: 1) }", "{}"), None);
    assert_eq!(code(&enforced, "{ items }", "{}"), wrong);
    assert_eq!(code(&enforced, "{ items(first: 1, last: 1) }", "{}"), wrong);
    let query = "query ($a: Int, $b: Int) { items(first: $a, last: $b) }";
    assert_eq!(code(&enforced, query, r#"{"a": 1}"#), None);
    assert_eq!(code(&enforced, query, r#"{"a": 1, "b": null}"#), None);
    assert_eq!(code(&enforced, query, r#"{"a": 1, "b": 1}"#), wrong);
    assert_eq!(code(&enforced, query, "{}"), wrong);
    assert!(enforced.source.asked().iter().all(|it| it.contains("first")));
    let measured = gate_of(sdl, DemandControl { mode: DemandMode::Measure, ..control }, |_| json!([1]));
    assert_eq!(code(&measured, "{ items }", "{}"), None);
}

#[test]
fn no_way_leads_round_the_limit() {
    let gate = gate(closed());
    // 2 for each cat: aliases, fragments and repeated fragments count as the fields that they are.
    assert_eq!(
        gate.refused("{ a: pets(first: 2) { __typename } b: pets(first: 2) { __typename } }", "{}"),
        8
    );
    assert_eq!(gate.refused("{ ...F ...F } fragment F on Query { pets(first: 2) { __typename } }", "{}"), 4);
    assert_eq!(
        gate.refused("{ ...F ... on Query { b: pets(first: 2) { __typename } } } fragment F on Query { pets(first: 2) { __typename } }", "{}"),
        8
    );
    // Beside introspection, which costs nothing.
    let beside = "{ __schema { types { name } } pets(first: 2) { __typename } }";
    assert_eq!(gate.refused(beside, "{}"), 4);
    assert!(gate.ask("{ __schema { types { fields { name } } } __typename }", "{}").get("errors").is_none());
    // Variables decide, also those that are not sent, and negative ones say nothing.
    let query = "query Q($n: Int) { pets(first: $n) { __typename } }";
    for (variables, cost) in [
        (r#"{"n": 3}"#, 6),
        (r#"{"n": -1}"#, 20),
        (r#"{"n": null}"#, 20),
        ("{}", 20),
        (r#"{"n": 2147483647}"#, 4_294_967_294),
    ] {
        assert_eq!(gate.refused(query, variables), cost, "{variables}");
    }
    assert_eq!(gate.refused("query ($n: Int = 5) { pets(first: $n) { __typename } }", "{}"), 10);
    assert!(gate.ask(query, r#"{"n": 0}"#).get("errors").is_none());
    // Conditions: what is left out does not count, whatever the variables of earlier requests were.
    let query = "query ($is: Boolean!) { pets(first: 2) @include(if: $is) { __typename } }";
    assert!(gate.ask(query, r#"{"is": false}"#).get("errors").is_none());
    assert_eq!(gate.refused(query, r#"{"is": true}"#), 4);
    // The operation that runs counts, whatever stands beside it.
    let text = "query A { __typename } query B { pets(first: 2) { __typename } }";
    let named = |name| {
        let request = Request::new(text, Instant::now() + Duration::from_secs(5));
        gate.answer(Request { operation_name: Some(name), ..request }, "{}", "user")
    };
    assert!(named("A").get("errors").is_none());
    assert_eq!(named("B")["errors"][0]["extensions"]["cost"]["estimated"], 4);
    let broken = "query A { pets(first: 2) { __typename } } query B { nothing }";
    gate.source.asked();
    let found = gate.ask(broken, "{}");
    assert!(found.get("data").is_none() && gate.source.asked().is_empty(), "{found}");
}

#[test]
fn a_cost_never_wraps() {
    let gate = gate(closed());
    let open = "friends(first: 2147483647) { ".repeat(8);
    let query = format!("{{ named {{ {open} __typename {} }} }}", "}".repeat(8));
    assert_eq!(gate.refused(&query, "{}"), COST_MAX);
    let query = query.replace("2147483647", "$n").replacen('{', "query ($n: Int) {", 1);
    assert_eq!(gate.refused(&query, r#"{"n": 2147483647}"#), COST_MAX);
    let twice = query.replacen("named", "a: named { name } named", 1);
    assert_eq!(gate.refused(&twice, r#"{"n": 2147483647}"#), COST_MAX);
}

#[test]
fn requests_of_a_list_share_a_limit() {
    let gate = gate(DemandControl { max: Some(10), ..DemandControl::STANDARD });
    let spent = SpentCost::default();
    let is_refused = |query: &str| {
        let request = Request::new(query, Instant::now() + Duration::from_secs(5));
        let found = gate.answer(Request { spent: Some(&spent), ..request }, "{}", "user");
        found["errors"][0]["message"].as_str().map(str::to_owned)
    };
    assert_eq!(is_refused("{ pets(first: 3) { __typename } }"), None);
    let words = "the operation may cost 6 after 6 of earlier requests in the list, 10 are allowed: ask for fewer fields, or for shorter lists";
    assert_eq!(is_refused("{ pets(first: 3) { __typename } }").as_deref(), Some(words));
    // A refused request does not count.
    assert_eq!(is_refused("{ pets(first: 2) { __typename } }"), None);
    assert!(is_refused("{ house { id } }").is_some());
}

#[test]
fn a_join_costs_what_its_target_costs() {
    let shelf =
        Documents::new("shelf", "type Query { boxes(n: Int): [Box] } type Box { id: Int }", |_, _| {
            Ok(json!([]))
        });
    let items = Documents::new(
        "items",
        "type Query { things(box: Int, first: Int): [Thing] } type Thing { id: Int }",
        |_, _| Ok(json!([])),
    );
    let join = |name: &str, arguments: &str| Join {
        on: "Box".into(),
        name: name.into(),
        description: String::new(),
        source: "items".into(),
        target: "things".into(),
        arguments: arguments.into(),
    };
    let joins = [join("things", "(box: $this.id)"), join("five", "(box: $this.id, first: 5)")];
    let graph = Graph::compose(vec![shelf, items], &joins).expect("they fit");
    let slicing = |name: &str| Rule::ListSize(ListSize { slicing: vec![name.into()], ..ListSize::default() });
    let rule = |place: &str, rule| CostRule { place: place.into(), rule, written: String::new() };
    let rules = vec![
        rule("Query.boxes", slicing("n")),
        rule("Query.things", slicing("first")),
        rule("Thing", Rule::Weight(CostWeight::whole(3))),
    ];
    let demand = Some(Arc::new(DemandControl { rules, ..closed() }));
    let engine = Engine::new(graph, Settings { demand, ..settings() });
    let cost = |query: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("it starts");
        let found = runtime.block_on(crate::kit::answer(&engine, query, "{}"));
        let found: Value = serde_json::from_str(&found).expect("JSON");
        found["errors"][0]["extensions"]["cost"]["estimated"].as_u64()
    };
    assert_eq!(cost("{ boxes(n: 2) { things(first: 4) { id } } }"), Some(2 * (1 + 4 * 3)));
    assert_eq!(cost("{ boxes(n: 2) { five { id } } }"), Some(2 * (1 + 5 * 3)));
}

#[test]
fn rules_that_fit_nothing_are_named() {
    let source = Documents::new("zoo", SDL, |_, _| Ok(Value::Null));
    let graph = Graph::compose(vec![source], &[]).expect("one source");
    let weight = || Rule::Weight(CostWeight::whole(1));
    let list = |slicing: &str, sized: &str| {
        let names = |it: &str| it.split_whitespace().map(Into::into).collect();
        Rule::ListSize(ListSize { slicing: names(slicing), sized: names(sized), ..ListSize::default() })
    };
    let check = |place: &str, rule: Rule, expected: Option<&str>| {
        let found = graph.check_cost_rules(&[CostRule { place: place.into(), rule, written: String::new() }]);
        assert_eq!(found.first().map(|it| it.1.as_str()), expected, "{place}");
    };
    check("Cat", weight(), None);
    check("Query.house(where:)", weight(), None);
    check("PageInput.first", weight(), None);
    check("Conn.edges", list("", ""), None);
    let nowhere = Some("the schema has no such place");
    for place in [
        "Bird",
        "Cat.wings",
        "Query.house(when:)",
        "Cat(lives:)",
        "PageInput.first(a:)",
        "@flag(of:)",
        "Query.house(",
    ] {
        check(place, weight(), nowhere);
    }
    check(
        "Pet",
        weight(),
        Some("interfaces and unions cost as much as their most expensive type: give those a weight"),
    );
    check("Cat", list("", ""), Some("a list size belongs to a field"));
    check("Query.house", list("", ""), Some("the field is no list: write `sizedFields`"));
    check(
        "Query.pets",
        list("last", ""),
        Some("the field has no argument `last` that is an integer or a list"),
    );
    check(
        "House.pets",
        list("page.filter", ""),
        Some("the field has no argument `page.filter` that is an integer or a list"),
    );
    check("House.connection", list("first", "total"), Some("`sizedFields`: `Conn` has no list `total`"));
}

#[test]
fn wrong_directives_are_said_with_their_places() {
    let errors = |directives: &str| -> Vec<String> {
        let sdl = format!("type Query {{ a(n: Int): [Int] {directives} }}");
        let document = parse_sdl(&sdl).expect("it parses");
        let name = |it: &weir_language::ast::Directive| CostDirective::of(document.str(it.name));
        let found = read_cost_rules(&document, "test", &name);
        found.err().into_iter().flatten().map(|it| it.message).collect()
    };
    let weight = "@cost needs a weight: a number of at most three decimals that is not negative, `weight: 5` or `weight: \"2.5\"`";
    for wrong in ["@cost", "@cost(weight: -1)", "@cost(weight: \"x\")", "@cost(weight: null)"] {
        assert_eq!(errors(wrong), [weight], "{wrong}");
    }
    assert_eq!(errors("@cost(weight: 1, by: 2)"), ["@cost has no argument `by`"]);
    assert_eq!(errors("@listSize(assumedSize: -1)"), ["`assumedSize` is no number of items"]);
    assert_eq!(errors("@listSize(slicingArguments: [n])"), ["a name in quotes is expected here"]);
    assert_eq!(
        errors("@listSize(requireOneSlicingArgument: 1)"),
        ["`requireOneSlicingArgument` is true or false"]
    );
    assert_eq!(errors("@listSize(slicingArguments: \"n\", assumedSize: null) @cost(weight: 2)"), [""; 0]);
}
