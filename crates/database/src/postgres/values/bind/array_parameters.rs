//! Lists on their way in: array literals of values that stand in a list, or apart.

use super::{Dimension, KEY, Reading, integer, is_null};
use crate::exec::bindings::{Found, Given, Refused};
use crate::postgres::values::decode::delimiter;
use crate::postgres::values::json_literal;
use weir_engine::source::Protocol;
use weir_language::json::Json;
use weir_language::value::Node;
use weir_postgres::statement::Buffer;
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::postgres_types::{Kind, oid};
use weir_relational::plan::{Parameter, Reader};

/// Reads an item of a list of numbers; `None` is left out.
pub(super) type ReadNumber<'b, 'r> = dyn Fn(Found<'r>) -> Result<Option<i64>, Refused> + 'b;

impl<'r> Reading<'_, 'r> {
    /// A list that a column's value is looked for in.
    pub(super) fn list(
        &self,
        found: Found<'_>,
        ty: &ColumnType,
        oid: u32,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        if let Found::Text(text) = found {
            return self.cast(text, out);
        }
        let Found::Given(list) = found else { return self.value(found, ty, oid, out) };
        self.items(list, ty, self.element(ty, oid), Dimension::None, out)
    }

    /// The number of the type of the items of a list that is bound in type `oid`; 0 where it is not known.
    fn element(&self, ty: &ColumnType, oid: u32) -> u32 {
        match (ty.element(), self.types.by_oid(oid).map(|it| &it.kind)) {
            // PostgreSQL has no array of arrays: they travel as texts in the notation of the inner array's type.
            (Some(of), _) => self.array_of(of),
            (None, Some(Kind::Array { element })) => self.types.base(*element),
            (None, Some(_) | None) => 0,
        }
    }

    /// Writes separate parameters as one array.
    pub(super) fn gather_list(
        &self,
        values: &'r [Parameter],
        ty: &ColumnType,
        oid: u32,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        let element = self.element(ty, oid);
        let mut item = Buffer::new();
        out.push(b'{');
        for parameter in values {
            let reading = Reading { parameter, ..*self };
            let bindings = self.bindings;
            let found = self.bindings.find(parameter, KEY);
            match parameter.reader {
                Reader::Ids => reading.push_numbers(found, &|it| Ok(bindings.id(it)), out)?,
                Reader::Instant => {
                    reading.push_numbers(found, &|it| bindings.instant(parameter, it).map(Some), out)?;
                }
                _ => {
                    item.clear();
                    reading.value(found, ty, element, &mut item)?;
                    if out.last() != Some(&b'{') {
                        out.push(delimiter(self.types, element));
                    }
                    json_literal::quote(&item, out);
                }
            }
        }
        out.push(b'}');
        Ok(())
    }

    pub(super) fn items(
        &self,
        list: Given<'_>,
        ty: &ColumnType,
        element: u32,
        dimension: Dimension,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        let mut item = Buffer::new();
        out.push(b'{');
        for (at, found) in self.bindings.items(list, KEY).enumerate() {
            if at != 0 {
                out.push(delimiter(self.types, element));
            }
            if is_null(found) {
                if dimension == Dimension::None {
                    let message = "unexpected null value in a list".into();
                    return self.bindings.refuse(
                        self.parameter,
                        "BAD_USER_INPUT",
                        "validation-failed",
                        message,
                    );
                }
                out.extend_from_slice(b"NULL");
                continue;
            }
            if let (Found::Given(deeper), Dimension::Of(number)) = (found, dimension)
                && deeper.is_list()
            {
                if number == json_literal::DIMENSIONS_MAX {
                    return self.refuse(json_literal::TOO_MANY_DIMENSIONS.into());
                }
                self.items(deeper, ty, element, Dimension::Of(number + 1), out)?;
                continue;
            }
            item.clear();
            if dimension == Dimension::None || !self.document_in_text(found, element, &mut item)? {
                self.value(found, ty, element, &mut item)?;
            }
            json_literal::quote(&item, out);
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends the text that stands for an object or a list in an array of documents, as in Hasura; false of anything else. Other texts
    /// stay what they are, so that an item that was answered finds its row.
    fn document_in_text(&self, found: Found<'_>, element: u32, out: &mut Buffer) -> Result<bool, Refused> {
        let Found::Given(given) = found else { return Ok(false) };
        let (Node::Json(span), Protocol::Hasura, oid::JSON | oid::JSONB) =
            (given.node(), self.bindings.protocol, element)
        else {
            return Ok(false);
        };
        let json = Json::parse(given.str(span).as_bytes(), 0).ok();
        let Some(text) = json.as_ref().and_then(|it| it.root().as_str()) else { return Ok(false) };
        if !text.trim_start().starts_with(['{', '[']) {
            return Ok(false);
        }
        self.bindings.check_text(self.parameter, &text)?;
        out.extend_from_slice(text.as_bytes());
        Ok(true)
    }

    /// A list of numbers, without those that `read` leaves out.
    pub(super) fn numbers(
        &self,
        found: Found<'r>,
        read: &ReadNumber<'_, 'r>,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        if let Found::Shown(ids) = found {
            ids_array(ids, out);
            return Ok(());
        }
        out.push(b'{');
        self.push_numbers(found, read, out)?;
        out.push(b'}');
        Ok(())
    }

    /// Appends numbers to an array that is open.
    fn push_numbers(
        &self,
        found: Found<'r>,
        read: &ReadNumber<'_, 'r>,
        out: &mut Buffer,
    ) -> Result<(), Refused> {
        let mut push = |item| -> Result<(), Refused> {
            if let Some(number) = read(item)? {
                out.extend_from_slice(if out.last() == Some(&b'{') { b"" } else { b"," });
                integer(number, out);
            }
            Ok(())
        };
        match found {
            Found::Given(list) => self.bindings.items(list, KEY).try_for_each(push),
            Found::Key(..) | Found::Shown(_) | Found::Text(_) | Found::Above => push(found),
        }
    }
}

/// Numbers as an array.
pub(crate) fn ids_array(ids: &[i64], out: &mut Buffer) {
    out.push(b'{');
    for (at, id) in ids.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        integer(*id, out);
    }
    out.push(b'}');
}
