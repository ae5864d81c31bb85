//! Reports on `fixtures/result.json`: a made-up run of a minute with a stall in second 35, failures with hostile answers,
//! and two watched processes. Another implementation of HdrHistogram wrote its histograms.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use weir_load::report::{self, Limit, ResultKind};
use weir_load::result::{
    CompareResult, Latency, MaxResult, OperationKind, OperationResult, RunResult, new_histogram,
};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn sample() -> RunResult {
    let text = fs::read_to_string(path("tests/fixtures/result.json")).expect("fixture");
    report::read(&text).expect("a result")
}

/// The run with each latency and all CPU half again as high.
fn slower() -> RunResult {
    let mut run = sample();
    for it in run.operations.iter_mut().chain([&mut run.total]) {
        let mut histogram = new_histogram();
        for value in it.latency.histogram().expect("a histogram").iter_recorded() {
            let micros = value.value_iterated_to() * 3 / 2;
            histogram.record_n(micros, value.count_at_value()).expect("in range");
        }
        it.latency = Latency::of(&histogram);
    }
    run.processes.iter_mut().for_each(|it| it.cpu_us_per_request *= 1.5);
    run
}

fn empty() -> OperationResult {
    OperationResult {
        name: "total".into(),
        kind: OperationKind::Query,
        weight: 0.0,
        scheduled: 0,
        sent: 0,
        completed: 0,
        errors: BTreeMap::new(),
        error_samples: Vec::new(),
        bytes_received: 0,
        latency: Latency::default(),
        service: Latency::default(),
        push: None,
        cache: BTreeMap::new(),
    }
}

#[test]
fn histograms_of_other_tools_are_read_with_their_figures() {
    let total = sample().total;
    let histogram = total.latency.histogram().expect("a histogram");
    assert_eq!(histogram.len(), total.completed);
    for (part, written) in
        [(0.5, total.latency.p50_us), (0.99, total.latency.p99_us), (0.999, total.latency.p99_9_us)]
    {
        let read = histogram.value_at_quantile(part);
        // The tools round the rank of a percentile differently, so neighbours may be told.
        assert!(read.abs_diff(written) <= written / 100, "{part}: {read} {written}");
    }
    assert_eq!(Latency::of(&histogram).p99_us, histogram.value_at_quantile(0.99));
}

#[test]
fn the_published_schema_is_that_of_results() {
    let published = [
        (ResultKind::Run, "load-report.schema.json"),
        (ResultKind::Max, "load-max.schema.json"),
        (ResultKind::Compare, "load-compare.schema.json"),
    ];
    for (kind, name) in published {
        let file = path("../../docs").join(name);
        let made = report::schema(kind);
        if std::env::var_os("WEIR_BLESS").is_some() {
            fs::write(&file, &made).expect("written");
        }
        let written = fs::read_to_string(&file).unwrap_or_else(|it| panic!("docs/{name}: {it}"));
        assert!(written == made, "docs/{name} is old: run this test with WEIR_BLESS=1");
    }
    let schema: serde_json::Value = serde_json::from_str(&report::schema(ResultKind::Run)).expect("JSON");
    let run = serde_json::to_value(sample()).expect("plain data");
    for (key, _) in run.as_object().expect("an object") {
        let described = &schema["properties"][key];
        assert!(described.is_object(), "{key} is in results and not in the schema");
    }
}

#[test]
fn a_page_has_all_parts_and_hostile_texts_are_inert() {
    let page = report::page(&sample()).expect("a page");
    for heading in
        ["Over time", "Distribution of latency", "Processes", "Operations", "Cache", "Errors", "Set-up"]
    {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    assert_eq!(page.matches("data-chart=").count(), 6, "rates, percentiles, spectrum, heat map, CPU, memory");
    assert!(!page.contains("<script>document") && !page.contains("<img"));
    assert!(page.contains("&lt;img src=x onerror="), "the sample is shown");
    for loading in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(loading), "a page loads nothing: {loading}");
    }
}

#[test]
fn a_void_run_says_why_in_plain_words() {
    let mut run = sample();
    run.verdict.valid = false;
    run.verdict.void_because = vec!["the generator's lag was 7 ms at p99".into()];
    let page = report::page(&run).expect("a page");
    assert!(page.contains("Void: the generator could not offer this load."));
    assert!(page.contains("the generator&#39;s lag was 7 ms at p99"));
    assert!(!page.contains("Valid: "));
}

#[test]
fn a_text_has_the_tables_of_the_page_and_ends_with_the_verdict() {
    let mut run = sample();
    run.verdict.notes = vec!["the machine is busy".into()];
    let text = report::run_text(&run);
    for heading in ["Cache", "Errors", "Processes", "Set-up", "Verdict"] {
        assert!(text.contains(&format!("\n\n{heading}\n")), "{heading}: {text}");
    }
    assert!(text.starts_with("operation ") && !text.contains("<b>"), "{text}");
    let (_, verdict) = text.split_once("\nVerdict\n").expect("a verdict");
    assert!(verdict.starts_with("Valid: ") && verdict.contains("\n- the machine is busy\n"), "{verdict}");
    run.verdict.valid = false;
    assert!(report::run_text(&run).contains("\nVerdict\nVoid: "));
}

#[test]
fn searches_and_comparisons_have_texts() {
    let setup = serde_json::to_value(weir_load::result::Setup::default()).expect("plain data");
    let latency = serde_json::to_value(Latency { p50_us: 1_500, p99_us: 189, ..Latency::default() });
    let latency = latency.expect("plain data");
    let maximum = |name: &str, rate: f64, probes: serde_json::Value| {
        serde_json::json!({
            "name": name, "requests_per_s": rate, "is_generator_bound": rate > 1000.0, "latency": latency,
            "probes": probes, "cpu_us_per_request": {"weir": 250.0, "generator": 90.0},
        })
    };
    let probe = serde_json::json!({
        "offered_per_s": 50.0, "achieved_per_s": 50.0, "percentile_us": 9, "error_percent": 100.0, "holds": false,
        "reason": "errors", "is_confirmation": false,
    });
    let search = serde_json::json!({
        "format": 1, "name": "a", "started_at": "", "setup": setup, "bound": "p50 < 200ms",
        "maxima": [maximum("match", 4_000.0, serde_json::json!([])), maximum("mix", 0.0, serde_json::json!([probe]))],
    });
    let search: MaxResult = serde_json::from_value(search).expect("a result");
    assert_eq!(
        report::max_text(&search),
        "p50 < 200ms\n\
         operation  requests/s     p50     p99  CPU/request\n\
         match         4,000/s  1.5 ms  189 us  weir 250 us  at least; the generator was the limit\n\
         mix               0/s  1.5 ms  189 us  weir 250 us  no rate holds: errors\n"
    );
    let comparison = serde_json::json!({
        "format": 1, "started_at": "", "setup": setup, "a": "http://a/", "b": "http://b/", "verdict": "cannot_tell",
        "measures": [{
            "name": "latency p50", "unit": "us", "a": 1000.0, "b": 1050.0, "ratio": 1.05, "low": 0.9, "high": 1.2,
            "verdict": "cannot_tell",
        }],
        "differences": [{"operation": "match", "path": "/data", "a": "1", "b": "2"}], "answers_compared": 5,
    });
    let comparison: CompareResult = serde_json::from_value(comparison).expect("a result");
    assert_eq!(
        report::compare_text(&comparison),
        "A: http://a/\nB: http://b/\n\
         \x20               A        B    B/A   99 % interval  verdict of B\n\
         latency p50  1 ms  1.05 ms  1.050  0.900 to 1.200  cannot tell\n\
         answers of `match` differ at `/data`: A 1, B 2\n\
         5 answers compared, 1 operations differ\n\
         B is neither better nor worse as far as can be told\n"
    );
}

#[test]
fn an_empty_run_has_a_page() {
    let mut run = sample();
    run.timeline.clear();
    run.processes.clear();
    run.operations.clear();
    run.total = empty();
    run.setup.duration_s = 0.0;
    let page = report::page(&run).expect("a page");
    assert!(page.contains("0/s") && !page.contains("NaN"));
}

#[test]
fn a_slower_result_breaks_its_limits_and_an_equal_one_none() {
    let old = sample();
    let slow = slower();
    let limits = Limit::of_tolerance(0.1, true);
    let equal = report::compare(&old, &old, &Limit::of_tolerance(0.1, true)[..3]).expect("compared");
    assert!(
        equal.holds() && equal.changes.iter().all(|it| it.ratio.is_none_or(|it| (it - 1.0).abs() < 1e-12))
    );
    let slower = report::compare(&old, &slow, &limits).expect("compared");
    let broken: Vec<&str> =
        slower.changes.iter().filter(|it| it.broken.is_some()).map(|it| it.figure.as_str()).collect();
    assert!(broken.contains(&"p50") && broken.contains(&"cpu:weir"), "{broken:?}");
    assert!(!broken.contains(&"throughput"), "{broken:?}");
    let faster = report::compare(&slow, &old, &limits[1..3]).expect("compared");
    assert!(faster.holds(), "{}", faster.text());
    assert!(slower.text().contains("1.50x  BREAKS p50 > 1.100x"), "{}", slower.text());
}

#[test]
fn limits_are_read_as_written_and_nothing_passes_unmeasured() {
    let run = sample();
    let check = |limit: &str, holds: bool| {
        let limits = [Limit::read(limit).expect(limit)];
        let found = report::compare(&run, &run, &limits).expect("compared");
        assert_eq!(found.holds(), holds, "{limit}: {}", found.text());
    };
    check("p99.9 > 10s", true);
    check("p50 > 1ms", false);
    check("errors > 0.1%", false);
    check("errors > 50%", true);
    check("throughput < 10", false);
    check("memory > 100MB", true);
    check("cpu:weir > 1.01x", true);
    check("cpu:nothing > 1.01x", false);
    for wrong in [
        "p99",
        "p99 > ",
        "p99 > 5",
        "p101 > 5ms",
        "latency > 1x",
        "errors > 5ms",
        "p99 > -1x",
        "memory > 5ms",
    ] {
        let message = Limit::read(wrong).expect_err(wrong);
        assert!(message.contains("is no limit") && message.contains("p99 > 1.2x"), "{message}");
    }
    let mut gone = run.clone();
    gone.operations.remove(0);
    let found = report::compare(&run, &gone, &[Limit::read("p99 > 2x").expect("a limit")]).expect("compared");
    assert!(!found.holds(), "an operation that was not measured fails its limit");
    let mut void = run.clone();
    void.verdict.valid = false;
    assert!(!report::compare(&run, &void, &[]).expect("compared").holds());
}

#[test]
fn limits_that_are_no_ratios_need_no_baseline() {
    let run = sample();
    let hold = |limit: &str| report::hold(&run, &[Limit::read(limit).expect(limit)]);
    let broken = hold("p50 > 1ms").expect("it is judged");
    assert!(!broken.holds() && broken.text().contains("BREAKS p50 > 1ms"), "{}", broken.text());
    let kept = hold("p50 > 10s").expect("it is judged");
    assert!(kept.holds() && kept.changes.iter().all(|it| it.old == "-" && it.ratio.is_none()));
    assert!(!hold("cpu:nothing > 1ms").expect("it is judged").holds(), "nothing passes unmeasured");
    let message = hold("p99 > 1.2x").expect_err("a ratio to nothing");
    assert!(message.contains("`p99 > 1.2x`") && message.contains("--baseline"), "{message}");
    let mut void = run.clone();
    void.verdict.valid = false;
    void.verdict.void_because = vec!["late".into()];
    let found = report::hold(&void, &[]).expect("it is judged");
    assert_eq!(found.void, ["the result is void: late"]);
}

#[test]
fn notes_on_a_valid_run_are_on_its_page() {
    let mut run = sample();
    run.verdict.notes = vec!["the machine is busy".into()];
    let page = report::page(&run).expect("a page");
    assert!(page.contains("Valid: ") && page.contains("the machine is busy"));
}

#[test]
fn what_is_no_result_is_told() {
    for (text, part) in [
        ("[]", "no result"),
        ("{}", "no result"),
        ("{\"format\":9}", "format 9"),
        ("{\"format\":1}", "missing field"),
    ] {
        let message = report::read(text).expect_err(text);
        assert!(message.contains(part), "{message}");
    }
}
