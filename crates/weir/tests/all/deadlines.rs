//! Clients say how long they wait: their operations end then, over every transport, and services learn what is left, and the id of the
//! request.

use crate::persisted::{TRANSPORTS, ask};
use crate::support::{Folder, Weir, body, command};
use crate::upstream_kit::{Upstream, answers};

/// A view that never ends, and a table.
const TABLES: &str = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO pet VALUES (1, 'Ada');
    CREATE VIEW slow AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0;";
const SLOW: &str = "{ slow { x } }";
const WAITS: &str = "x-client-waits-ms";

fn serve(limits: &str) -> Weir {
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("pets.db"))
        .and_then(|it| it.execute_batch(TABLES))
        .expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nlimits: {{{limits}}}\nsources:\n- {{name: pets, url: \"sqlite:pets.db\"}}\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

#[test]
fn an_operation_ends_when_its_client_does_not_wait_any_longer() {
    // The server's own patience is beyond the test's.
    let weir = serve("request_s: 600, statement_s: 600, deadline_header: X-Client-Waits-Ms");
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &[(WAITS, "150")], &body(SLOW));
        assert!(answer.contains("The source did not answer in time."), "{transport:?}: {answer}");
        let answer = ask(&weir, transport, &[(WAITS, "60000")], &body("{ pet { name } }"));
        assert!(answer.contains("Ada"), "{transport:?}: {answer}");
    }
}

#[test]
fn a_client_cannot_lengthen_what_the_server_waits() {
    let weir = serve("request_s: 1, deadline_header: x-client-waits-ms");
    for waits in ["600000", "99999999999999999999999999"] {
        assert_eq!(weir.post("/graphql", &[(WAITS, waits)], body(SLOW).as_bytes()).code(), "SOURCE_TIMEOUT");
    }
}

#[test]
fn a_patience_that_cannot_be_read_is_refused_and_one_that_nobody_asked_for_is_none() {
    let weir = serve("deadline_header: x-client-waits-ms");
    let one = body("{ pet { name } }");
    for wrong in ["", "0", "-1", "1.5", "1s", "+7", " 7 7", "0x10", "\u{663}"] {
        let answer = weir.post("/graphql", &[(WAITS, wrong)], one.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST"), "{wrong}");
        assert!(answer.text().contains("whole number of milliseconds above 0"), "{}", answer.text());
        assert_eq!(weir.post("/v1/graphql", &[(WAITS, wrong)], one.as_bytes()).status, 400, "{wrong}");
    }
    assert_eq!(weir.post("/graphql", &[(WAITS, "900"), (WAITS, "800")], one.as_bytes()).status, 400);
    let weir = serve("request_s: 30");
    assert!(weir.post("/graphql", &[(WAITS, "0")], one.as_bytes()).text().contains("Ada"));
}

#[test]
fn a_name_that_is_no_header_is_told() {
    let folder = Folder::new();
    folder.write("weir.yaml", "limits: {deadline_header: \"x waits\"}\n");
    let output =
        command().args(["check", "weir.yaml"]).current_dir(folder.file("")).output().expect("it runs");
    let words =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(
        !output.status.success()
            && words.contains("`limits.deadline_header`: \"x waits\" is no name of a header"),
        "{words}"
    );
}

const SERVICE: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@policy"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @policy(source: "s", retries: 0, timeout: 5000, deadlineHeader: "X-Left")
type Query { thing(id: Int!): Thing @connect(source: "s", http: {GET: "/things/{$args.id}"}, selection: "id") }
type Thing { id: Int! }
"#;

#[test]
fn services_learn_what_the_client_leaves_them() {
    let upstream = Upstream::start(answers("- {ask: GET /things/1, answer: {id: 1}}\n"));
    let folder = Folder::new();
    let services = SERVICE.replace("http://upstream", &format!("http://{}", upstream.address));
    folder.write("services.graphql", &services);
    let yaml = "listen: 127.0.0.1:0\nlimits: {deadline_header: x-client-waits-ms}\nsources: [{name: s, file: services.graphql}]\n";
    let file = folder.write("weir.yaml", yaml);
    let weir = Weir::by_file(&file, folder);
    let left = |headers: &[(&str, &str)]| -> u32 {
        let answer = weir.post("/graphql", headers, body("{ thing(id: 1) { id } }").as_bytes());
        assert_eq!(answer.text(), r#"{"data":{"thing":{"id":1}}}"#);
        let asked = upstream.take_requests().pop().expect("the service is asked");
        let left = asked.headers.iter().find(|it| it.0 == "x-left").expect("it is told");
        left.1.parse().expect("it is a number")
    };
    assert!((2001..=5000).contains(&left(&[])));
    assert!((1..=2000).contains(&left(&[(WAITS, "2000")])));
}

#[test]
fn services_get_the_id_of_the_request() {
    let upstream = Upstream::start(answers("- {ask: GET /things/1, answer: {id: 1}}\n"));
    let folder = Folder::new();
    folder.write(
        "services.graphql",
        &SERVICE.replace("http://upstream", &format!("http://{}", upstream.address)),
    );
    let file =
        folder.write("weir.yaml", "listen: 127.0.0.1:0\nsources: [{name: s, file: services.graphql}]\n");
    let weir = Weir::by_file(&file, folder);
    let ids = |headers: &[(&str, &str)]| {
        let answer = weir.post("/graphql", headers, body("{ thing(id: 1) { id } }").as_bytes());
        let asked = upstream.take_requests().pop().expect("the service is asked");
        let sent: Vec<String> =
            asked.headers.iter().filter(|it| it.0 == "x-request-id").map(|it| it.1.clone()).collect();
        (answer.header("x-request-id").map(str::to_owned), sent)
    };
    let (own, sent) = ids(&[("x-request-id", "of-the-client-7")]);
    assert_eq!(
        (own.as_deref(), sent.as_slice()),
        (Some("of-the-client-7"), &["of-the-client-7".to_owned()][..])
    );
    let (own, sent) = ids(&[]);
    assert_eq!(own.into_iter().collect::<Vec<_>>(), sent, "a new one is that of the answer");
    assert_eq!(sent.len(), 1);
}
