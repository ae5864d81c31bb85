//! The comment line `# Dgraph.Authorization {…}`: where a request's token is, and how it is checked.

use crate::model::{Authorization, AuthorizationKeys};
use weir_language::json::{Json, JsonRef};

const MARK: &str = "Dgraph.Authorization";
const ALGORITHMS: [&str; 6] = ["HS256", "HS384", "HS512", "RS256", "RS384", "RS512"];
const DEPTH_MAX: u32 = 8;

/// Reads the text behind the mark; error messages are Dgraph's.
pub(super) fn settings(text: &str) -> Result<Authorization, String> {
    match Json::parse(text.as_bytes(), DEPTH_MAX) {
        Ok(json) if json.root().is_object() => check_settings(&LineSettings::of(json.root())),
        Ok(_) | Err(_) => old(text).and_then(|it| check_settings(&it)),
    }
}

#[derive(Default)]
struct LineSettings {
    key: String,
    algorithm: String,
    url: String,
    urls: Vec<String>,
    header: String,
    namespace: String,
    audience: Vec<String>,
    closed: bool,
}

impl LineSettings {
    fn of(json: JsonRef<'_>) -> Self {
        let mut given = Self::default();
        let text = |it: JsonRef<'_>| it.as_str().unwrap_or_default().into_owned();
        let list = |it: JsonRef<'_>| it.items().filter_map(|it| Some(it.as_str()?.into_owned())).collect();
        for (name, value) in json.members() {
            match name.to_ascii_lowercase().as_str() {
                "verificationkey" => given.key = text(value),
                "algo" => given.algorithm = text(value),
                "jwkurl" => given.url = text(value),
                "jwkurls" => given.urls = list(value),
                "header" => given.header = text(value),
                "namespace" => given.namespace = text(value),
                "audience" => given.audience = list(value),
                "closedbydefault" => given.closed = value.as_bool().unwrap_or_default(),
                _ => {}
            }
        }
        given
    }
}

/// `X-Header https://namespace HS256 "key"`.
fn old(text: &str) -> Result<LineSettings, String> {
    let wrong = || format!("Invalid `{MARK}` format: {text}");
    let (front, key) = text.split_once('"').ok_or_else(wrong)?;
    let key = key.trim_end().strip_suffix('"').ok_or_else(wrong)?;
    let parts: Vec<&str> = front.split_whitespace().collect();
    let [header, namespace, algorithm] = parts.as_slice() else { return Err(wrong()) };
    Ok(LineSettings {
        key: key.to_owned(),
        algorithm: (*algorithm).to_owned(),
        header: (*header).to_owned(),
        namespace: (*namespace).to_owned(),
        ..LineSettings::default()
    })
}

fn check_settings(given: &LineSettings) -> Result<Authorization, String> {
    let has_url = !given.url.is_empty();
    let has_urls = !given.urls.is_empty();
    let has_set = has_url || has_urls;
    let has_key = !given.key.is_empty() || !given.algorithm.is_empty();
    if has_url && has_urls {
        return Err("expecting either JWKUrl or JWKUrls, both were given".to_owned());
    }
    if has_set && has_key {
        return Err("expecting either JWKUrl/JWKUrls or (VerificationKey, Algo), both were given".to_owned());
    }
    let lacking = [
        (!has_set && given.key.is_empty(), "`Verification key`/`JWKUrl`/`JWKUrls`"),
        (!has_set && given.algorithm.is_empty(), "`Algo`"),
        (has_set && given.audience.is_empty(), "`Audience`"),
        (given.header.is_empty(), "`Header`"),
        (given.namespace.is_empty(), "`Namespace`"),
    ];
    let lacking: Vec<&str> = lacking.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    if !lacking.is_empty() {
        return Err(format!("required field missing in {MARK}: {}", lacking.join(",")));
    }
    if !has_set && !ALGORITHMS.contains(&given.algorithm.as_str()) {
        let found = &given.algorithm;
        let list = ALGORITHMS.join(", ");
        return Err(format!("invalid jwt algorithm: found {found}, but supported options are: {list}"));
    }
    let keys = if has_set {
        let one = Some(given.url.clone()).filter(|it| !it.is_empty());
        AuthorizationKeys::Sets(one.into_iter().chain(given.urls.iter().cloned()).collect())
    } else {
        AuthorizationKeys::Key { text: given.key.clone(), algorithm: given.algorithm.clone() }
    };
    Ok(Authorization {
        header: given.header.clone(),
        namespace: given.namespace.clone(),
        keys,
        audience: given.audience.clone(),
        closed: given.closed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, part: &str) {
        let found = settings(text).expect_err("it is refused");
        assert!(found.contains(part), "{found}");
    }

    #[test]
    fn both_formats_are_read() {
        let new = r#"{"verificationkey":"k","HEADER":"X-A","Namespace":"ns","Algo":"HS256","ClosedByDefault":true,"x":1}"#;
        let new = settings(new).expect("it is right");
        assert_eq!((new.header.as_str(), new.namespace.as_str(), new.closed), ("X-A", "ns", true));
        let old = settings("X-A ns HS256 \"k\"").expect("it is right");
        assert_eq!(old, Authorization { closed: false, ..new });
    }

    #[test]
    fn faults_are_told() {
        refused(
            r#"{"JWKUrl":"https://a","Header":"X","Namespace":"n"}"#,
            "required field missing in Dgraph.Authorization: `Audience`",
        );
        refused("{}", "`Verification key`/`JWKUrl`/`JWKUrls`,`Algo`,`Header`,`Namespace`");
        refused(r#"{"JWKUrl":"a","JWKUrls":["b"]}"#, "both were given");
        refused(r#"{"JWKUrl":"a","Algo":"HS256"}"#, "(VerificationKey, Algo)");
        refused("X ns ES256 \"k\"", "found ES256, but supported options are: HS256");
        refused("nothing", "Invalid `Dgraph.Authorization` format: nothing");
    }
}
