//! Why a head is refused, in HTTP/1.1 and HTTP/2.

/// Reasons to refuse a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadError {
    /// The head is too long.
    Long,
    /// The request line is too long.
    LongUrl,
    /// There are too many header lines.
    Lines,
    /// The head is not valid HTTP.
    Syntax(httparse::Error),
    /// The target is not a URL.
    Target,
    /// A line ends with LF alone.
    BareLf,
    /// Several lengths of the body.
    TwoLengths,
    /// The length is not a number.
    Length,
    /// A transfer coding other than `chunked`.
    Coding,
    /// `Host` is missing or repeated.
    Host,
    /// `Host` differs from the URL.
    OtherHost,
}
