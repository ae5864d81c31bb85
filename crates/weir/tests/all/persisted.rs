//! Persisted documents over real sockets: every form of a file over every transport, roles, the mode of stored documents alone, reload.

use crate::live::{read_until, stream};
use crate::sockets::{ACK, INIT, NEW, OLD, begin, hear, say, socket};
use crate::support::{Folder, Weir, body, command, message, until};
use weir_transport::document_id::text_hash;

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
pub(crate) const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];
const CAPTAIN: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "captain")];
pub(crate) const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;

const ONE: &str = "query One($id: Int = 1) {\n  pet_by_pk(id: $id) {\n    name\n  }\n}";
const LIVE: &str = "subscription Live { pet_by_pk(id: 1) { name } }";
const ADD: &str = "mutation Add { insert_pet_one(object: {id: 9, name: \"Zoe\"}) { name } }";
const LOST: &str = "query Lost { cat { id } }";

/// Sources with permissions, and the admin's secret.
const SOURCES: &str = "listen: 127.0.0.1:0
admin_secret: hush
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name], filter: {}}}
          - {role: captain, permission: {columns: [id], filter: {}}}
";

/// Serves the pets under these settings of `operations`.
pub(crate) fn serve(folder: Folder, operations: &str) -> Weir {
    folder.pets();
    let file = folder.write("weir.yaml", &format!("{SOURCES}operations: {operations}\n"));
    Weir::by_file(&file, folder)
}

/// A file that names the documents by these identifiers, in one of the forms.
fn manifest(form: &str, documents: &[(&str, &str)]) -> String {
    let json = |it: &str| serde_json::Value::from(it).to_string();
    let pairs = |join: &str| -> Vec<String> {
        documents.iter().map(|(id, text)| format!("{}{join}{}", json(id), json(text))).collect()
    };
    match form {
        "apollo" => {
            let operations: Vec<String> = documents
                .iter()
                .map(|(id, text)| {
                    format!(
                        r#"{{"id":{},"name":{},"type":"query","body":{}}}"#,
                        json(id),
                        json(id),
                        json(text)
                    )
                })
                .collect();
            let operations = operations.join(",");
            format!(
                r#"{{"format":"apollo-persisted-query-manifest","version":1,"operations":[{operations}]}}"#
            )
        }
        "pairs" => format!("[[{}]]", pairs(",").join("],[")),
        _ => format!("{{{}}}", pairs(":").join(",")),
    }
}

/// Transport by which a client sends an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Post(&'static str),
    Get,
    List(&'static str),
    Events(&'static str),
    EventsByGet,
    Socket(&'static str, &'static str),
}

pub(crate) const TRANSPORTS: [Transport; 13] = [
    Transport::Post("/graphql"),
    Transport::Post("/v1/graphql"),
    Transport::Post("/v1alpha1/graphql"),
    Transport::Get,
    Transport::List("/graphql"),
    Transport::List("/v1/graphql"),
    Transport::Events("/graphql"),
    Transport::Events("/v1/graphql"),
    Transport::EventsByGet,
    Transport::Socket("/graphql", NEW),
    Transport::Socket("/graphql", OLD),
    Transport::Socket("/v1/graphql", NEW),
    Transport::Socket("/v1/graphql", OLD),
];

/// The members of a body as the parameters of a URL.
fn url(members: &str) -> String {
    let members: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(members).expect("it is an object");
    let pair = |(name, value): (&String, &serde_json::Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text: String = text.bytes().map(|it| format!("%{it:02x}")).collect();
        format!("{name}={text}")
    };
    format!("/graphql?{}", members.iter().map(pair).collect::<Vec<_>>().join("&"))
}

/// The first event of the answer to `raw`, or the answer of a request that `/v1/graphql` cannot use.
fn read_event(weir: &Weir, raw: &[u8]) -> String {
    let (head, mut reader) = stream(weir, raw);
    let end = if head.contains("text/event-stream") { "}\n\n" } else { "]}" };
    read_until(&mut reader, end)
}

/// Sends the request with these members over `transport`; returns the answer.
pub(crate) fn ask(weir: &Weir, transport: Transport, headers: &[(&str, &str)], members: &str) -> String {
    let with = |more: &[(&'static str, &'static str)]| -> Vec<(String, String)> {
        headers.iter().chain(more).map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
    };
    let raw = |method: &str, path: &str, more: &[(&'static str, &'static str)], body: Option<&str>| {
        let headers = with(more);
        let headers: Vec<(&str, &str)> = headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        message(method, path, &headers, body.map(str::as_bytes))
    };
    let events = ("accept", "text/event-stream");
    match transport {
        Transport::Post(path) => weir.raw(&raw("POST", path, &[JSON], Some(members))).text().to_owned(),
        Transport::Get => weir.raw(&raw("GET", &url(members), &[], None)).text().to_owned(),
        Transport::List(path) => {
            let list = format!("[{members}]");
            weir.raw(&raw("POST", path, &[JSON], Some(&list))).text().to_owned()
        }
        Transport::Events(path) => read_event(weir, &raw("POST", path, &[JSON, events], Some(members))),
        Transport::EventsByGet => read_event(weir, &raw("GET", &url(members), &[events], None)),
        Transport::Socket(path, subprotocol) => {
            let mut socket = socket(weir, path, subprotocol);
            let login: serde_json::Map<String, serde_json::Value> =
                headers.iter().map(|it| (it.0.to_owned(), it.1.into())).collect();
            let login = serde_json::json!({ "type": "connection_init", "payload": { "headers": login } });
            say(&mut socket, if headers.is_empty() { INIT.to_owned() } else { login.to_string() }.as_str());
            assert_eq!(hear(&mut socket), ACK);
            say(&mut socket, &begin(subprotocol, "1", members));
            hear(&mut socket)
        }
    }
}

/// Members that name a document, in the ways that clients have.
fn ways(id: &str) -> [String; 4] {
    let hash = format!(r#""extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{id}"}}}}"#);
    [
        format!(r#"{{"documentId":"{id}"}}"#),
        format!(r#"{{"documentId":"{id}","query":"","operationName":"One","variables":{{"id":1}}}}"#),
        format!("{{{hash}}}"),
        format!(r#"{{"query":"",{hash}}}"#),
    ]
}

#[test]
fn every_transport_finds_the_documents_of_every_form() {
    for (form, id, asked) in [
        ("apollo", "any-id_1.2~3", "any-id_1.2~3"),
        ("relay", "0cc175b9c0f1b6a831c399e269772661", "0cc175b9c0f1b6a831c399e269772661"),
        ("codegen", "sha256:ab01", "sha256:ab01"),
        ("codegen", "sha256:ab01", "ab01"),
        ("pairs", "pair", "pair"),
        ("folder", "One", "One"),
    ] {
        let folder = Folder::new();
        if form == "folder" {
            std::fs::create_dir(folder.file("documents")).expect("it can be made");
            folder.write("documents/One.graphql", ONE);
        } else {
            folder.write("documents", &manifest(form, &[(id, ONE)]));
        }
        let weir = serve(folder, "{persisted: {files: [{path: documents}]}}");
        for transport in TRANSPORTS {
            for members in ways(asked) {
                let answer = ask(&weir, transport, &USER, &members);
                assert!(answer.contains(ADA), "{form}, {transport:?}, {members}: {answer}");
            }
        }
        let metrics = weir.get("/metrics", &[SECRET]);
        // `/v1/graphql` looks once more for events.
        let count = (TRANSPORTS.len() + 1) * 4;
        let line = format!("weir_document_lookups_total{{result=\"stored\"}} {count}");
        assert!(metrics.text().contains(&line), "{}", metrics.text());
    }
}

#[test]
fn an_unknown_identifier_is_told_in_the_words_that_clients_look_for() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}], apq: {enabled: false}}}");
    let hash = "0".repeat(64);
    for id in ["b", "A", "sha256:a ", &hash] {
        for transport in TRANSPORTS {
            for members in ways(id) {
                let answer = ask(&weir, transport, &USER, &members);
                let message = r#""message":"PersistedQueryNotFound""#;
                assert!(
                    answer.contains(message) && !answer.contains("NotSupported"),
                    "{transport:?}: {answer}"
                );
            }
        }
    }
    let telling = ("accept", "application/graphql-response+json");
    let [members, ..] = ways("b");
    for accept in [telling, ("accept", "application/json")] {
        let answer = weir.post("/graphql", &[USER[0], USER[1], accept], members.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (200, "PERSISTED_QUERY_NOT_FOUND"));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache, must-revalidate"));
    }
    let answer = weir.post("/v1/graphql", &USER, members.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (200, "not-found"));
}

#[test]
fn a_text_beside_an_identifier_has_to_be_the_stored_one() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}]}}");
    let both = |id: &str, text: &str| serde_json::json!({ "documentId": id, "query": text }).to_string();
    let other = "{ pet_by_pk(id: 1) { name } }";
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, &both("a", ONE));
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
        let answer = ask(&weir, transport, &USER, &both("a", other));
        assert!(answer.contains("provided sha does not match query"), "{transport:?}: {answer}");
        // Apollo's link for manifests sends text and identifier after a miss.
        let answer = ask(&weir, transport, &USER, &both("b", other));
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
        let answer = ask(&weir, transport, &USER, &both(&"0".repeat(64), other));
        assert!(answer.contains("provided sha does not match query"), "{transport:?}: {answer}");
    }
    let telling = [USER[0], USER[1], ("accept", "application/graphql-response+json")];
    let answer = weir.post("/graphql", &telling, both("a", other).as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (400, "PERSISTED_QUERY_MISMATCH"));
}

#[test]
fn stored_documents_alone_run_if_that_is_the_mode() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE), ("live", LIVE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}], require_id: true}}");
    let text = body("{ pet_by_pk(id: 1) { name } }");
    let [by_id, ..] = ways("a");
    let words = "this server runs stored documents alone";
    let own = serde_json::json!({ "query": "{ pet_by_pk(id: 1) { name } }", "documentId": "b" }).to_string();
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, &by_id);
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
        for refused in [&text, &own] {
            let answer = ask(&weir, transport, &USER, refused);
            assert!(answer.contains(words), "{transport:?}: {answer}");
        }
        let answer = ask(&weir, transport, &[SECRET], &text);
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
    }
    let graphql = [USER[0], USER[1], ("content-type", "application/graphql")];
    let answer = weir.raw(&message("POST", "/graphql", &graphql, Some(b"{ pet_by_pk(id: 1) { name } }")));
    assert_eq!((answer.status, answer.code().as_str()), (200, "PERSISTED_QUERY_ID_REQUIRED"));
    for transport in [Transport::Events("/graphql"), Transport::Socket("/graphql", NEW)] {
        let answer = ask(&weir, transport, &USER, r#"{"documentId":"live"}"#);
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
        let answer = ask(&weir, transport, &USER, &body(LIVE));
        assert!(answer.contains(words), "{transport:?}: {answer}");
    }
    let metrics = weir.get("/metrics", &[SECRET]);
    assert!(!metrics.text().contains("weir_document_lookups_total{result=\"text\"} 0"), "{}", metrics.text());
}

#[test]
fn texts_are_counted_before_they_are_refused() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}], log_texts: true}}");
    let text = r#"{"query":"query Free { pet_by_pk(id: 1) { name } }","operationName":"Free"}"#;
    let answer = ask(&weir, Transport::Post("/graphql"), &USER, text);
    assert!(answer.contains(ADA), "{answer}");
    let metrics = weir.get("/metrics", &[SECRET]);
    assert!(metrics.text().contains("weir_document_lookups_total{result=\"text\"} 1"), "{}", metrics.text());
    until("the text is logged", || weir.log().contains("requests sent texts that are not stored"));
    assert!(weir.log().contains("Free") && !weir.log().contains("pet_by_pk"), "{}", weir.log());
}

#[test]
fn the_allow_list_and_its_roles_decide_about_documents() {
    let folder = Folder::new();
    let ids = "query Ids { pet(limit: 1) { id } }";
    folder.write("web.json", &manifest("relay", &[("a", ONE)]));
    folder.write("captains.json", &manifest("apollo", &[("ids", ids)]));
    let weir = serve(
        folder,
        "{allow_list: true, persisted: {files: [{path: web.json}, {path: captains.json, collection: bridge}]}, allowlist: [{collection: web}, {collection: bridge, scope: {global: false, roles: [captain]}}], rest_endpoints: [{name: ids, url: ids, methods: [GET], definition: {query: {collection_name: bridge, query_name: ids}}}]}",
    );
    let refused = "query is not allowed";
    for transport in TRANSPORTS {
        let asked = |headers: &[(&str, &str)], id: &str| {
            ask(&weir, transport, headers, &format!(r#"{{"documentId":"{id}"}}"#))
        };
        assert!(asked(&USER, "a").contains(ADA), "{transport:?}");
        assert!(asked(&USER, "ids").contains(refused), "{transport:?}");
        assert!(asked(&CAPTAIN, "ids").contains(r#"{"data":{"pet":[{"id":1}]}}"#), "{transport:?}");
        let free = ask(&weir, transport, &USER, r#"{"query":"{ pet { id } }"}"#);
        assert!(free.contains(refused), "{transport:?}: {free}");
    }
    assert_eq!(weir.get("/api/rest/ids", &CAPTAIN).text(), r#"{"pet":[{"id":1}]}"#);
    assert!(weir.get("/api/rest/ids", &USER).text().contains(refused));
}

#[test]
fn queries_of_collections_are_named_by_their_hash() {
    let collections = "{collections: [{name: web, definition: {queries: [{name: one, query: '{ pet_by_pk(id: 1) { name } }'}]}}]}";
    let weir = serve(Folder::new(), collections);
    let text = "{ pet_by_pk(id: 1) { name } }";
    let id = text_hash(text);
    for members in ways(&id).iter().chain(&ways(&format!("sha256:{id}"))) {
        let members = members.replace(r#","operationName":"One""#, "");
        let members = members.replace(r#","variables":{"id":1}"#, "");
        let answer = ask(&weir, Transport::Post("/graphql"), &USER, &members);
        assert!(answer.contains(ADA), "{members}: {answer}");
    }
}

#[test]
fn a_get_by_identifier_tells_caches_what_to_keep() {
    let folder = Folder::new();
    let kept = "query Kept @cached(ttl: 60) { pet_by_pk(id: 1) { name } }";
    folder.write("documents.json", &manifest("relay", &[("a", ONE), ("kept", kept), ("add", ADD)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}]}}");
    let get = |id: &str, headers: &[(&str, &str)]| weir.get(&format!("/graphql?documentId={id}"), headers);
    assert_eq!(get("a", &USER).header("cache-control"), Some("no-store"));
    let answer = get("kept", &USER);
    let words = answer.header("cache-control").unwrap_or_default().to_owned();
    assert!(words.starts_with("private,max-age="), "{words}");
    let tag = answer.header("etag").expect("it has a tag").to_owned();
    assert_eq!(get("kept", &[USER[0], USER[1], ("if-none-match", &tag)]).status, 304);
    // A mutation does not run by GET, wherever its text came from.
    let answer = get("add", &[SECRET]);
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    let answer = get("nothing", &USER);
    assert_eq!(answer.header("cache-control"), Some("private, no-cache, must-revalidate"));
}

#[test]
fn shared_caches_keep_answers_for_nobody_in_particular_if_they_may() {
    let kept = "query Kept @cached(ttl: 60) { pet_by_pk(id: 1) { name } }";
    for (setting, expected) in [("false", "private,"), ("true", "public,")] {
        let folder = Folder::new();
        folder.pets();
        folder.write("documents.json", &manifest("relay", &[("kept", kept)]));
        let settings = SOURCES.replace("sources:", "auth: {unauthorized_role: user}\nsources:");
        let persisted = format!("{{files: [{{path: documents.json}}], shared_caches: {setting}}}");
        let yaml = format!("{settings}operations: {{persisted: {persisted}}}\n");
        let weir = Weir::by_file(&folder.write("weir.yaml", &yaml), folder);
        let told = |headers: &[(&str, &str)], path: &str| {
            let answer = weir.get(path, headers);
            answer.header("cache-control").unwrap_or_default().to_owned()
        };
        let path = "/graphql?documentId=kept";
        let words = told(&[], path);
        assert!(words.starts_with(expected), "{setting}: {words}");
        for headers in [&USER[..], &[("authorization", "Bearer a")], &[("cookie", "a=1")]] {
            assert!(!told(headers, path).starts_with("public"), "{headers:?}");
        }
        // A text is no name by which a cache should keep something.
        let by_text = told(&[], &url(&body(kept)));
        assert!(by_text.starts_with("private,"), "{by_text}");
    }
}

#[test]
fn plans_are_there_before_the_first_request() {
    let folder = Folder::new();
    let skip = "query Skip($a: Boolean!, $b: Boolean!) { pet_by_pk(id: 1) { id @skip(if: $a) name @include(if: $b) } }";
    folder.write("documents.json", &manifest("relay", &[("a", ONE), ("skip", skip), ("live", LIVE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}]}}");
    for members in [
        r#"{"documentId":"a"}"#.to_owned(),
        r#"{"documentId":"a","operationName":"One"}"#.to_owned(),
        r#"{"documentId":"skip","variables":{"a":true,"b":true}}"#.to_owned(),
        r#"{"documentId":"skip","variables":{"a":false,"b":true}}"#.to_owned(),
    ] {
        let answer = ask(&weir, Transport::Post("/graphql"), &USER, &members);
        assert!(answer.contains("Ada"), "{members}: {answer}");
    }
    let metrics = weir.get("/metrics", &[SECRET]);
    for line in [r#"weir_plan_cache_total{result="miss"} 0"#, r#"weir_plan_cache_total{result="hit"} 4"#] {
        assert!(metrics.text().contains(line), "{line}: {}", metrics.text());
    }
}

#[test]
fn a_changed_file_is_taken_over_and_a_broken_one_is_not() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}]}}");
    let knows = |id: &str| {
        ask(&weir, Transport::Post("/graphql"), &USER, &format!(r#"{{"documentId":"{id}"}}"#)).contains(ADA)
    };
    assert!(knows("a") && !knows("b"));
    weir.folder().write("documents.json", &manifest("relay", &[("a", ONE), ("b", ONE)]));
    until("the new document is served", || knows("b"));
    weir.folder().write("documents.json", "{\"c\": \"{ broken\"}");
    until("the file is refused", || weir.log().contains("the document `c`: it is no GraphQL"));
    assert!(knows("a") && knows("b"));
    let health = weir.get("/healthz", &[]);
    assert!(health.text().contains("WARN"), "{}", health.text());
}

#[test]
fn documents_come_by_the_command_line_too() {
    let folder = Folder::new();
    let database = folder.pets();
    let documents = folder.write("documents.json", &manifest("codegen", &[("sha256:a", ONE)]));
    let target = format!("sqlite:{}", database.display());
    let documents = documents.display().to_string();
    let weir = Weir::start(
        &["serve", &target, "--listen", "127.0.0.1:0", "--persisted", &documents, "--persisted-only"],
        folder,
    );
    let answer = ask(&weir, Transport::Get, &[], r#"{"documentId":"sha256:a"}"#);
    assert!(answer.contains(ADA), "{answer}");
    let role = [("x-hasura-role", "user")];
    let answer = ask(&weir, Transport::Get, &role, r#"{"query":"{ pet_by_pk(id: 1) { name } }"}"#);
    assert!(answer.contains("PERSISTED_QUERY_ID_REQUIRED"), "{answer}");
}

#[test]
fn a_member_of_another_name_holds_the_identifier() {
    let folder = Folder::new();
    folder.write("documents.json", &manifest("relay", &[("a", ONE)]));
    let weir = serve(folder, "{persisted: {files: [{path: documents.json}], id_members: [doc_id]}}");
    for transport in TRANSPORTS {
        for asked in [r#"{"doc_id":"a","query":""}"#, r#"{"doc_id":"a"}"#] {
            let answer = ask(&weir, transport, &USER, asked);
            assert!(answer.contains(ADA), "{transport:?}: {answer}");
        }
    }
}

/// Exit and output of `weir check` over these files and settings of `operations`.
fn check(files: &[(&str, &str)], operations: &str) -> (bool, String) {
    let folder = Folder::new();
    folder.pets();
    files.iter().for_each(|(name, text)| drop(folder.write(name, text)));
    let file = folder.write("weir.yaml", &format!("{SOURCES}operations: {operations}\n"));
    let run = command().args(["check", &file.display().to_string()]).output().expect("it runs");
    let said = [&run.stdout[..], &run.stderr].concat();
    (run.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_check_names_documents_that_nobody_can_run() {
    let settings = "{persisted: {files: [{path: a.json}]}}";
    let said = |documents: &[(&str, &str)]| check(&[("a.json", &manifest("relay", documents))], settings);
    let (is_sound, words) = said(&[("a", ONE)]);
    assert!(is_sound && !words.contains("warning"), "{words}");
    let (is_sound, words) = said(&[("a", ONE), ("lost", LOST)]);
    assert!(is_sound && words.contains("in query \"Lost\""), "{words}");
    // The admin alone may run it.
    let (is_sound, words) = said(&[("add", ADD)]);
    assert!(is_sound && words.contains("no role that may send it can run: Add (role `"), "{words}");
    let (is_sound, words) = said(&[]);
    assert!(is_sound && words.contains("holds no document"), "{words}");
    let (is_sound, words) = said(&[("old", "query One { pet { id } }"), ("new", ONE)]);
    assert!(is_sound && words.contains("1 documents have the name of another, such as `One`"), "{words}");
    let (is_sound, words) = said(&[("broken", "{ a")]);
    assert!(!is_sound && words.contains("the document `broken`: it is no GraphQL"), "{words}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let (is_sound, words) = check(&[], "{persisted: {require_id: true, apq: {enabled: true}}}");
    assert!(!is_sound && words.contains("exclude each other"), "{words}");
    let (is_sound, words) = check(&[], "{persisted: {id_members: [query]}}");
    assert!(!is_sound && words.contains("`query` is the name of another member"), "{words}");
    let (is_sound, words) = check(&[], "{persisted: {files: [{path: nowhere.json}]}}");
    assert!(!is_sound && words.contains("nowhere.json: it cannot be read"), "{words}");
}
