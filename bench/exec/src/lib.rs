//! The contenders of the engine's benchmark that are written in Rust, and what its programs share.

pub mod apollo;
pub mod async_graphql;
pub mod data;
pub mod juniper;
pub mod juniper_harbour;
pub mod ours;
pub mod resolvers;

/// Answers one request; the answer is JSON text.
pub type Contender = Box<dyn Fn() -> Vec<u8>>;

/// The introspection query with a variable in it, so that it cannot be folded into the plan: every request writes it anew.
pub fn unfolded(introspection: &str) -> String {
    introspection
        .replace("query IntrospectionQuery", "query IntrospectionQuery($all: Boolean! = true)")
        .replace("includeDeprecated: true", "includeDeprecated: $all")
}

/// The operation or schema `name` in the folder of fixtures.
pub fn fixture(folder: &str, name: &str) -> String {
    let path = format!("{folder}/{name}.graphql");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Weir with sources in memory.
pub fn weir(sdl: &str, query: &str, values: ours::Values) -> Contender {
    let (engine, query) = (ours::engine(sdl, values), query.to_owned());
    Box::new(move || ours::answer(&engine, &query))
}

/// The `data` of the answer of `who`, which has to be without errors.
pub fn data_of(who: &str, answer: &[u8]) -> serde_json::Value {
    let mut answer: serde_json::Value = serde_json::from_slice(answer).expect("an answer is JSON");
    let errors = answer["errors"].as_array().map_or(0, Vec::len);
    assert_eq!(errors, 0, "{who}: {}", answer["errors"][0]);
    answer["data"].take()
}

/// The number of members in a value.
pub fn fields_of(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => items.iter().map(fields_of).sum(),
        serde_json::Value::Object(members) => members.values().map(|it| 1 + fields_of(it)).sum(),
        _ => 0,
    }
}
