//! Ways to one object of a type by a key, for gateways that hold only the key.

/// A way to one object of a type by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityLookup {
    /// The object type.
    pub on: Box<str>,
    /// A field of the query root, or one for joins alone, that returns the object, or null. `None`: separate fetches return its fields
    /// ([`super::FieldResolver::entity_node`]), and what is not found is an object of nulls.
    pub target: Option<Box<str>>,
    /// Parts of the key.
    pub keys: Vec<EntityKey>,
}

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityKey {
    /// Field of the object.
    pub field: Box<str>,
    /// Argument of the target.
    pub argument: Box<str>,
    /// The values that the argument takes.
    pub form: KeyForm,
}

/// The values that a part of a key can have. Others are refused before the source is asked, so one wrong key spoils no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// An integer of so many bits.
    Int(u8),
    /// A decimal number; its digits are kept.
    Decimal,
    /// A truth value.
    Boolean,
    /// Text.
    Text,
    /// An identifier: text, or an integer.
    Id,
    /// The number of an object, written as `0x` and up to 16 hexadecimal digits.
    Number,
    /// A UUID.
    Uuid,
}
