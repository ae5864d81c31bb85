//! Negotiation of an answer's coding, and the coding of a request's body.
//!
//! **Cost:** a request without the headers costs two look-ups.
//! Source: RFC 9110, section 12.5.

use super::content_coding::Coding;
use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use weir_transport::media::items;

/// The coding of an answer by `Accept-Encoding`; `None` for no coding. For equal weights [`Coding::ALL`] decides; `*` means gzip, which
/// every client supports.
pub(crate) fn coding(headers: &HeaderMap) -> Option<Coding> {
    headers.get(ACCEPT_ENCODING)?;
    let mut any = 0;
    let mut weights = [None; Coding::ALL.len()];
    // `identity` is preferred last, unless the client gives it a weight.
    let mut identity = 1;
    for item in items(headers, &ACCEPT_ENCODING) {
        if item.name == "*" {
            any = item.weight;
        } else if item.name.eq_ignore_ascii_case("identity") {
            identity = item.weight;
        } else if let Some(place) =
            Coding::ALL.iter().position(|it| item.name.eq_ignore_ascii_case(it.name()))
        {
            weights[place] = Some(item.weight);
        }
    }
    let weighted = Coding::ALL.into_iter().zip(weights).map(|(coding, weight)| match (coding, weight) {
        (Coding::Gzip, None) => (coding, any),
        (coding, weight) => (coding, weight.unwrap_or(0)),
    });
    let mut best: Option<(Coding, u16)> = None;
    for (coding, weight) in weighted {
        if weight > best.map_or(0, |it| it.1) {
            best = Some((coding, weight));
        }
    }
    best.filter(|it| it.1 >= identity).map(|it| it.0)
}

/// Codings of embedded files that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedCodings {
    pub(crate) brotli: bool,
    pub(crate) gzip: bool,
}

/// Codings in `Accept-Encoding`, without weights.
pub(crate) fn codings(headers: &HeaderMap) -> AcceptedCodings {
    let takes = |coding: Coding| {
        items(headers, &ACCEPT_ENCODING)
            .any(|it| it.weight > 0 && it.name.eq_ignore_ascii_case(coding.name()))
    };
    AcceptedCodings { brotli: takes(Coding::Brotli), gzip: takes(Coding::Gzip) }
}

/// Compression of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// The body as it is, not packed.
    Plain,
    /// A body in this coding.
    Packed(Coding),
    /// An unknown coding, or several.
    Unknown,
}

/// Compression of a request body by `Content-Encoding`.
pub(crate) fn request_packing(headers: &HeaderMap) -> Packing {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Packing::Plain };
    if headers.get_all(CONTENT_ENCODING).iter().count() > 1 {
        return Packing::Unknown;
    }
    let name = value.to_str().unwrap_or("?").trim();
    match Coding::ALL.into_iter().find(|it| name.eq_ignore_ascii_case(it.name())) {
        Some(coding) => Packing::Packed(coding),
        None if name.eq_ignore_ascii_case("identity") => Packing::Plain,
        None => Packing::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn with(name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).expect("a test's header is valid"));
        headers
    }

    #[test]
    fn accept_encoding_decides_the_coding() {
        fn check(accept: &str, expected: Option<Coding>) {
            assert_eq!(coding(&with(ACCEPT_ENCODING, accept)), expected, "{accept}");
        }
        assert_eq!(coding(&HeaderMap::new()), None);
        check("gzip", Some(Coding::Gzip));
        check("gzip, deflate, br, zstd", Some(Coding::Brotli));
        check("zstd, br, gzip", Some(Coding::Brotli));
        check("gzip, deflate, zstd", Some(Coding::Gzip));
        check("br;q=0.5, gzip;q=0.5, zstd;q=0.5", Some(Coding::Brotli));
        check("gzip;q=1.0, br;q=0.5", Some(Coding::Gzip));
        check("zstd;q=1.0, br;q=0.9, gzip;q=0.8", Some(Coding::Zstd));
        check("zstd", Some(Coding::Zstd));
        check("*", Some(Coding::Gzip));
        check("*;q=0.5, br;q=0.1", Some(Coding::Gzip));
        check("*, zstd", Some(Coding::Gzip));
        check("*, gzip;q=0", None);
        check("identity", None);
        check("gzip;q=0", None);
        check("identity;q=1, gzip;q=0.5", None);
        check("deflate", None);
    }

    #[test]
    fn a_double_coding_is_unknown() {
        fn check(value: &str, expected: Packing) {
            assert_eq!(request_packing(&with(CONTENT_ENCODING, value)), expected, "{value}");
        }
        check("gzip", Packing::Packed(Coding::Gzip));
        check("BR", Packing::Packed(Coding::Brotli));
        check("identity", Packing::Plain);
        check("gzip, gzip", Packing::Unknown);
        check("deflate", Packing::Unknown);
    }
}
