//! Addresses of `@custom`: `https://host/boats/$reg?kind=$kind`.

use super::super::SdlReader;
use super::Scope;
use crate::custom::{Url, UrlPart};
use weir_language::span::Span;

impl<'d> SdlReader<'d> {
    /// Reads an address; names of its variables go to `used`. `fixed`: why none may be there.
    pub(super) fn url(
        &mut self,
        text: &str,
        span: Span,
        scope: &Scope<'d>,
        fixed: Option<&str>,
        used: &mut Vec<String>,
    ) -> Option<Url> {
        let start = text.find("://").map_or(0, |at| at + 3);
        if !text.starts_with("http://") && !text.starts_with("https://") {
            self.complain(span, "`url` is a whole address, as in `https://host/path`");
            return None;
        }
        let host = text[start..].find(['/', '?']).map_or(text.len(), |at| start + at);
        let (origin, rest) = text.split_at(host);
        if origin.contains('$') || text.contains(['{', '}']) {
            let message =
                "no value chooses the host: write it out, and variables as `/$name` or `?key=$name`";
            self.complain(span, message);
            return None;
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Url { origin: origin.to_owned(), path: Vec::new(), query: Vec::new() };
        for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
            url.path.push(self.part(segment, span, scope, fixed, used));
            let Some(UrlPart::Variable { name, .. }) = url.path.last() else { continue };
            if self.find_variable(scope, name).is_some_and(|it| !it.is_required) {
                let message = format!(
                    "`${name}` is a segment of the path, so it has to be non-null: write `!` behind its type"
                );
                self.complain(span, message);
            }
        }
        for pair in query.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = self.part(value, span, scope, fixed, used);
            url.query.push((name.to_owned(), value));
        }
        Some(url)
    }

    fn part(
        &mut self,
        text: &str,
        span: Span,
        scope: &Scope<'d>,
        fixed: Option<&str>,
        used: &mut Vec<String>,
    ) -> UrlPart {
        let Some(name) = text.strip_prefix('$') else { return UrlPart::Fixed(text.to_owned()) };
        if let Some(fixed) = fixed {
            self.complain(span, format!("`${name}`: {fixed}"));
        }
        used.push(name.to_owned());
        let is_list = self.variable(scope, name, span).is_some_and(|it| it.is_list);
        UrlPart::Variable { name: name.to_owned(), is_list }
    }
}
