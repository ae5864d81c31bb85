//! From the headers of an answer to how long it serves, and whom.
//!
//! **Invariant:** a doubt is decided against sharing. What the headers forbid no rule allows, but for what operators declare:
//! of answers that the standard merely does not allow by itself (calls with an `Authorization`, headers never sent), and of
//! directives by name ([`Overruled`]). A cookie in an answer is never shared.
//!
//! Source: RFC 9111 (sections 3, 3.5, 4.1, 4.2), RFC 9213 (`CDN-Cache-Control`), RFC 5861 (stale answers).

use super::rule::{Overruled, Rule, Scope, Sharing};
use http::header::{AGE, AUTHORIZATION, CACHE_CONTROL, DATE, EXPIRES, HeaderName, SET_COOKIE, VARY};
use http::{HeaderMap, StatusCode};
use std::time::{SystemTime, UNIX_EPOCH};

/// Longest lifetime: a year.
const LIFETIME_MS_MAX: u64 = 365 * 86_400_000;
/// Shortest lifetime other than zero. A second is enough to coalesce bursts of requests.
pub(super) const LIFETIME_MS_MIN: u64 = 1000;

const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");

/// Headers that every call sends with one value or never sends. `Vary` on these does not prevent caching.
const SENT_ALIKE: [&str; 7] =
    ["accept", "accept-charset", "accept-encoding", "accept-language", "host", "origin", "user-agent"];
/// Headers that calls send but keys do not contain.
const SENT_APART: [&str; 5] = ["traceparent", "tracestate", "baggage", "x-request-id", "x-request-deadline"];

/// Cacheability of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Cache it for all requests with this key.
    Keep,
    /// Deliver it to all waiting requests, but do not cache it.
    Forget,
    /// Deliver it only to the request that made the call.
    Private,
}

/// Lifetime and audience of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) fate: Fate,
    pub(super) scope: Scope,
    /// The answer may be shared but states no lifetime, so other settings decide.
    pub(super) is_silent: bool,
    /// `CDN-Cache-Control` allows shared caches like this one, while `Cache-Control` forbids others.
    pub(super) is_inner: bool,
    /// `must-revalidate`: never serve stale.
    pub(super) must_revalidate: bool,
    /// Fresh period from the start of the call, without jitter.
    pub(super) fresh_ms: u64,
    /// Length of stale-while-revalidate, after the fresh period.
    pub(super) stale_ms: u64,
    /// Length of stale-if-error, after the fresh period.
    pub(super) error_ms: u64,
}

/// Directives of a `Cache-Control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Directives {
    present: bool,
    /// A forbidding directive was ignored by `Overruled`; lifetimes in the same header are ignored too.
    overruled: bool,
    no_store: bool,
    no_cache: bool,
    private: bool,
    public: bool,
    must_revalidate: bool,
    max_age_ms: Option<u64>,
    s_maxage_ms: Option<u64>,
    stale_ms: Option<u64>,
    stale_on_error_ms: Option<u64>,
}

/// Lifetime of `answer` under `rule`, at `wall_ms`.
pub(super) fn assess(rule: &Rule, status: StatusCode, headers: &HeaderMap, wall_ms: u64) -> Verdict {
    let shared = rule.sharing != Sharing::Keyed;
    // `CDN-Cache-Control` addresses caches like this one and takes precedence over `Cache-Control`.
    let read = |name: &HeaderName| Directives::read(headers, name).without_overruled(rule.overruled);
    let targeted = if shared { read(&CDN_CACHE_CONTROL) } else { Directives::default() };
    let said = read(&CACHE_CONTROL);
    let policy = if targeted.present { targeted } else { said };
    let is_inner = targeted.present && (said.private || said.no_store || said.no_cache);
    let fate = fate(rule, status, headers, &policy);
    let scope = if shared && fate != Fate::Private { Scope::Public } else { Scope::Private };
    let must_revalidate = said.must_revalidate;
    let fresh_ms = 0;
    let stale_ms = 0;
    let error_ms = 0;
    let none =
        Verdict { fate, scope, is_silent: false, is_inner, must_revalidate, fresh_ms, stale_ms, error_ms };
    if policy.no_store || policy.no_cache || headers.contains_key(SET_COOKIE) {
        return Verdict { fate: if fate == Fate::Keep { Fate::Forget } else { fate }, ..none };
    }
    let is_shared = shared && fate != Fate::Private;
    let of_headers = stated_ms(rule, headers, [&said, &targeted, &policy], is_shared, wall_ms);
    let stated = of_headers.or(rule.default_ms);
    let (lifetime_ms, stale_ms, error_ms) = if is_negative(status) {
        (rule.negative_ms.min(of_headers.unwrap_or(u64::MAX)), 0, 0)
    } else if is_kept(status) {
        let lifetime_ms = stated.unwrap_or(0).min(LIFETIME_MS_MAX);
        let (stale_ms, error_ms) = windows(rule, &policy, lifetime_ms);
        (lifetime_ms, stale_ms, error_ms)
    } else {
        (0, 0, 0)
    };
    if lifetime_ms == 0 && stale_ms == 0 {
        let is_silent = fate == Fate::Keep && is_kept(status) && stated.is_none();
        return Verdict { fate: if fate == Fate::Keep { Fate::Forget } else { fate }, is_silent, ..none };
    }
    let whole_ms = if lifetime_ms == 0 { 0 } else { lifetime_ms.max(LIFETIME_MS_MIN) };
    let age_ms = age_ms(headers, wall_ms);
    // Age beyond the lifetime shortens the stale period.
    let over_ms = age_ms.saturating_sub(whole_ms);
    let left = Verdict {
        fresh_ms: whole_ms.saturating_sub(age_ms),
        stale_ms: stale_ms.saturating_sub(over_ms),
        error_ms: error_ms.saturating_sub(over_ms),
        ..none
    };
    let spent = left.fresh_ms + left.stale_ms + left.error_ms == 0;
    if spent && fate == Fate::Keep { Verdict { fate: Fate::Forget, ..left } } else { left }
}

/// True for a status that says that the object does not exist.
pub(super) fn is_negative(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE)
}

fn is_kept(status: StatusCode) -> bool {
    matches!(status, StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION | StatusCode::NO_CONTENT)
}

fn fate(rule: &Rule, status: StatusCode, headers: &HeaderMap, policy: &Directives) -> Fate {
    let authorized = rule.sharing == Sharing::ByHeaders
        && rule.held.contains(&AUTHORIZATION)
        && !rule.anonymous
        && !policy.public
        && policy.s_maxage_ms.is_none();
    let theirs = policy.private && rule.sharing != Sharing::Keyed;
    if policy.no_store
        || theirs
        || authorized
        || rule.sharing == Sharing::Never
        || headers.contains_key(SET_COOKIE)
        || varies_beyond_key(rule, headers)
    {
        Fate::Private
    } else if is_kept(status) || is_negative(status) {
        Fate::Keep
    } else {
        Fate::Forget
    }
}

/// True if the answer varies by a header that is not part of the key.
fn varies_beyond_key(rule: &Rule, headers: &HeaderMap) -> bool {
    let declared = matches!(rule.sharing, Sharing::Declared | Sharing::Keyed);
    headers.get_all(VARY).iter().any(|value| {
        let Ok(names) = value.to_str() else { return true };
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).any(|name| {
            let is = |other: &str| other.eq_ignore_ascii_case(name);
            let alike = rule.held.iter().any(|held| is(held.as_str())) || SENT_ALIKE.into_iter().any(is);
            let apart = name == "*" || SENT_APART.into_iter().any(is);
            apart || !(alike || declared)
        })
    })
}

/// The lifetime that the headers state, before any age; `None` if they state none.
fn stated_ms(
    rule: &Rule,
    headers: &HeaderMap,
    [said, targeted, policy]: [&Directives; 3],
    shared: bool,
    wall_ms: u64,
) -> Option<u64> {
    let expires = || if said.overruled { None } else { expires_ms(headers, wall_ms) };
    let named = rule.cache_control.iter().find_map(|name| match name {
        name if *name == CACHE_CONTROL => said.lifetime_ms(shared),
        name if *name == CDN_CACHE_CONTROL => targeted.lifetime_ms(shared),
        name if *name == EXPIRES => expires(),
        name => seconds(headers, name),
    });
    let standard = || policy.lifetime_ms(shared);
    named.or_else(standard).or_else(|| if targeted.present { None } else { expires() })
}

/// Lengths of stale-while-revalidate and stale-if-error, in milliseconds.
fn windows(rule: &Rule, policy: &Directives, lifetime_ms: u64) -> (u64, u64) {
    if policy.must_revalidate {
        return (0, 0);
    }
    // An answer without a lifetime is cached only if its own headers allow a stale period.
    let allowed = |of_rule: Option<u64>, of_answer: Option<u64>, otherwise: u64| {
        let ms = if lifetime_ms == 0 { of_answer } else { of_rule.or(of_answer) };
        ms.unwrap_or(otherwise).min(LIFETIME_MS_MAX)
    };
    let short = lifetime_ms > 0 && lifetime_ms <= LIFETIME_MS_MIN;
    let stale_ms = allowed(rule.stale_ms, policy.stale_ms, if short { LIFETIME_MS_MIN } else { 0 });
    (stale_ms, allowed(rule.stale_on_error_ms, policy.stale_on_error_ms, 0))
}

/// `Expires` minus `Date`; 0 if `Expires` is no date.
fn expires_ms(headers: &HeaderMap, wall_ms: u64) -> Option<u64> {
    headers.get(EXPIRES)?;
    let made_ms = date_ms(headers, &DATE).unwrap_or(wall_ms);
    Some(date_ms(headers, &EXPIRES).map_or(0, |until_ms| until_ms.saturating_sub(made_ms)))
}

/// Age of an answer at `wall_ms`, the start of its call: the greater of `Age` and the time since `Date`, which counts whole seconds.
///
/// Source: RFC 9111, section 4.2.3.
fn age_ms(headers: &HeaderMap, wall_ms: u64) -> u64 {
    let asked_ms = wall_ms - wall_ms % 1000;
    let apparent_ms = date_ms(headers, &DATE).map_or(0, |made_ms| asked_ms.saturating_sub(made_ms));
    seconds(headers, &AGE).unwrap_or(0).max(apparent_ms)
}

/// The moment in header `name`.
fn date_ms(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    let time: SystemTime = httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()?;
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// The first value of header `name`, in seconds, as milliseconds; `None` if it is no number.
fn seconds(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    milliseconds(headers.get(name)?.to_str().ok()?.trim())
}

/// Seconds, with or without a fraction, as milliseconds. Negative numbers give 0, overflow gives the maximum.
fn milliseconds(text: &str) -> Option<u64> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole_s: u64 = whole.parse().unwrap_or(u64::MAX);
    let thousandths =
        fraction.bytes().chain(*b"000").take(3).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let ms = whole_s.saturating_mul(1000).saturating_add(thousandths).min(LIFETIME_MS_MAX);
    Some(if negative { 0 } else { ms })
}

impl Directives {
    fn read(headers: &HeaderMap, name: &HeaderName) -> Self {
        let mut all = Self::default();
        for value in headers.get_all(name) {
            // An unreadable value may forbid anything.
            let Ok(value) = value.to_str() else { return Self { present: true, no_store: true, ..all } };
            members(value, |directive, argument| all.note(directive, argument));
        }
        all
    }

    /// The directives without those that `overruled` ignores.
    fn without_overruled(self, overruled: Overruled) -> Self {
        let no_store = self.no_store && !overruled.no_store;
        let no_cache = self.no_cache && !overruled.no_cache;
        let private = self.private && !overruled.private;
        let all = Self { no_store, no_cache, private, ..self };
        if (no_store, no_cache) == (self.no_store, self.no_cache) {
            return all;
        }
        // `no-store, max-age=0, must-revalidate` is one statement: if `no-store` is ignored, the other directives are too.
        Self { present: all.present, no_store, no_cache, private, overruled: true, ..Self::default() }
    }

    fn note(&mut self, directive: &str, argument: Option<&str>) {
        self.present = true;
        // The shorter of two values counts. A value that is no number means 0.
        let shorter = |known: &mut Option<u64>| {
            let ms = argument.and_then(milliseconds).unwrap_or(0);
            *known = Some(known.map_or(ms, |known| known.min(ms)));
        };
        match directive.to_ascii_lowercase().as_str() {
            "no-store" => self.no_store = true,
            "no-cache" => self.no_cache = true,
            "private" => self.private = true,
            "public" => self.public = true,
            "must-revalidate" | "proxy-revalidate" => self.must_revalidate = true,
            "max-age" => shorter(&mut self.max_age_ms),
            "s-maxage" => shorter(&mut self.s_maxage_ms),
            "stale-while-revalidate" => shorter(&mut self.stale_ms),
            "stale-if-error" => shorter(&mut self.stale_on_error_ms),
            // Other directives do not concern a data cache.
            _ => {}
        }
    }

    fn lifetime_ms(&self, shared: bool) -> Option<u64> {
        self.s_maxage_ms.filter(|_| shared).or(self.max_age_ms)
    }
}

/// Calls `each` with every `name` or `name=value` of a comma-separated list; values may be quoted and then hold commas.
fn members<'t>(list: &'t str, mut each: impl FnMut(&'t str, Option<&'t str>)) {
    let mut rest = list;
    while !rest.is_empty() {
        let name_end = rest.find(['=', ',']).unwrap_or(rest.len());
        let name = rest[..name_end].trim();
        rest = &rest[name_end..];
        let mut argument = None;
        if let Some(value) = rest.strip_prefix('=') {
            let value = value.trim_start();
            let (text, after) = match value.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => value.split_at(value.find(',').unwrap_or(value.len())),
            };
            argument = Some(text.trim());
            rest = after;
        }
        if !name.is_empty() {
            each(name, argument);
        }
        rest = rest.split_once(',').map_or("", |(_, after)| after);
    }
}
