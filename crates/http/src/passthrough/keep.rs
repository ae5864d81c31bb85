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
use crate::call::{Answer, Failure};
use crate::source::{Change, ClientKey, push_claim, push_header, rule_of, ttl};
use http::HeaderName;
use http::header::AUTHORIZATION;
use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use weir_engine::plan::output_plan::{OutputKind, SelectionSetId};
use weir_engine::source::{CacheControl, FetchInput, Headers, PlanNode, Tag, is_credential};
use weir_engine::tag_versions::TagSnapshot;

/// Caching of a server's answers.
#[derive(Debug)]
pub(crate) struct Keeper {
    cache: Arc<Cache>,
    /// For callers who are told apart by what keys hold.
    rule: Arc<Rule>,
    /// For what is shared with nobody: changes, and callers who lack a header that tells them apart.
    alone: Arc<Rule>,
    /// Prefix of every key.
    begin: Key,
    /// Headers of the client's that stand in keys: those that are passed on, then those that tell callers apart.
    reads_headers: Vec<Box<str>>,
    /// The latter, and claims.
    key: ClientKey,
    /// Session variables and claims that stand in keys: those that headers are made of, then those that tell callers apart.
    reads_claims: Vec<Box<str>>,
    /// Headers of the client's that are credentials, or become ones.
    credentials: Box<[Box<str>]>,
    /// True if every call has a credential that is made of claims.
    is_always_personal: bool,
    /// The client's header that becomes an `Authorization`.
    authorization: Option<Box<str>>,
    /// True if claims become an `Authorization`.
    makes_authorization: bool,
    /// For callers who sent none of that.
    anonymous: Arc<Rule>,
    /// All that the server answers.
    tag: Arc<str>,
    /// `@cacheTag` of types.
    type_tags: Vec<(Box<str>, Arc<str>)>,
    shown: Arc<str>,
}

impl Keeper {
    /// Keeps answers of `server`. They are read by what has this `fingerprint`.
    pub(crate) fn new(server: &Server, fingerprint: &[u8]) -> Self {
        let said = server.cache_rule.as_ref();
        let mut begin = Key::default();
        begin.begin(fingerprint);
        begin.part(server.url.to_string().as_bytes());
        // Two names for one server may have rules of their own, by which what one keeps is not the other's.
        begin.part(server.name.as_bytes());
        begin.part(format!("{:?}", server.cache_rule).as_bytes());
        let mut reads_headers = server.reads_headers();
        let key = ClientKey::of(said);
        reads_headers.extend(key.headers.iter().cloned());
        let mut reads_claims = server.reads_claims();
        reads_claims.extend(key.claims.iter().cloned());
        let counters = server.cache.counters(&server.tag, "");
        let rule = rule_of(said, true, held(server, &mut begin), counters);
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

    /// True if answers may be shared at all.
    pub(crate) fn may_share(&self) -> bool {
        self.rule.sharing != Sharing::Never
    }

    /// True if the call for a request with these headers contains a credential of the client.
    pub(crate) fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.is_always_personal || self.credentials.iter().any(|it| headers.get(it).is_some())
    }

    /// Tags that invalidate answers to `node`: the server's own tag, and those of the types that it shows.
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

    /// The answer to `asked`, which only reads: what is kept, or what `call` brings.
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
        let wanted = Wanted { key: key.hashed(), rule, tags: &tags, own_tags: &[], deadline: input.deadline };
        self.cache.get(wanted, call).await
    }

    /// Result of `call`, which changes something.
    pub(crate) async fn change<F>(
        &self,
        input: &FetchInput<'_>,
        call: impl FnOnce() -> F + Send,
    ) -> Result<Served, Failure>
    where
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let (key, rule, deadline) = (self.begin.hashed(), &self.alone, input.deadline);
        let change = Change::begin(&self.cache, Cow::Borrowed(std::slice::from_ref(&self.tag)));
        let served = self.cache.get(Wanted { key, rule, tags: &[], own_tags: &[], deadline }, call).await;
        change.end(&served);
        served
    }

    /// Remaining lifetime of `served`.
    pub(crate) fn ttl(&self, served: &Served, input: &FetchInput<'_>) -> CacheControl {
        ttl(served, self.rule_for(input), TagSnapshot::default(), &self.shown)
    }
}

/// The client's header that becomes `header`, if there is one and `is` so by its name.
fn made_of(header: &ForwardedHeader, is: fn(&str) -> bool) -> Option<Box<str>> {
    match &header.value {
        ForwardedValue::From(name) if is(header.name.as_str()) => Some(name.clone()),
        ForwardedValue::From(_) | ForwardedValue::Fixed(_) | ForwardedValue::Made(_) => None,
    }
}

/// The headers that calls send. Fixed ones go into `begin`, and a fixed `Authorization` is the operator's own: it makes no
/// answer anybody's.
fn held(server: &Server, begin: &mut Key) -> Box<[HeaderName]> {
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

/// The names of the object types that a node shows, and of what they are chosen from.
fn types<'p>(node: &PlanNode<'p>) -> Vec<&'p str> {
    let (output, mut fields) = (node.output, node.fields.to_vec());
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
