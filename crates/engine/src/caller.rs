//! Callers: the identity that authentication found, and the profile that decides what plans are made for it.
//!
//! An [`Identity`] has a role and claims. Each source says which facts of an identity decide its plans and what it shows
//! ([`crate::source::Source::profile`]); equal facts are one [`Profile`], so that ten thousand users of one role share their plans. The values
//! of claims are no facts: plans name them, and they are bound per request.
//!
//! **Invariant:** everything that is kept for a profile has the profile's number in its key; everything that depends on a claim's value has the
//! value in its key.
//!
//! **Cost:** per request one call per source that knows roles, one hash, one lock of a shard; nothing is allocated for a known profile.

pub(crate) mod profiles;

use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};
use weir_language::json::quote;
use weir_language::schema::{Schema, SchemaView, Visibility};

/// The role that sees and may do everything.
pub const ADMIN: &str = "admin";

/// The name of the role among session variables.
pub const ROLE_VARIABLE: &str = "x-hasura-role";

/// Name in [`crate::source::PreparedFetch::reads_claims`] for all session variables.
pub const WHOLE_SESSION: &str = "x-hasura-*";

/// Name in [`crate::source::PreparedFetch::reads_claims`] for all claims of the token.
pub const WHOLE_TOKEN: &str = "token:*";

/// Prefix of the names of session variables.
pub const SESSION_PREFIX: &str = "x-hasura-";

/// Prefix of the names of variables that hold claims of a token as values of a type.
pub const TOKEN_PREFIX: &str = "token:";

/// The result of authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The role; names are case-sensitive.
    pub role: Arc<str>,
    /// True if permissions marked `backend_only` hold.
    pub is_backend: bool,
    /// True if no credential was sent: answers may be shared with everybody who sends none.
    pub is_anonymous: bool,
    /// Session variables and the token's claims.
    pub claims: Arc<Claims>,
}

impl Identity {
    /// The admin without claims. Only authentication and tests may name it.
    pub fn admin() -> Self {
        let claims = Claims::default().with_role(ADMIN).into();
        Self { role: ADMIN.into(), is_backend: true, is_anonymous: true, claims }
    }

    /// A role that nothing knows, without claims.
    pub(crate) fn nobody() -> Self {
        Self { role: "".into(), is_backend: false, is_anonymous: true, claims: Arc::default() }
    }

    /// True for the admin.
    pub fn is_admin(&self) -> bool {
        &*self.role == ADMIN
    }
}

/// Values that authentication vouches for.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Lower-case names, ascending, each once.
    variables: Box<[(Box<str>, Box<str>)]>,
    token: Token,
    /// Tokens of authorities of their own, by name.
    own: Box<[(Box<str>, Token)]>,
    /// The variables as a JSON object, rendered on first use.
    session: OnceLock<Box<str>>,
    /// The token's claims as a JSON object, rendered on first use.
    token_text: OnceLock<Box<str>>,
}

impl PartialEq for Claims {
    fn eq(&self, other: &Self) -> bool {
        self.variables == other.variables && self.token == other.token && self.own == other.own
    }
}

impl Eq for Claims {}

/// Token of a request, as sources see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Token {
    /// None was sent.
    #[default]
    Absent,
    /// One was sent that does not hold, for this reason.
    Refused(Box<str>),
    /// Top-level claims: name and JSON text, ascending by name, each once.
    Claims(Box<[(Box<str>, Box<str>)]>),
}

impl Token {
    /// Claims with their JSON texts; of two with one name the first holds.
    pub fn of(claims: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::Claims(sort_by_name(claims))
    }
    /// The JSON text of a top-level claim.
    pub fn claim(&self, name: &str) -> Option<&str> {
        match self {
            Self::Claims(claims) => find(claims, name),
            Self::Absent | Self::Refused(_) => None,
        }
    }
}

fn sort_by_name(pairs: impl IntoIterator<Item = (String, String)>) -> Box<[(Box<str>, Box<str>)]> {
    let mut pairs: Vec<(Box<str>, Box<str>)> =
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs.dedup_by(|later, first| later.0 == first.0);
    pairs.into()
}

fn find<'c>(pairs: &'c [(Box<str>, Box<str>)], name: &str) -> Option<&'c str> {
    pairs.binary_search_by(|it| (*it.0).cmp(name)).ok().map(|at| &*pairs[at].1)
}

impl Claims {
    /// Session variables, whose names are brought to lower case, and a token. Of two variables with one name the first holds.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>, token: Token) -> Self {
        let lower = variables.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        Self {
            variables: sort_by_name(lower),
            token,
            own: Box::default(),
            session: OnceLock::new(),
            token_text: OnceLock::new(),
        }
    }
    /// Adds the tokens of further authorities, each by the authority's name.
    #[must_use]
    pub fn with_tokens(self, own: impl IntoIterator<Item = (Box<str>, Token)>) -> Self {
        Self { own: own.into_iter().collect(), ..self }
    }
    /// Sets the role among the variables.
    fn with_role(&self, role: &str) -> Self {
        let others = self.variables.iter().filter(|it| &*it.0 != ROLE_VARIABLE);
        let others = others.map(|(name, value)| (name.to_string(), value.to_string()));
        let all = others.chain([(ROLE_VARIABLE.to_owned(), role.to_owned())]);
        let token = self.token.clone();
        let own = self.own.clone();
        let session = OnceLock::new();
        let token_text = self.token_text.clone();
        Self { variables: sort_by_name(all), token, own, session, token_text }
    }
    /// The text of the session variable with this lower-case name.
    pub fn variable(&self, name: &str) -> Option<&str> {
        find(&self.variables, name)
    }
    /// All session variables, ascending by their lower-case names.
    pub fn variables(&self) -> &[(Box<str>, Box<str>)] {
        &self.variables
    }
    /// All session variables as the text of a JSON object with lower-case names.
    pub fn session(&self) -> &str {
        self.session.get_or_init(|| {
            let mut json = String::from("{");
            for (at, (name, value)) in self.variables.iter().enumerate() {
                json.push_str(if at > 0 { "," } else { "" });
                quote(name, &mut json);
                json.push(':');
                quote(value, &mut json);
            }
            json.push('}');
            json.into()
        })
    }
    /// All claims of the token as the text of a JSON object; `None` without a token that holds.
    pub fn token_text(&self) -> Option<&str> {
        let Token::Claims(claims) = &self.token else { return None };
        Some(self.token_text.get_or_init(|| {
            let mut json = String::from("{");
            for (at, (name, value)) in claims.iter().enumerate() {
                json.push_str(if at > 0 { "," } else { "" });
                quote(name, &mut json);
                json.push(':');
                json.push_str(value);
            }
            json.push('}');
            json.into()
        }))
    }
    /// The token.
    pub fn token(&self) -> &Token {
        &self.token
    }
    /// The token that `authority` has checked, or that of the session where it has checked none.
    pub fn token_of(&self, authority: &str) -> &Token {
        self.own.iter().find(|it| &*it.0 == authority).map_or(&self.token, |it| &it.1)
    }
    /// The JSON text of a top-level claim of the token.
    pub fn claim(&self, name: &str) -> Option<&str> {
        self.token.claim(name)
    }
}

/// Facts of an identity that decide the plans of a source, as that source numbers them. None: everything may be seen and done.
pub type Facts = SmallVec<[u64; 8]>;

/// The callers for whom the same plans are made.
#[derive(Debug)]
pub struct Profile {
    number: u64,
    /// Length of each source's facts, then the facts.
    words: Box<[u64]>,
    visibility: Option<Visibility>,
    may_introspect: bool,
}

impl Profile {
    /// Number of the profile, given to no other one of the process.
    pub const fn number(&self) -> u64 {
        self.number
    }
    /// The facts of source `at`; none: it shows and does everything.
    pub fn facts(&self, at: u16) -> &[u64] {
        split(&self.words).nth(usize::from(at)).unwrap_or_default()
    }
    /// True if some source is restricted.
    pub fn is_restricted(&self) -> bool {
        !self.words.is_empty()
    }
    /// The members of `schema`, the graph's, that the profile sees.
    pub fn view<'s>(&'s self, schema: &'s Schema) -> SchemaView<'s> {
        SchemaView::new(schema, self.visibility.as_ref())
    }
    /// True if `__schema` and `__type` are answered.
    pub const fn may_introspect(&self) -> bool {
        self.may_introspect
    }
    /// Bytes it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + self.visibility.as_ref().map_or(0, Visibility::bytes)
    }
    pub(crate) const fn new(
        number: u64,
        words: Box<[u64]>,
        visibility: Option<Visibility>,
        may_introspect: bool,
    ) -> Self {
        Self { number, words, visibility, may_introspect }
    }
}

/// The facts of all sources of a graph about one identity, source by source.
pub(crate) struct SourceFacts {
    /// Length of each source's facts, then the facts.
    words: Facts,
    is_restricted: bool,
}

impl SourceFacts {
    /// The facts that each of `sources` appends.
    pub(crate) fn of(sources: impl Iterator<Item = impl FnOnce(&mut Facts)>) -> Self {
        let mut words = Facts::new();
        let mut is_restricted = false;
        for append in sources {
            let at = words.len();
            words.push(0);
            append(&mut words);
            words[at] = (words.len() - at - 1) as u64;
            is_restricted |= words[at] > 0;
        }
        Self { words, is_restricted }
    }
    /// True if a source has a fact.
    pub(crate) const fn is_restricted(&self) -> bool {
        self.is_restricted
    }
    /// Fact words, in the layout of [`Profile`].
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
    /// The facts of each source.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[u64]> {
        split(&self.words)
    }
}

/// Splits `words` into the facts of each source.
fn split(mut words: &[u64]) -> impl Iterator<Item = &[u64]> {
    std::iter::from_fn(move || {
        let (&len, rest) = words.split_first()?;
        let (facts, after) = rest.split_at(len as usize);
        words = after;
        Some(facts)
    })
}

/// The caller of a request. A clone counts one reference.
#[derive(Clone, Debug)]
pub struct Caller(Arc<CallerParts>);

#[derive(Debug)]
struct CallerParts {
    profile: Arc<Profile>,
    role: Arc<str>,
    claims: Arc<Claims>,
    is_anonymous: bool,
    /// True if all callers see the same.
    is_as_others: bool,
}

impl Caller {
    pub(crate) fn new(profile: Arc<Profile>, identity: &Identity, is_as_others: bool) -> Self {
        let Identity { role, claims, is_anonymous, .. } = identity;
        // Functions see the role among the variables.
        let claims = match claims.variable(ROLE_VARIABLE) {
            Some(own) if own == &**role => Arc::clone(claims),
            _ => Arc::new(claims.with_role(role)),
        };
        let role = Arc::clone(role);
        let is_anonymous = *is_anonymous;
        Self(Arc::new(CallerParts { profile, role, claims, is_anonymous, is_as_others }))
    }
    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.0.profile
    }
    /// The role.
    pub fn role(&self) -> &str {
        &self.0.role
    }
    /// True if no credential was sent.
    pub fn is_anonymous(&self) -> bool {
        self.0.is_anonymous
    }
    /// The claims.
    pub fn claims(&self) -> &Arc<Claims> {
        &self.0.claims
    }
    /// The value under a name of [`crate::source::PreparedFetch::reads_claims`]: the role, the text of another session variable, all
    /// of them, a claim as a value of a type, or the JSON text of a claim of the token.
    pub fn value(&self, name: &str) -> Option<&str> {
        match name {
            ROLE_VARIABLE => Some(&self.0.role),
            WHOLE_SESSION => Some(self.0.claims.session()),
            WHOLE_TOKEN => self.0.claims.token_text(),
            _ if name.starts_with(SESSION_PREFIX) || name.starts_with(TOKEN_PREFIX) => {
                self.0.claims.variable(name)
            }
            _ => self.0.claims.claim(name),
        }
    }
    /// True if an answer that depends on the values `claims`, by the names of [`crate::source::PreparedFetch::reads_claims`], may be given
    /// to everybody: the caller sent no credential, or all callers see the same and none of the values is there.
    pub fn is_public<'c>(&self, mut claims: impl Iterator<Item = &'c str>) -> bool {
        self.0.is_anonymous || self.0.is_as_others && claims.all(|it| self.value(it).is_none())
    }
}
