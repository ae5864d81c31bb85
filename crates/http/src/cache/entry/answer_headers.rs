//! The headers of an answer that mappings read, kept beside its body.

use http::{HeaderMap, HeaderName, HeaderValue};
use weir_engine::source::Headers;

/// Names and values, in the order of the names that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHeaders(Box<[(HeaderName, HeaderValue)]>);

impl AnswerHeaders {
    /// The headers that `kept` names.
    pub fn of(headers: &HeaderMap, kept: &[HeaderName]) -> Self {
        let all = |name: &HeaderName| {
            let name = name.clone();
            headers.get_all(&name).iter().map(|value| (name.clone(), value.clone())).collect::<Vec<_>>()
        };
        Self(kept.iter().flat_map(all).collect())
    }

    /// Adds to `headers` those of names that it does not have.
    pub(crate) fn add_absent(&self, headers: &mut HeaderMap) {
        let absent: Vec<_> = self.0.iter().filter(|it| !headers.contains_key(&it.0)).cloned().collect();
        for (name, value) in absent {
            headers.append(name, value);
        }
    }

    /// About how many bytes of memory they take.
    pub(crate) fn bytes_held(&self) -> usize {
        self.0.iter().map(|(name, value)| size_of_val(name) + name.as_str().len() + value.len()).sum()
    }

    /// Appends the headers to a value of the second level.
    #[cfg(feature = "redis")]
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut part = |bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        for (name, value) in &self.0 {
            part(name.as_str().as_bytes());
            part(value.as_bytes());
        }
    }

    /// The header that [`AnswerHeaders::encode`] wrote, if it is one.
    #[cfg(feature = "redis")]
    pub(crate) fn pair(name: &[u8], value: &[u8]) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value).ok()?))
    }

    /// Number of headers.
    #[cfg(feature = "redis")]
    pub(crate) fn count(&self) -> u16 {
        self.0.len() as u16
    }
}

impl FromIterator<(HeaderName, HeaderValue)> for AnswerHeaders {
    fn from_iter<I: IntoIterator<Item = (HeaderName, HeaderValue)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Headers for AnswerHeaders {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.iter().filter(|it| it.0 == name).for_each(|it| take(it.1.as_bytes()));
    }
}
