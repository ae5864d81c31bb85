//! `@cache`: what is kept of the answers of a service or server, or to the calls of one `@connect`.
//!
//! **Invariant:** a rule says nothing that cannot hold: what a kind of server has no use for is a mistake, not ignored.

use super::fields::Fields;
use super::links::Known;
use super::services::Whom;
use crate::cache::Overruled;
use crate::sdl::{CacheRule, Reader, ServiceId};
use http::HeaderName;
use weir_language::ast::{Directive, ValueId};
use weir_language::span::Span;

/// Seconds of a year.
const YEAR_S: u32 = 365 * 86_400;

impl<'d> Reader<'d> {
    pub(crate) fn cache(&mut self, directive: &'d Directive) {
        let mut fields = self.fields(directive);
        let whom = self.need(&mut fields, "source").and_then(|it| self.whom_of(it));
        let mut rule = CacheRule::default();
        let has_negative = self.lifetimes(&mut fields, &mut rule);
        let scope = self.take(&mut fields, "scope").and_then(|it| self.scope(it));
        let private = scope == Some(true);
        let public = scope == Some(false);
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
        if has_negative && matches!(whom, Whom::Graphql(_)) {
            self.complain(span, "`negative` is about \"not found\", which a GraphQL server says by a null");
        }
        let key = self.header_names(key);
        let rule = CacheRule { private, public, key, post: post.unwrap_or(false), ..rule };
        let place = match whom {
            Whom::Service(source) => &mut self.mapping.services[source.index()].cache,
            Whom::Graphql(at) => &mut self.mapping.graphql[at].cache,
            Whom::Grpc(at) => &mut self.mapping.grpc[at].cache,
        };
        if place.replace(rule).is_some() {
            self.complain(directive.span, "there are two `@cache` for this source");
        }
    }

    /// Rule of a `@connect` of `service`, from `directives` beside it. Settings it does not make come from the service's rule.
    pub(crate) fn cache_beside(
        &mut self,
        directives: &'d [Directive],
        service: ServiceId,
    ) -> Option<CacheRule> {
        let directive = directives.iter().find(|it| self.resolve_directive(it) == Some(Known::Cache))?;
        let mut rule = self.mapping.service(service).cache.clone().unwrap_or_default();
        let mut fields = self.fields(directive);
        self.lifetimes(&mut fields, &mut rule);
        self.finish(fields);
        Some(rule)
    }

    /// Reads lifetimes into `rule`, as far as given. Returns whether `negative` is given.
    fn lifetimes(&mut self, fields: &mut Fields<'d>, rule: &mut CacheRule) -> bool {
        if let Some(names) = self.take(fields, "freshness") {
            let names = self.strings(names);
            rule.cache_control = self.header_names(names);
        }
        let mut seconds = |name| self.take(fields, name).and_then(|it| self.whole(it, YEAR_S));
        rule.default_s = seconds("default").or(rule.default_s);
        rule.stale_s = seconds("stale").or(rule.stale_s);
        rule.stale_if_error_s = seconds("staleIfError").or(rule.stale_if_error_s);
        let negative_s = seconds("negative");
        rule.negative_s = negative_s.unwrap_or(rule.negative_s);
        let jitter = self.take(fields, "jitter").and_then(|it| self.whole(it, 100));
        rule.jitter_percent = jitter.map_or(rule.jitter_percent, |it| it as u8);
        if let Some(ignored) = self.take(fields, "ignore") {
            rule.overruled = self.read_ignored_directives(ignored);
        }
        negative_s.is_some()
    }

    /// Reads a list such as `["no-store", "private"]`.
    fn read_ignored_directives(&mut self, value: ValueId) -> Overruled {
        let mut all = Overruled::default();
        for (name, span) in self.strings(value) {
            match name.to_ascii_lowercase().as_str() {
                "no-store" => all.no_store = true,
                "no-cache" => all.no_cache = true,
                "private" => all.private = true,
                _ => self.complain(
                    span,
                    format!("`{name}` cannot be ignored: there are `no-store`, `no-cache` and `private`"),
                ),
            }
        }
        all
    }

    /// Header names in lower case.
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
    use crate::cache::Overruled;
    use crate::sdl::{CacheRule, read};

    #[test]
    fn a_field_has_a_rule_of_its_own_where_it_says_something() {
        let text = |directive: &str| {
            format!(
                "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.3\", import: [\"@source\", \"@connect\"])
                 @link(url: \"https://weir.example/spec/v1\", import: [\"@cache\"])
                 @source(name: \"a\", http: {{baseURL: \"http://a\"}}) @cache(source: \"a\", default: 5, stale: 9, ignore: [\"no-cache\"])
                 type Query {{ a: Int @connect(source: \"a\", http: {{GET: \"/\"}}, selection: \"$\") {directive} b: Int @connect(source: \"a\", http: {{GET: \"/b\"}}, selection: \"$\") }}"
            )
        };
        let mapping = read(&text("@cache(default: 60, ignore: [\"no-store\", \"Private\"])"), "s").unwrap();
        let rule = mapping.connectors[0].cache.as_ref().unwrap();
        let ignored = Overruled { no_store: true, no_cache: false, private: true };
        assert_eq!((rule.default_s, rule.stale_s, rule.overruled), (Some(60), Some(9), ignored));
        assert!(mapping.connectors[1].cache.is_none());
        let ignored = Overruled { no_cache: true, ..Overruled::default() };
        assert_eq!(mapping.services[0].cache.as_ref().unwrap().overruled, ignored);
        let check = |directive: &str, expected: &str| {
            let words = read(&text(directive), "s").unwrap_err()[0].message.clone();
            assert!(words.contains(expected), "{directive}: {words}");
        };
        check("@cache(ignore: [\"max-age\"])", "`max-age` cannot be ignored");
        check("@cache(source: \"a\")", "`source`");
        check("@cache(scope: PUBLIC)", "`scope`");
    }

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
