//! Values that a mapping names by `->as`, where the objects that it makes have types of their own.

use crate::served_kit::engine;
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask};

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.4", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  port(of: String): Port @connect(source: "s", http: {GET: "/port", queryParams: "of: $args.of->as($of)->slice(0, 1)->echo([$of, @]->joinNotNull('-'))"}, selection: """
    name
    boats: $->as($port).boats { name town: $port.name crew { n boat: $port.boats.name->first } }
    ... $->as($all) { count: $all.boats->size }
  """)
}
type Port { name: String boats: [Boat] count: Int }
type Boat { name: String town: String crew: [Sailor] }
type Sailor { n: String boat: String }
"#;

#[tokio::test]
async fn a_named_value_is_known_in_the_rest_of_its_path() {
    let service = Service::start(|_| {
        let body = r#"{"name": "Oslo", "boats": [{"name": "Alk", "crew": [{"n": "Ida"}]}, {"name": "Ask", "crew": []}]}"#;
        wire_kit::answer("200 OK", "", body)
    });
    let query = r#"{ port(of: "xyz") { name count boats { name town crew { n boat } } } }"#;
    let (answer, _) = ask(&engine(SDL, &service), User(""), query).await;
    let boats = r#"[{"name":"Alk","town":"Oslo","crew":[{"n":"Ida","boat":"Alk"}]},{"name":"Ask","town":"Oslo","crew":[]}]"#;
    assert_eq!(answer, format!(r#"{{"data":{{"port":{{"name":"Oslo","count":2,"boats":{boats}}}}}}}"#));
    assert!(service.head(0).starts_with("GET /port?of=xyz-x "), "{}", service.head(0));
}
