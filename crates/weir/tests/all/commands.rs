//! Runs the commands that Weir's own texts show, in their order: the examples of `weir --help` in an empty folder, and those of
//! README and of the page for one's own database beside the examples. Runs `weir init` and `weir schema diff` on files.
//!
//! A server counts as started once it has said where it is; it is stopped then.

use crate::support::{Folder, command};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// The commands below `Examples:`, without their explanations.
fn examples(help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").nth(1).unwrap_or_default().lines();
    let lines = lines.take_while(|it| it.starts_with("  "));
    lines.map(|it| it.trim().split("   ").next().unwrap_or_default().trim().to_owned()).collect()
}

/// A shell in `folder` that finds this `weir` first, and listens where nobody else does.
fn shell(line: &str, folder: &Path) -> Command {
    let weir = Path::new(env!("CARGO_BIN_EXE_weir")).parent().expect("it is in a folder");
    let path = format!("{}:{}", weir.display(), std::env::var("PATH").unwrap_or_default());
    let serves = line.contains("weir serve") || line.contains("weir demo");
    let line = if serves { format!("{line} --listen 127.0.0.1:0") } else { line.to_owned() };
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(folder).env("PATH", path).env("HOME", folder);
    shell.env_remove("WEIR_ADMIN_SECRET").env_remove("XDG_CACHE_HOME").stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Runs `line` to its end, or until it serves.
fn check(line: &str, folder: &Path) {
    if !line.contains("weir serve") && !line.contains("weir demo") {
        let done = shell(line, folder).output().expect("bash runs");
        assert!(done.status.success(), "`{line}`: {}", String::from_utf8_lossy(&done.stderr));
        return;
    }
    // `exec`, so that the shell's process is the server's.
    let line = line
        .rsplit_once("weir ")
        .map_or(line.to_owned(), |(before, after)| format!("{before}exec weir {after}"));
    let mut child = shell(&line, folder).spawn().expect("bash runs");
    let mut said = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let read = output.read_line(&mut said);
    child.kill().expect("it can be ended");
    let ended = child.wait_with_output().expect("it ends");
    assert!(
        read.is_ok() && said.starts_with("weir serves "),
        "`{line}`: {said}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

#[test]
fn the_examples_of_help_run_in_an_empty_folder() {
    let help = command().arg("--help").output().expect("it runs");
    let lines = examples(&String::from_utf8_lossy(&help.stdout));
    assert!(lines.len() >= 6, "{lines:?}");
    let folder = Folder::new();
    for line in &lines {
        check(line, &folder.0);
    }
}

/// The lines of the shell blocks of `page` that run `weir` and need nothing but the examples.
fn list_commands(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    let lines =
        blocks.flat_map(str::lines).map(|it| it.split("  #").next().unwrap_or_default().trim().to_owned());
    lines.filter(|it| it.starts_with("weir ") && !it.contains("postgres://")).collect()
}

#[test]
fn the_commands_of_the_first_pages_run_beside_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, least) in [("README.md", 6), ("docs/your-own.md", 5)] {
        let folder = Folder::new();
        let copied = Command::new("cp").arg("-r").arg(root.join("examples")).arg(&folder.0).status();
        assert!(copied.is_ok_and(|it| it.success()), "the examples can be copied");
        let text = std::fs::read_to_string(root.join(page)).expect("the page is there");
        let lines = list_commands(&text);
        assert!(lines.len() >= least, "{page}: {lines:?}");
        for line in &lines {
            check(line, &folder.0);
        }
    }
}

/// Runs `weir init` with `arguments` in `folder`: standard output, or the words of the refusal.
fn init(arguments: &str, folder: &Path) -> Result<String, String> {
    let done = shell(&format!("weir init {arguments}"), folder).output().expect("bash runs");
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

const TYPES: &str = "type Note { id: ID! text: String! }";
const SERVICES: &str = "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@connect\", \"@source\"])\n\
    @source(name: \"s\", http: {baseURL: \"http://127.0.0.1:9\"})\n\
    type Query { a(id: Int!): A @connect(source: \"s\", http: {GET: \"/a/{$args.id}\"}, selection: \"id\") }\n\
    type A { id: Int }";

#[test]
fn init_proposes_the_only_source_of_its_folder_and_serve_starts_it() {
    for (files, arguments, written, expected) in [
        (&[][..], "", "weir.yaml", "    url: sqlite:chinook.db\n"),
        (&[], "conf/weir.yaml", "conf/weir.yaml", "    url: sqlite:chinook.db\n"),
        (&[("a b.db", "")], "", "weir.yaml", "    url: \"sqlite:a b.db\"\n"),
        (&[("notes.graphql", TYPES)], "", "weir.yaml", "    native: notes.graphql\n"),
        (&[("conf/notes.graphql", TYPES)], "conf/weir.yaml", "conf/weir.yaml", "    native: notes.graphql\n"),
        (
            &[("notes.graphql", TYPES)],
            "conf/weir.yaml --url notes.graphql",
            "conf/weir.yaml",
            "/notes.graphql\n",
        ),
        (&[("all.graphql", SERVICES)], "", "weir.yaml", "    file: all.graphql\n"),
        (
            &[("all.graphql", SERVICES), ("b.db", "")],
            "--url all.graphql",
            "weir.yaml",
            "    file: all.graphql\n",
        ),
        // Queries and the schema that `weir schema` printed are no sources.
        (&[("q.graphql", "{ a { id } }"), ("b.db", "")], "", "weir.yaml", "    url: sqlite:b.db\n"),
        (
            &[("schema.graphql", "schema { query: query_root } type query_root { a: Int }"), ("b.db", "")],
            "",
            "weir.yaml",
            "    url: sqlite:b.db\n",
        ),
    ] {
        let folder = Folder::new();
        for (name, text) in files {
            let file = folder.file(name);
            std::fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
            if name.ends_with(".db") {
                std::fs::rename(folder.pets(), file).expect("it can be moved")
            } else {
                std::fs::write(file, text).expect("it can be written")
            }
        }
        let said = init(arguments, &folder.0);
        assert!(
            said.as_ref().is_ok_and(|it| it.starts_with(&format!("wrote {written}"))),
            "{files:?}: {said:?}"
        );
        let text = std::fs::read_to_string(folder.file(written)).expect("it is there");
        assert!(text.contains(expected), "{files:?}: {text}");
        check(&format!("weir serve {written}"), &folder.0);
    }
}

#[test]
fn init_refuses_several_sources_and_wrong_types() {
    let folder = Folder::new();
    folder.write("wrong.graphql", "type Note { text: Strin! }");
    let refused = init("", &folder.0).unwrap_err();
    assert!(refused.contains("wrong.graphql:1:") && refused.contains("--url"), "{refused}");
    assert!(!folder.file("weir.yaml").exists() && !folder.file("chinook.db").exists());
    folder.write("wrong.graphql", &SERVICES.replace("@link", "@lin"));
    let refused = init("", &folder.0).unwrap_err();
    assert!(refused.contains("wrong.graphql:1:") && !folder.file("weir.yaml").exists(), "{refused}");
    std::fs::create_dir(folder.file("conf")).expect("it can be made");
    folder.write("conf/notes.graphql", TYPES);
    folder.write("conf/all.graphql", SERVICES);
    let refused = init("conf/weir.yaml", &folder.0).unwrap_err();
    let words = "several sources are here (all.graphql, notes.graphql); name one by `--url conf/all.graphql`";
    assert!(refused.contains(words), "{refused}");
}

#[test]
fn init_prints_the_file_for_the_folder_and_creates_none() {
    let folder = Folder::new();
    let refused = init("-", &folder.0).unwrap_err();
    assert!(refused.contains("has no database and no .graphql file"), "{refused}");
    folder.write("notes.graphql", TYPES);
    let printed = init("-", &folder.0).expect("it is printed");
    assert!(printed.contains("    native: notes.graphql\n"), "{printed}");
    let names = std::fs::read_dir(&folder.0).expect("it can be read").flatten().map(|it| it.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["notes.graphql"]);
    folder.write("weir.yaml", &printed);
    check("weir serve", &folder.0);
}

#[test]
fn init_names_a_source_after_its_database() {
    let database = crate::postgres_kit::database("CREATE TABLE boat (id int PRIMARY KEY)");
    let printed = init(&format!("- --url '{}'", database.url()), &Folder::new().0).expect("it is printed");
    let url = database.url();
    let name = url.rsplit('/').next().and_then(|it| it.split('?').next()).expect("it has a name");
    assert!(printed.contains(&format!("  - name: {name}\n")), "{printed}");
}

#[test]
fn validate_reads_several_files_and_the_answer_to_an_introspection_query() {
    let folder = Folder::new();
    let root = r#"{"kind":"OBJECT","name":"Query","fields":[{"name":"a","args":[],"type":{"kind":"OBJECT","name":"A"}}]}"#;
    let a = r#"{"kind":"OBJECT","name":"A","fields":[{"name":"c","args":[],"type":{"kind":"SCALAR","name":"Int"}}]}"#;
    let schema = format!(
        r#"{{"data":{{"__schema":{{"queryType":{{"name":"Query"}},"types":[{root},{a}],"directives":[]}}}}}}"#
    );
    folder.write("schema.json", &schema);
    folder.write("one.graphql", "query One { a { ...Part } }");
    folder.write("parts.graphql", "fragment Part on A { c }");
    folder.write("wrong.graphql", "fragment Wrong on A { d }");
    let validate = |files: &[&str]| {
        let mut asked = command();
        asked.args(["validate", "--schema", "schema.json"]).args(files).current_dir(&folder.0);
        let done = asked.output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    assert_eq!(validate(&["one.graphql", "parts.graphql"]), (Some(0), String::new()));
    let (code, said) = validate(&["one.graphql", "parts.graphql", "wrong.graphql"]);
    assert_eq!(code, Some(1));
    assert!(said.starts_with("wrong.graphql:1:1: Fragment \"Wrong\" is never used."), "{said}");
    assert!(said.contains("wrong.graphql:1:23: Cannot query field \"d\" on type \"A\"."), "{said}");
}

/// Runs `weir schema diff` on the SDL `old` and `new`: its exit code, standard output and standard error.
fn schema_diff(old: &str, new: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = Folder::new();
    folder.write("old.graphql", old);
    folder.write("new.graphql", new);
    let mut diff = command();
    diff.args(["schema", "diff", "old.graphql", "new.graphql"]).args(arguments).current_dir(&folder.0);
    let done = diff.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

const OLD_SCHEMA: &str = "type Query { a: Int b: Int }";

#[test]
fn a_diff_exits_with_4_if_a_change_breaks_clients() {
    let report = "breaking   Query.b: the field was removed\nsafe       Query.c: the field was added\n";
    for (arguments, code) in [
        (&[][..], 4),
        (&["--fail-on", "breaking"], 4),
        (&["--fail-on", "dangerous"], 4),
        (&["--fail-on", "never"], 0),
    ] {
        let found = schema_diff(OLD_SCHEMA, "type Query { a: Int c: Int }", arguments);
        assert_eq!(found, (Some(code), report.to_owned(), String::new()), "{arguments:?}");
    }
}

#[test]
fn a_diff_exits_with_0_if_no_change_breaks_clients() {
    let (code, report, words) = schema_diff(OLD_SCHEMA, "type Query { a: Int! b: Int c: Int }", &[]);
    let expected =
        "safe       Query.a: its type was `Int` and is `Int!`\nsafe       Query.c: the field was added\n";
    assert_eq!((code, &*report, &*words), (Some(0), expected, ""));
    let same = schema_diff(OLD_SCHEMA, "type Query { b: Int  a: Int }", &["--fail-on", "dangerous"]);
    assert_eq!(same, (Some(0), "no changes\n".to_owned(), String::new()));
}

#[test]
fn a_dangerous_change_fails_a_diff_that_asks_for_it() {
    let [old, new] = ["A", "A B"].map(|it| format!("type Query {{ a: E }} enum E {{ {it} }}"));
    assert_eq!(schema_diff(&old, &new, &[]).0, Some(0));
    let (code, report, _) = schema_diff(&old, &new, &["--fail-on", "dangerous"]);
    assert_eq!((code, report.starts_with("dangerous  E.B: ")), (Some(4), true), "{report}");
}

#[test]
fn a_diff_as_json_has_the_same_changes() {
    let (code, report, words) = schema_diff(OLD_SCHEMA, "type Query { a: Int }", &["--format", "json"]);
    assert_eq!((code, &*words), (Some(4), ""));
    let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
    let change = serde_json::json!({
        "severity": "breaking", "coordinate": "Query.b", "message": "the field was removed",
    });
    assert_eq!(report, serde_json::json!({ "changes": [change] }));
}

#[test]
fn a_diff_of_a_file_that_cannot_be_read_exits_with_1() {
    let folder = Folder::new();
    folder.write("old.graphql", OLD_SCHEMA);
    let mut diff = command();
    diff.args(["schema", "diff", "old.graphql", "absent.graphql"]).current_dir(&folder.0);
    let done = diff.output().expect("it runs");
    let words = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), &*done.stdout), (Some(1), &b""[..]), "{words}");
    assert!(words.starts_with("error: absent.graphql: "), "{words}");
    let (code, report, words) = schema_diff(OLD_SCHEMA, "type Query { a: Integer }", &[]);
    assert_eq!((code, &*report), (Some(1), ""), "{words}");
    assert!(words.contains("Integer") && words.contains("new.graphql:1:"), "{words}");
}

#[test]
fn a_check_makes_and_changes_no_store() {
    let folder = Folder::new();
    let file = folder.write("shop.graphql", "type Product { id: ID! name: String }");
    let run = |arguments: &[&str]| {
        let ran = command().args(arguments).arg(&file).output().expect("it runs");
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let store = folder.file("shop.weir.db");
    let (is_sound, said) = run(&["check"]);
    assert!(is_sound && !store.exists(), "{said}");
    assert!(run(&["migrate"]).0 && store.exists());
    let before = std::fs::read(&store).expect("the store");
    folder.write("shop.graphql", "type Product { id: ID! name: String price: Float }");
    let (is_sound, said) = run(&["check"]);
    assert!(is_sound, "{said}");
    assert!(std::fs::read(&store).expect("the store") == before, "the store was changed");
    // A store that cannot be opened is told all the same.
    folder.write("shop.weir.db", "this is no database");
    let (is_sound, said) = run(&["check"]);
    assert!(!is_sound && said.contains("weir migrate"), "{said}");
}
