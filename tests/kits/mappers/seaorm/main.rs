//! Writes and reads tables with every column type of SeaORM.
//!
//! The list of types is SeaORM's own: one without a column ends the program.

use sea_orm::entity::prelude::*;
use mac_address::MacAddress;
use sea_orm::{ConnectionTrait, Database, DbBackend, DbErr, Iterable, QueryOrder, Schema, Set};
use std::str::FromStr;

/// Types without a column, and why.
const APART: [&str; 8] = [
    // A type of MySQL.
    "Year",
    // No Rust type has values of them.
    "Interval", "Bit", "VarBit", "Money", "LTree",
    // A type of an extension that the server of this kit does not have.
    "Vector",
    // Written by hand.
    "Custom",
];
/// Types of PostgreSQL alone, which are in a table of their own.
const OF_POSTGRES: [&str; 4] = ["Array", "Cidr", "Inet", "MacAddr"];

#[derive(Clone, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Enum", enum_name = "color")]
pub enum Color {
    #[sea_orm(string_value = "red")]
    Red,
    #[sea_orm(string_value = "dark blue")]
    DarkBlue,
}

mod everything {
    use super::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "everything")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i32,
        #[sea_orm(column_type = "Char(Some(6))")]
        pub char: Option<String>,
        pub string: Option<String>,
        #[sea_orm(column_type = "Text", unique)]
        pub text: Option<String>,
        #[sea_orm(column_type = "Blob")]
        pub blob: Option<Vec<u8>>,
        // An `i8` is the type `"char"` to SQLx, which PostgreSQL takes for no number.
        #[sea_orm(column_type = "TinyInteger")]
        pub tiny_integer: Option<i16>,
        pub small_integer: Option<i16>,
        pub integer: Option<i32>,
        pub big_integer: Option<i64>,
        pub float: Option<f32>,
        pub double: Option<f64>,
        #[sea_orm(column_type = "Decimal(Some((20, 6)))")]
        pub decimal: Option<Decimal>,
        #[sea_orm(column_type = "DateTime")]
        pub date_time: Option<DateTime>,
        #[sea_orm(column_type = "Timestamp")]
        pub timestamp: Option<DateTime>,
        #[sea_orm(column_type = "TimestampWithTimeZone")]
        pub timestamp_with_time_zone: Option<DateTimeUtc>,
        pub time: Option<Time>,
        pub date: Option<Date>,
        #[sea_orm(column_type = "Binary(20)")]
        pub binary: Option<Vec<u8>>,
        #[sea_orm(column_type = "VarBinary(StringLen::N(20))")]
        pub var_binary: Option<Vec<u8>>,
        pub boolean: Option<bool>,
        pub json: Option<Json>,
        #[sea_orm(column_type = "JsonBinary")]
        pub json_binary: Option<Json>,
        pub uuid: Option<Uuid>,
        pub color: Option<Color>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}

/// Numbers without a sign, which PostgreSQL does not have.
mod unsigned {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "unsigned")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub left: i32,
        #[sea_orm(primary_key, auto_increment = false)]
        pub right: String,
        #[sea_orm(column_type = "TinyUnsigned")]
        pub tiny_unsigned: Option<i16>,
        #[sea_orm(column_type = "SmallUnsigned")]
        pub small_unsigned: Option<i32>,
        #[sea_orm(column_type = "Unsigned")]
        pub unsigned: Option<i64>,
        #[sea_orm(column_type = "BigUnsigned")]
        pub big_unsigned: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}

mod of_postgres {
    use super::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "of_postgres")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i32,
        pub array: Option<Vec<i32>>,
        #[sea_orm(column_type = "Cidr")]
        pub cidr: Option<IpNetwork>,
        #[sea_orm(column_type = "Inet")]
        pub inet: Option<IpNetwork>,
        #[sea_orm(column_type = "MacAddr")]
        pub mac_addr: Option<MacAddress>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}

fn name_of(ty: &ColumnType) -> String {
    let text = format!("{ty:?}");
    text.split(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
}

fn check_types() {
    let mut used: Vec<String> = everything::Column::iter().map(|it| name_of(it.def().get_column_type())).collect();
    used.extend(unsigned::Column::iter().map(|it| name_of(it.def().get_column_type())));
    used.extend(of_postgres::Column::iter().map(|it| name_of(it.def().get_column_type())));
    assert!(OF_POSTGRES.iter().all(|it| used.iter().any(|used| used == it)), "{used:?}");
    let known = std::env::var("KNOWN").expect("run.sh tells the types");
    let missing: Vec<&str> =
        known.split_whitespace().filter(|it| !APART.contains(it) && !used.iter().any(|used| used == it)).collect();
    assert!(known.contains("BigInteger") && missing.is_empty(), "types without a column: {missing:?} of {known}");
}

async fn write(db: &DatabaseConnection) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    let schema = Schema::new(backend);
    let is_postgres = backend == DbBackend::Postgres;
    if is_postgres {
        for statement in schema.create_enum_from_entity(everything::Entity) {
            db.execute(&statement).await?;
        }
        db.execute(&schema.create_table_from_entity(of_postgres::Entity)).await?;
    }
    db.execute(&schema.create_table_from_entity(everything::Entity)).await?;
    db.execute(&schema.create_table_from_entity(unsigned::Entity)).await?;
    let moment: DateTime = "2024-02-29T23:59:59.123456".parse().expect("a moment");
    let uuid = Uuid::from_str("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001").expect("a key");
    let first = everything::ActiveModel {
        char: Set(Some("sixsix".to_owned())),
        string: Set(Some("Straße, 東京".to_owned())),
        text: Set(Some("t1".to_owned())),
        blob: Set(Some(vec![0, 255, 65])),
        tiny_integer: Set(Some(-128)),
        small_integer: Set(Some(-32768)),
        integer: Set(Some(i32::MAX)),
        big_integer: Set(Some(i64::MAX)),
        float: Set(Some(0.5)),
        double: Set(Some(0.1 + 0.2)),
        decimal: Set(Some(Decimal::from_str("12345678.123456").expect("a number"))),
        date_time: Set(Some(moment)),
        timestamp: Set(Some(moment)),
        timestamp_with_time_zone: Set(Some(moment.and_utc())),
        time: Set(Some(moment.time())),
        date: Set(Some(moment.date())),
        binary: Set(Some(vec![1; 20])),
        var_binary: Set(Some(vec![7])),
        boolean: Set(Some(true)),
        json: Set(Some(Json::from_str(r#"{"a": [1, 2.5, null]}"#).expect("JSON"))),
        json_binary: Set(Some(Json::from_str(r#"{"b": {"c": true}}"#).expect("JSON"))),
        uuid: Set(Some(uuid)),
        color: Set(Some(Color::Red)),
        ..Default::default()
    };
    let second = everything::ActiveModel {
        text: Set(Some(String::new())),
        blob: Set(Some(Vec::new())),
        big_integer: Set(Some(-1)),
        double: Set(Some(1e300)),
        decimal: Set(Some(Decimal::from_str("-0.25").expect("a number"))),
        timestamp_with_time_zone: Set(Some(DateTimeUtc::UNIX_EPOCH)),
        boolean: Set(Some(false)),
        json: Set(Some(Json::Array(Vec::new()))),
        uuid: Set(Some(Uuid::from_u128(7))),
        color: Set(Some(Color::DarkBlue)),
        ..Default::default()
    };
    for row in [first, second, everything::ActiveModel { string: Set(None), ..Default::default() }] {
        row.insert(db).await?;
    }
    for (right, big) in [("a", Some(i64::MAX)), ("b", None)] {
        let row = unsigned::ActiveModel {
            left: Set(1),
            right: Set(right.to_owned()),
            // PostgreSQL has no numbers without a sign: these are its usual ones.
            tiny_unsigned: Set(Some(255)),
            small_unsigned: Set(Some(if is_postgres { 32767 } else { 65535 })),
            unsigned: Set(Some(i64::from(if is_postgres { i32::MAX as u32 } else { u32::MAX }))),
            big_unsigned: Set(big),
        };
        row.insert(db).await?;
    }
    if is_postgres {
        let row = of_postgres::ActiveModel {
            array: Set(Some(vec![1, 2])),
            cidr: Set(Some("10.0.0.0/8".parse().expect("a network"))),
            inet: Set(Some("2001:db8::1/64".parse().expect("an address"))),
            mac_addr: Set(Some(MacAddress::new([8, 0, 0x2b, 1, 2, 3]))),
            ..Default::default()
        };
        row.insert(db).await?;
    }
    Ok(())
}

async fn read(db: &DatabaseConnection) -> Result<(), DbErr> {
    for row in everything::Entity::find().order_by_asc(everything::Column::Id).all(db).await? {
        println!("{row:?}");
    }
    for row in unsigned::Entity::find().order_by_asc(unsigned::Column::Right).all(db).await? {
        println!("{row:?}");
    }
    if db.get_database_backend() == DbBackend::Postgres {
        for row in of_postgres::Entity::find().all(db).await? {
            println!("{row:?}");
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), DbErr> {
    check_types();
    let arguments: Vec<String> = std::env::args().collect();
    let address = match arguments[2].strip_prefix("sqlite:") {
        Some(path) => format!("sqlite://{path}?mode=rwc"),
        None => arguments[2].clone(),
    };
    let db = Database::connect(&address).await?;
    if arguments[1] == "write" { write(&db).await } else { read(&db).await }
}
