//! `@cache`: what is kept of the answers of a service or server.
//!
//! **Invariant:** a rule says nothing that cannot hold: what a kind of server has no use for is a mistake, not ignored.

use super::services::Whom;
use super::{CacheRule, Reader};
use http::HeaderName;
use weir_language::ast::Directive;
use weir_language::span::Span;

/// Seconds of a year.
const YEAR_S: u32 = 365 * 86_400;

impl<'d> Reader<'d> {
    pub(super) fn cache(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let whom = self.need(&mut fields, "source").and_then(|it| self.whom_of(it));
        let freshness = self.take(&mut fields, "freshness").map(|it| self.strings(it)).unwrap_or_default();
        let mut seconds = |name| self.take(&mut fields, name).and_then(|it| self.whole(it, YEAR_S));
        let (default_s, stale_s) = (seconds("default"), seconds("stale"));
        let (stale_if_error_s, negative_s) = (seconds("staleIfError"), seconds("negative"));
        let jitter = self.take(&mut fields, "jitter").and_then(|it| self.whole(it, 100)).unwrap_or(0);
        let scope = self.take(&mut fields, "scope").and_then(|it| self.scope(it));
        let (private, public) = (scope == Some(true), scope == Some(false));
        let key = self.take(&mut fields, "key").map(|it| self.strings(it)).unwrap_or_default();
        let post = self.take(&mut fields, "post").and_then(|it| self.boolean(it));
        let span = fields.span;
        self.finish(fields);
        match (private, key.is_empty()) {
            (true, true) => self.complain(
                span,
                "what is `PRIVATE` needs `key`: the headers that tell callers apart, as in `key: [\"authorization\"]`",
            ),
            (false, false) => self.complain(
                span,
                "`key` tells the callers of a `PRIVATE` source apart: write `scope: PRIVATE` beside it",
            ),
            (true, false) | (false, true) => {}
        }
        let Some(whom) = whom else { return };
        if post.is_some() && !matches!(whom, Whom::Service(_)) {
            self.complain(
                span,
                "`post` is about a `@source`: of a server queries only read, and mutations never do",
            );
        }
        if negative_s.is_some() && matches!(whom, Whom::Graphql(_)) {
            self.complain(span, "`negative` is about \"not found\", which a GraphQL server says by a null");
        }
        let (freshness, key) = (self.header_names(freshness), self.header_names(key));
        let rule = CacheRule {
            freshness,
            default_s,
            stale_s,
            stale_if_error_s,
            jitter_percent: jitter as u8,
            negative_s: negative_s.unwrap_or(0),
            private,
            public,
            key,
            post: post.unwrap_or(false),
        };
        let place = match whom {
            Whom::Service(source) => &mut self.mapping.services[source.index()].cache,
            Whom::Graphql(at) => &mut self.mapping.graphql[at].cache,
            Whom::Grpc(at) => &mut self.mapping.grpc[at].cache,
        };
        if place.replace(rule).is_some() {
            self.complain(directive.span, "there are two `@cache` for this source");
        }
    }

    /// Names of headers, in lower case.
    fn header_names(&mut self, list: Vec<(String, Span)>) -> Vec<Box<str>> {
        let mut lower = |(name, span): (String, Span)| -> Box<str> {
            let lower = name.to_ascii_lowercase();
            if HeaderName::from_bytes(lower.as_bytes()).is_err() {
                self.complain(span, format!("`{name}` is no name of a header"));
            }
            lower.into()
        };
        list.into_iter().map(&mut lower).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::sdl::{CacheRule, read};

    #[test]
    fn servers_are_kept_by_their_prefixes() {
        let link = "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@cache\", \"@cacheTag\", \"@graphql\", \"@grpc\"])
            @graphql(url: \"http://a/\", prefix: \"a_\") @grpc(url: \"http://b\", proto: \"b.proto\")";
        let mapping = read(
            &format!(
                "{link} @cache(source: \"a_\", default: 0, stale: 2) @cache(source: \"grpc\", negative: 1)
             extend type a_Thing @cacheTag(format: \"things\")"
            ),
            "s",
        )
        .unwrap();
        let kept = |it: &Option<CacheRule>| it.as_ref().map(|it| (it.default_s, it.stale_s, it.negative_s));
        assert_eq!(kept(&mapping.graphql[0].cache), Some((Some(0), Some(2), 0)));
        assert_eq!(kept(&mapping.grpc[0].cache), Some((None, None, 1)));
        assert_eq!(mapping.type_tags, [("a_Thing".into(), "things".into())]);
        let check = |rest: &str, expected: &str| {
            let words = read(&format!("{link} {rest}"), "s").unwrap_err()[0].message.clone();
            assert!(words.starts_with(expected), "{rest}: {words}");
        };
        check("@cache(source: \"a_\", post: true)", "`post` is about a `@source`");
        check("@cache(source: \"a_\", negative: 1)", "`negative` is about \"not found\"");
        check("@cache(source: \"a_\", key: [\"x\"])", "`key` tells the callers of a `PRIVATE` source apart");
        check("@cache(source: \"a_\") @cache(source: \"a_\")", "there are two `@cache` for this source");
        check("@cache(source: \"c\")", "there is no `@source` called `c`");
        check(
            "extend type a_Thing @cacheTag(format: \"t-{$key.id}\")",
            "a tag with values stands on a type that is asked for by its keys",
        );
    }
}
