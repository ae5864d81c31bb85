//! PostgreSQL's `@>` on JSON texts: whether one document contains another.
//!
//! Objects: every key of the part is in the whole, with a value that contains the part's. Arrays: every item of the
//! part is contained in some item of the whole, whatever the order. At the top an array contains a scalar of its items.
//!
//! **Cost:** linear in both documents where arrays hold scalars; arrays of objects are compared each with each. Depth is
//! bounded by [`DEPTH_MAX`]. The work is counted, so that a statement can be stopped.

use crate::functions::json_canonical::to_canonical_text;
use crate::functions::steps::{Steps, Stopped};
use std::collections::{HashMap, HashSet};
use weir_language::json::{Json, JsonKind, JsonRef};

const DEPTH_MAX: u32 = 100;

/// True if `whole` contains `part`; `None` if one of them is no JSON.
pub(crate) fn contains(whole: &str, part: &str, steps: &mut Steps<'_>) -> Result<Option<bool>, Stopped> {
    let (Some(whole), Some(part)) = (parse(whole), parse(part)) else { return Ok(None) };
    let whole = whole.root();
    let part = part.root();
    if is_scalar(part) && whole.is_array() {
        let part = to_canonical_text(part);
        return Ok(Some(whole.items().any(|item| is_scalar(item) && to_canonical_text(item) == part)));
    }
    covers(whole, part, steps).map(Some)
}

fn parse(text: &str) -> Option<Json<'_>> {
    Json::parse(text.as_bytes(), DEPTH_MAX).ok()
}

fn is_scalar(value: JsonRef<'_>) -> bool {
    !value.is_object() && !value.is_array()
}

fn covers(whole: JsonRef<'_>, part: JsonRef<'_>, steps: &mut Steps<'_>) -> Result<bool, Stopped> {
    steps.take(1)?;
    match (whole.kind(), part.kind()) {
        (JsonKind::Object, JsonKind::Object) => {
            let held: HashMap<_, _> = whole.members().collect();
            steps.take(held.len())?;
            for (key, value) in part.members() {
                let Some(held) = held.get(&key) else { return Ok(false) };
                if !covers(*held, value, steps)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (JsonKind::Array, JsonKind::Array) => {
            let scalars: HashSet<_> =
                whole.items().filter(|it| is_scalar(*it)).map(to_canonical_text).collect();
            steps.take(scalars.len())?;
            for item in part.items() {
                let is_held = if is_scalar(item) {
                    scalars.contains(&to_canonical_text(item))
                } else {
                    holds(whole, item, steps)?
                };
                if !is_held {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(is_scalar(whole) && is_scalar(part) && to_canonical_text(whole) == to_canonical_text(part)),
    }
}

/// True if an item of `whole` contains `part`.
fn holds(whole: JsonRef<'_>, part: JsonRef<'_>, steps: &mut Steps<'_>) -> Result<bool, Stopped> {
    for item in whole.items() {
        if covers(item, part, steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::contains;
    use crate::functions::steps::{Steps, Stopped};

    fn check(whole: &str, part: &str, expected: Option<bool>) {
        let found = contains(whole, part, &mut Steps::new(&|| false));
        assert_eq!(found, Ok(expected), "{whole} @> {part}");
    }

    #[test]
    fn a_long_work_is_stopped() {
        let array = |numbers: &mut dyn Iterator<Item = u32>| {
            let objects: Vec<String> = numbers.map(|it| format!("{{\"a\":{it}}}")).collect();
            format!("[{}]", objects.join(","))
        };
        let whole = array(&mut (0..600));
        let part = array(&mut (0..600).rev());
        assert_eq!(contains(&whole, &part, &mut Steps::new(&|| false)), Ok(Some(true)));
        assert_eq!(contains(&whole, &part, &mut Steps::new(&|| true)), Err(Stopped));
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
