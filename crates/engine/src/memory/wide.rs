//! Rust's leaves that GraphQL has no type of its own for: integers of the machine's width or without sign, and single characters.
//!
//! **Invariant:** no digit is lost: what an `Int` cannot hold is an error, and a scalar of wide integers gets all digits.

use super::binder::{Binder, Scope, Unbound};
use super::rust_answer::{Answer, Writer, leaves, write_wide};
use super::spot::Spot;
use crate::answer::rows::{Column, Data, Texts};
use crate::answer::write::fault::Fault;

impl Answer for u64 {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        i64::bind(binder, spot)
    }
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        match i64::try_from(*self) {
            Ok(value) => write_wide(value, spot, writer),
            Err(_) if spot.is_int(writer.bindings) => writer.fail(spot, Fault::WideInt((*self).into())),
            Err(_) => {
                writer.out.raw(self.to_string().as_bytes());
                true
            }
        }
    }
    fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let is_small = values.iter().flatten().all(|it| i64::try_from(**it).is_ok());
        if is_small || spot.is_int(scope.bindings) {
            // A number that does not fit is refused when the column is written.
            let small = |it: &u64| i64::try_from(*it).unwrap_or(i64::MAX);
            let values: Vec<Option<i64>> = values.iter().map(|it| it.map(small)).collect();
            let values: Vec<Option<&i64>> = values.iter().map(Option::as_ref).collect();
            return i64::column(&values, spot, scope);
        }
        let mut texts = Texts::default();
        let nulls = leaves(values, &0, |value| texts.push(value.to_string().as_bytes()));
        Column { nulls, data: Data::Json(texts), ..Column::default() }
    }
}

/// Integers of the machine's width behave like 64-bit integers.
macro_rules! of_machine {
    ($($rust:ty as $fixed:ty;)*) => { $(
        impl Answer for $rust {
            fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
                <$fixed>::bind(binder, spot)
            }
            fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
                (*self as $fixed).write(spot, writer)
            }
            fn column(values: &[Option<&Self>], spot: Spot<'_>, scope: Scope<'_>) -> Column {
                let values: Vec<Option<$fixed>> = values.iter().map(|it| it.map(|it| *it as $fixed)).collect();
                let values: Vec<Option<&$fixed>> = values.iter().map(Option::as_ref).collect();
                <$fixed>::column(&values, spot, scope)
            }
        }
    )* };
}
of_machine! {
    usize as u64;
    isize as i64;
}

impl Answer for char {
    fn bind(binder: &mut Binder<'_>, spot: Spot<'_>) -> Result<(), Unbound> {
        str::bind(binder, spot)
    }
    fn write(&self, spot: Spot<'_>, writer: &mut Writer<'_>) -> bool {
        self.encode_utf8(&mut [0; 4]).write(spot, writer)
    }
    fn column(values: &[Option<&Self>], _: Spot<'_>, _: Scope<'_>) -> Column {
        let mut texts = Texts::default();
        let nulls = leaves(values, &'\0', |it| texts.push(it.encode_utf8(&mut [0; 4]).as_bytes()));
        Column { nulls, data: Data::Text(texts), ..Column::default() }
    }
}
