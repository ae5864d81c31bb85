//! Mutations as values: what is generated, given to the product and done by the oracle.

/// A value of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Null,
    Int(i64),
    Text(String),
    Texts(Vec<String>),
    Object(Box<OracleInput>),
    Objects(Vec<OracleInput>),
}

/// An object of an input: the number it is named by, and fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OracleInput {
    /// Its type; of a union's reference the member.
    pub(super) ty: usize,
    pub(super) id: Option<i64>,
    pub(super) fields: Vec<(&'static str, Given)>,
}

/// A mutation of one type.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Add {
        ty: usize,
        inputs: Vec<OracleInput>,
        upsert: bool,
    },
    /// `keys`: the objects are found by this key; all are if there is none.
    Update {
        ty: usize,
        keys: Vec<String>,
        set: Option<OracleInput>,
        remove: Option<OracleInput>,
    },
    Delete {
        ty: usize,
        keys: Vec<String>,
    },
}

impl OracleInput {
    pub(super) fn get(&self, field: &str) -> Option<&Given> {
        self.fields.iter().find(|it| it.0 == field).map(|it| &it.1)
    }
}
