//! Keys of parents as Rust values: read from the columns that the engine gathered.

use std::sync::Arc;
use weir_engine::rows::{Column, Data};

/// A Rust value of one or several key columns. [`keyed`](crate::keyed) has an example.
pub trait KeyRow: Sized {
    /// The number of columns.
    const COLUMNS: usize;
    /// The key at `row`; `None` if it has another type.
    fn read(columns: &[Column], row: usize) -> Option<Self>;
}

/// The text at `row`.
fn text(columns: &[Column], row: usize) -> Option<&str> {
    match &columns.first()?.data {
        Data::Text(texts) | Data::Json(texts) => std::str::from_utf8(texts.find(row)?).ok(),
        _ => None,
    }
}

macro_rules! single {
    ($($rust:ty: |$columns:ident, $row:ident| $read:expr;)*) => { $(
        impl KeyRow for $rust {
            const COLUMNS: usize = 1;
            fn read($columns: &[Column], $row: usize) -> Option<Self> {
                $read
            }
        }
    )* };
}
single! {
    i64: |columns, row| match &columns.first()?.data {
        Data::Int(values) => values.get(row).copied(),
        _ => text(columns, row)?.parse().ok(),
    };
    i32: |columns, row| i32::try_from(i64::read(columns, row)?).ok();
    bool: |columns, row| match &columns.first()?.data {
        Data::Bool(values) => values.get(row).copied(),
        _ => None,
    };
    String: |columns, row| text(columns, row).map(str::to_owned);
    Arc<str>: |columns, row| text(columns, row).map(Arc::from);
}

macro_rules! several {
    ($($len:literal: $($name:ident $at:literal),*;)*) => { $(
        impl<$($name: KeyRow),*> KeyRow for ($($name,)*) {
            const COLUMNS: usize = $len;
            fn read(columns: &[Column], row: usize) -> Option<Self> {
                Some(($($name::read(columns.get($at..)?, row)?,)*))
            }
        }
    )* };
}
several! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
}
