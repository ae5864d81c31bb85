//! Cache of the answers of whole servers, by the rules for services.
//!
//! The key of an answer is what is asked, and every header that is sent with it: what tells a server how long it may take is no
//! part of it. A mutation makes everything old that is kept of its server, here and in all processes that share a Redis.
//!
//! **Invariant:** what is no good answer is never kept: those who ask turn it into a status that nobody keeps.
//!
//! **Cost:** what is kept costs its key and a look-up; no request is made of it.

use super::{ForwardedHeader, ForwardedValue, Server};
use crate::cache::{Cache, Key, Rule, Served, Sharing, Wanted};
use crate::caching::change::Change;
use crate::caching::client_key::{ClientKey, push_claim, push_header};
use crate::caching::rule::build_rule;
use crate::caching::ttl::ttl;
use crate::call::{Answer, Failure};
use http::HeaderName;
use http::header::AUTHORIZATION;
use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputKind, SelectionSetId};
use weir_engine::source::{CacheControl, FetchInput, Headers, PlanNode, Tag, is_credential};
use weir_engine::tag_versions::TagSnapshot;

/// Cache of a server's answers.
#[derive(Debug)]
pub(crate) struct Keeper {
    cache: Arc<Cache>,
    /// Rule for answers whose key identifies the caller.
    rule: Arc<Rule>,
    /// Rule for uncached answers: changes, and callers who lack an identifying header.
    alone: Arc<Rule>,
    /// Prefix of every key.
    begin: Key,
    /// Client headers in keys: those forwarded, then those that identify callers.
    reads_headers: Vec<Box<str>>,
    /// Headers and claims that identify callers.
    key: ClientKey,
    /// Session variables and claims in keys: those used in headers, then those that identify callers.
    reads_claims: Vec<Box<str>>,
    /// Client headers that are, or become, credentials.
    credentials: Box<[Box<str>]>,
    /// True if every call has a credential made from claims.
    is_always_personal: bool,
    /// Client header that becomes `Authorization`.
    authorization: Option<Box<str>>,
    /// True if claims become `Authorization`.
    makes_authorization: bool,
    /// Rule for callers without any such credential.
    anonymous: Arc<Rule>,
    /// Tag of all answers of the server.
    tag: Arc<str>,
    /// `@cacheTag` directives on types.
    type_tags: Vec<(Box<str>, Arc<str>)>,
    shown: Arc<str>,
}

impl Keeper {
    /// Creates the cache of `server`. `fingerprint` identifies the decoder of its cached answers, such as a gRPC description.
    pub(crate) fn new(server: &Server, fingerprint: &[u8]) -> Self {
        let said = server.cache_rule.as_ref();
        let mut begin = Key::default();
        begin.begin(fingerprint);
        begin.part(server.url.to_string().as_bytes());
        // Two configured names for one server may have different rules, so they must not share entries.
        begin.part(server.name.as_bytes());
        begin.part(format!("{:?}", server.cache_rule).as_bytes());
        // A server may answer by the certificate that it is shown.
        begin.part(&server.tls.shown_certificate());
        let mut reads_headers = server.reads_headers();
        let key = ClientKey::of(said);
        reads_headers.extend(key.headers.iter().cloned());
        let mut reads_claims = server.reads_claims();
        reads_claims.extend(key.claims.iter().cloned());
        let counters = server.cache.counters(&server.tag, "");
        let rule = build_rule(said, true, sent_headers(server, &mut begin), counters);
        let alone = Rule { sharing: Sharing::Never, ..rule.clone() };
        let anonymous = Rule { anonymous: true, ..rule.clone() };
        let sent = |is: fn(&str) -> bool| server.headers.iter().filter_map(move |it| made_of(it, is));
        let authorization = sent(|name| name == AUTHORIZATION.as_str()).next();
        let makes = |is: fn(&str) -> bool| {
            let is_made = |it: &ForwardedHeader| matches!(it.value, ForwardedValue::Made(_));
            server.headers.iter().any(|it| is_made(it) && is(it.name.as_str()))
        };
        let is_always_personal = makes(is_credential);
        let makes_authorization = makes(|name| name == AUTHORIZATION.as_str());
        let read = reads_headers.iter().filter(|it| is_credential(it)).cloned();
        let credentials = sent(is_credential).chain(read).collect();
        Self {
            cache: Arc::clone(&server.cache),
            rule: Arc::new(rule),
            alone: Arc::new(alone),
            begin,
            reads_headers,
            key,
            reads_claims,
            credentials,
            is_always_personal,
            authorization,
            makes_authorization,
            anonymous: Arc::new(anonymous),
            tag: Arc::clone(&server.tag),
            type_tags: server.type_tags.clone(),
            shown: Arc::from(&*server.name),
        }
    }

    pub(crate) fn reads_headers(&self) -> &[Box<str>] {
        &self.reads_headers
    }

    pub(crate) fn reads_claims(&self) -> &[Box<str>] {
        &self.reads_claims
    }

    /// True if answers may be shared between callers.
    pub(crate) fn may_share(&self) -> bool {
        self.rule.sharing != Sharing::Never
    }

    /// True if the call for a request with these headers contains a credential of the client.
    pub(crate) fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.is_always_personal || self.credentials.iter().any(|it| headers.get(it).is_some())
    }

    /// Tags that invalidate answers to `node`: the server's tag and those of the types in the selection.
    pub(crate) fn tags(&self, node: &PlanNode<'_>) -> Vec<Tag> {
        let mut tags = vec![Tag(Arc::clone(&self.tag))];
        if !self.type_tags.is_empty() {
            let shown = types(node);
            let is_shown = |it: &&(Box<str>, Arc<str>)| shown.contains(&&*it.0);
            tags.extend(self.type_tags.iter().filter(is_shown).map(|it| Tag(Arc::clone(&it.1))));
        }
        tags
    }

    fn rule_for(&self, input: &FetchInput<'_>) -> &Arc<Rule> {
        let is_sent = |name: &str| input.headers.get(name).is_some();
        match self.key.is_whole(input) {
            true if !self.makes_authorization && !self.authorization.as_deref().is_some_and(is_sent) => {
                &self.anonymous
            }
            true => &self.rule,
            false => &self.alone,
        }
    }

    /// Answer to a read: cached, or the result of `call`.
    pub(crate) async fn get<F>(
        &self,
        asked: &[&[u8]],
        tags: &[Tag],
        input: &FetchInput<'_>,
        call: impl FnOnce() -> F + Send,
    ) -> Result<Served, Failure>
    where
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let mut key = self.begin.clone();
        asked.iter().for_each(|it| key.part(it));
        self.reads_headers.iter().for_each(|it| push_header(input.headers, it, &mut key));
        self.reads_claims.iter().for_each(|it| push_claim(input.caller, it, &mut key));
        tags.iter().for_each(|it| key.part(it.0.as_bytes()));
        let tags: Vec<Arc<str>> = tags.iter().map(|it| Arc::clone(&it.0)).collect();
        let rule = self.rule_for(input);
        let wanted =
            Wanted { key: key.to_key_ref(), rule, tags: &tags, own_tags: &[], deadline: input.deadline };
        self.cache.get(wanted, |_| call()).await
    }

    /// Result of `call`, which changes data.
    pub(crate) async fn change<F>(
        &self,
        input: &FetchInput<'_>,
        call: impl FnOnce() -> F + Send,
    ) -> Result<Served, Failure>
    where
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let key = self.begin.to_key_ref();
        let rule = &self.alone;
        let deadline = input.deadline;
        let change = Change::begin(&self.cache, Cow::Borrowed(std::slice::from_ref(&self.tag)));
        let served =
            self.cache.get(Wanted { key, rule, tags: &[], own_tags: &[], deadline }, |_| call()).await;
        change.end(&served);
        served
    }

    /// Fresh time left of `served`.
    pub(crate) fn ttl(&self, served: &Served, input: &FetchInput<'_>) -> CacheControl {
        ttl(served, self.rule_for(input), TagSnapshot::default(), &self.shown)
    }
}

/// Client header that becomes `header`, if `header`'s name satisfies `is`.
fn made_of(header: &ForwardedHeader, is: fn(&str) -> bool) -> Option<Box<str>> {
    match &header.value {
        ForwardedValue::From(name) if is(header.name.as_str()) => Some(name.clone()),
        ForwardedValue::From(_) | ForwardedValue::Fixed(_) | ForwardedValue::Made(_) => None,
    }
}

/// Names of headers that calls send, except an `Authorization` of the operator, which makes no answer personal. Fixed headers also become
/// part of `begin`.
fn sent_headers(server: &Server, begin: &mut Key) -> Box<[HeaderName]> {
    let mut held = Vec::new();
    for header in &server.headers {
        begin.part(header.name.as_str().as_bytes());
        match &header.value {
            ForwardedValue::From(_) => held.push(header.name.clone()),
            ForwardedValue::Made(made) => {
                begin.part(made.fingerprint().as_bytes());
                held.push(header.name.clone());
            }
            ForwardedValue::Fixed(value) => {
                begin.part(value.as_bytes());
                if header.name != AUTHORIZATION {
                    held.push(header.name.clone());
                }
            }
        }
    }
    held.into()
}

/// Object types in a node's selection, with the abstract types they were selected from.
fn types<'p>(node: &PlanNode<'p>) -> Vec<&'p str> {
    let output = node.output;
    let mut fields = node.fields.to_vec();
    let mut types = Vec::new();
    while let Some(place) = fields.pop() {
        let mut below = |set: SelectionSetId| fields.extend(output.set(set).range().map(|it| it as u32));
        match output.fields[place as usize].member {
            OutputKind::Object(set) => {
                types.push(output.set(set).on);
                below(set);
            }
            OutputKind::Abstract(choice) => {
                let choice = &output.type_switches[choice.0 as usize];
                types.push(choice.on);
                types.extend(choice.sets.iter().map(|it| it.0));
                choice.sets.iter().for_each(|it| below(it.1));
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
        }
    }
    types.into_iter().map(|it| node.schema.type_name(it)).collect()
}
