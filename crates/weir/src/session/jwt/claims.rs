//! Reads roles and session variables from the claims of a token: from one claim, or by a map of paths.
//!
//! **Invariant:** names of variables are folded by ASCII only, and a name that comes twice is refused, so no claim can
//! stand in another's place.

use super::path::JsonPath;
use crate::config::{ClaimSource, ClaimsFormat, Jwt, OneOrMany};
use crate::session::auth_error::{AuthError, AuthFault};
use crate::session::{ALLOWED_ROLES, DEFAULT_ROLE, VARIABLE_START, Variables};
use weir_language::json::{Json, JsonKind, JsonRef};

use super::token::NESTING_MAX;

/// Default name of the claim.
const NAMESPACE: &str = "https://hasura.io/jwt/claims";
/// Maximum length of a claim in a message, in characters.
const SHOWN_MAX: usize = 100;

/// Where roles and variables are found in a token.
#[derive(Debug)]
pub(crate) enum ClaimsPlace {
    /// In an object, or a string that contains one.
    Namespace(Namespace, ClaimsFormat),
    /// Each by its own path.
    Map(ClaimsMap),
}

/// Location of the claim with the object.
#[derive(Debug)]
pub(crate) enum Namespace {
    /// A top-level claim.
    Name(Box<str>),
    /// Any claim, or the root.
    Path(JsonPath),
}

/// Sources of roles and variables.
#[derive(Debug)]
pub(crate) struct ClaimsMap {
    allowed_roles: ClaimValue,
    default_role: ClaimValue,
    /// Variables by lower-case name.
    variables: Vec<(Box<str>, ClaimValue)>,
}

/// The source of one value.
#[derive(Debug)]
enum ClaimValue {
    Literal(OneOrMany),
    Path(JsonPath, Option<OneOrMany>),
}

/// Roles of a caller, with the variables of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoleClaims {
    pub(crate) allowed: Vec<String>,
    pub(crate) default: String,
    pub(crate) variables: Variables,
}

impl ClaimsPlace {
    /// Reads the settings of `jwt` about claims.
    /// # Errors
    /// The invalid key and the reason.
    pub(crate) fn new(jwt: &Jwt) -> Result<Self, (&'static str, String)> {
        if let Some(map) = &jwt.claims_map {
            return ClaimsMap::new(map).map(Self::Map).map_err(|cause| ("claims_map", cause));
        }
        let namespace = match (&jwt.claims_namespace, &jwt.claims_namespace_path) {
            (Some(_), Some(_)) => {
                let message =
                    "`claims_namespace` and `claims_namespace_path` exclude each other; leave one out";
                return Err(("claims_namespace_path", message.into()));
            }
            (None, Some(path)) => {
                Namespace::Path(JsonPath::parse(path).map_err(|cause| ("claims_namespace_path", cause))?)
            }
            (name, None) => Namespace::Name(name.as_deref().unwrap_or(NAMESPACE).into()),
        };
        Ok(Self::Namespace(namespace, jwt.claims_format))
    }

    /// Reads roles and variables.
    pub(crate) fn read(&self, claims: JsonRef<'_>) -> Result<RoleClaims, AuthError> {
        match self {
            Self::Map(map) => map.read(claims),
            Self::Namespace(namespace, format) => namespace.read(claims, *format),
        }
    }
}

impl Namespace {
    fn read(&self, claims: JsonRef<'_>, format: ClaimsFormat) -> Result<RoleClaims, AuthError> {
        let (found, place) = match self {
            Self::Name(name) => (claims.get(name), name.to_string()),
            Self::Path(path) => (path.find(claims), path.to_string()),
        };
        let found = found.ok_or_else(|| match self {
            Self::Name(name) => invalid(format!("claims key: '{name}' not found")),
            Self::Path(path) => invalid(format!("claims not found at claims_namespace_path: '{path}'")),
        })?;
        match format {
            ClaimsFormat::Json if found.is_object() => of_object(found),
            ClaimsFormat::Json => Err(invalid("expecting a json object when claims_format is json".into())),
            ClaimsFormat::StringifiedJson => {
                let text = found.as_str().ok_or_else(|| {
                    invalid("expecting a string when claims_format is stringified_json".into())
                })?;
                let json = Json::parse(text.as_bytes(), NESTING_MAX).ok();
                let object = json.as_ref().map(Json::root).filter(|it| it.is_object());
                let none = || {
                    let shown: String = text.chars().take(SHOWN_MAX).collect();
                    invalid(format!("expecting stringified json at: '{place}', but found: {shown}"))
                };
                of_object(object.ok_or_else(none)?)
            }
        }
    }
}

/// Reads the object with roles and variables.
fn of_object(object: JsonRef<'_>) -> Result<RoleClaims, AuthError> {
    let (mut allowed, mut default, mut variables) = (None, None, Variables::default());
    for (name, value) in object.members() {
        let name = name.to_ascii_lowercase();
        let is_new = match &*name {
            ALLOWED_ROLES => allowed.replace(roles(value)?).is_none(),
            DEFAULT_ROLE => default.replace(role(value)?).is_none(),
            _ if name.starts_with(VARIABLE_START) => {
                let text = value.as_str().ok_or_else(|| type_error(&name, value))?;
                variables.set(&name, &text)
            }
            _ => true,
        };
        if !is_new {
            return Err(invalid(format!("x-hasura-* claims: {name} is there twice")));
        }
    }
    let allowed = allowed.ok_or_else(|| without(ALLOWED_ROLES))?;
    let default = default.ok_or_else(|| without(DEFAULT_ROLE))?;
    Ok(RoleClaims { allowed, default, variables })
}

impl ClaimsMap {
    fn new(map: &std::collections::BTreeMap<String, ClaimSource>) -> Result<Self, String> {
        let mut allowed = None;
        let mut default = None;
        let mut variables = Vec::new();
        for (key, source) in map {
            let name = key.to_ascii_lowercase();
            let value = ClaimValue::new(source).map_err(|cause| format!("`{key}`: {cause}"))?;
            let is_list = match source {
                ClaimSource::Literal(literal) => Some(matches!(literal, OneOrMany::Many(_))),
                ClaimSource::Path(path) => path.default.as_ref().map(|it| matches!(it, OneOrMany::Many(_))),
            };
            if is_list.is_some_and(|it| it != (name == ALLOWED_ROLES)) {
                let form = if name == ALLOWED_ROLES { "a list of texts" } else { "one text" };
                return Err(format!("`{key}` has to be {form}, or `{{path: …}}`"));
            }
            let is_new = match &*name {
                ALLOWED_ROLES => allowed.replace(value).is_none(),
                DEFAULT_ROLE => default.replace(value).is_none(),
                _ if name.starts_with(VARIABLE_START) => {
                    let is_new = variables.iter().all(|(known, _): &(Box<str>, _)| **known != *name);
                    variables.push((name.into(), value));
                    is_new
                }
                _ => return Err(format!("`{key}` is no session variable: its name begins with `x-hasura-`")),
            };
            if !is_new {
                return Err(format!("`{key}` is there twice, in other letters"));
            }
        }
        let needed = |name| format!("`{name}` is needed: a list of texts, one text, or `{{path: …}}`");
        Ok(Self {
            allowed_roles: allowed.ok_or_else(|| needed(ALLOWED_ROLES))?,
            default_role: default.ok_or_else(|| needed(DEFAULT_ROLE))?,
            variables,
        })
    }

    fn read(&self, claims: JsonRef<'_>) -> Result<RoleClaims, AuthError> {
        let allowed = self.allowed_roles.many(claims, ALLOWED_ROLES, roles)?;
        let default = self.default_role.many(claims, DEFAULT_ROLE, |it| role(it).map(|it| vec![it]))?;
        let mut variables = Variables::default();
        for (name, value) in &self.variables {
            let text = |found: JsonRef<'_>| {
                found.as_str().map(|it| vec![it.into_owned()]).ok_or_else(|| type_error(name, found))
            };
            variables.set(name, &value.many(claims, name, text)?.concat());
        }
        Ok(RoleClaims { allowed, default: default.concat(), variables })
    }
}

impl ClaimValue {
    fn new(source: &ClaimSource) -> Result<Self, String> {
        Ok(match source {
            ClaimSource::Literal(literal) => Self::Literal(literal.clone()),
            ClaimSource::Path(path) => Self::Path(JsonPath::parse(&path.path)?, path.default.clone()),
        })
    }

    /// Values of `name`; a claim is converted with `read`.
    fn many(
        &self,
        claims: JsonRef<'_>,
        name: &str,
        read: impl FnOnce(JsonRef<'_>) -> Result<Vec<String>, AuthError>,
    ) -> Result<Vec<String>, AuthError> {
        match self {
            Self::Literal(literal) => Ok(literal.all().to_vec()),
            Self::Path(path, default) => match (path.find(claims), default) {
                (Some(found), _) => read(found),
                (None, Some(default)) => Ok(default.all().to_vec()),
                (None, None) => Err(invalid(format!("JWT claim from claims_map, {name} not found"))),
            },
        }
    }
}

/// A list of role names.
fn roles(value: JsonRef<'_>) -> Result<Vec<String>, AuthError> {
    let wrong =
        |cause: String| invalid(format!("invalid \"{ALLOWED_ROLES}\"; should be a list of roles: {cause}"));
    if !value.is_array() {
        return Err(wrong(format!("expected an array, but encountered {}", kind(value))));
    }
    let text = |it: JsonRef<'_>| it.as_str().map(std::borrow::Cow::into_owned);
    let texts = value.items().map(|it| {
        text(it).filter(|it| !it.is_empty()).ok_or_else(|| wrong(format!("a role is {}", kind(it))))
    });
    texts.collect()
}

/// The name of a role.
fn role(value: JsonRef<'_>) -> Result<String, AuthError> {
    let text = value.as_str().filter(|it| !it.is_empty());
    text.map(std::borrow::Cow::into_owned).ok_or_else(|| {
        let cause = kind(value);
        invalid(format!("invalid \"{DEFAULT_ROLE}\"; should be a single role name: it is {cause}"))
    })
}

fn invalid(message: String) -> AuthError {
    AuthError::new(AuthFault::Claims, message)
}

fn without(name: &str) -> AuthError {
    AuthError::new(AuthFault::RoleClaims, format!("JWT claim does not contain \"{name}\""))
}

fn type_error(name: &str, value: JsonRef<'_>) -> AuthError {
    invalid(format!("x-hasura-* claims: {name}: expected a string, but encountered {}", kind(value)))
}

fn kind(value: JsonRef<'_>) -> &'static str {
    match value.kind() {
        JsonKind::Null => "null",
        JsonKind::True | JsonKind::False => "a boolean",
        JsonKind::Number => "a number",
        JsonKind::Array => "an array",
        JsonKind::Object => "an object",
        _ => "an empty or broken string",
    }
}
