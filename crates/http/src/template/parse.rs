//! Parses templates: texts with `{…}`, split into segments, query and headers.
//!
//! **Invariant:** spans of errors count in the decoded text that was given.

use super::{Base, Fast, Header, HeaderValue, Part, Parts, Request, Segment, Slot};
use crate::call::may_be_sent;
use crate::selection::{Expr, Parsed, Selection, SelectionError, Start, Step, StepKind, Variable};
use http::{HeaderName, Method};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use weir_language::span::Span;

impl Request {
    /// Parses the URL of a request below `base`. An absolute URL must have the origin of `base`, which the caller ensures.
    ///
    /// # Errors
    /// The first syntax error.
    pub(crate) fn read(method: Method, base: &Base, url: &str) -> Parsed<Self> {
        // Source: RFC 9110, section 7.1: a fragment is no part of a request.
        let url = find_fragment(url).map_or(url, |at| &url[..at]).trim_end_matches(is_dropped);
        let host = url.find("://").map(|at| at + 3);
        let lead = url.len() - url.trim_start_matches(is_dropped).len();
        let start = host.map_or(lead, |at| url[at..].find(['/', '?']).map_or(url.len(), |slash| at + slash));
        let question = find_outside(url, start, b'?');
        let path_end = question.unwrap_or(url.len());
        let mut segments = Vec::new();
        let mut slash = false;
        // A path continues the base path, with or without a leading slash.
        let mut at = start + usize::from(url[start..path_end].starts_with('/'));
        while at < path_end {
            let end = find_outside(&url[..path_end], at, b'/').unwrap_or(path_end);
            segments.push(segment(url, at, end)?);
            slash = end + 1 == path_end;
            at = end + 1;
        }
        let mut query = Vec::new();
        let mut at = question.map_or(url.len(), |it| it + 1);
        while at < url.len() {
            let end = find_outside(url, at, b'&').unwrap_or(url.len());
            let equals = find_outside(&url[..end], at, b'=').unwrap_or(end);
            let value = (equals + 1).min(end);
            query.push((parts(url, at, equals, Constant::Url)?, parts(url, value, end, Constant::Url)?));
            at = end + 1;
        }
        // An absolute URL does not include the base path.
        let (prefix, base_query) = match host {
            None => (base.path.clone(), base.query.clone()),
            Some(_) => Default::default(),
        };
        let params = Vec::new();
        let headers = Vec::new();
        let paths = Default::default();
        let body = None;
        Ok(Self { method, prefix, segments, slash, paths, base_query, query, params, headers, body })
    }

    /// Adds `path`: the source's before the URL's segments, the connector's after them.
    pub(crate) fn add_path(&mut self, path: Selection, is_source: bool) {
        self.paths[usize::from(!is_source)].push(path);
    }

    /// Adds `queryParams`.
    pub(crate) fn add_params(&mut self, params: Selection) {
        self.params.push(params);
    }

    pub(crate) fn set_body(&mut self, body: Selection) {
        self.body = Some(body);
    }

    /// Adds headers, which replace existing ones of equal names.
    pub(crate) fn add_headers(&mut self, headers: impl IntoIterator<Item = Header>) {
        for header in headers {
            self.headers.retain(|it| it.name != header.name);
            self.headers.push(header);
        }
    }
}

impl Header {
    /// Parses `{name:, from:}` or `{name:, value:}`.
    ///
    /// # Errors
    /// Errors of the name (`Err(Ok(_))`) or the value (`Err(Err(_))`).
    pub(crate) fn read(
        name: &str,
        from: Option<&str>,
        value: Option<&str>,
    ) -> Result<Self, Result<String, SelectionError>> {
        let own = header_name(name).map_err(Ok)?;
        let value = match (from, value) {
            (Some(from), None) => HeaderValue::From(header_name(from).map_err(Ok)?.as_str().into()),
            (None, Some(text)) => HeaderValue::Text(parts(text, 0, text.len(), Constant::Text).map_err(Err)?),
            _ => return Err(Ok(format!("header `{name}` needs either `from` or `value`"))),
        };
        Ok(Self { name: own, value })
    }
}

/// Position of the `#` of a URL's fragment.
pub(crate) fn find_fragment(url: &str) -> Option<usize> {
    find_outside(url, 0, b'#')
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    let sound = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes());
    let sound = sound.map_err(|_| format!("`{name}` is no name of a header"))?;
    if !may_be_sent(&sound) {
        return Err(format!("header `{name}` belongs to the connection and cannot be sent on or set"));
    }
    Ok(sound)
}

/// Position of the first `sign` outside of braces, at or after `from`.
fn find_outside(text: &str, from: usize, sign: u8) -> Option<usize> {
    let mut at = from;
    while at < text.len() {
        match text.as_bytes()[at] {
            b'{' => at = closing_brace(text, at).unwrap_or(text.len()),
            byte if byte == sign => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Position of the brace that closes the one at `at`; braces in quotes do not count.
fn closing_brace(text: &str, at: usize) -> Option<usize> {
    let mut open = 0_u32;
    let mut quote = 0_u8;
    let mut place = at;
    let bytes = text.as_bytes();
    while place < bytes.len() {
        match bytes[place] {
            b'\\' if quote != 0 => place += 1,
            byte if quote != 0 => quote = if byte == quote { 0 } else { quote },
            byte @ (b'"' | b'\'') => quote = byte,
            b'{' => open += 1,
            b'}' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
        place += 1;
    }
    None
}

fn segment(url: &str, start: usize, end: usize) -> Parsed<Segment> {
    let span = Span::new(start as u32, end as u32);
    let parts = parts(url, start, end, Constant::Url)?;
    let open = parts.iter().any(|part| matches!(part, Part::Value(_)));
    let text: String =
        parts.iter().filter_map(|it| if let Part::Text(it) = it { Some(&**it) } else { None }).collect();
    if !open && matches!(&*text, "." | "..") {
        return Err(SelectionError::new(span, "`.` and `..` cannot stand in a path"));
    }
    Ok(Segment { parts, open })
}

/// How text outside of braces is treated.
#[derive(Clone, Copy)]
pub(super) enum Constant {
    /// Percent-encode characters that a URL cannot contain.
    Url,
    /// Copy unchanged.
    Text,
}

/// Characters kept in a URL: reserved and unreserved ones, and escapes.
const IN_URL: AsciiSet =
    CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'|');

/// True for characters that are dropped: a long URL may have line breaks.
pub(crate) const fn is_dropped(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | '\x0c')
}

impl Constant {
    fn part(self, text: &str, start: usize) -> Parsed<Option<Part>> {
        let text: String = text.chars().filter(|it| !is_dropped(*it)).collect();
        if let Some(wrong) = text.find(|letter: char| letter.is_ascii_control()) {
            let span = Span::new((start + wrong) as u32, (start + wrong) as u32 + 1);
            return Err(SelectionError::new(span, "no control character can stand here"));
        }
        let text = match self {
            Self::Url => utf8_percent_encode(&text, &IN_URL).to_string(),
            Self::Text => text,
        };
        Ok((!text.is_empty()).then(|| Part::Text(text.into())))
    }
}

/// Splits `text` between `start` and `end` into parts.
pub(super) fn parts(text: &str, start: usize, end: usize, constant: Constant) -> Parsed<Parts> {
    let mut parts = Vec::new();
    let mut at = start;
    while at < end {
        let brace = text[at..end].find(['{', '}']).map_or(end, |it| at + it);
        parts.extend(constant.part(&text[at..brace], at)?);
        if brace == end {
            break;
        }
        let span = Span::new(brace as u32, brace as u32 + 1);
        let close = match closing_brace(text, brace) {
            Some(close) if text.as_bytes()[brace] == b'{' && close < end => close,
            _ => return Err(SelectionError::new(span, "this brace has no partner")),
        };
        let shift = brace as u32 + 1;
        let expr = Selection::parse_expression(&text[brace + 1..close]).map_err(|error| SelectionError {
            span: Span::new(error.span.start + shift, error.span.end + shift),
            ..error
        })?;
        parts.push(Part::Value(Slot { at: shift, fast: fast(&expr), expr }));
        at = close + 1;
    }
    Ok(parts)
}

fn fast(expr: &Selection) -> Fast {
    let Expr::Path { start: Start::Variable(variable), steps } = expr.expr(expr.root()) else {
        return Fast::No;
    };
    let key = |step: &'_ Step| match &step.kind {
        StepKind::Key(key) => Some(key.clone()),
        StepKind::Optional
        | StepKind::Bind { .. }
        | StepKind::Call(_)
        | StepKind::UnknownCall { .. }
        | StepKind::Members(_) => None,
    };
    let keys: Option<Vec<Box<str>>> = steps.iter().map(key).collect();
    let keys: Option<Vec<&str>> = keys.as_ref().map(|it| it.iter().map(|it| &**it).collect());
    match (variable, keys.as_deref()) {
        (Variable::Args, Some([name])) => Fast::Arg((*name).into()),
        (Variable::This, Some([name])) => Fast::This((*name).into()),
        (Variable::Request, Some(["headers", name])) => Fast::Header(name.to_ascii_lowercase().into()),
        _ => Fast::No,
    }
}

impl Request {
    /// A copy in which reads of arguments are reads of the parent's fields.
    pub(crate) fn of_parent(&self) -> Self {
        let mut own = self.clone();
        let headers = own.headers.iter_mut().filter_map(|it| match &mut it.value {
            HeaderValue::Text(parts) => Some(parts),
            HeaderValue::From(_) => None,
        });
        let query = own.query.iter_mut().flat_map(|it| [&mut it.0, &mut it.1]);
        let all = own.segments.iter_mut().map(|it| &mut it.parts).chain(query).chain(headers);
        for part in all.flatten() {
            if let Part::Value(slot) = part {
                slot.expr = slot.expr.of_parent();
                slot.fast = fast(&slot.expr);
            }
        }
        let paths = own.paths.iter_mut().flatten();
        for selection in own.params.iter_mut().chain(&mut own.body).chain(paths) {
            *selection = selection.of_parent();
        }
        own
    }
}
