//! Names of the two relationships of a foreign key, by the three rules of `relationship_names`.
//!
//! Two keys between the same tables get the columns appended, both of them, so that no name depends on an order.

use super::Tracked;
use super::graphql_names::graphql_name;
use super::inflect::{plural, singular};
use super::model_options::RelationshipNames;
use weir_relational::catalog::{ForeignKey, Table, TableId};

/// A foreign key, described by the names of the tables and columns that it joins.
pub(super) struct Way<'m> {
    /// The table that has it.
    child: &'m Tracked,
    /// The table it leads to.
    parent: &'m Tracked,
    /// The GraphQL name of its column, if it has one alone.
    column: Option<&'m str>,
    /// True if it refers to its own table.
    is_own: bool,
    /// True if the table has another key to the same one.
    has_twins: bool,
    /// Column names of the key, as the suffix of a relationship name.
    pub(super) appendix: String,
}

impl<'m> Way<'m> {
    pub(super) fn of(
        at: TableId,
        table: &'m Table,
        child: &'m Tracked,
        parent: &'m Tracked,
        key: &ForeignKey,
    ) -> Self {
        let columns = key.columns.iter().map(|column| {
            let name = child.columns[column.0 as usize].as_deref();
            name.unwrap_or(&table.column(*column).name)
        });
        let columns: Vec<&str> = columns.collect();
        Self {
            child,
            parent,
            column: if let [only] = columns[..] { Some(only) } else { None },
            is_own: key.target == at,
            has_twins: table.foreign_keys.iter().filter(|other| other.target == key.target).count() > 1,
            appendix: graphql_name(&columns.join("_")).map_or("key".into(), String::from),
        }
    }

    /// The relationship from the child to its parent, and the one back, which leads to one row if the key `is_single`.
    pub(super) fn names(&self, mode: RelationshipNames, is_single: bool) -> [String; 2] {
        let child = &self.child.name;
        let parent = &self.parent.name;
        let many = || if is_single { child.clone() } else { plural(child) };
        match mode {
            RelationshipNames::Long => {
                [format!("{child}_{parent}"), format!("{parent}_{}", many())].map(|it| self.told_apart(it))
            }
            RelationshipNames::Short => [parent.clone(), many()].map(|it| self.told_apart(it)),
            RelationshipNames::Hasura => [self.by_column(), self.by_table(is_single)],
        }
    }

    fn told_apart(&self, name: String) -> String {
        if self.has_twins { format!("{name}_{}", self.appendix) } else { name }
    }

    /// The column without `_id`, unless that is a column too; else the parent's singular.
    fn by_column(&self) -> String {
        let is_column = |name: &str| self.child.columns.iter().flatten().any(|it| it == name);
        match self.column.and_then(without_id).filter(|it| !is_column(it)) {
            Some(name) => name.to_owned(),
            None => self.told_apart(singular(&self.parent.name)),
        }
    }

    /// The child's name: of one row its singular, of the rows below a parent of the same table `children`.
    fn by_table(&self, is_single: bool) -> String {
        let is_parent = self.is_own && self.column.and_then(without_id) == Some("parent");
        match (is_parent, is_single) {
            (true, true) => "child".to_owned(),
            (true, false) => "children".to_owned(),
            (false, true) => self.told_apart(singular(&self.child.name)),
            (false, false) => self.told_apart(self.child.name.clone()),
        }
    }
}

/// `author` of `author_id`, `authorId`, `AuthorID`.
pub(super) fn without_id(column: &str) -> Option<&str> {
    let stem = column.strip_suffix("_id").or_else(|| column.strip_suffix("_ID")).or_else(|| {
        let stem = column.strip_suffix("Id").or_else(|| column.strip_suffix("ID"))?;
        stem.ends_with(|it: char| it.is_ascii_lowercase()).then_some(stem)
    });
    stem.filter(|it| matches!(graphql_name(it), Some(valid) if valid == *it))
}
