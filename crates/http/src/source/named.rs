//! Tags of one call: constant ones, and those whose names contain values.
//!
//! **Cost:** a connector that has fixed ones only makes nothing.

use super::ConnectorRuntime;
use crate::cache::Key;
use crate::selection::inputs::Inputs;
use std::borrow::Cow;
use std::sync::Arc;

pub(super) struct CallTags<'l> {
    /// All tags.
    pub(super) all: Cow<'l, [Arc<str>]>,
    /// True if a tag's name could not be built because a value is a list or object. The answer could not be invalidated by it.
    pub(super) is_vague: bool,
}

/// Tags built from values.
#[derive(Default)]
struct ValuedTags {
    tags: Vec<Arc<str>>,
    /// True if one of them has a missing value.
    lacks: bool,
    is_vague: bool,
}

impl ConnectorRuntime {
    fn name(&self, inputs: &Inputs<'_>) -> ValuedTags {
        let mut named = ValuedTags::default();
        for template in &self.named {
            match template.render(inputs) {
                Ok(Some(name)) => named.tags.push(name.into()),
                Ok(None) => named.lacks = true,
                Err(_) => named.is_vague = true,
            }
        }
        named
    }

    /// Tags of a call with `inputs`, without the constant ones; `None` if one cannot be built.
    pub(super) fn own_tags(&self, inputs: &Inputs<'_>) -> Option<Vec<Arc<str>>> {
        let named = self.name(inputs);
        (!named.is_vague).then_some(named.tags)
    }

    /// Tags that invalidate the answer to a call with `inputs`, without those whose value is missing.
    pub(super) fn tags(&self, inputs: &Inputs<'_>) -> CallTags<'_> {
        let ValuedTags { tags, is_vague, .. } = self.name(inputs);
        CallTags { all: self.with_service_tags(tags), is_vague }
    }

    /// Tags that a call with `inputs` invalidates. If a value is missing, that is the whole service.
    pub(super) fn changed_tags(&self, inputs: &Inputs<'_>) -> Cow<'_, [Arc<str>]> {
        let ValuedTags { mut tags, lacks, is_vague } = self.name(inputs);
        if lacks || is_vague {
            tags.push(Arc::clone(&self.service));
        }
        self.with_service_tags(tags)
    }

    fn with_service_tags(&self, named: Vec<Arc<str>>) -> Cow<'_, [Arc<str>]> {
        if named.is_empty() {
            Cow::Borrowed(&self.tags)
        } else {
            Cow::Owned(self.tags.iter().cloned().chain(named).collect())
        }
    }
}

impl CallTags<'_> {
    /// Adds the tags to a key: two fields may make equal calls but have different tags.
    pub(super) fn push(&self, key: &mut Key) {
        // The first tag is the service's.
        if let [_, more @ ..] = &*self.all
            && !more.is_empty()
        {
            more.iter().for_each(|it| key.part(it.as_bytes()));
            // No header contains these bytes, so tags cannot be confused with earlier parts.
            key.part(&[b"tags\0".as_slice(), &more.len().to_le_bytes()].concat());
        }
    }
}
