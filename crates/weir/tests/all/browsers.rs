//! Web pages of other origins: which may call, what a page that may not is told of, and what no page may do.

use crate::support::{Answer, Folder, Weir, body, command, message, until};

const ASK: &str = "{ pet_by_pk(id: 1) { name } }";
const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const ALLOWED: &str = "access-control-allow-origin";

/// Body that a page of `origin` may read; nothing if the browser refuses it.
fn call_from(weir: &Weir, origin: &str) -> Option<String> {
    let answer = weir.post("/graphql", &[("origin", origin)], body(ASK).as_bytes());
    assert_eq!((answer.status, answer.text()), (200, ADA), "{origin}");
    answer.header(ALLOWED).map(String::from)
}

/// The answer to a browser that asks whether a page may send a POST to `path`.
fn preflight(weir: &Weir, path: &str, origin: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, apollographql-client-name"),
    ];
    weir.raw(&message("OPTIONS", path, &headers, None))
}

#[test]
fn a_page_of_this_machine_may_call_a_server_of_this_machine() {
    let weir = Weir::pets(&[]);
    for origin in ["http://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:8081", "https://localhost"]
    {
        assert_eq!(call_from(&weir, origin).as_deref(), Some(origin));
        for (path, methods) in [("/graphql", "GET, POST, PUT, DELETE"), ("/v1/graphql", "GET, POST")] {
            let yes = preflight(&weir, path, origin);
            assert_eq!((yes.status, yes.header(ALLOWED)), (204, Some(origin)), "{path}");
            assert_eq!(yes.header("access-control-allow-methods"), Some(methods));
            let asked = Some("content-type, apollographql-client-name");
            assert_eq!(yes.header("access-control-allow-headers"), asked);
        }
    }
    for origin in ["http://localhost.evil.com", "http://192.168.0.1:3000", "null", "https://good.com"] {
        assert_eq!(call_from(&weir, origin), None);
        let no = preflight(&weir, "/graphql", origin);
        assert_eq!((no.header(ALLOWED), no.header("access-control-allow-methods")), (None, None));
    }
}

#[test]
fn off_loopback_no_page_may_call_that_is_not_named() {
    let open = ["serve", "sqlite:pets.db", "--listen", "0.0.0.0:0", "--admin-secret", "hush"];
    let serve = |more: &[&str]| {
        let folder = Folder::new();
        folder.pets();
        let mut command = command();
        command.args(open).args(more).current_dir(&folder.0);
        Weir::run(&mut command, folder)
    };
    let may = |weir: &Weir, origin: &str| {
        let headers = [("origin", origin), ("x-weir-admin-secret", "hush")];
        weir.post("/graphql", &headers, body(ASK).as_bytes()).header(ALLOWED).map(String::from)
    };
    let weir = serve(&[]);
    assert_eq!(may(&weir, "http://localhost:3000"), None);
    let weir = serve(&["--cors", "https://good.com", "--cors", "http://localhost:3000"]);
    for origin in ["https://good.com", "http://localhost:3000"] {
        assert_eq!(may(&weir, origin).as_deref(), Some(origin));
    }
    assert_eq!(may(&weir, "http://localhost:3001"), None);
    assert_eq!(may(&serve(&["--cors", "*"]), "https://any.example").as_deref(), Some("*"));
}

#[test]
fn the_command_line_names_the_pages_of_a_demo_too() {
    let folder = Folder::new();
    let data = folder.file("data");
    let data = data.to_str().expect("it is UTF-8").to_owned();
    let cors = ["demo", "--data", &data, "--listen", "127.0.0.1:0", "--cors", "https://good.com"];
    let weir = Weir::start(&cors, folder);
    assert_eq!(preflight(&weir, "/graphql", "https://good.com").header(ALLOWED), Some("https://good.com"));
    assert_eq!(preflight(&weir, "/graphql", "http://localhost:3000").header(ALLOWED), None);
}

#[test]
fn what_is_no_origin_is_refused_at_the_start() {
    for wrong in ["good.com", "https://good.com/", "null", ""] {
        let folder = Folder::new();
        folder.pets();
        let mut command = command();
        command.args(["serve", "sqlite:pets.db", "--listen", "127.0.0.1:0", "--cors", wrong]);
        let ended = command.current_dir(&folder.0).output().expect("it ends");
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && words.contains("is no origin"), "{words}");
    }
}

#[test]
fn a_page_that_may_not_call_is_told_of_once_with_the_setting_that_lets_it() {
    let weir = Weir::pets(&[]);
    let own = format!("http://{}", weir.address);
    for origin in ["https://a.example", "null", "https://b.example", &*own] {
        for _ in 0..3 {
            let headers = [("origin", origin), ("host", &*weir.address.to_string())];
            weir.post("/graphql", &headers, body(ASK).as_bytes());
            preflight(&weir, "/graphql", origin);
        }
    }
    until("the lines are written", || weir.log().contains("b.example"));
    let log = weir.log();
    let lines = |part: &str| log.lines().filter(|it| it.contains(part)).count();
    assert_eq!((lines("https://a.example"), lines("https://b.example")), (1, 1), "{log}");
    assert!(
        log.contains(
            r#"`cors: {origins: ["https://a.example"]}` in weir.yaml or `--cors https://a.example`"#
        ),
        "{log}"
    );
    assert_eq!((lines("without an origin"), lines("may not call")), (1, 3), "{log}");
}

#[test]
fn an_operator_s_address_is_for_no_page_of_another_origin() {
    let weir = Weir::with_settings("cors: {origins: ['*']}");
    let generation = || weir.post("/v1/reload", &[], b"").json()["generation"].as_u64();
    assert_eq!(generation(), Some(2));
    for origin in ["http://evil.com", "http://localhost:3000", "null"] {
        let asked = weir.raw(&message("POST", "/v1/reload", &[("origin", origin)], Some(b"")));
        assert_eq!((asked.status, asked.code().as_str()), (403, "ACCESS_DENIED"), "{origin}");
        let read = weir.get("/admin/operations", &[("origin", origin)]);
        assert_eq!((read.status, read.code().as_str()), (403, "ACCESS_DENIED"), "{origin}");
        assert_eq!(preflight(&weir, "/v1/reload", origin).header("access-control-allow-methods"), None);
    }
    assert_eq!(generation(), Some(3));
    // A link on such a page leads there, and nobody but its reader sees the answer.
    assert_eq!(weir.get("/admin/operations", &[("sec-fetch-site", "cross-site")]).status, 200);
    assert_eq!(weir.get("/admin/operations", &[]).status, 200);
}

#[test]
fn the_rule_of_a_path_replaces_that_of_the_server() {
    let weir = Weir::with_settings(
        "cors: {origins: ['https://*.good.com'], paths: [{path: /v1, origins: ['*']}, {path: /v1/graphql, origins: []}]}",
    );
    for (path, origin, expected) in [
        ("/graphql", "https://app.good.com", Some("https://app.good.com")),
        ("/graphql", "https://good.com", None),
        ("/graphql", "https://a.app.good.com", None),
        ("/v1/graphql", "https://app.good.com", None),
        ("/v1beta1/relay", "https://any.example", None),
    ] {
        let answer = weir.post(path, &[("origin", origin)], body(ASK).as_bytes());
        assert_eq!(answer.header(ALLOWED), expected, "{path} {origin}");
        assert_eq!(preflight(&weir, path, origin).header(ALLOWED), expected, "{path} {origin}");
    }
}
