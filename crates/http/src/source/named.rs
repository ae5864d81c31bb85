//! The tags of one call: the fixed ones, and those whose names are made of its values.
//!
//! **Cost:** a connector that has fixed ones only makes nothing.

use super::ConnectorRuntime;
use crate::cache::Key;
use crate::inputs::Inputs;
use std::borrow::Cow;
use std::sync::Arc;

/// The tags of one call.
pub(super) struct CallTags<'l> {
    /// All of them.
    pub(super) all: Cow<'l, [Arc<str>]>,
    /// A name could not be made, as a value is a list or an object: nobody could make the answer invalid by it.
    pub(super) is_vague: bool,
}

/// Names that were made of values.
#[derive(Default)]
struct ValuedTags {
    tags: Vec<Arc<str>>,
    /// Of these one has no value.
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

    /// Those that a call with `inputs` has beside the fixed ones; nothing if one cannot be told.
    pub(super) fn own_tags(&self, inputs: &Inputs<'_>) -> Option<Vec<Arc<str>>> {
        let named = self.name(inputs);
        (!named.is_vague).then_some(named.tags)
    }

    /// Tags that invalidate the answer to a call with `inputs`. A tag with a missing value is left out.
    pub(super) fn tags(&self, inputs: &Inputs<'_>) -> CallTags<'_> {
        let ValuedTags { tags, is_vague, .. } = self.name(inputs);
        CallTags { all: self.with(tags), is_vague }
    }

    /// Tags that a call with `inputs` invalidates: the whole service, if a tag's value is missing.
    pub(super) fn changed(&self, inputs: &Inputs<'_>) -> Cow<'_, [Arc<str>]> {
        let ValuedTags { mut tags, lacks, is_vague } = self.name(inputs);
        if lacks || is_vague {
            tags.push(Arc::clone(&self.service));
        }
        self.with(tags)
    }

    fn with(&self, named: Vec<Arc<str>>) -> Cow<'_, [Arc<str>]> {
        match named.is_empty() {
            true => Cow::Borrowed(&self.tags),
            false => Cow::Owned(self.tags.iter().cloned().chain(named).collect()),
        }
    }
}

impl CallTags<'_> {
    /// Adds them to a key: two fields may make one call, and have other tags.
    pub(super) fn push(&self, key: &mut Key) {
        // The first is the service's.
        if let [_, more @ ..] = &*self.all
            && !more.is_empty()
        {
            more.iter().for_each(|it| key.part(it.as_bytes()));
            // No header can hold this, so that tags are told from what stands before them.
            key.part(&[b"tags\0".as_slice(), &more.len().to_le_bytes()].concat());
        }
    }
}
