//! Tests of access, generated from the table of addresses: new addresses are tested too.

use super::faults::{ask, server};
use crate::server::router::{Gate, ROUTES};

/// The status of a request without a body.
fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[test]
fn no_page_of_another_origin_reaches_an_operator_s_address() {
    let server = server();
    let own = server.listen().to_string();
    let mut guarded = Vec::new();
    for route in ROUTES.iter().filter(|it| it.gate == Gate::Operator) {
        for method in route.methods.split(", ").filter(|it| *it != "GET" && *it != "HEAD") {
            let head = |host: &str, origin: &str| {
                let head = format!("{method} {} HTTP/1.1\r\norigin: {origin}", route.path);
                let answer = ask(&server, &head, host, "");
                (status(&answer), answer.contains("ACCESS_DENIED"))
            };
            for origin in
                ["http://evil.com", "http://localhost:3000", "null", "", &format!("http://{own}.evil.com")]
            {
                assert_eq!(head(&own, origin), (403, true), "{} {origin}", route.path);
            }
            assert!(!head(&own, &format!("http://{own}")).1, "{}", route.path);
            guarded.push(route.path);
        }
    }
    assert_eq!(guarded, ["/v1/explain", "/v1/reload", "/v1/invalidate", "/admin/schema"]);
    assert_eq!(server.stop(), Ok(()));
}
