//! Meanings of the names of types in actions.

use std::collections::HashMap;
use weir_language::schema::ScalarReader;
use weir_metadata::document::custom_types::{CustomTypes, EnumType, InputObjectType, ObjectType, ScalarType};

/// Scalars of GraphQL itself.
const BUILT_IN: [(&str, ScalarReader); 5] = [
    ("Int", ScalarReader::Int),
    ("Float", ScalarReader::Float),
    ("String", ScalarReader::String),
    ("Boolean", ScalarReader::Boolean),
    ("ID", ScalarReader::Id),
];

/// Scalars of databases that actions may name, also while no database is reached.
const OF_DATABASES: [(&str, ScalarReader); 17] = [
    ("bigint", ScalarReader::BigInt),
    ("bpchar", ScalarReader::Text),
    ("bytea", ScalarReader::Text),
    ("citext", ScalarReader::Text),
    ("date", ScalarReader::Text),
    ("float8", ScalarReader::Decimal),
    ("interval", ScalarReader::Text),
    ("json", ScalarReader::Json),
    ("jsonb", ScalarReader::Json),
    ("money", ScalarReader::Text),
    ("numeric", ScalarReader::Decimal),
    ("smallint", ScalarReader::BigInt),
    ("time", ScalarReader::Text),
    ("timestamp", ScalarReader::Text),
    ("timestamptz", ScalarReader::Text),
    ("timetz", ScalarReader::Text),
    ("uuid", ScalarReader::Text),
];

/// A type by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamedType<'t> {
    BuiltIn,
    OfDatabase(ScalarReader),
    Scalar(&'t ScalarType),
    Enum(&'t EnumType),
    Input(&'t InputObjectType),
    Object(&'t ObjectType),
}

impl NamedType<'_> {
    /// True for scalars of all kinds.
    pub(crate) const fn is_scalar(self) -> bool {
        match self {
            Self::BuiltIn | Self::OfDatabase(_) | Self::Scalar(_) => true,
            Self::Enum(_) | Self::Input(_) | Self::Object(_) => false,
        }
    }
}

/// The types that actions may name.
#[derive(Debug, Default)]
pub(crate) struct TypeTable {
    custom: CustomTypes,
    of_databases: HashMap<String, ScalarReader>,
}

impl TypeTable {
    /// The types of `custom`, and scalars of databases; those in `known` with their readers.
    pub(crate) fn new(custom: &CustomTypes, known: &HashMap<String, ScalarReader>) -> Self {
        let mut of_databases: HashMap<String, ScalarReader> =
            OF_DATABASES.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        of_databases.extend(known.iter().map(|it| (it.0.clone(), *it.1)));
        BUILT_IN.iter().for_each(|it| _ = of_databases.remove(it.0));
        Self { custom: custom.clone(), of_databases }
    }

    /// The type called `name`. A scalar of a database goes before a custom one of its name, which is the same.
    pub(crate) fn find(&self, name: &str) -> Option<NamedType<'_>> {
        if is_built_in(name) {
            return Some(NamedType::BuiltIn);
        }
        let CustomTypes { input_objects, objects, scalars, enums } = &self.custom;
        let scalar = || scalars.iter().find(|it| it.name == name).map(NamedType::Scalar);
        let object = || objects.iter().find(|it| it.name == name).map(NamedType::Object);
        let input = || input_objects.iter().find(|it| it.name == name).map(NamedType::Input);
        let of_enum = || enums.iter().find(|it| it.name == name).map(NamedType::Enum);
        let of_database = self.of_databases.get(name).map(|it| NamedType::OfDatabase(*it));
        of_database.or_else(object).or_else(input).or_else(of_enum).or_else(scalar)
    }
}

/// True for scalars of GraphQL itself.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|it| it.0 == name)
}
