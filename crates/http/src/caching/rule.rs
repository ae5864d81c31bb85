//! Turns `@cache` of a text into a rule of the cache.

use crate::cache::{BodyReading, Counters, Rule, Sharing};
use crate::sdl::CacheRule;
use http::HeaderName;
use std::sync::Arc;

/// Maximum nesting of an answer.
const DEPTH_MAX: u32 = 200;

/// Cache rule for `@cache` in `said`, for calls that send the headers `held`.
pub(crate) fn build_rule(
    said: Option<&CacheRule>,
    only_reads: bool,
    held: Box<[HeaderName]>,
    counters: Arc<Counters>,
) -> Rule {
    let ms = |of: fn(&CacheRule) -> Option<u32>| said.and_then(of).map(|it| u64::from(it) * 1000);
    let sharing = match said {
        _ if !only_reads => Sharing::Never,
        Some(it) if it.private && it.key.is_empty() => Sharing::Never,
        Some(it) if it.private => Sharing::Keyed,
        Some(it) if it.public => Sharing::Declared,
        Some(_) | None => Sharing::ByHeaders,
    };
    Rule {
        counters,
        cache_control: header_names(said.map_or(&[], |it| &it.cache_control)),
        default_ms: ms(|it| it.default_s),
        stale_ms: ms(|it| it.stale_s),
        stale_on_error_ms: ms(|it| it.stale_if_error_s),
        jitter_percent: said.map_or(0, |it| it.jitter_percent),
        negative_ms: ms(|it| Some(it.negative_s)).unwrap_or(0),
        sharing,
        held,
        revalidates: false,
        kept: Box::default(),
        anonymous: false,
        overruled: said.map(|it| it.overruled).unwrap_or_default(),
        reading: BodyReading::Json,
        depth_max: DEPTH_MAX,
    }
}

/// The names that are valid.
pub(crate) fn header_names(names: &[Box<str>]) -> Box<[HeaderName]> {
    names.iter().filter_map(|it| HeaderName::from_bytes(it.as_bytes()).ok()).collect()
}
