//! Converts values of earlier store formats to the current one.
//!
//! Format 1 kept a `DateTime` as it was given. Since format 2 its normal text is kept, which answers give. Since format 3 indexes of
//! words hold them in the form in which they are compared.
//!
//! **Invariant:** a part of the transaction of a migration. Points in time stay as they are.
//!
//! **Cost:** every DateTime is read once, some thousand at a time; one statement writes those of a page.

use super::plan::Plan;
use crate::layout::{self, Storage};
use crate::model::{FieldId, TypeKind};
use crate::store::database::{Database, Value};
use crate::store::ddl::quote_identifier;
use crate::store::{Error, Types, versions};
use serde_json::{Map, Value as Json};
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::values::instant;

/// Since this format a DateTime is normal.
const MOMENTS_FORMAT: i64 = 2;

/// Values read at a time.
const PAGE_ROWS: i64 = 5000;

/// Adds the upgrade to the plan of a store of an earlier format.
pub(in crate::store) fn announce(format: i64, plan: &mut Plan) {
    (plan.is_nothing, plan.upgrades) = (false, Some(format));
    if format < MOMENTS_FORMAT {
        let words = "every DateTime is stored as it is answered: `2003` as `2003-01-01T00:00:00Z`";
        plan.changes.push(words.into());
    }
}

/// Rewrites all values of earlier formats.
pub(super) fn values(database: &mut Database, types: &Types, format: i64) -> Result<(), Error> {
    if format < MOMENTS_FORMAT {
        upgrade_moments(database, types)?;
    }
    database.execute("UPDATE weir_store SET format = $1", &[versions::FORMAT.into()]).map(drop)
}

fn upgrade_moments(database: &mut Database, types: &Types) -> Result<(), Error> {
    for (at, storage) in types.layout.fields.iter().enumerate() {
        let owner = types.model.field(FieldId(at as u32)).owner;
        let is_stored = types.model.ty(owner).kind == TypeKind::Object;
        match *storage {
            Storage::Instant { text, .. } if is_stored => {
                let table = types.layout.tables[owner.index()];
                let id = types.layout.ids[owner.index()];
                Moments::new(types, table, id, text, None).upgrade(database)?;
            }
            Storage::Values { table, owner, place, value, at: Some(_), .. } => {
                Moments::new(types, table, place, value, Some(owner)).upgrade(database)?;
            }
            Storage::Instant { .. }
            | Storage::Values { .. }
            | Storage::Id(_)
            | Storage::Column(_)
            | Storage::Point { .. }
            | Storage::Shape { .. }
            | Storage::ToOne { .. }
            | Storage::ToOneBack { .. }
            | Storage::ToMany { .. }
            | Storage::Join { .. } => {}
        }
    }
    Ok(())
}

/// A column of texts of DateTimes.
struct Moments {
    table: String,
    key: String,
    text: String,
    /// The column of the object whose list it is: a list holds a text once.
    owner: Option<String>,
    kind: layout::Database,
}

impl Moments {
    fn new(types: &Types, table: TableId, key: ColumnId, text: ColumnId, owner: Option<ColumnId>) -> Self {
        let table = types.layout.relations.catalog.table(table);
        let name = |column: ColumnId| quote_identifier(&table.column(column).name);
        let key = name(key);
        let text = name(text);
        let owner = owner.map(name);
        Self { table: quote_identifier(&table.name), key, text, owner, kind: types.kind }
    }

    fn upgrade(&self, database: &mut Database) -> Result<(), Error> {
        let Self { table, key, text, .. } = self;
        let page = format!(
            "SELECT {key}, {text} FROM {table} WHERE {key} > $1 AND {text} IS NOT NULL ORDER BY {key} LIMIT {PAGE_ROWS}"
        );
        let mut last = i64::MIN;
        loop {
            let rows = database.query(&page, &[last.into()], 2)?;
            let Some(end) = rows.last() else { return Ok(()) };
            last = end[0].int();
            let mut normal = Map::new();
            for row in &rows {
                let key = row[0].int();
                let text = row[1].text();
                if let Some(moment) = instant::normal(&text).filter(|it| *it != text) {
                    normal.insert(key.to_string(), Json::from(moment.into_owned()));
                }
            }
            if !normal.is_empty() {
                self.write(database, normal)?;
            }
        }
    }

    fn write(&self, database: &mut Database, normal: Map<String, Json>) -> Result<(), Error> {
        let Self { table, key, text, owner, kind } = self;
        if let Some(owner) = owner {
            return self.write_items(database, owner, normal);
        }
        let members = kind.store_dialect().members();
        let sql = format!(
            "UPDATE {table} SET {text} = it.value FROM {members} AS it WHERE {table}.{key} = CAST(it.key AS bigint)"
        );
        database.execute(&sql, &[Value::Text(Json::Object(normal).to_string())])?;
        Ok(())
    }

    /// Writes items one by one and drops those that become equal to another item of their list.
    fn write_items(
        &self,
        database: &mut Database,
        owner: &str,
        normal: Map<String, Json>,
    ) -> Result<(), Error> {
        let Self { table, key, text, .. } = self;
        let set = format!(
            "UPDATE {table} SET {text} = $1 WHERE {key} = $2 AND NOT EXISTS \
             (SELECT 1 FROM {table} AS other WHERE other.{owner} = {table}.{owner} AND other.{text} = $1)"
        );
        let drop = format!("DELETE FROM {table} WHERE {key} = $1");
        for (place, moment) in normal {
            let place = Value::Int(place.parse().unwrap_or_default());
            let moment = Value::from(moment.as_str().unwrap_or_default());
            if database.execute(&set, &[moment, place.clone()])? == 0 {
                database.execute(&drop, &[place])?;
            }
        }
        Ok(())
    }
}
