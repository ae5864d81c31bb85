//! `weir load` against a running Weir: several generator processes, exit codes, documents held against a schema.

use crate::support::{Folder, Weir, command};
use std::process::Output;

fn load(arguments: &[&str]) -> Output {
    command().arg("load").args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn several_generators_send_one_schedule() {
    let weir = Weir::pets(&[]);
    let folder = Folder::new();
    let out = folder.file("result.json").display().to_string();
    let (url, pid) = (format!("http://{}/graphql", weir.address), weir.child.id().to_string());
    let shared = ["--rate", "50", "--duration", "1s", "--poisson", "--seed", "7"];
    let one = load(&[&["run", &url, "--query", "{ __typename }", "--out", &out], &shared[..]].concat());
    let read = |file: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(file).expect("it is written")).expect("JSON")
    };
    let alone = read(&out);
    let more = ["--watch", &pid, "--generators", "2"];
    let two =
        load(&[&["run", &url, "--query", "{ __typename }", "--out", &out], &shared[..], &more[..]].concat());
    let result = read(&out);
    // A machine that is busy with other tests may be late: void, which is 3.
    for output in [&one, &two] {
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
    assert_eq!(result["total"]["sent"], alone["total"]["sent"], "the same seed has the same schedule");
    assert_eq!(result["total"]["completed"], result["total"]["scheduled"]);
    assert_eq!(result["total"]["errors"], serde_json::json!({}));
    assert_eq!((&result["setup"]["generators"], &alone["setup"]["generators"]), (&2.into(), &1.into()));
    assert_eq!(result["processes"][0]["name"], pid.as_str());
    assert_eq!(result["processes"][1]["name"], "generator");
    assert!(text(&two.stdout).contains("CPU/request"), "{}", text(&two.stdout));
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let weir = Weir::pets(&[]);
    let folder = Folder::new();
    let url = format!("http://{}/graphql", weir.address);
    let schema = folder.write("schema.graphql", "type Query { pet: Int }").display().to_string();
    let plan = folder.write("load.yaml", "operations:\n  a: {get: x}\n").display().to_string();
    let few = ["--closed", "1", "--duration", "50ms"];
    let check = |arguments: &[&str], code: i32, part: &str| {
        let output = load(&[arguments, &few[..]].concat());
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        assert!(all.contains(part), "{arguments:?}: {all}");
    };
    check(&["run", &url, "--query", "{ nothing }"], 4, "  graphql  ");
    check(&["run", &url, "--query", "{ pat }", "--schema", &schema], 1, "query:1:3: ");
    check(
        &["run", &url, "--query", "{ pet }", "--watch", "no-such-program"],
        1,
        "no process `no-such-program`",
    );
    check(&["run", &plan], 1, "load.yaml:0:0: the plan has no `target`");
    check(&["run", &url], 1, "there is nothing to send");
    check(&["run", "http://127.0.0.1:1/", "--get", "/"], 4, "  connect  ");
    let failures = format!(
        "target: {url}\noperations:\n  a: {{query: '{{ nothing }}'}}\n  b: {{query: '{{ never }}'}}\n"
    );
    let failures = folder.write("failures.yaml", &failures).display().to_string();
    for (operation, field) in [("a", "nothing"), ("b", "never")] {
        // A schedule is sent whole, however slow the machine is.
        let output = load(&["run", &failures, "--rate", "200", "--duration", "200ms", "--seed", "7"]);
        let table = text(&output.stdout);
        let mut lines = table.lines().skip_while(|it| !it.starts_with(&format!("{operation}: graphql")));
        let body = lines.nth(1).unwrap_or_else(|| panic!("one cause has a sample by operation: {table}"));
        assert!(body.contains(field), "{body}");
    }
    check(&["compare", &url, "weir serve", "--query", "{ __typename }"], 1, "no command with {port}");
}

#[test]
fn a_result_becomes_a_page_a_comparison_and_a_fleet() {
    let weir = Weir::pets(&[]);
    let folder = Folder::new();
    let out = folder.file("result.json");
    let page = folder.file("report.html");
    let result = out.display().to_string();
    let shown = page.display().to_string();
    let (url, pid) = (format!("http://{}/graphql", weir.address), weir.child.id().to_string());
    let few = ["--closed", "2", "--duration", "1s", "--watch", &pid, "--out", &result, "--report", &shown];
    let run = load(&[&["run", &url, "--query", "{ __typename }"], &few[..]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let written = std::fs::read_to_string(&page).expect("a page");
    assert!(written.starts_with("<!doctype html>") && written.contains("data-chart="));

    let check = |arguments: &[&str], code: i32, part: &str| {
        let output = load(arguments);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
        assert!(all.contains(part), "{arguments:?}: {all}");
    };
    let against = ["report", &result, "--baseline", &result];
    check(&[&against[..], &["--tolerance", "1%"]].concat(), 0, "1.00x");
    check(&[&against[..], &["--fail-if", "p99 > 0.5x"]].concat(), 4, "BREAKS p99 > 0.5x");
    check(&["report", &result, "--fail-if", "p99 > 1us"], 4, "BREAKS p99 > 1us");
    check(&["report", &result, "--fail-if", "p99 > 600s"], 0, "throughput");
    check(&["report", &result, "--fail-if", "p99 > 2x"], 1, "name it by `--baseline`");
    check(&["report", &result, "--tolerance", "1%"], 2, "--baseline");
    check(&["report", &shown], 1, "no result of a load test");
    check(&["schema"], 0, "\"timeline\"");
    check(&["schema", "max"], 0, "\"maxima\"");
    check(&["schema", "compare"], 0, "\"answers_compared\"");
    let void =
        std::fs::read_to_string(&out).expect("a result").replacen("\"valid\":true", "\"valid\":false", 1);
    let void = folder.write("void.json", &void).display().to_string();
    check(&["report", &void, "--baseline", &result], 3, "the new result is void");
    check(&["capacity", "--rate", "1M/s", "--result", &void], 1, "is void");
    check(&["capacity", "--rate", "1M/s", "--result", &result], 0, "= machines");
    check(
        &["capacity", "--rate", "1M/s", "--cpu", "60ms", "--utilisation", "100%", "--zones", "1"],
        0,
        "7,500",
    );
    check(&["capacity", "--rate", "1M/s"], 1, "say what a request costs");
    check(&["capacity", "--cpu", "1ms"], 1, "say how many requests come");
    check(&["capacity", "--rate", "1M/s", "--cpu", "1ms", "--zones-lost", "3"], 1, "leaves none");
}
