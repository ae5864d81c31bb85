//! Writes shapes: a text of coordinates becomes the selected objects and lists.
//!
//! The text is read as often as it is asked for, level by level: an object of a shape is a part of the text, and its lists are
//! the items of that part.
//!
//! **Invariant:** a text that is no shape is a fault, never half an answer: the caller removes what was written.
//!
//! **Cost:** nothing is allocated; depth is that of the selection, four at the most.

use super::answer::Answer;
use super::typed_columns::{self, push_value};
use crate::exec::cell_value::{CellValue, Fault};
use weir_engine::rows::{Data, Table};
use weir_relational::plan::{Member, MemberKind, Plan, Run};

/// The text is no shape.
pub(crate) struct NoShape;

impl NoShape {
    /// The fault that clients receive.
    #[cold]
    pub(crate) fn fault() -> Fault {
        Fault { code: "INVALID_VALUE", message: "the stored text is no shape".into() }
    }
}

/// The items of a list, each as its text.
fn items(text: &[u8]) -> Result<impl Iterator<Item = &[u8]>, NoShape> {
    let text = text.trim_ascii();
    let inner = text.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")).ok_or(NoShape)?;
    let mut depth = 0_u32;
    let items = inner.split(move |byte| {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *byte == b',' && depth == 0
    });
    let is_empty = inner.trim_ascii().is_empty();
    Ok(items.skip(usize::from(is_empty)).map(<[u8]>::trim_ascii))
}

/// Number `at` of a point.
fn ordinate(point: &[u8], at: u16) -> Result<f64, NoShape> {
    let text = items(point)?.nth(usize::from(at)).ok_or(NoShape)?;
    let number = std::str::from_utf8(text).ok().and_then(|it| it.parse::<f64>().ok());
    number.filter(|it| it.is_finite()).ok_or(NoShape)
}

impl Answer<'_> {
    /// Writes the value of a member that is an object made of the coordinates in `text`; gives whether it could be.
    pub(crate) fn shape_of(&mut self, plan: &Plan, run: Run, text: &[u8], member: &Member) -> bool {
        let is_shape = self.shape(&plan.members, run, text).is_ok();
        if !is_shape {
            self.fail(member, NoShape::fault());
        }
        is_shape
    }

    /// Writes an object made of the coordinates in `text`.
    fn shape(&mut self, members: &[Member], run: Run, text: &[u8]) -> Result<(), NoShape> {
        self.out.open(b'{');
        for member in &members[run.range()] {
            let of = self.of(member);
            match member.kind {
                MemberKind::Ordinate(at) => {
                    self.out.member_float(&of.key, ordinate(text, at)?);
                }
                MemberKind::Items(below) => {
                    self.out.key(&of.key);
                    self.out.open(b'[');
                    for item in items(text)? {
                        self.shape(members, below, item)?;
                        self.out.comma();
                    }
                    self.out.close(b']');
                    self.out.comma();
                }
                _ => self.constant(of),
            }
        }
        self.out.close(b'}');
        Ok(())
    }
}

/// Appends an object made of the coordinates in `text` to the rows of `table`.
fn push(members: &[Member], run: Run, text: &[u8], table: &mut Table) -> Result<(), NoShape> {
    for (member, column) in members[run.range()].iter().zip(&mut table.columns) {
        match (&member.kind, &mut column.data) {
            _ if member.same_as.is_some() => {}
            (MemberKind::Ordinate(at), _) => {
                push_value(column, table.rows as usize, CellValue::Float(ordinate(text, *at)?));
            }
            (MemberKind::Items(below), Data::List { offsets, items: all }) => {
                if let Data::Object(table) = &mut all.data {
                    for item in items(text)? {
                        push(members, *below, item, table)?;
                    }
                }
                offsets.push(all.len() as u32);
            }
            _ => {}
        }
    }
    table.rows += 1;
    Ok(())
}

/// Pushes like [`push`], but leaves `table` unchanged if `text` is no shape: a scratch table is filled first.
pub(crate) fn push_whole(plan: &Plan, run: Run, text: &[u8], table: &mut Table) -> Result<(), NoShape> {
    push(&plan.members, run, text, &mut typed_columns::table(plan, run, &[]))?;
    push(&plan.members, run, text, table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::rows::Texts;

    fn member(kind: MemberKind) -> Member {
        Member { field: 0, same_as: None, copied: false, nullable: false, null_items: false, kind }
    }

    /// A ring of which latitudes are asked: the numbers that a table holds after `text`, or nothing.
    fn check(text: &str, expected: Option<&[&str]>) {
        let run = |start| Run { start, len: 1 };
        let members = vec![member(MemberKind::Items(run(1))), member(MemberKind::Ordinate(1))];
        let plan = Plan { members, ..Plan::default() };
        let mut table = typed_columns::table(&plan, run(0), &[]);
        let pushed = push_whole(&plan, run(0), text.as_bytes(), &mut table).is_ok();
        assert_eq!(pushed, expected.is_some(), "{text}");
        assert_eq!(table.rows, u32::from(pushed), "{text}");
        let Data::List { items, .. } = &table.columns[0].data else { panic!("a list") };
        let Data::Object(points) = &items.data else { panic!("points") };
        let Data::Json(Texts { bytes, .. }) = &points.columns[0].data else { panic!("numbers") };
        assert_eq!(String::from_utf8_lossy(bytes), expected.unwrap_or_default().concat(), "{text}");
    }

    #[test]
    fn a_ring_becomes_rows_of_points_and_what_is_none_leaves_nothing() {
        check("[[1,2],[3, -4.50] ,[5,1e2]]", Some(&["2", "-4.5", "100"]));
        check(" [ ] ", Some(&[]));
        for text in ["", "[[1,2],[3]]", "[[1,2],[3,x]]", "[[1,2],3]", "[[1,2]", "null"] {
            check(text, None);
        }
    }
}
