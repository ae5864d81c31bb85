//! Columns of many rows as arrays of PostgreSQL's text form.

use weir_postgres::Parameters;
use weir_postgres::array_literal::quote;

/// Adds `values` as one array; `None` is null.
pub(super) fn push_array<'v>(parameters: &mut Parameters, values: impl Iterator<Item = Option<&'v str>>) {
    parameters.push_with(|out| {
        out.push(b'{');
        for (at, value) in values.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match value {
                Some(text) => quote(text.as_bytes(), out),
                None => out.extend_from_slice(b"NULL"),
            }
        }
        out.push(b'}');
    });
}

/// Adds `values` as one array of what their texts say.
pub(super) fn push_texts(parameters: &mut Parameters, values: impl Iterator<Item = String>) {
    let values: Vec<String> = values.collect();
    push_array(parameters, values.iter().map(|it| Some(it.as_str())));
}
