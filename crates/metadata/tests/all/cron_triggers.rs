//! Cron triggers: written as they were read, left out one by one, changed by commands.

use std::path::Path;
use weir_metadata::export::Export;
use weir_metadata::{Aside, Loaded, edit, read};

const FILE: &str = "- name: nightly
  webhook: '{{HOOKS}}/nightly'
  schedule: '*/5 * * * *'
  include_in_metadata: true
  payload:
    rate: 1.50
  retry_conf:
    num_retries: 3
  headers:
    - name: X-Key
      value_from_env: HOOK_KEY
  comment: each night
  request_transform:
    content_type: application/json
    method: null
    query_params: {}
    template_engine: Kriti
    version: 2
";

fn load(triggers: &str) -> Loaded {
    let lines: String = triggers.lines().map(|it| format!("{it}\n")).collect();
    let text = format!("version: 3\nsources: []\ncron_triggers:\n{lines}");
    read::text(&text, Path::new("metadata.yaml")).expect("it is metadata")
}

#[test]
fn a_file_is_written_as_it_was() {
    let files = Export::of(&load(FILE).document, &Aside::default()).expect("it is written").folder();
    let file = files.iter().find(|it| it.0 == Path::new("cron_triggers.yaml")).expect("it has triggers");
    assert_eq!(file.1, FILE);
}

#[test]
fn an_entry_that_does_not_fit_is_left_out_alone() {
    let text = "version: 3\nsources: []\ncron_triggers:\n- {name: a, webhook: w, schedule: '@daily'}\n\
                - {name: b, webhook: w, schedule: '@daily', include_in_metadata: true}\n\
                - {name: b, webhook: x, schedule: '@daily', include_in_metadata: true}\n\
                - {name: c, webhook: w, schedule: '@daily', include_in_metadata: true, headers: [{name: a}]}\n\
                - {name: d, webhook: w, schedule: '@daily', include_in_metadata: true, retry_conf: {num_retries: -1}}\n";
    let folder = crate::folders::Folder::new("cron-parts", &[("m.yaml", text)]);
    let loaded = read::path(&folder.0.join("m.yaml")).expect("the rest is read");
    let names: Vec<&str> = loaded.document.cron_triggers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["b"]);
    let mut left_out: Vec<String> =
        loaded.left_out.iter().map(|it| format!("{}: {}", it.name, it.reason)).collect();
    left_out.sort();
    assert_eq!(
        left_out,
        [
            "cron_trigger a: Inconsistent object: in cron trigger \"a\": key \"include_in_metadata\" not found",
            "cron_trigger b: Inconsistent object: in cron trigger \"b\": multiple declarations exist for the following cron triggers: b",
            "cron_trigger c: Inconsistent object: in cron trigger \"c\": expecting value or value_from_env keys",
            "cron_trigger d: Inconsistent object: in cron trigger \"d\": a whole number up to 4294967295 is expected, and this is `-1`",
        ]
    );
}

#[test]
fn commands_change_single_triggers() {
    let document = load(FILE).document;
    let run = |name: &str, args: &str| {
        edit::edit(&document, name, args, &[]).map_err(|it| (it.code, it.path, it.message))
    };
    let made =
        r#"{"name":"tick","webhook":"w","schedule":"@daily","include_in_metadata":false,"payload":1.50}"#;
    let edited = run("create_cron_trigger", made).expect("it is made");
    assert_eq!(edited.document.cron_triggers.len(), 2);
    let again = made.replace("tick", "nightly");
    let message = "cron trigger with name: nightly already exists".to_owned();
    assert_eq!(run("create_cron_trigger", &again), Err(("already-exists", "args".into(), message)));
    let replaced =
        run("create_cron_trigger", &again.replacen('{', "{\"replace\":true,", 1)).expect("it is replaced");
    assert_eq!(replaced.document.cron_triggers[0].schedule, "@daily");
    let deleted = run("delete_cron_trigger", r#"{"name":"nightly"}"#).expect("it is deleted");
    assert!(deleted.document.cron_triggers.is_empty());
    let message = "cron trigger with name: gone does not exist".to_owned();
    assert_eq!(run("delete_cron_trigger", r#"{"name":"gone"}"#), Err(("not-exists", "args".into(), message)));
    let message = "key \"schedule\" not found".to_owned();
    let incomplete = r#"{"name":"a","webhook":"w","include_in_metadata":true}"#;
    assert_eq!(run("create_cron_trigger", incomplete), Err(("parse-failed", "args".into(), message)));
}
