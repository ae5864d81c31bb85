//! PostgreSQL's `@>` on JSON texts: whether one document contains another.
//!
//! Objects: every key of the part is in the whole, with a value that contains the part's. Arrays: every item of the
//! part is contained in some item of the whole, whatever the order. At the top an array contains a scalar of its items.
//!
//! **Cost:** bounded by the product of the two documents' sizes; depth by [`DEPTH_MAX`].

use weir_language::json::{Json, JsonKind};

const DEPTH_MAX: u32 = 100;

/// Whether `whole` contains `part`; `None` if one of them is no JSON.
pub(super) fn contains(whole: &str, part: &str) -> Option<bool> {
    let whole = Json::parse(whole.as_bytes(), DEPTH_MAX).ok()?;
    let part = Json::parse(part.as_bytes(), DEPTH_MAX).ok()?;
    let scalar = !matches!(part.nodes[0].kind, JsonKind::Object | JsonKind::Array);
    if scalar && whole.nodes[0].kind == JsonKind::Array {
        return Some(items(&whole, 0).any(|item| covers(&whole, item, &part, 0)));
    }
    Some(covers(&whole, 0, &part, 0))
}

/// The places of the values directly below a container; of an object, keys and values alternate.
fn items<'j>(json: &'j Json<'_>, at: usize) -> impl Iterator<Item = usize> + 'j {
    let end = json.nodes[at].next as usize;
    let mut next = at + 1;
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let item = next;
            next = json.nodes[item].next as usize;
            item
        })
    })
}

fn text<'j>(json: &'j Json<'_>, at: usize) -> &'j str {
    &json.text[json.nodes[at].start as usize..json.nodes[at].end as usize]
}

fn members<'j>(json: &'j Json<'_>, at: usize) -> impl Iterator<Item = (usize, usize)> + 'j {
    let mut all = items(json, at);
    std::iter::from_fn(move || Some((all.next()?, all.next()?)))
}

fn covers(whole: &Json<'_>, at: usize, part: &Json<'_>, of: usize) -> bool {
    match (whole.nodes[at].kind, part.nodes[of].kind) {
        (JsonKind::Object, JsonKind::Object) => members(part, of).all(|(key, value)| {
            members(whole, at)
                .any(|(ours, held)| text(whole, ours) == text(part, key) && covers(whole, held, part, value))
        }),
        (JsonKind::Array, JsonKind::Array) => {
            items(part, of).all(|item| items(whole, at).any(|held| covers(whole, held, part, item)))
        }
        (JsonKind::Number, JsonKind::Number) => {
            let (ours, theirs) = (text(whole, at), text(part, of));
            ours == theirs || ours.parse::<f64>().ok() == theirs.parse::<f64>().ok()
        }
        (JsonKind::String { .. }, JsonKind::String { .. }) => text(whole, at) == text(part, of),
        (ours, theirs) => ours == theirs && !matches!(ours, JsonKind::Object | JsonKind::Array),
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
        check("x", "1", None);
    }
}
