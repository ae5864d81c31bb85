//! Definitions as SQL text.

use crate::dialect::store::StoreDialect;
use crate::plan::ddl::{ColumnDefinition, Definition, Reference, TableDefinition, Value};
use crate::quoting::{all, literal, quote_identifier};

/// The statements of all of `definitions`, in their order.
pub fn render_all(dialect: &dyn StoreDialect, definitions: &[Definition]) -> Vec<String> {
    definitions.iter().flat_map(|it| render(dialect, it)).collect()
}

/// The statements of `definition`: none where a database has nothing to do.
pub fn render(dialect: &dyn StoreDialect, definition: &Definition) -> Vec<String> {
    let one = match definition {
        Definition::CreateTable(table) => create_table(dialect, table),
        Definition::AddReference { .. } if dialect.refers_inline() => return Vec::new(),
        Definition::AddReference { table, reference } => {
            let Reference { name, columns, .. } = reference;
            format!(
                "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) {}",
                quote_identifier(table),
                quote_identifier(name),
                all(columns),
                references(reference)
            )
        }
        Definition::AddColumn { table, column: added } => {
            format!("ALTER TABLE {} ADD COLUMN {}", quote_identifier(table), column(dialect, added))
        }
        Definition::DropTable(name) => format!("DROP TABLE {}{}", quote_identifier(name), dialect.drop_end()),
        Definition::RenameTable { from, to } => {
            format!("ALTER TABLE {} RENAME TO {}", quote_identifier(from), quote_identifier(to))
        }
        Definition::RenameColumn { table, from, to } => {
            format!(
                "ALTER TABLE {} RENAME COLUMN {} TO {}",
                quote_identifier(table),
                quote_identifier(from),
                quote_identifier(to)
            )
        }
        Definition::CreateView { name, members } => create_view(name, members),
        Definition::DropView(name) => format!("DROP VIEW IF EXISTS {}", quote_identifier(name)),
        Definition::CreateIndex(index) => return dialect.create_index(index, false),
        Definition::CreateIndexBeside(index) => return dialect.create_index(index, true),
        Definition::RestoreIndex(index) => return dialect.create_index(index, false).split_off(1),
        Definition::FillIndex(index) => {
            return dialect
                .fill_index(index)
                .iter()
                .map(|it| it.replace("$1", "-1").replace("$2", "-1"))
                .collect();
        }
        Definition::DropIndex(index) => return dialect.drop_index(index),
        Definition::Copy { into, columns, select } => {
            format!("INSERT INTO {} ({}) {select}", quote_identifier(into), all(columns))
        }
        Definition::SetAside { name, select } => {
            format!("CREATE TEMP TABLE {} AS {select}", quote_identifier(name))
        }
        Definition::ContinueIdentity { table, column } => {
            return dialect.continue_identity(table, column).into_iter().collect();
        }
        Definition::CheckReferences(table) => return dialect.check_references(table).into_iter().collect(),
        Definition::CreateNumbers(numbers) => return dialect.create_numbers(numbers).into_iter().collect(),
        Definition::Run(sql) => sql.clone(),
    };
    vec![one]
}

fn create_table(dialect: &dyn StoreDialect, table: &TableDefinition) -> String {
    let mut parts: Vec<String> =
        table.columns.iter().map(|it| format!("\n  {}", column(dialect, it))).collect();
    if !table.key.is_empty() {
        parts.push(format!("\n  PRIMARY KEY ({})", all(&table.key)));
    }
    format!(
        "CREATE TABLE {} ({}\n){}",
        quote_identifier(&table.name),
        parts.join(","),
        dialect.table_end(table)
    )
}

/// A column with its type and constraints.
fn column(dialect: &dyn StoreDialect, column: &ColumnDefinition) -> String {
    let mut text = format!("{} {}", quote_identifier(&column.name), column.ty);
    if column.is_key {
        text.push_str(" PRIMARY KEY");
    } else if !column.nullable {
        text.push_str(" NOT NULL");
    }
    if let Some(only) = column.only {
        text.push_str(&format!(" CHECK ({} = {only})", quote_identifier(&column.name)));
    }
    if let Some(source) = &column.source {
        text.push_str(&dialect.column_source(source));
    }
    if let Some(reference) = column.reference.as_ref().filter(|_| dialect.refers_inline()) {
        text.push(' ');
        text.push_str(&references(reference));
    }
    text
}

fn references(reference: &Reference) -> String {
    let Reference { table, to, .. } = reference;
    format!("REFERENCES {} ({}) DEFERRABLE INITIALLY DEFERRED", quote_identifier(table), all(to))
}

fn create_view(name: &str, members: &[(String, Vec<(Value, String)>)]) -> String {
    let value = |(of, name): &(Value, String)| {
        let of = match of {
            Value::Column(column) => quote_identifier(column),
            Value::Text(text) => literal(text),
        };
        format!("{of} AS {}", quote_identifier(name))
    };
    let select = |(table, values): &(String, Vec<(Value, String)>)| {
        let values: Vec<String> = values.iter().map(value).collect();
        format!("SELECT {} FROM {}", values.join(", "), quote_identifier(table))
    };
    let selects: Vec<String> = members.iter().map(select).collect();
    format!("CREATE VIEW {} AS\n{}", quote_identifier(name), selects.join("\nUNION ALL\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Database;
    use crate::plan::ddl::{ColumnSource, Index, IndexKind, Numbers};

    /// `definition` as each database writes it.
    fn check(definition: &Definition, sqlite: &[&str], postgres: &[&str]) {
        assert_eq!(render(Database::Sqlite.store_dialect(), definition), sqlite);
        assert_eq!(render(Database::Postgres.store_dialect(), definition), postgres);
    }

    #[test]
    fn a_reference_is_created_with_its_column_or_on_its_own() {
        let reference = Reference {
            name: "dish_cook".into(),
            columns: vec!["cook".into()],
            table: "Cook".into(),
            to: vec!["id".into()],
        };
        let numbers = Numbers { sequence: "ids", table: "store", column: "next" };
        let key = ColumnDefinition {
            source: Some(ColumnSource::Numbers(numbers)),
            ..ColumnDefinition::not_null("id", "bigint").key()
        };
        let cook = ColumnDefinition {
            reference: Some(reference.clone()),
            ..ColumnDefinition::optional("cook", "bigint")
        };
        let table = TableDefinition { name: "Dish".into(), columns: vec![key, cook], key: Vec::new() };
        check(
            &Definition::CreateTable(table),
            &[
                "CREATE TABLE \"Dish\" (\n  \"id\" bigint PRIMARY KEY,\n  \"cook\" bigint REFERENCES \"Cook\" (\"id\") \
               DEFERRABLE INITIALLY DEFERRED\n) STRICT",
            ],
            &[
                "CREATE TABLE \"Dish\" (\n  \"id\" bigint PRIMARY KEY DEFAULT nextval('ids'),\n  \"cook\" bigint\n)",
            ],
        );
        check(
            &Definition::AddReference { table: "Dish".into(), reference },
            &[],
            &[
                "ALTER TABLE \"Dish\" ADD CONSTRAINT \"dish_cook\" FOREIGN KEY (\"cook\") REFERENCES \"Cook\" (\"id\") \
               DEFERRABLE INITIALLY DEFERRED",
            ],
        );
    }

    #[test]
    fn an_index_of_words_is_a_table_with_triggers_or_an_index() {
        let index = Index {
            name: "Dish_name_terms".into(),
            table: "Dish".into(),
            key: Some("id".into()),
            columns: vec!["na\"me".into()],
            kind: IndexKind::Terms,
        };
        let create = Definition::CreateIndex(index.clone());
        let sqlite = render(Database::Sqlite.store_dialect(), &create);
        assert!(sqlite[0].starts_with("CREATE VIRTUAL TABLE \"Dish_name_terms\" USING fts5(\"na\"\"me\", "));
        assert_eq!(sqlite.len(), 4);
        assert_eq!(
            render(Database::Sqlite.store_dialect(), &Definition::RestoreIndex(index.clone())),
            sqlite[1..]
        );
        let postgres =
            render(Database::Postgres.store_dialect(), &Definition::CreateIndexBeside(index.clone()));
        assert!(
            postgres[0].starts_with("CREATE INDEX CONCURRENTLY \"Dish_name_terms\" ON \"Dish\" USING gin (")
        );
        check(
            &Definition::DropIndex(Index { kind: IndexKind::Tree, ..index }),
            &["DROP INDEX IF EXISTS \"Dish_name_terms\""],
            &["DROP INDEX IF EXISTS \"Dish_name_terms\""],
        );
    }
}
