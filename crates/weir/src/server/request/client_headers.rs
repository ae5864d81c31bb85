//! The client's headers as sources see them.

use hyper::HeaderMap;
use weir_engine::source::Headers;

/// Headers of one request, and its name.
pub(crate) struct ClientHeaders<'r> {
    pub(crate) headers: &'r HeaderMap,
    pub(crate) request_id: &'r str,
}

impl Headers for ClientHeaders<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        for value in self.headers.get_all(name) {
            take(value.as_bytes());
        }
    }

    fn request_id(&self) -> &str {
        self.request_id
    }
}
