//! The server of Weir with a schema of resolvers in Rust: sessions, roles, subscriptions over WebSockets, limits, metrics and the
//! console are the server's.
//!
//! `cargo run -p weir --example library`, then
//! `curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' -d '{"query":"{ users { name } }"}'`.
//! A database in `sources` of the configuration would be in the same graph.

use std::time::Duration;
use weir::config::{Config, Listen};
use weir_runtime::{Context, Schema, record, root, stream};

struct User {
    name: String,
    mail: String,
}
record!(User { name, mail });

const SDL: &str = "
type Query { users: [User!]! }
type User { name: String! mail: String! }
type Subscription { ticks: Int! }
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let user = |name: &str| User { name: name.to_owned(), mail: format!("{name}@example.com") };
    let library = Schema::builder(SDL)
        .resolve(
            "Query.users",
            root(move |_: &(), _: &Context| ["Ada", "Bob"].map(user).into_iter().collect::<Vec<_>>()),
        )
        .resolve(
            "Subscription.ticks",
            stream(|_: &(), _: &Context| {
                let ticks = tokio::time::interval(Duration::from_secs(1));
                futures_util::stream::unfold((ticks, 0), |(mut ticks, number)| async move {
                    ticks.tick().await;
                    Some((number, (ticks, number + 1)))
                })
            }),
        )
        .visible_if("User.mail", |role| role == "staff")
        .build_source()?;
    let config = Config { listen: Listen("127.0.0.1:8080".parse()?), ..Config::default() };
    let server = weir::Weir::builder().config(config).source(library).serve()?;
    println!("POST to http://{}/graphql, as `x-hasura-role: staff` to see mails", server.listen());
    loop {
        std::thread::park();
    }
}
