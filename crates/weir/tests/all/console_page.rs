//! Addresses of the console: its views, the ways to it, and what is not there.

use crate::support::Weir;

#[test]
fn the_root_leads_to_the_console() {
    let weir = Weir::pets(&[]);
    let answer = weir.get("/", &[]);
    assert_eq!((answer.status, answer.header("location")), (307, Some("/console")));
    let page = weir.get("/console/", &[]);
    assert_eq!(page.status, 200);
    assert!(page.text().contains("<!doctype html>"), "{}", page.text());
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
}

#[test]
fn each_view_of_the_console_has_an_address_that_opens_the_page() {
    let weir = Weir::pets(&[]);
    let start = weir.get("/console/", &[]);
    for path in [
        "/console/data",
        "/console/data/main/a.b?filter=%5B%5D",
        "/console/schema",
        "/console/schema/main/boat",
        "/console/permissions",
        "/console/permissions/main/boat?role=sailor",
        "/console/api",
        "/console/api/saved",
        "/console/live",
        "/console/operations",
    ] {
        let page = weir.get(path, &[]);
        assert_eq!((page.status, page.text()), (200, start.text()), "{path}");
    }
    for path in ["/console/datum", "/console/assets/data", "/console/index.html/data"] {
        let answer = weir.get(path, &[]);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("NOT_FOUND"), "{path}");
    }
}

#[test]
fn a_browser_that_opens_the_address_of_the_api_is_led_to_the_console() {
    let weir = Weir::pets(&[]);
    let browser = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
    let answer = weir.get("/graphql", &browser);
    assert_eq!((answer.status, answer.header("location")), (307, Some("/console")));
    // A query in the address is a request of the API, whoever sends it.
    assert_eq!(weir.get("/graphql?query=%7B__typename%7D", &browser).status, 200);
    assert_eq!(weir.get("/graphql", &[]).status, 400);
}
