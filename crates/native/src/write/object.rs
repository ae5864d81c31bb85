//! The input of a mutation as a flat list of objects, parents before what is nested in them.
//!
//! **Invariant:** the list is in the order of the input, so the numbers that new objects get are too.
//!
//! **Cost:** one pass over the input. Recursion is at most [`NESTING_MAX`] deep.

use super::input::InputValue;
use super::refusal::MutationRefusal;
use super::stored_values::{Columns, ListItem, ValueReader, text};
use super::type_info::copy;
use crate::api::meaning::InputMeaning;
use crate::layout::Layout;
use crate::model::{FieldId, FieldKind, Model, TypeId, TypeKind};
use hashbrown::HashMap;
use std::sync::Arc;
use weir_database::frontend::program::Value;
use weir_relational::values::text_search::{WORDS_BYTES_MAX, excess};

/// More objects in one mutation are refused.
pub(super) const OBJECTS_MAX: usize = 100_000;
/// Objects nested deeper are refused.
pub(super) const NESTING_MAX: usize = 32;
/// Shorter passwords are refused.
const SECRET_CHARACTERS_MIN: usize = 6;

/// Role of an object of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An object to add.
    Top,
    /// An object to link to the one above it by this edge, and to add if it does not exist.
    Below(FieldId),
    /// An object to unlink.
    Unlinked,
    /// `set` or `remove` of an update: the changes to the objects that the filter finds.
    Patch { removes: bool },
}

#[derive(Clone, Debug)]
pub(super) struct InputObject {
    /// Type of the object. Only an existing object may have an interface here.
    pub(super) ty: TypeId,
    pub(super) role: Role,
    /// The number it is named by.
    pub(super) id: Option<i64>,
    /// InputValue values, in the order of the input type.
    pub(super) fields: Vec<(FieldId, Content)>,
    /// Password: as given at first, later its hash.
    pub(super) secret: Option<Arc<str>>,
    /// Number of the password in the input: hashes of equal passwords differ.
    pub(super) secret_place: u32,
}

impl InputObject {
    /// The field of a nested object that is the other side of the edge it is nested in.
    pub(super) fn parent_field(&self, model: &Model) -> Option<FieldId> {
        let Role::Below(edge) = self.role else { return None };
        match model.field(edge).kind {
            FieldKind::Edge { inverse: Some(inverse), .. } => Some(copy(model, inverse, self.ty)),
            _ => None,
        }
    }
}

/// InputValue value of a field.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// `null`: kept only where something is removed.
    Null,
    /// A value.
    Columns(Columns),
    /// A list of values.
    Items(Vec<ListItem>),
    /// Other objects, by their indexes in the list.
    Edges(Vec<u32>),
}

/// Reads objects.
pub(super) struct Objects<'a> {
    pub(super) layout: &'a Layout,
    pub(super) reader: ValueReader<'a>,
    pub(super) list: Vec<InputObject>,
    /// Each password once, with its place.
    pub(super) passwords: HashMap<Arc<str>, u32>,
}

impl Objects<'_> {
    /// Adds `given` and all that is nested in it; gives its place.
    pub(super) fn read(
        &mut self,
        ty: TypeId,
        given: InputValue<'_>,
        role: Role,
        depth: usize,
    ) -> Result<u32, MutationRefusal> {
        if depth > NESTING_MAX {
            return Err(MutationRefusal::TooDeep { max: NESTING_MAX });
        }
        if self.list.len() >= OBJECTS_MAX {
            return Err(MutationRefusal::TooMany { max: OBJECTS_MAX });
        }
        if self.reader.api.model.ty(ty).kind == TypeKind::Union {
            return self.member(ty, given, role, depth);
        }
        let at = self.list.len() as u32;
        self.list.push(InputObject { ty, role, id: None, fields: Vec::new(), secret: None, secret_place: 0 });
        let mut fields = Vec::new();
        for (input, value) in given.members() {
            match self.reader.api.input(input) {
                InputMeaning::Field(field) => {
                    if let Some(content) = self.content(at, field, value, role, depth)? {
                        fields.push((field, content));
                    }
                }
                InputMeaning::Secret(of) => {
                    if role == (Role::Patch { removes: true }) {
                        let password = value.text().ok_or_else(|| self.required_secret(of))?;
                        self.list[at as usize].secret = Some(password.into());
                    } else if let Some(password) = secret(value)? {
                        let next = self.passwords.len() as u32;
                        let place = *self.passwords.entry(Arc::clone(&password)).or_insert(next);
                        self.list[at as usize].secret_place = place;
                        self.list[at as usize].secret = Some(password);
                    }
                }
                _ => {}
            }
        }
        self.list[at as usize].fields = fields;
        Ok(at)
    }

    /// Refuses an update that would leave objects without a password: `remove` names it and `set` gives no other one.
    pub(super) fn keep_secret(
        &mut self,
        set: Option<u32>,
        remove: Option<u32>,
    ) -> Result<(), MutationRefusal> {
        let Some(remove) = remove.map(|it| it as usize) else { return Ok(()) };
        let Some(removed) = self.list[remove].secret.take() else { return Ok(()) };
        let given = set.and_then(|it| self.list[it as usize].secret.as_ref());
        if given.is_some_and(|it| *it != removed) {
            Ok(())
        } else {
            Err(self.required_secret(self.list[remove].ty))
        }
    }

    /// Nobody can do without a password.
    fn required_secret(&self, ty: TypeId) -> MutationRefusal {
        let of = self.reader.api.model.ty(ty);
        let field = of.secret.as_ref().map_or_else(String::new, |it| it.name.clone());
        MutationRefusal::Required { ty: of.name.clone(), field }
    }

    /// A reference to a member of a union.
    fn member(
        &mut self,
        ty: TypeId,
        given: InputValue<'_>,
        role: Role,
        depth: usize,
    ) -> Result<u32, MutationRefusal> {
        let api = self.reader.api;
        let mut members = given.members().filter(|it| !it.1.is_null()).filter_map(|(input, value)| match api
            .input(input)
        {
            InputMeaning::Member(member) => Some((member, value)),
            _ => None,
        });
        match (members.next(), members.next()) {
            (Some((member, value)), None) => self.read(member, value, role, depth),
            _ => Err(MutationRefusal::NotOneMember { ty: api.model.ty(ty).name.clone() }),
        }
    }

    /// InputValue value of `field` of the object at `at`; nothing for a null without effect.
    fn content(
        &mut self,
        at: u32,
        field: FieldId,
        given: InputValue<'_>,
        role: Role,
        depth: usize,
    ) -> Result<Option<Content>, MutationRefusal> {
        let of = self.reader.api.model.field(field);
        let removes = matches!(role, Role::Unlinked | Role::Patch { removes: true });
        match of.kind {
            FieldKind::Id => {
                self.list[at as usize].id = Some(self.id(self.list[at as usize].ty, given)?);
                Ok(None)
            }
            _ if given.is_null() => Ok(removes.then_some(Content::Null)),
            FieldKind::Edge { to, .. } => {
                let below = if removes { Role::Unlinked } else { Role::Below(field) };
                let read = |it| self.read(to, it, below, depth + 1);
                Ok(Some(Content::Edges(given.items().map(read).collect::<Result<_, _>>()?)))
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) if of.is_list => {
                let items = self.reader.items(of, given)?;
                items.iter().try_for_each(|it| self.check_length(field, &it.0))?;
                Ok(Some(Content::Items(items)))
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                let columns = self.reader.columns(of, &self.layout.fields[field.index()], given)?;
                columns.iter().try_for_each(|it| self.check_length(field, &it.1))?;
                if role != (Role::Patch { removes: true }) {
                    self.check_key(field, &columns)?;
                }
                Ok(Some(Content::Columns(columns)))
            }
        }
    }

    fn check_length(&self, field: FieldId, value: &Value) -> Result<(), MutationRefusal> {
        let Value::Text(text) = value else { return Ok(()) };
        let model = &self.reader.api.model;
        let of = model.field(field);
        let ty = || model.ty(of.owner).name.clone();
        let name = || of.name.clone();
        if let Some(max) = self.layout.bytes_max[field.index()].filter(|it| text.len() > *it) {
            return Err(MutationRefusal::TooLong { ty: ty(), field: name(), bytes: text.len(), max });
        }
        match of.has_words().then(|| excess(text)).flatten() {
            Some(bytes) => {
                Err(MutationRefusal::TooManyWords { ty: ty(), field: name(), bytes, max: WORDS_BYTES_MAX })
            }
            None => Ok(()),
        }
    }

    /// Refuses an empty key: it could not be told from a missing one.
    fn check_key(&self, field: FieldId, columns: &Columns) -> Result<(), MutationRefusal> {
        let model = &self.reader.api.model;
        let of = model.field(field);
        match columns.first() {
            Some((_, Value::Text(text))) if text.is_empty() && of.key.is_some() => {
                Err(MutationRefusal::EmptyKey { ty: model.ty(of.owner).name.clone(), field: of.name.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn id(&self, ty: TypeId, given: InputValue<'_>) -> Result<i64, MutationRefusal> {
        let name = || self.reader.api.model.ty(ty).name.clone();
        let text = given.text().ok_or(MutationRefusal::NoId)?;
        parse_id(text)
            .ok_or_else(|| MutationRefusal::NoSuch { id: text.chars().take(100).collect(), ty: name() })
    }
}

/// The number of an object from its `ID`: hexadecimal behind `0x`, else decimal.
pub(super) fn parse_id(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = digits.map_or((text, 10), |it| (it, 16));
    let is_plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
    i64::from_str_radix(digits, radix).ok().filter(|it| is_plain && *it > 0)
}

fn secret(given: InputValue<'_>) -> Result<Option<Arc<str>>, MutationRefusal> {
    let Some(password) = given.text() else { return Ok(None) };
    if password.chars().count() < SECRET_CHARACTERS_MIN {
        return Err(MutationRefusal::ShortSecret { min: SECRET_CHARACTERS_MIN });
    }
    match text(password)? {
        Value::Text(password) => Ok(Some(password)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Ids(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_positive_number_in_either_notation() {
        for (text, expected) in [
            ("0x1", Some(1)),
            ("0xfF", Some(255)),
            ("255", Some(255)),
            ("0x7fffffffffffffff", Some(i64::MAX)),
            ("0x8000000000000000", None),
            ("0x0", None),
            ("-1", None),
            ("+1", None),
            ("0x-1", None),
            ("", None),
            ("0x", None),
            ("xyz", None),
        ] {
            assert_eq!(parse_id(text), expected, "{text}");
        }
    }
}
