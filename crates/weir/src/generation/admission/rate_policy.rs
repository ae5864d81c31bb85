//! A rate with its keys: which requests it counts, and by which of their properties apart.
//!
//! **Invariant:** a key is made of what a check proved: role and claims of a session, the address of the connection, a document that the
//! operator knows. What nobody proved is replaced by the address.

use super::key_table::KeyTable;
use super::meter::{BucketTerms, TokenBucket};
use super::shared_rate::shared_bucket;
use crate::config::{Rate, RateKey};
use crate::operations::SavedOperations;
use crate::operations::known_documents::DocumentPlace;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use weir_engine::caller::ADMIN;
use weir_engine::source::Caller;
use weir_http::cache::SharedBucket;
use weir_transport::document_id::document_key;

/// A request that wants to be admitted.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) caller: &'a Caller,
    /// Address of the client, as far as trusted proxies tell it.
    pub(crate) address: IpAddr,
    /// True if role and claims were checked, false on a server without a secret.
    pub(crate) is_proven: bool,
    /// Text of the document.
    pub(crate) text: &'a str,
    pub(crate) operation_name: Option<&'a str>,
}

/// A rate of the configuration.
pub(super) struct RatePolicy {
    pub(super) name: Arc<str>,
    /// Roles that it holds for; none: all but admin.
    roles: Vec<String>,
    /// Documents that it holds for, if not for all.
    documents: Option<HashSet<DocumentPlace>>,
    pub(super) keys: Vec<RateKey>,
    /// Terms in this process; where processes share the rate, those of its share.
    pub(super) terms: BucketTerms,
    /// Buckets of this process, which outlive a generation.
    pub(super) buckets: Arc<KeyTable<TokenBucket>>,
    pub(super) shared: SharedBucket,
    pub(super) requests: u32,
    pub(super) window_s: u32,
}

impl RatePolicy {
    /// The policy of `rate` for `keys_max` keys, of which a process has a share of one in `processes`, and the operations of it that
    /// nobody knows.
    pub(super) fn new<'r>(
        rate: &'r Rate,
        keys_max: u32,
        processes: u32,
        operations: &SavedOperations,
    ) -> (Self, Vec<&'r str>) {
        let mut unknown = Vec::new();
        let mut documents = HashSet::new();
        for name in &rate.operations {
            let stored = operations.documents.find(document_key(name));
            let by_id = stored.and_then(|it| operations.known.find(&it.text));
            let before = documents.len();
            documents.extend(by_id.iter().chain(operations.known.called(name)));
            if documents.len() == before {
                unknown.push(name.as_str());
            }
        }
        let share = |it: u32| (it / processes.max(1)).max(1);
        let policy = Self {
            name: rate.name.as_str().into(),
            roles: rate.roles.clone(),
            documents: (!rate.operations.is_empty()).then_some(documents),
            keys: rate.by.iter().filter_map(|it| RateKey::read(it)).collect(),
            terms: BucketTerms::new(share(rate.requests), rate.window_s, share(rate.burst())),
            buckets: KeyTable::new(keys_max).into(),
            shared: shared_bucket(rate.requests, rate.window_s, rate.burst()),
            requests: rate.requests,
            window_s: rate.window_s,
        };
        (policy, unknown)
    }

    /// Takes over the buckets of the rate of that name among `before`.
    pub(super) fn keep_counts_of(&mut self, before: &[Self]) {
        if let Some(known) = before.iter().find(|it| it.name == self.name) {
            self.buckets = Arc::clone(&known.buckets);
        }
    }

    /// Gives the buckets, which may be those of another configuration, room for `keys_max` keys and the terms of the rate.
    pub(super) fn adjust_counts(&self, keys_max: u32, now_ns: u64) {
        self.buckets.set_keys_max(keys_max);
        self.buckets.update_all(|it| it.cap(self.terms, now_ns));
    }

    /// True if it counts a request of `role` with this document.
    pub(super) fn counts(&self, role: &str, document: Option<DocumentPlace>) -> bool {
        let has_role =
            if self.roles.is_empty() { role != ADMIN } else { self.roles.iter().any(|it| it == role) };
        let has_document =
            |documents: &HashSet<DocumentPlace>| document.is_some_and(|it| documents.contains(&it));
        has_role && self.documents.as_ref().is_none_or(has_document)
    }
}

/// Gives `take` the parts of the key by which `keys` count `asker`; `form` is that of its known document.
pub(super) fn write_key(
    keys: &[RateKey],
    asker: &Asker<'_>,
    form: Option<&[u8]>,
    take: &mut dyn FnMut(&[u8]),
) {
    let mut part = |kind: u8, value: &[u8]| {
        take(&[kind]);
        take(&(value.len() as u64).to_le_bytes());
        take(value);
    };
    let network = network(asker.address);
    for key in keys {
        match key {
            RateKey::Role if asker.is_proven => part(b'r', asker.caller.role().as_bytes()),
            RateKey::Claim(name) if asker.is_proven => match asker.caller.value(name) {
                Some(value) => part(b'c', value.as_bytes()),
                None => part(b'a', &network),
            },
            RateKey::Operation => part(b'o', form.unwrap_or_default()),
            RateKey::Address | RateKey::Role | RateKey::Claim(_) => part(b'a', &network),
        }
    }
}

/// The network that `address` is counted as: a whole address of IPv4, the first 64 bits of IPv6, which a single customer owns.
fn network(address: IpAddr) -> [u8; 8] {
    match address.to_canonical() {
        IpAddr::V4(it) => u64::from(it.to_bits()).to_be_bytes(),
        IpAddr::V6(it) => ((it.to_bits() >> 64) as u64).to_be_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_are_one() {
        let of = |text: &str| network(text.parse().expect("it is an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
