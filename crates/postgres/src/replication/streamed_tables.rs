//! Tables whose changes are reported, and the relations with their rows: the tables themselves, partitions, heirs.
//!
//! **Invariant:** a table is told only if every relation with rows of it can be published without harm: an `UPDATE` of a published table
//! without a replica identity would fail.

use super::TableName;
use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_relational::quoting::quote_identifier;

/// Query for the relations of the database, see [`Tables::read`].
pub(super) const RELATIONS: &str = include_str!("tables.sql");
/// Query for the relations whose rows are rows of another.
pub(super) const HEIRS: &str =
    "SELECT inhrelid::text, inhparent::text FROM pg_catalog.pg_inherits ORDER BY inhrelid, inhparent";

/// Query for whether a publication is as it was made, see [`Tables::glance`].
const GLANCE: &str = include_str!("glance.sql");

/// Rows of texts, as the server gives them.
pub(super) type TextRows = Vec<Vec<Option<String>>>;

/// A table whose changes are reported.
#[derive(Debug, PartialEq, Eq)]
pub struct ToldTable {
    pub name: TableName,
    /// The columns of its primary key, in the order of the key; empty: it has none.
    pub key: Vec<String>,
}

/// The requested tables whose changes can be reported.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tables {
    /// In the order of their names.
    pub(super) told: Vec<Arc<ToldTable>>,
    /// OIDs of the tables, in the same order.
    oids: Vec<u32>,
    /// Pairs of relations in `owners` of which one's rows are rows of the other.
    edges: usize,
    /// For the OID of each relation: indexes in `told` of the tables that its rows belong to.
    owners: HashMap<u32, Vec<usize>>,
    /// The others, with the reason.
    pub(super) left_out: Vec<(TableName, String)>,
}

struct CatalogRelation {
    name: TableName,
    key: Vec<String>,
    obstacle: String,
}

impl Tables {
    /// Finds the tables `wanted` in the answers to [`RELATIONS`] and [`HEIRS`].
    pub(super) fn read(relations: &TextRows, heirs: &TextRows, wanted: &BTreeSet<TableName>) -> Self {
        let relations = read_relations(relations);
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for row in heirs {
            if let (Some(child), Some(parent)) = (number(row, 0), number(row, 1)) {
                children.entry(parent).or_default().push(child);
            }
        }
        let by_name: BTreeMap<&TableName, u32> = relations.iter().map(|(oid, it)| (&it.name, *oid)).collect();
        let mut tables = Self::default();
        for (name, oid) in wanted.iter().filter_map(|it| by_name.get_key_value(it)) {
            let holders = holders(*oid, &children);
            let obstacle = |it: &u32| relations.get(it).filter(|it| !it.obstacle.is_empty());
            if let Some(found) = holders.iter().find_map(obstacle) {
                tables.left_out.push(((*name).clone(), found.obstacle.clone()));
                continue;
            }
            for holder in holders {
                tables.owners.entry(holder).or_default().push(tables.told.len());
            }
            let key = relations[oid].key.clone();
            tables.told.push(Arc::new(ToldTable { name: (*name).clone(), key }));
            tables.oids.push(*oid);
        }
        tables.edges = tables.owners.keys().filter_map(|it| children.get(it)).map(Vec::len).sum();
        tables
    }

    /// Indexes of the tables that rows of the relation `oid` belong to; empty if unknown.
    pub(super) fn owners(&self, oid: u32) -> &[usize] {
        self.owners.get(&oid).map_or(&[], Vec::as_slice)
    }

    /// Message for operators about tables whose changes cannot be reported; `None`: there are none.
    pub(super) fn left_out_words(&self) -> Option<String> {
        let words = |it: &(TableName, String)| format!("`{}.{}`: {}", it.0.schema, it.0.name, it.1);
        let words: Vec<String> = self.left_out.iter().map(words).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Query that checks whether `publication` still reports all changes of its tables and still allows them.
    pub(super) fn glance(&self, publication: &str) -> String {
        let set = |oids: &mut dyn Iterator<Item = &u32>| {
            let oids: Vec<String> = oids.map(ToString::to_string).collect();
            format!("{{{}}}", oids.join(","))
        };
        let query = GLANCE.replace("{publication}", publication).replace("{edges}", &self.edges.to_string());
        let query = query.replace("{told}", &set(&mut self.oids.iter()));
        query.replace("{holders}", &set(&mut self.owners.keys()))
    }

    /// The tables as a publication takes them.
    pub(super) fn list(&self) -> String {
        let name = |it: &Arc<ToldTable>| {
            format!("{}.{}", quote_identifier(&it.name.schema), quote_identifier(&it.name.name))
        };
        self.told.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// The relations by their numbers.
fn read_relations(rows: &TextRows) -> HashMap<u32, CatalogRelation> {
    let mut relations: HashMap<u32, CatalogRelation> = HashMap::new();
    for row in rows {
        let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
        let Some(oid) = number(row, 0) else { continue };
        let relation = relations.entry(oid).or_insert_with(|| CatalogRelation {
            name: TableName { schema: text(1), name: text(2) },
            key: Vec::new(),
            obstacle: text(4),
        });
        relation.key.extend(row.get(3).cloned().flatten());
    }
    relations
}

/// The relation `oid` and all below it.
fn holders(oid: u32, children: &HashMap<u32, Vec<u32>>) -> Vec<u32> {
    let mut seen: HashSet<u32> = HashSet::new();
    seen.insert(oid);
    let mut found = vec![oid];
    let mut at = 0;
    while let Some(parent) = found.get(at) {
        let below = children.get(parent).into_iter().flatten().filter(|it| seen.insert(**it));
        found.extend(below.copied().collect::<Vec<_>>());
        at += 1;
    }
    found
}

fn number(row: &[Option<String>], at: usize) -> Option<u32> {
    row.get(at)?.as_ref()?.parse().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A table of the schema `public`.
    pub(in super::super) fn name(name: &str) -> TableName {
        TableName { schema: "public".into(), name: name.into() }
    }

    fn rows(rows: &[&[&str]]) -> TextRows {
        let cell = |it: &&str| (*it != "-").then(|| (*it).to_owned());
        rows.iter().map(|it| it.iter().map(cell).collect()).collect()
    }

    /// `boat` (1) by `id`, `log` (2) with the partitions 3 and 4, `draft` (5) that nobody may publish.
    pub(in super::super) fn tables() -> Tables {
        let relations = rows(&[
            &["1", "public", "boat", "id", ""],
            &["2", "public", "log", "day", ""],
            &["2", "public", "log", "id", ""],
            &["3", "public", "log_a", "-", ""],
            &["4", "public", "log_b", "-", ""],
            &["5", "public", "draft", "-", "the login does not own it"],
        ]);
        let wanted = ["boat", "draft", "gone", "log"].map(name).into();
        Tables::read(&relations, &rows(&[&["3", "2"], &["4", "3"], &["9", "8"]]), &wanted)
    }

    #[test]
    fn a_relation_belongs_to_the_tables_above_it() {
        let tables = tables();
        let told: Vec<_> = tables.told.iter().map(|it| (it.name.name.as_str(), it.key.join(","))).collect();
        assert_eq!(told, [("boat", "id".to_owned()), ("log", "day,id".to_owned())]);
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|it| tables.owners(it).to_vec()),
            [vec![0], vec![1], vec![1], vec![1], vec![], vec![]]
        );
        assert_eq!(tables.left_out, [(name("draft"), "the login does not own it".to_owned())]);
        assert_eq!(tables.list(), r#""public"."boat", "public"."log""#);
        assert_eq!((tables.oids.clone(), tables.edges), (vec![1, 2], 2));
        let glance = tables.glance("weir_live_1");
        assert!(glance.contains("'{1,2}'::oid[]") && glance.contains("'weir_live_1'"), "{glance}");
    }

    #[test]
    fn a_table_with_a_part_that_cannot_be_published_is_left_out() {
        let relations = rows(&[
            &["1", "public", "boat", "id", ""],
            &["2", "public", "boat_far", "-", "its changes are not logged"],
        ]);
        let tables = Tables::read(&relations, &rows(&[&["2", "1"]]), &[name("boat")].into());
        assert!(tables.told.is_empty() && tables.left_out.len() == 1, "{tables:?}");
    }
}
