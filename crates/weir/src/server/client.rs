//! The client's headers as sources see them.

use hyper::HeaderMap;
use weir_engine::source::Headers;

/// Headers of one request.
pub(crate) struct Client<'r>(pub(crate) &'r HeaderMap);

impl Headers for Client<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        for value in self.0.get_all(name) {
            take(value.as_bytes());
        }
    }
}
