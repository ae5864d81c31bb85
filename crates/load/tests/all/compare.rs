//! Comparisons and searches over sockets.

use crate::service_kit::{Asked, Service, reply};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use weir_load::result::Comparison;
use weir_load::{CompareOptions, LoadOptions, MaxOptions, MaxProgress, Plan, Side, compare, max};

const PLAN: &str = "
load: {closed: 2, duration: 100ms}
values: {id: {sequence: 1}}
operations: {a: {get: /items/$(id)}}
";

fn side(server: &Service, name: &str) -> Side {
    let plan =
        Plan::read(PLAN, Path::new("."), Some(&server.url("/")), LoadOptions::default()).expect("a plan");
    Side { plan: Arc::new(plan), name: name.to_owned() }
}

fn items(last: &'static str) -> Service {
    Service::start(move |asked: &Asked| {
        let id = asked.path.rsplit('/').next().unwrap_or_default();
        reply(200, "", format!(r#"{{"item":{{"id":{id},"tags":["x",{last}]}}}}"#))
    })
}

#[test]
fn a_server_is_neither_better_nor_worse_than_itself() {
    let server = items("1");
    let options = CompareOptions { pairs: 6, least: 0.5, ..CompareOptions::default() };
    let mut told = Vec::new();
    let found = compare(&side(&server, "A"), &side(&server, "A"), &options, &mut |name, pair, _| {
        told.push(format!("{name}{pair}"));
    });
    let found = found.expect("it runs");
    assert_eq!(found.verdict, Comparison::CannotTell, "{:?}", found.measures);
    let names: Vec<&str> = found.measures.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["throughput", "latency p50", "latency p99"]);
    assert!(found.measures.iter().all(|it| it.low <= it.ratio && it.ratio <= it.high));
    assert_eq!((found.answers_compared, found.differences.len()), (5, 0));
}

#[test]
fn answers_that_differ_are_told_with_their_place() {
    let a = items("1");
    let b = items("1.5");
    let options = CompareOptions { pairs: 3, ..CompareOptions::default() };
    let found = compare(&side(&a, "A"), &side(&b, "B"), &options, &mut |_, _, _| {}).expect("it runs");
    assert_eq!(found.differences.len(), 1);
    let it = &found.differences[0];
    assert_eq!((it.operation.as_str(), it.path.as_str()), ("a", "/item/tags/1"));
    assert_eq!((it.a.as_str(), it.b.as_str()), ("1", "1.5"));
}

#[test]
fn a_side_that_fails_is_no_comparison() {
    let a = items("1");
    let b = Service::start(|_| reply(500, "", "broken"));
    let found = compare(&side(&a, "A"), &side(&b, "B"), &CompareOptions::default(), &mut |_, _, _| {});
    let message = found.expect_err("B fails");
    assert_eq!(message, "B: 100.00 % of the requests failed, such as status 500: broken");
}

#[test]
fn no_rate_holds_a_bound_that_cannot_be_met() {
    let server = items("1");
    let plan = "operations: {a: {get: /items/1}, b: {get: /items/2}}";
    let plan =
        Plan::read(plan, Path::new("."), Some(&server.url("/")), LoadOptions::default()).expect("a plan");
    let options = MaxOptions {
        bound: Duration::from_micros(1),
        probe: Duration::from_millis(50),
        confirm: Duration::from_millis(50),
        from: 40.0,
        ..MaxOptions::default()
    };
    let mut begun = Vec::new();
    let found = max(&Arc::new(plan), &options, &mut |it| {
        if let MaxProgress::Begin(name) = it {
            begun.push(name.to_owned());
        }
    });
    let found = found.expect("it runs");
    assert_eq!(begun, ["a", "b", "mix"]);
    assert!(found.maxima.iter().all(|it| it.requests_per_s == 0.0 && it.probes.iter().all(|it| !it.holds)));
    assert_eq!(found.bound, "p50 < 0.001 ms, errors < 0.1 %");
    assert!(found.maxima[0].probes[0].reason.starts_with("p50 is"), "{:?}", found.maxima[0].probes);
}
