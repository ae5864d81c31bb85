//! Names by the convention `graphql-default`: `insertBoatOne`, `BoatBoolExp`, `orderBy`.
//!
//! A name is cut at underscores into pieces; generated parts are pieces too. Types begin every piece with a capital, fields every piece
//! but the first. A custom name of a table is one piece, which stays as it is where it stands first.

/// The place of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// `BoatLog`.
    Type,
    /// `boatLog`.
    Field,
}

/// Pieces of `name`; underscores at its beginning stay with the first, as that of `_hidden`.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    let rest = name.trim_start_matches('_');
    let start = name.len() - rest.len();
    let end = rest.find('_').map_or(name.len(), |at| start + at);
    let (first, others) = name.split_at(end);
    std::iter::once(first).chain(others.split('_')).filter(|it| !it.is_empty())
}

/// Appends `piece` with a first letter that is a capital, or none.
fn push(out: &mut String, piece: &str, is_capital: bool) {
    let underscores = piece.len() - piece.trim_start_matches('_').len();
    out.push_str(&piece[..underscores]);
    let mut letters = piece[underscores..].chars();
    if let Some(first) = letters.next() {
        out.push(if is_capital { first.to_ascii_uppercase() } else { first.to_ascii_lowercase() });
    }
    out.push_str(letters.as_str());
}

/// Appends the pieces of `part`; the first of the name begins as `case` says.
pub(crate) fn push_part(out: &mut String, part: &str, case: Case) {
    let part = if out.is_empty() { part } else { part.trim_start_matches('_') };
    for piece in pieces(part) {
        let is_first = out.is_empty();
        push(out, piece, !is_first || case == Case::Type);
    }
}

/// Appends a name that is one piece: as it is where it is the first, else with a capital.
pub(crate) fn push_custom(out: &mut String, name: &str) {
    if out.is_empty() { out.push_str(name) } else { push(out, name, true) }
}

/// `name` as a field, an argument or a column.
pub(crate) fn field(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    push_part(&mut out, name, Case::Field);
    out
}

/// The custom name `name` and the pieces of `end`, as a field.
pub(crate) fn with_custom(name: &str, end: &str) -> String {
    let mut out = name.to_owned();
    push_part(&mut out, end, Case::Field);
    out
}

/// `name` as a type.
pub(crate) fn type_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    push_part(&mut out, name, Case::Type);
    out
}

/// `name` with a capital at its beginning.
pub(crate) fn capital(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    push(&mut out, name, true);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_underscores() {
        for (name, as_field, as_type) in [
            ("home_port", "homePort", "HomePort"),
            ("BOAT_LOG", "bOATLOG", "BOATLOG"),
            ("_hidden_one", "_hiddenOne", "_HiddenOne"),
            ("order_by", "orderBy", "OrderBy"),
            ("_is_null", "_isNull", "_IsNull"),
            ("_st_d_within", "_stDWithin", "_StDWithin"),
            ("a__b_", "aB", "AB"),
            ("id", "id", "Id"),
        ] {
            assert_eq!((field(name), type_name(name)), (as_field.to_owned(), as_type.to_owned()));
        }
    }

    #[test]
    fn a_custom_name_is_one_piece() {
        let parts = |before: &str, after: &str, case| {
            let mut out = String::new();
            push_part(&mut out, before, case);
            push_custom(&mut out, "boat_log");
            push_part(&mut out, after, case);
            out
        };
        assert_eq!(parts("", "_by_pk", Case::Field), "boat_logByPk");
        assert_eq!(parts("insert_", "_one", Case::Field), "insertBoat_logOne");
        assert_eq!(parts("", "_bool_exp", Case::Type), "boat_logBoolExp");
    }
}
