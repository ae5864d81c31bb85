//! Detects calls with client credentials, whose answers are private to the client.

use crate::selection::Variable;
use crate::template::Header;
use http::HeaderName;
use http::header::AUTHORIZATION;
use weir_engine::source::{Headers, is_credential};

/// Client inputs that become credentials of calls.
#[derive(Debug, Default)]
pub(super) struct Personal {
    /// Client headers that are credentials, or become part of credentials; in lower case.
    from: Box<[Box<str>]>,
    /// True if every call contains a credential, from an argument or a parent key.
    always: bool,
    /// Client headers that become `Authorization`; `None` if it contains other inputs.
    authorization: Option<Box<[Box<str>]>>,
}

impl Personal {
    /// Detects credentials in calls that send `headers` and read the client headers `reads`.
    pub(super) fn new(headers: &[Header], reads: &[Box<str>]) -> Self {
        let credentials = |is: &dyn Fn(&HeaderName) -> bool| -> Vec<Option<Vec<Box<str>>>> {
            headers.iter().filter(|it| is(&it.name) && !it.is_operators()).map(made_of).collect()
        };
        let all = credentials(&|name| is_credential(name.as_str()));
        let always = all.iter().any(Option::is_none);
        let read = reads.iter().filter(|it| is_credential(it)).cloned();
        let mut from: Vec<Box<str>> = all.into_iter().flatten().flatten().chain(read).collect();
        from.sort_unstable();
        from.dedup();
        let authorization: Option<Vec<_>> = credentials(&|name| *name == AUTHORIZATION).into_iter().collect();
        let authorization = authorization.map(|it| it.into_iter().flatten().collect());
        Self { from: from.into(), always, authorization }
    }

    /// True if the call for a request with these headers contains a credential.
    pub(super) fn is_in(&self, headers: &dyn Headers) -> bool {
        self.always || self.from.iter().any(|it| headers.get(it).is_some())
    }

    /// True if the call for a request with these headers sends no `Authorization` of the client.
    pub(super) fn is_anonymous(&self, headers: &dyn Headers) -> bool {
        self.authorization.as_ref().is_some_and(|all| all.iter().all(|it| headers.get(it).is_none()))
    }
}

/// Client headers that a header is built from; `None` if it has other inputs.
fn made_of(header: &Header) -> Option<Vec<Box<str>>> {
    if let Some(name) = header.client_header() {
        return Some(vec![name.into()]);
    }
    let mut names = Vec::new();
    for used in header.slots().flat_map(|slot| slot.expr.variables()) {
        match (used.variable, used.keys.as_slice()) {
            (Variable::Config | Variable::Env, _) => {}
            (Variable::Request, [("headers", _), (name, _), ..]) => {
                names.push(name.to_ascii_lowercase().into());
            }
            _ => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::source::NoHeaders;

    struct One(&'static str);

    impl Headers for One {
        fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
            if name == self.0 {
                take(b"1");
            }
        }
    }

    fn header(name: &str, from: Option<&str>, value: Option<&str>) -> Header {
        Header::read(name, from, value).unwrap()
    }

    #[test]
    fn who_sends_no_credential_is_nobody() {
        let check = |headers: &[Header], reads: &[&str], from: &'static str, expected: (bool, bool)| {
            let reads: Vec<Box<str>> = reads.iter().map(|it| (*it).into()).collect();
            let personal = Personal::new(headers, &reads);
            let found = (personal.is_in(&One(from)), personal.is_anonymous(&One(from)));
            assert_eq!(found, expected, "{headers:?} {from}");
            found
        };
        let token = [header("Authorization", Some("X-Token"), None)];
        check(&token, &[], "x-token", (true, false));
        check(&token, &[], "authorization", (false, true));
        let made = [header("Authorization", None, Some("Bearer {$request.headers.'X-Token'->first}"))];
        check(&made, &[], "x-token", (true, false));
        check(&made, &[], "x-other", (false, true));
        let argument = [header("Authorization", None, Some("Bearer {$args.token}"))];
        check(&argument, &[], "x-other", (true, false));
        let own = [header("Authorization", None, Some("Bearer {$config.token}"))];
        check(&own, &[], "authorization", (false, true));
        let cookie = [header("Cookie", Some("cookie"), None), header("X-User", Some("x-user"), None)];
        check(&cookie, &[], "cookie", (true, true));
        check(&cookie, &[], "x-user", (false, true));
        check(&[], &["authorization"], "authorization", (true, true));
        assert!(!Personal::new(&token, &[]).is_in(&NoHeaders));
    }
}
