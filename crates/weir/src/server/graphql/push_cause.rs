//! The cause of each result of a subscription, as the member `weirPush` of the result's `extensions`.
//!
//! **Invariant:** only an operator who asked for it is told. A cause names tables and keys that a role may not see.
//!
//! **Cost:** nothing for other subscribers, who share the bytes of a result. An operator's result is copied.

use crate::server::request::answer::refusal::string;
use crate::server::request::context::RequestContext;
use crate::session::secret;
use bytes::Bytes;
use hyper::HeaderMap;
use std::io::Write;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::live::{Cause, Changed};
use weir_language::json::JsonRef;

/// Key in `extensions` that requests causes and contains them in results.
const MEMBER: &str = "weirPush";

/// True if the operation requests causes: `"extensions": {"weirPush": true}`.
pub(super) fn is_wanted(payload: JsonRef<'_>) -> bool {
    let wanted = payload.get("extensions").and_then(|it| it.get(MEMBER));
    wanted.is_some_and(|it| it.raw() == "true")
}

/// True for an operator: anyone who may use `/v1/explain` may see causes. The holder of the admin secret may, under any role.
pub(super) fn may_see_causes(context: &RequestContext, headers: &HeaderMap, identity: &Identity) -> bool {
    let authenticator = &context.generation.authenticator;
    if authenticator.is_open() {
        return context.generation.dev;
    }
    identity.is_admin() || secret::sent_secret(headers).is_some_and(|it| authenticator.is_secret(it))
}

/// Start of a subscription under the current settings. Its first result is not caused by a change of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) at: Instant,
    /// True if it was planned again because the settings changed.
    pub(super) is_renewed: bool,
}

/// Why a result was read.
#[derive(Clone, Copy)]
pub(super) struct PushCause<'c> {
    pub(super) cause: &'c Cause,
    /// Since when it was due.
    pub(super) due: Instant,
}

impl Beginning {
    /// True if the first result, read for `cause` since `due`, was caused by the start. A renewed subscription skips a result equal to its
    /// last one.
    fn is_cause(self, push: PushCause<'_>) -> bool {
        !self.is_renewed || *push.cause == Cause::First || push.due < self.at
    }
}

/// Adds the cause to the result `body`, which was read for `cause` since `due`. `beginning` is set for the first result after a start.
pub(super) fn add_cause(body: &Bytes, push: PushCause<'_>, beginning: Option<Beginning>) -> Bytes {
    let PushCause { cause, due } = push;
    let Some((b'}', members)) = body.split_last() else { return body.clone() };
    let mut out = Vec::with_capacity(body.len() + 160);
    out.extend_from_slice(members);
    out.extend_from_slice(br#","extensions":{"weirPush":{"cause":""#);
    let beginning = beginning.filter(|it| it.is_cause(push));
    let (name, since) = match (cause, beginning) {
        (_, Some(beginning)) => {
            (if beginning.is_renewed { "settings" } else { "first" }, Some(beginning.at.elapsed()))
        }
        (Cause::Change(_), None) => ("change", Some(due.elapsed())),
        (Cause::First, None) => ("first", None),
        (Cause::Poll, None) => ("poll", None),
        (Cause::Expiry, None) => ("expiry", None),
        (Cause::Batch, None) => ("batch", None),
        (Cause::Event, None) => ("event", Some(due.elapsed())),
    };
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
    if let (Cause::Change(changed), None) = (cause, beginning) {
        write_changed(&mut out, changed);
    }
    write_numbers(&mut out, since, body.len());
    out.extend_from_slice(b"}}}");
    out.into()
}

/// Writes `,"changed":{"tag":"public.pet","key":["1"]}`; nothing if the changed data is unknown.
fn write_changed(out: &mut Vec<u8>, changed: &Changed) {
    let (member, name) = match changed {
        Changed::Tag(tag) | Changed::Row { tag, .. } => ("tag", tag),
        Changed::Source(source) => ("source", source),
        Changed::Unknown => return,
    };
    out.extend_from_slice(format!(r#","changed":{{"{member}":"#).as_bytes());
    string(out, name);
    if let Changed::Row { key, .. } = changed {
        out.extend_from_slice(br#","key":["#);
        for (at, value) in key.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b"," } else { b"" });
            string(out, value);
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Writes the milliseconds since the cause, if known, and the size of the original result.
fn write_numbers(out: &mut Vec<u8>, since: Option<Duration>, bytes: usize) {
    if let Some(since) = since {
        // `write!` to a vector cannot fail.
        let _ = write!(out, r#","ms":{:.3}"#, since.as_secs_f64() * 1000.0);
    }
    let _ = write!(out, r#","bytes":{bytes}"#);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The words about a result with this cause; the time is only looked for.
    fn check(cause: Cause, beginning: Option<Beginning>, expected: Value) {
        let body = Bytes::from_static(br#"{"data":{"a":1.50}}"#);
        let told = add_cause(&body, PushCause { cause: &cause, due: Instant::now() }, beginning);
        assert!(told.starts_with(br#"{"data":{"a":1.50},"extensions":{"#), "{told:?}");
        let mut json: Value = serde_json::from_slice(&told).expect("it is JSON");
        let push = json["extensions"][MEMBER].as_object_mut().expect("it is told");
        if let Some(ms) = push.remove("ms") {
            push.insert("has_ms".into(), (ms.as_f64() >= Some(0.0)).into());
        }
        assert_eq!(json["extensions"][MEMBER], expected);
    }

    #[test]
    fn a_cause_says_what_was_changed_and_when() {
        let tag = || Changed::Tag("public.pet".into());
        let row = Changed::Row { tag: "a\"b".into(), key: vec!["1".into(), "x".into()] };
        let change =
            |changed: Value| json!({"cause": "change", "changed": changed, "has_ms": true, "bytes": 19});
        check(tag().into(), None, change(json!({"tag": "public.pet"})));
        check(row.into(), None, change(json!({"tag": "a\"b", "key": ["1", "x"]})));
        check(Changed::Source("main".into()).into(), None, change(json!({"source": "main"})));
        check(Changed::Unknown.into(), None, json!({"cause": "change", "has_ms": true, "bytes": 19}));
        check(Cause::Poll, None, json!({"cause": "poll", "bytes": 19}));
        let begun = |is_renewed, at| Some(Beginning { at, is_renewed });
        let (now, before) = (Instant::now(), Instant::now() - Duration::from_secs(9));
        let started = |cause: &str| json!({"cause": cause, "has_ms": true, "bytes": 19});
        check(tag().into(), begun(false, now), started("first"));
        check(Cause::First, begun(true, now), started("settings"));
        check(tag().into(), begun(true, before), change(json!({"tag": "public.pet"})));
    }

    #[test]
    fn only_true_asks_for_causes() {
        for (payload, expected) in [
            (r#"{"extensions":{"weirPush":true}}"#, true),
            (r#"{"extensions":{"weirPush":"true"}}"#, false),
            (r#"{"extensions":{"weirPush":false}}"#, false),
            (r#"{"extensions":null}"#, false),
            (r#"{"weirPush":true}"#, false),
        ] {
            let json = weir_language::json::Json::parse(payload.as_bytes(), 9).expect("it is JSON");
            assert_eq!(is_wanted(json.root()), expected, "{payload}");
        }
    }
}
