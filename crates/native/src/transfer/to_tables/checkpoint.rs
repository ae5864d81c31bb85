//! Checkpoints of a load's files, so that an interrupted load continues.
//!
//! A load is the files of one command, by their whole paths. What of them is loaded is known by its checksum, not by that of
//! the whole file: lines behind the mark may be mended, lines before it may not.
//!
//! **Invariant:** the marks of a load and the edges that wait for it are nobody else's, and go when it ends.

use super::import_lock::texts;
use crate::store::database::{Database, Value};
use crate::store::{Error, versions};
use crate::transfer::Reached;
use crate::transfer::reject::RejectKind;
use weir_relational::catalog::ColumnType;
use weir_relational::plan::ddl::{ColumnDefinition, Definition, TableDefinition};

/// Number of hexadecimal digits that identify a load.
const DIGITS: usize = 16;

/// The files of one command.
pub(crate) struct Load {
    name: String,
    /// The table of edges and other records that wait until all files are read.
    pub(crate) edges: String,
    /// True if it was interrupted before.
    pub(crate) goes_on: bool,
}

/// Counts of a load: accepted and rejected items, together all that the files contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Objects that are in the store.
    pub objects: u64,
    /// Lines of files of pairs that are.
    pub pairs: u64,
    /// Objects that are not.
    pub objects_refused: u64,
    /// Lines of files of pairs that were refused.
    pub pairs_refused: u64,
    /// Edges that are not, of objects that are.
    pub edges_refused: u64,
    /// Statements that cannot be read, or that do not fit their objects.
    pub statements_refused: u64,
    /// Statements that were taken without their facets.
    pub facets_left_out: u64,
}

impl Count {
    /// Number of lines that were refused.
    pub fn refused_count(&self) -> u64 {
        self.objects_refused + self.pairs_refused + self.edges_refused + self.statements_refused
    }

    /// Counts accepted items.
    pub(crate) fn add(&mut self, part: RejectKind, count: u64) {
        match part {
            RejectKind::Object => self.objects += count,
            RejectKind::Pair => self.pairs += count,
            RejectKind::Edge | RejectKind::Statement => {}
        }
    }

    /// Counts a refused item.
    pub(crate) fn refuse(&mut self, part: RejectKind) {
        let count = match part {
            RejectKind::Object => &mut self.objects_refused,
            RejectKind::Pair => &mut self.pairs_refused,
            RejectKind::Edge => &mut self.edges_refused,
            RejectKind::Statement => &mut self.statements_refused,
        };
        *count += 1;
    }

    /// Together with another one.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            pairs: self.pairs + other.pairs,
            objects_refused: self.objects_refused + other.objects_refused,
            pairs_refused: self.pairs_refused + other.pairs_refused,
            edges_refused: self.edges_refused + other.edges_refused,
            statements_refused: self.statements_refused + other.statements_refused,
            facets_left_out: self.facets_left_out + other.facets_left_out,
        }
    }
}

/// Checkpoint of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    key: String,
    /// Position to continue at.
    pub(crate) reached: Reached,
    /// Counts of accepted and rejected items.
    pub(crate) count: Count,
    /// Nothing of it is left to load.
    pub(crate) is_done: bool,
    /// Size of the file when it was done, in bytes.
    pub(crate) bytes: u64,
}

impl Load {
    /// Begins the load of the files `keys`, or continues it.
    /// # Errors
    /// A file is part of another load that did not end.
    pub(crate) fn begin<'k>(
        database: &mut Database,
        keys: impl Iterator<Item = &'k str>,
    ) -> Result<Self, Error> {
        let mut keys: Vec<&str> = keys.collect();
        keys.sort_unstable();
        let name: String = versions::hash(&keys.join("\n")).chars().take(DIGITS).collect();
        let mut load = Self { edges: format!("weir_edges_{name}"), name, goes_on: false };
        let dialect = database.dialect();
        let declared = |ty: &ColumnType| dialect.type_declaration(ty).0;
        let text = declared(&ColumnType::Text);
        let number = declared(&ColumnType::BigInt);
        let columns = vec![
            ColumnDefinition::not_null("field", text),
            ColumnDefinition::not_null("owner", number),
            ColumnDefinition::optional("target", number),
            ColumnDefinition::optional("key_field", text),
            ColumnDefinition::optional("key_value", text),
            ColumnDefinition::not_null("file", text),
            ColumnDefinition::not_null("line", number),
        ];
        let edges =
            Definition::CreateTable(TableDefinition { name: load.edges.clone(), columns, key: Vec::new() });
        database.begin()?;
        let begun = database
            .has_table(&load.edges)
            .and_then(|is_there| {
                load.goes_on = is_there;
                if is_there { Ok(()) } else { database.define(&edges) }
            })
            .and_then(|()| keys.iter().try_for_each(|key| load.claim(database, key)))
            .and_then(|()| database.commit());
        if begun.is_err() {
            database.rollback();
        }
        begun.map(|()| load)
    }

    /// Makes `key` a file of this load.
    fn claim(&self, database: &mut Database, key: &str) -> Result<(), Error> {
        let owner =
            database.query_value("SELECT mark FROM weir_loads WHERE file = $1", &[key.into()])?.text();
        let owner = owner.split(' ').next().unwrap_or_default();
        if owner.is_empty() {
            return self.keep(database, &Mark { key: key.to_owned(), ..Mark::default() });
        }
        if owner == self.name {
            return Ok(());
        }
        let sql = "SELECT file FROM weir_loads WHERE mark LIKE $1 ORDER BY file";
        let files = texts(database, sql, &[format!("{owner} %").as_str().into()])?;
        let words = format!(
            "{key} is part of an import that was interrupted; give that one again first, of {}, or this file another name",
            files.join(", ")
        );
        Err(Error::Database(words))
    }

    /// The checkpoint of `key`.
    pub(crate) fn mark(&self, database: &mut Database, key: &str) -> Result<Mark, Error> {
        let sql = "SELECT mark, bytes, line, objects FROM weir_loads WHERE file = $1";
        let rows = database.query(sql, &[key.into()], 4)?;
        let Some(row) = rows.first() else { return Ok(Mark { key: key.to_owned(), ..Mark::default() }) };
        let mark = row[0].text();
        let mut words = mark.split(' ').skip(1);
        let sum = words.next().and_then(|it| it.parse().ok()).unwrap_or_default();
        let bytes = words.next().and_then(|it| it.parse().ok());
        let reached = Reached { offset: row[1].int() as u64, line: row[2].int() as u64, sum };
        let mut next = || words.next().and_then(|it| it.parse().ok()).unwrap_or_default();
        let count = Count {
            objects: row[3].int() as u64,
            pairs: next(),
            objects_refused: next(),
            pairs_refused: next(),
            edges_refused: next(),
            statements_refused: next(),
            facets_left_out: next(),
        };
        Ok(Mark {
            key: key.to_owned(),
            reached,
            count,
            is_done: bytes.is_some(),
            bytes: bytes.unwrap_or_default(),
        })
    }

    /// Writes how far a file is loaded.
    pub(crate) fn keep(&self, database: &mut Database, mark: &Mark) -> Result<(), Error> {
        let sql = "INSERT INTO weir_loads (file, mark, bytes, line, objects) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (file) \
                   DO UPDATE SET mark = excluded.mark, bytes = excluded.bytes, line = excluded.line, objects = excluded.objects";
        let bytes = if mark.is_done { mark.bytes.to_string() } else { "-".into() };
        let it = mark.count;
        let counts = [
            it.pairs,
            it.objects_refused,
            it.pairs_refused,
            it.edges_refused,
            it.statements_refused,
            it.facets_left_out,
        ];
        let counts = counts.map(|it| it.to_string()).join(" ");
        let values = [
            Value::from(mark.key.as_str()),
            format!("{} {} {bytes} {counts}", self.name, mark.reached.sum).as_str().into(),
            (mark.reached.offset as i64).into(),
            (mark.reached.line as i64).into(),
            (it.objects as i64).into(),
        ];
        database.execute(sql, &values).map(drop)
    }

    /// Forgets how far its files are loaded, which are loaded now.
    pub(crate) fn end(&self, database: &mut Database) -> Result<(), Error> {
        database.begin()?;
        let marks = [format!("{} %", self.name).as_str().into()];
        let ended = database
            .execute("DELETE FROM weir_loads WHERE mark LIKE $1", &marks)
            .and_then(|_| database.execute(&format!("DROP TABLE {}", self.edges), &[]))
            .and_then(|_| database.commit());
        if ended.is_err() {
            database.rollback();
        }
        ended
    }
}
