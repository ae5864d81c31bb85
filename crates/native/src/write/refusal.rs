//! Why a mutation is refused, in the words that clients of such APIs know.

use weir_database::frontend::program::UNTOLD;
use weir_engine::source::FieldError;

/// Errors of a mutation, without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MutationRefusal {
    /// An object that is added, or takes a new key, has the key of one that is there.
    Exists { key: String, field: String, ty: String },
    /// Like `Exists`, but the other object has another type of the interface.
    ExistsBeside { key: String, field: String, interface: String },
    /// Two objects of one input have the same key and differ.
    Twice { key: String },
    /// An object would lack a value.
    Missing { ty: String, field: String },
    /// A value that has to be there is removed.
    Required { ty: String, field: String },
    /// An object that is referred to is not there.
    NoSuch { id: String, ty: String },
    /// A key names no object of this type.
    NoKey { field: String, key: String, ty: String },
    /// A key of a reference names several objects: it is unique within each type only.
    Shared { field: String, key: String, ty: String },
    /// A reference by keys, each with its field, finds two objects.
    Ambiguous { ty: String, keys: String },
    /// A reference does not name its object.
    NoId,
    /// A reference to a member of a union names none or several.
    NotOneMember { ty: String },
    /// A nested object names another one where the one that it is nested in belongs.
    OtherParent { ty: String, field: String },
    /// A key is changed and the filter finds several objects.
    ManyMatches,
    /// A value does not fit its type.
    Value { text: String, ty: &'static str },
    /// A text that an index would have to hold whole.
    TooLong { ty: String, field: String, bytes: usize, max: usize },
    /// A text with more words than an index of words can hold.
    TooManyWords { ty: String, field: String, bytes: usize, max: usize },
    /// An empty text for a key.
    EmptyKey { ty: String, field: String },
    /// A text that no database can store.
    Nul,
    /// A password that is too short.
    ShortSecret { min: usize },
    /// More objects than a mutation may have.
    TooMany { max: usize },
    /// Objects in objects, too deep.
    TooDeep { max: usize },
    /// The rules of a type do not allow it.
    Denied,
    /// An error that would reveal objects which the caller may not see.
    Untold(Box<MutationRefusal>),
    /// Several objects of the input are refused.
    Several(Vec<MutationRefusal>),
}

/// Maximum number of refused objects in one error.
const TOLD_MAX: usize = 50;

impl MutationRefusal {
    /// All that is wrong with the objects of an input, each thing once; `Ok` if nothing is.
    pub(super) fn all(refusals: Vec<Self>) -> Result<(), Self> {
        let mut told: Vec<Self> = Vec::new();
        for refusal in refusals {
            if told.len() < TOLD_MAX && !told.contains(&refusal) {
                told.push(refusal);
            }
        }
        match told.len() {
            0 => Ok(()),
            1 => Err(told.remove(0)),
            _ => Err(Self::Several(told)),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Several(all) if all.iter().any(|it| it.code() == UNTOLD) => UNTOLD,
            Self::Several(all) => all.first().map_or("BAD_USER_INPUT", Self::code),
            Self::Exists { .. } | Self::ExistsBeside { .. } | Self::Twice { .. } => "UNIQUE_VIOLATION",
            Self::Missing { .. } | Self::Required { .. } => "NOT_NULL_VIOLATION",
            Self::NoSuch { .. } | Self::NoKey { .. } => "FOREIGN_KEY_VIOLATION",
            Self::Ambiguous { .. }
            | Self::Shared { .. }
            | Self::NoId
            | Self::NotOneMember { .. }
            | Self::OtherParent { .. }
            | Self::ManyMatches => "BAD_USER_INPUT",
            Self::Value { .. }
            | Self::TooLong { .. }
            | Self::TooManyWords { .. }
            | Self::EmptyKey { .. }
            | Self::ShortSecret { .. } => "INVALID_VALUE",
            Self::Nul => "INVALID_TEXT",
            Self::TooMany { .. } => "LIMIT_OBJECTS",
            Self::TooDeep { .. } => "LIMIT_NESTING",
            Self::Denied | Self::Untold(_) => UNTOLD,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Exists { key, field, ty } => {
                format!("id {key} already exists for field {field} inside type {ty}")
            }
            Self::ExistsBeside { key, field, interface } => format!(
                "id {key} already exists for field {field} in some other implementing type of interface {interface}"
            ),
            Self::Twice { key } => format!("duplicate XID found: {key}"),
            Self::Missing { ty, field } => {
                format!("type {ty} requires a value for field {field}, but no value present")
            }
            Self::Required { ty, field } => {
                format!("type {ty} requires a value for field {field}, so it cannot be removed")
            }
            Self::NoSuch { id, ty } => format!("ID \"{id}\" isn't a {ty}"),
            Self::NoKey { field, key, ty } => format!("there is no {ty} whose {field} is \"{key}\""),
            Self::Shared { field, key, ty } => format!(
                "several objects of {ty} have the {field} {key}: `{field}` is unique within each type only; name the object by its ID"
            ),
            Self::Ambiguous { ty, keys } => {
                format!("the keys of one {ty} belong to different objects: {keys}")
            }
            Self::NoId => "id is not provided".into(),
            Self::Several(all) => all.iter().map(Self::message).collect::<Vec<_>>().join("\n"),
            Self::NotOneMember { ty } => format!("exactly one member of union {ty} has to be given"),
            Self::OtherParent { ty, field } => {
                format!("field {field} of type {ty} names another object than the one it is nested in")
            }
            Self::ManyMatches => {
                "only one node is allowed in the filter while updating fields with @id directive".into()
            }
            Self::Value { text, ty } => {
                let text: String = text.chars().take(100).collect();
                format!("\"{text}\" is no {ty}")
            }
            Self::TooLong { ty, field, bytes, max } => {
                format!(
                    "field {field} of type {ty} takes {max} bytes at most, because an index holds it whole; given were {bytes}"
                )
            }
            Self::TooManyWords { ty, field, bytes, max } => {
                format!(
                    "the words of field {field} of type {ty} take {bytes} bytes, and its index of words holds {max} of a text"
                )
            }
            Self::EmptyKey { ty, field } => {
                format!("encountered an empty value for @id field `{ty}.{field}`")
            }
            Self::Nul => "a text must not contain the character U+0000".into(),
            Self::ShortSecret { min } => {
                format!("password too short, i.e. should have at least {min} characters")
            }
            Self::TooMany { max } => format!("more than {max} objects in one mutation"),
            Self::TooDeep { max } => format!("objects are nested more than {max} deep"),
            Self::Denied => "authorization failed".into(),
            Self::Untold(refusal) => refusal.message(),
        }
    }

    /// Converts the refusal into the error of the mutation field `mutation`.
    #[cold]
    pub(super) fn into_field_error(self, mutation: &str) -> FieldError {
        let words = self.message();
        let message = match self {
            Self::Exists { .. }
            | Self::ExistsBeside { .. }
            | Self::Twice { .. }
            | Self::Missing { .. }
            | Self::NoSuch { .. }
            | Self::NoKey { .. }
            | Self::Shared { .. }
            | Self::Ambiguous { .. }
            | Self::NoId
            | Self::NotOneMember { .. }
            | Self::OtherParent { .. }
            | Self::Several(_)
            | Self::Untold(_)
            | Self::EmptyKey { .. }
            | Self::Required { .. } => {
                format!(
                    "couldn't rewrite mutation {mutation} because failed to rewrite mutation payload because {words}"
                )
            }
            Self::ManyMatches
            | Self::Value { .. }
            | Self::TooLong { .. }
            | Self::TooManyWords { .. }
            | Self::Nul
            | Self::ShortSecret { .. }
            | Self::TooMany { .. }
            | Self::Denied
            | Self::TooDeep { .. } => format!("mutation {mutation} failed because {words}"),
        };
        FieldError { code: self.code(), message: message.into(), hasura_path: None, extensions: None }
    }
}

/// Code of an error that reveals something the caller may not do or see.
pub(super) const PERMISSION: &str = "PERMISSION";

/// Replaces the code of a denial by `PERMISSION`, if `tells` says that clients may know of denials.
pub(super) fn reveal_denial(error: FieldError, tells: bool) -> FieldError {
    if tells && error.code == UNTOLD { FieldError { code: PERMISSION, ..error } } else { error }
}
