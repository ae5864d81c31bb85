//! The sum against figures that are known, and the examples.

use std::fs;
use std::path::PathBuf;
use weir_load::capacity::{self, Caching, Estimate, Hit, HitRate, Inputs, OperationCost, Sourced, Zones};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Inputs {
    let text = fs::read_to_string(root().join("examples/capacity").join(name)).expect(name);
    capacity::read(&text, &|name| Err(format!("no file {name}"))).expect(name)
}

fn plain(rate: f64, cpu: f64) -> Inputs {
    let cpu = Sourced::from_user(cpu);
    let operation = OperationCost { name: "request".into(), share: 1.0, cpu, hit: None };
    let mut inputs = Inputs::new(Sourced::from_user(rate), vec![operation]);
    inputs.utilisation = Sourced::from_user(1.0);
    inputs.zones = Sourced::from_user(Zones { count: 1, lost: 0 });
    inputs
}

fn figure(estimate: &Estimate, name: &str) -> f64 {
    let term = estimate.terms.iter().find(|it| it.name == name);
    term.unwrap_or_else(|| panic!("no term {name} in {:?}", estimate.terms)).value
}

#[test]
fn the_post_s_fleet_comes_out_of_its_own_figures() {
    let mut inputs = example("dream11.yaml");
    let estimate = capacity::estimate(inputs.clone());
    assert_eq!(estimate.machines, 7_500);
    assert!((figure(&estimate, "busy cores") - 60_000.0).abs() < 1e-3);
    let balancing = estimate.balancing.as_ref().expect("13 balancers");
    assert!(balancing.p99 > 1.02 && balancing.p99 < 1.5, "{}", balancing.p99);
    let scaling = estimate.scaling.as_ref().expect("a burst");
    assert!(scaling.following.lost > 0.0, "a fleet at half its size is late for a doubling in two minutes");
    inputs.operations[0].cpu.value = 0.012;
    assert_eq!(capacity::estimate(inputs).machines, 1_500, "80 % fewer");
}

#[test]
fn every_term_multiplies_the_machines() {
    let machines = |change: &dyn Fn(&mut Inputs)| {
        let mut inputs = plain(1_000_000.0, 189.5e-6);
        change(&mut inputs);
        capacity::estimate(inputs).machines
    };
    // 189.5 cores busy.
    assert_eq!(machines(&|_| {}), 24);
    assert_eq!(machines(&|it| it.utilisation.value = 0.6), 40);
    assert_eq!(machines(&|it| it.burst.value = 2.0), 48);
    assert_eq!(machines(&|it| it.cores.value = 16), 12);
    let zones = Zones { count: 3, lost: 1 };
    assert_eq!(machines(&|it| it.zones.value = zones), 36, "two zones carry 24, 12 in each");
    assert_eq!(
        machines(&|it| {
            it.utilisation.value = 0.6;
            it.zones.value = zones;
        }),
        60
    );
}

#[test]
fn the_wanted_size_tells_the_cpu_and_the_hit_rate_it_takes() {
    let estimate = capacity::estimate(example("match-centre.yaml"));
    let wanted = estimate.at_most.expect("at_most");
    let hits = wanted.hit_rate.expect("hits are cheaper than misses");
    // 40 machines of 8 cores at 60 %: 192 cores for a million a second.
    assert!((wanted.cpu.expect("room") - 192e-6).abs() < 1e-9);
    let mut inputs = example("match-centre.yaml");
    let hit = |rate: f64, inputs: &mut Inputs| {
        let hit = inputs.operations[0].hit.as_mut().expect("hit");
        hit.rate = capacity::HitRate::Given(rate);
    };
    hit(hits + 1e-9, &mut inputs);
    assert_eq!(capacity::estimate(inputs.clone()).machines, 60, "the rate told is enough");
    hit(hits - 1e-4, &mut inputs);
    assert!(capacity::estimate(inputs).machines > 60, "less is not");
}

#[test]
fn a_cache_per_machine_is_settled_with_the_fleet() {
    let estimate = capacity::estimate(example("match-centre.yaml"));
    let cache = estimate.caching.expect("a cache");
    let seen = cache.rate * estimate.machines as f64;
    assert!((seen - 1e6).abs() < 1e6 * 0.01, "{} machines see {seen}", estimate.machines);
    assert!((cache.hit_rate - cache.simulated.expect("few enough requests")).abs() < 0.01);
}

#[test]
fn equal_inputs_give_equal_pages_and_tables() {
    let one = capacity::estimate(example("match-centre.yaml"));
    let two = capacity::estimate(example("match-centre.yaml"));
    assert_eq!(capacity::text(&one), capacity::text(&two));
    let page = capacity::page(&one, "Match centre");
    assert_eq!(page, capacity::page(&two, "Match centre"));
    assert!(
        page.contains("data-chart=") && page.contains("docs/performance.md, match centre, nothing cached")
    );
}

#[test]
fn a_void_run_is_no_measurement() {
    let text = fs::read_to_string(root().join("crates/load/tests/fixtures/result.json")).expect("fixture");
    let measured = capacity::operation(&text, "result.json", "match", Some("weir")).expect("a valid run");
    assert!(measured.cpu.value > 0.0 && measured.cpu.source.contains("result.json, process weir"));
    let several = capacity::operation(&text, "result.json", "match", None).expect_err("two processes");
    assert!(several.contains("weir, postgres"), "{several}");
    let wrong =
        capacity::operation(&text, "result.json", "match", Some("wier")).expect_err("no such process");
    assert!(wrong.contains("did you mean `weir`?"), "{wrong}");
    let void = text.replacen("\"valid\":true", "\"valid\":false", 1);
    assert!(
        capacity::operation(&void, "result.json", "match", Some("weir"))
            .expect_err("void")
            .contains("is void")
    );
    assert!(
        capacity::operation("{}", "x.json", "match", None)
            .expect_err("no result")
            .contains("x.json is no result")
    );
}

#[test]
fn a_search_gives_the_cpu_of_each_operation() {
    let latency = serde_json::to_value(weir_load::result::Latency::default()).expect("plain data");
    let maximum = |name: &str, cpu: f64| {
        serde_json::json!({
            "name": name, "requests_per_s": 4_000.0, "is_generator_bound": false, "latency": latency, "probes": [],
            "cpu_us_per_request": {"weir": cpu, "generator": 90.0},
        })
    };
    let setup = serde_json::to_value(weir_load::result::Setup::default()).expect("plain data");
    let search = serde_json::json!({
        "format": 1, "name": "services", "started_at": "2026-03-01T14:00:00Z", "setup": setup, "bound": "p50 < 200ms",
        "maxima": [maximum("match", 250.0), maximum("mix", 180.0)],
    });
    let search = search.to_string();
    let found = capacity::operation(&search, "max.json", "match", None).expect("a search");
    assert!((found.cpu.value - 250e-6).abs() < 1e-12);
    assert!(found.cpu.source.contains("process weir at 4,000/s"), "{}", found.cpu.source);
    let wrong = capacity::operation(&search, "max.json", "mach", None).expect_err("no such operation");
    assert!(wrong.contains("did you mean `match`?"), "{wrong}");
}

#[test]
fn the_manual_shows_the_output_for_the_examples() {
    let file = root().join("docs/capacity.md");
    let page = fs::read_to_string(&file).expect("docs/capacity.md");
    let mut expected = page.clone();
    for name in ["dream11.yaml", "match-centre.yaml"] {
        let begin = format!("<!-- output of {name} -->\n");
        let end = "<!-- /output -->";
        let (head, rest) = expected.split_once(&begin).expect("the manual has the marker");
        let (_, tail) = rest.split_once(end).expect("the manual has the end of it");
        let table = capacity::text(&capacity::estimate(example(name)));
        expected = format!("{head}{begin}```\n{table}```\n{end}{tail}");
    }
    if std::env::var_os("WEIR_BLESS").is_some() {
        fs::write(&file, expected).expect("docs/capacity.md can be written");
        return;
    }
    assert!(page == expected, "docs/capacity.md is old: run this test with WEIR_BLESS=1");
}

#[test]
fn a_cache_sees_the_requests_of_operations_that_it_can_answer() {
    let hit = |rate: HitRate| Some(Hit { cpu: Sourced::from_user(1e-6), rate });
    let operation = |name: &str, share: f64, hit: Option<Hit>| OperationCost {
        name: name.into(),
        share,
        cpu: Sourced::from_user(1e-4),
        hit,
    };
    let estimate = |cached: f64, shared: bool| {
        let operations = vec![
            operation("plain", 1.0 - cached, None),
            operation("cached", cached / 2.0, hit(HitRate::Computed)),
            operation("measured", cached / 2.0, hit(HitRate::Given(0.5))),
        ];
        let mut inputs = Inputs::new(Sourced::from_user(1000.0), operations);
        inputs.zones = Sourced::from_user(Zones { count: 1, lost: 0 });
        inputs.caching = Some(Caching { keys: 100, skew: 0.0, ttl: 3.0, shared });
        capacity::estimate(inputs).caching.expect("a cache")
    };
    for shared in [true, false] {
        for cached in [0.01, 0.5, 1.0] {
            let found = estimate(cached, shared);
            let rate = 1000.0 * cached;
            assert!((found.rate - rate).abs() < 1e-6, "{cached}: {}", found.rate);
            // Equal keys, each with its part of the requests.
            let hits = 1.0 - 1.0 / (1.0 + rate / 100.0 * 3.0);
            assert!((found.hit_rate - hits).abs() < 1e-9, "{cached}: {}", found.hit_rate);
        }
    }
    let found = estimate(0.0, true);
    assert_eq!((found.rate, found.hit_rate, found.simulated), (0.0, 0.0, None));
}
