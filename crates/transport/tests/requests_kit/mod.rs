//! Requests by GET and lists of requests, and what every server answers them with: the product and the library alike.
//!
//! They ask for no more than `__typename`, so that any schema answers them.

#![allow(unreachable_pub, reason = "every test that has it is a binary of its own")]

/// A request: method, target, headers, body.
pub type Sent<'r> = (&'r str, &'r str, &'r [(&'r str, &'r str)], &'r [u8]);

/// A status, and what stands in the body.
type Expected<'r> = (u16, &'r str);

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const EXTENSIONS: &str =
    "extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%2200%22%7D%7D";

/// `send` gives the status and body that a server answers with, and `unknown` is its code for an identifier that it does not know.
pub fn check_requests(unknown: &str, send: impl Fn(Sent<'_>) -> (u16, String)) {
    let check = |(method, target, headers, body): Sent<'_>, (status, part): Expected<'_>| {
        let (answered, text) = send((method, target, headers, body));
        let shown = String::from_utf8_lossy(body);
        assert!(answered == status && text.contains(part), "{method} {target} {shown}: {answered} {text}");
    };
    let get = |query: &str, expected: Expected<'_>| {
        check(("GET", &format!("/graphql?{query}"), &[], b""), expected);
    };
    let post = |body: &str, expected: Expected<'_>| {
        check(("POST", "/graphql", &JSON, body.as_bytes()), expected);
    };
    let data = "\"data\":{\"__typename\":";
    get("query=%7B__typename%7D", (200, data));
    get("query=%7B__typename%7D&variables=&extensions=null&other=1", (200, data));
    let skip = "query=query(%24a:Boolean!)%7B__typename%20b:__typename%20@skip(if:%24a)%7D";
    get(&format!("{skip}&variables=%7B%22a%22:true%7D"), (200, data));
    let several = "query=query+A%7B__typename%7Dquery+B%7Bb:__typename%7D";
    get(&format!("{several}&operationName=B"), (200, "\"data\":{\"b\":"));
    get("query=%7B__typename%7D&query=%7B__typename%7D", (400, "a parameter stands twice in the URL"));
    get("query=%ff", (400, "the URL holds invalid UTF-8"));
    get("", (400, "`query` is missing"));
    get("query=%7B__typename%7D&variables=%5B%5D", (400, "must be JSON objects"));
    get("query=%7B__typename%7D&extensions=7", (400, "must be JSON objects"));
    get("query=%7B__typename%7D&variables=%7B", (400, "the body is not valid JSON"));
    get(EXTENSIONS, (200, unknown));
    get(&format!("query=&{EXTENSIONS}"), (200, unknown));
    get("documentId=albums", (200, unknown));
    // Two digits are the identifier of a document, not the hash of a text.
    get(&format!("query=%7B__typename%7D&{EXTENSIONS}"), (200, data));
    let hash = EXTENSIONS.replace("00", &"0".repeat(64));
    get(&format!("query=%7B__typename%7D&{hash}"), (200, "PERSISTED_QUERY_MISMATCH"));

    let one = r#"{"query": "{ __typename }"}"#;
    post(&format!("[{one}]"), (200, &format!("[{{{data}")));
    post(&format!("[{{}}, {one}]"), (200, "`query` is missing"));
    post("[7, []]", (200, "BAD_REQUEST"));
    post("[]", (400, "the list holds no request"));
    post(&format!("[{}]", [one; 11].join(",")), (400, "LIMIT_BATCH"));
}
