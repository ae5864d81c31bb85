//! PostgreSQL's `@>` on JSON texts: whether one document contains another.
//!
//! Objects: every key of the part is in the whole, with a value that contains the part's. Arrays: every item of the
//! part is contained in some item of the whole, whatever the order. At the top an array contains a scalar of its items.
//!
//! **Cost:** linear in both documents where arrays hold scalars; arrays of objects are compared each with each. Depth is
//! bounded by [`DEPTH_MAX`].

use crate::json_canonical::spelled;
use std::collections::{HashMap, HashSet};
use weir_language::json::{Json, JsonKind, JsonRef};

const DEPTH_MAX: u32 = 100;

/// True if `whole` contains `part`; `None` if one of them is no JSON.
pub(crate) fn contains(whole: &str, part: &str) -> Option<bool> {
    let whole = Json::parse(whole.as_bytes(), DEPTH_MAX).ok()?;
    let part = Json::parse(part.as_bytes(), DEPTH_MAX).ok()?;
    let (whole, part) = (whole.root(), part.root());
    if is_scalar(part) && whole.is_array() {
        let part = spelled(part);
        return Some(whole.items().any(|item| is_scalar(item) && spelled(item) == part));
    }
    Some(covers(whole, part))
}

fn is_scalar(value: JsonRef<'_>) -> bool {
    !value.is_object() && !value.is_array()
}

fn covers(whole: JsonRef<'_>, part: JsonRef<'_>) -> bool {
    match (whole.kind(), part.kind()) {
        (JsonKind::Object, JsonKind::Object) => {
            let held: HashMap<_, _> = whole.members().collect();
            part.members().all(|(key, value)| held.get(&key).is_some_and(|held| covers(*held, value)))
        }
        (JsonKind::Array, JsonKind::Array) => {
            let scalars: HashSet<_> = whole.items().filter(|it| is_scalar(*it)).map(spelled).collect();
            part.items().all(|item| match is_scalar(item) {
                true => scalars.contains(&spelled(item)),
                false => whole.items().any(|held| covers(held, item)),
            })
        }
        _ => is_scalar(whole) && is_scalar(part) && spelled(whole) == spelled(part),
    }
}

#[cfg(test)]
mod tests {
    use super::contains;

    fn check(whole: &str, part: &str, expected: Option<bool>) {
        assert_eq!(contains(whole, part), expected, "{whole} @> {part}");
    }

    #[test]
    fn containment_is_postgresqls() {
        check("{\"a\":1,\"b\":{\"c\":[1,2]}}", "{\"b\":{\"c\":[2]}}", Some(true));
        check("{\"a\":1}", "{\"a\":2}", Some(false));
        check("[1,2,3]", "[3,1]", Some(true));
        check("[1,2,3]", "2", Some(true));
        check("{\"a\":1}", "{}", Some(true));
        check("{\"a\":1.0}", "{\"a\":1}", Some(true));
        check("null", "null", Some(true));
        check("[[1,2],3]", "[[2]]", Some(true));
        check("[[1,2],3]", "[2]", Some(false));
        check("{\"caf\\u00e9\":\"\\u00e9\"}", "{\"café\":\"é\"}", Some(true));
        check("{\"a\":12345678901234567890}", "{\"a\":12345678901234567891}", Some(false));
        check("x", "1", None);
    }
}
