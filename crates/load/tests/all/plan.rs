//! Mistakes in plans, each with its place and a way out.

use std::path::Path;
use weir_load::{LoadOptions, Plan, Request};

const TARGET: &str = "target: http://127.0.0.1:1/graphql\n";

#[track_caller]
fn check(yaml: &str, expected: &str) {
    let text = format!("{TARGET}{yaml}");
    let mistake = Plan::read(&text, Path::new("."), None, LoadOptions::default()).expect_err(expected);
    assert_eq!(mistake.to_string(), expected);
}

#[test]
fn mistakes_of_operations_have_their_place() {
    check("operation: {}\n", "2:1: unknown key `operation`; did you mean `operations`?");
    check("operations:\n  a: {quary: '{a}'}\n", "3:7: unknown key `quary`; did you mean `query`?");
    check("operations:\n  a: {query: '{a'}\n", "3:14: a `}` is missing at the end");
    check(
        "operations:\n  a: {query: 'query b {x} query c {x}'}\n",
        "3:14: unknown operation of the document `a`; did you mean `b`?",
    );
    check(
        "operations:\n  a: {query: '{a}', get: /x}\n",
        "3:6: an operation is one of `query: '{ … }'`, `file: a.graphql`, `get: /path`, `post: /path`",
    );
    check(
        "operations:\n  a: {get: x}\n",
        "3:12: `x` is no path; begin with `/` and percent-encode what is no ASCII",
    );
    check("operations:\n  a: {get: '/a b'}\n", "3:12: a space in a path is `%20`");
    check("operations:\n  a: {query: '{a}', weight: -1}\n", "3:6: -1 is no weight; write 0 or more");
    check(
        "operations:\n  a: {query: '{a}', over: sse}\n",
        "3:6: only a subscription is `over` a WebSocket or SSE",
    );
    check(
        "operations:\n  a: {query: '{a}', method: PUT}\n",
        "3:29: unknown method of GraphQL `PUT`; did you mean `GET`?",
    );
    check(
        "operations:\n  a: {query: '{a}', check: {exists: [data.*]}}\n",
        "3:38: `data.*` is no path; write one as `data.matches[0].id`",
    );
    check(
        "operations: {}\n",
        "0:0: there is nothing to send; name operations by `--query`, `--operations`, `--get`, or `operations:` of a plan",
    );
}

#[test]
fn mistakes_of_values_and_flows_have_their_place() {
    check(
        "values: {id: {random: 1..5}}\noperations:\n  a: {get: /x/$(idd)}\n",
        "4:12: in `$(idd)`: unknown value `idd`; did you mean `id`?",
    );
    check("operations:\n  a: {get: /x, headers: {x-a: \"$(b\"}}\n", "3:31: `$(b` has no closing `)`");
    check(
        "operations:\n  a: {get: /a}\nflows:\n  v: {steps: [a, b]}\n",
        "5:18: unknown operation `b`; did you mean `a`?",
    );
    check(
        "operations:\n  a: {get: /a, capture: {t: $.t}}\n  b: {get: /b/$(t)}\nflows:\n  v: {steps: [b, a]}\n",
        "6:15: `b` uses a value that no step before it captures; change the order",
    );
    check(
        "operations:\n  a: {get: /a, capture: {t: $.t}}\n  b: {get: /b/$(t)}\n",
        "0:0: `b` uses a value that another operation captures; make both steps of a flow: `flows: {visit: {steps: [login, b]}}`",
    );
}

#[test]
fn mistakes_of_loads_have_their_place() {
    let load = |load: &str, expected: &str| {
        check(&format!("operations: {{a: {{get: /}}}}\nload: {load}\n"), expected)
    };
    load("{rate: 0}", "3:7: `rate` has to be above 0, not 0");
    load("{rate: 5, closed: 5}", "3:7: `rate` and `closed` exclude each other; keep one of them");
    load("{profile: ramp, closed: 5}", "3:7: `closed` and `profile` exclude each other; keep one of them");
    load("{rate: 5, think: 5s}", "3:7: `think` belongs to `closed`");
    load("{rate: 5, compress: 5}", "3:7: `compress` belongs to `profile`");
    load("{profile: rump}", "3:7: unknown profile `rump`; did you mean `ramp`?");
    load(
        "{rate: 5, duration: 5}",
        "3:27: `5` is no length of time; write it as `250us`, `5ms`, `1.5s`, `2min` or `1h`",
    );
    load(
        "{points: [[0s, 5]]}",
        "3:7: a profile has at least two points, the first at 0s: `[[0s, 100], [10s, 500]]`",
    );
    load("{profile: soak, scale: 0}", "3:30: `0` is no scale; write `1/1000` or `0.001`");
    load(
        "{rate: 0.1, duration: 1s}",
        "3:7: this load is less than one request; raise the rate, the scale, or the duration",
    );
}

#[test]
fn a_command_line_makes_a_plan() {
    let load = LoadOptions {
        profile: Some("match-start".into()),
        scale: Some("1/1000".into()),
        compress: Some(10.0),
        ..LoadOptions::default()
    };
    let query = "query A { a } query B { b } fragment F on T { x }".to_owned();
    let plan = Plan::quick("http://127.0.0.1:1/graphql", &[Request::Query(query, None)], &[], load);
    let plan = plan.expect("a plan");
    assert_eq!(plan.load().words(), "match-start of 350/s on average for 12 s, constant");
    assert_eq!(plan.documents().map(|it| it.0).collect::<Vec<_>>(), ["A", "B"]);
    let wrong = Request::Query("{ a }".into(), Some("[1]".into()));
    let mistake =
        Plan::quick("http://127.0.0.1:1/", &[wrong], &[], LoadOptions::default()).expect_err("a list");
    assert!(mistake.message.starts_with("the variables of `query` are no object"), "{mistake}");
}

/// Every plan of the documentation can be read.
#[test]
fn plans_of_the_documentation_are_sound() {
    let page = include_str!("../../../../docs/load-testing.md");
    let gateway = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let blocks = page.split("```yaml\n").skip(1).map(|it| it.split("```").next().unwrap_or_default());
    let plans: Vec<&str> = blocks.filter(|it| it.contains("operations:")).collect();
    assert!(plans.len() >= 3, "{}", plans.len());
    for plan in plans {
        let target = Some("http://127.0.0.1:1/graphql");
        let read = Plan::read(plan, &gateway, target, LoadOptions::default());
        assert!(read.is_ok(), "{:?}\n{plan}", read.err());
    }
}
