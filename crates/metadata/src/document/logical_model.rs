//! Logical models: the columns that a native query gives, with permissions on them.
//!
//! **Invariant:** a type of a field is written in the form in which it was read: as a name with `nullable` beside it, or as an object.

use super::parts::object::read_object;
use super::permission::{self, PermissionEntry, SelectPermission};
use serde::{Deserialize, Serialize, Serializer};

/// A logical model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalModelEntry {
    /// Description of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The columns.
    pub fields: Vec<LogicalField>,
    /// Name of the model and of its type.
    pub name: String,
    /// Roles that may read it.
    #[serde(
        default,
        deserialize_with = "permission::deserialize_shared",
        serialize_with = "by_key",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub select_permissions: Vec<PermissionEntry<SelectPermission>>,
}

/// A column of a logical model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalField {
    /// Description of its field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the column and of its field.
    pub name: String,
    /// In the old form: it may be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nullable: Option<bool>,
    /// The type.
    #[serde(rename = "type")]
    pub ty: FieldType,
}

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a type: the name of a scalar, or an object with one of `scalar`, `array` and `logical_model`"
)]
pub enum FieldType {
    /// The old form: a scalar.
    Name(String),
    Scalar(#[serde(deserialize_with = "read_object")] ScalarFieldType),
    /// A list.
    Array(#[serde(deserialize_with = "read_object")] ArrayType),
    /// The rows of another model.
    Model(#[serde(deserialize_with = "read_object")] ModelType),
}

/// A scalar of the database.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarFieldType {
    /// It may be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nullable: Option<bool>,
    /// The database's name for it.
    pub scalar: String,
}

/// A list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayType {
    /// The type of its items.
    pub array: Box<FieldType>,
    /// It may be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nullable: Option<bool>,
}

/// The rows of another model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelType {
    /// Name of the model.
    pub logical_model: String,
    /// It may be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nullable: Option<bool>,
}

/// Writes permissions of a model, whose members stand in the order of the alphabet, unlike those of tables.
fn by_key<S: Serializer>(
    permissions: &[PermissionEntry<SelectPermission>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct ByKey<'p> {
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: &'p Option<String>,
        permission: &'p SelectPermission,
        role: &'p str,
    }
    serializer.collect_seq(permissions.iter().map(|it| ByKey {
        comment: &it.comment,
        permission: &it.permission,
        role: &it.role,
    }))
}

impl LogicalField {
    /// True if the column may be null.
    pub fn is_nullable(&self) -> bool {
        let of_type = match &self.ty {
            FieldType::Name(_) => None,
            FieldType::Scalar(it) => it.nullable,
            FieldType::Array(it) => it.nullable,
            FieldType::Model(it) => it.nullable,
        };
        of_type.or(self.nullable).unwrap_or(false)
    }

    /// The database's name for the type, `text[]` for a list of texts.
    /// # Errors
    /// The type is another model, or a list of one.
    pub fn type_name(&self) -> Result<String, String> {
        self.ty.name().ok_or_else(|| {
            format!(
                "the field `{}` holds rows of another model, which no column of the database does",
                self.name
            )
        })
    }
}

impl FieldType {
    fn name(&self) -> Option<String> {
        match self {
            Self::Name(name) | Self::Scalar(ScalarFieldType { scalar: name, .. }) => Some(name.clone()),
            Self::Array(ArrayType { array, .. }) => array.name().map(|it| format!("{it}[]")),
            Self::Model(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, name: Option<&str>, is_nullable: bool) {
        let field: LogicalField = serde_json::from_str(json).expect("it is a field");
        assert_eq!(field.type_name().ok().as_deref(), name, "{json}");
        assert_eq!(field.is_nullable(), is_nullable, "{json}");
        assert_eq!(serde_json::to_string(&field).expect("it is written"), json);
    }

    #[test]
    fn both_forms_of_a_field_are_read_and_written_as_they_are() {
        check(r#"{"name":"a","nullable":true,"type":"integer"}"#, Some("integer"), true);
        check(r#"{"name":"a","type":"integer"}"#, Some("integer"), false);
        check(
            r#"{"description":"d","name":"a","type":{"nullable":true,"scalar":"text"}}"#,
            Some("text"),
            true,
        );
        check(
            r#"{"name":"a","type":{"array":{"nullable":false,"scalar":"text"},"nullable":false}}"#,
            Some("text[]"),
            false,
        );
        check(r#"{"name":"a","type":{"logical_model":"b","nullable":true}}"#, None, true);
    }
}
