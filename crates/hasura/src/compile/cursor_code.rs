//! Texts that are made of rows: cursors and identifiers, as JSON whose values the writer fills in.
//!
//! Blanks stand where PostgreSQL's `json_build_object` and `json_build_array` put them, so that texts are those of Hasura.

use super::keyset::Term;
use super::{Compiler, Row};
use weir_engine::write::out::Out;
use weir_relational::catalog::TableId;
use weir_relational::plan::{Code, CodePiece, Expr, MemberKind};

/// The code of cursors: column `i` of the rows is the value of term `i`.
pub(super) fn cursor(terms: &[Term]) -> Code {
    let mut code = Writing::default();
    let all: Vec<(usize, &[Box<str>])> = terms.iter().enumerate().map(|(at, it)| (at, &*it.path)).collect();
    code.object(&all, terms);
    code.finish()
}

#[derive(Default)]
struct Writing {
    code: Code,
    text: String,
}

impl Writing {
    /// An object of the values at the rest of their paths. Recurses as deep as the paths are long.
    fn object(&mut self, of: &[(usize, &[Box<str>])], terms: &[Term]) {
        let mut known: Vec<&str> = Vec::new();
        for (at, path) in of {
            let Some(key) = path.first() else { continue };
            if known.contains(&key.as_ref()) {
                continue;
            }
            self.text.push_str(if known.is_empty() { "{" } else { ", " });
            known.push(key);
            self.string(key);
            self.text.push_str(" : ");
            let same = of.iter().filter(|it| it.1.first() == Some(key));
            let below: Vec<(usize, &[Box<str>])> = same.map(|it| (it.0, &it.1[1..])).collect();
            match path.len() {
                1 => self.value(*at as u16, terms[*at].cell),
                _ => self.object(&below, terms),
            }
        }
        self.text.push('}');
    }

    fn value(&mut self, column: u16, cell: weir_relational::catalog::facts::Cell) {
        self.code.pieces.push(CodePiece::Text(std::mem::take(&mut self.text).into()));
        self.code.pieces.push(CodePiece::Value { column, cell });
    }

    fn string(&mut self, text: &str) {
        let mut out = Out::default();
        out.string(text);
        self.text.push_str(&String::from_utf8_lossy(out.bytes()));
    }

    fn finish(mut self) -> Code {
        self.code.pieces.push(CodePiece::Text(self.text.into()));
        self.code
    }
}

impl Compiler<'_> {
    /// `id` of a row.
    pub(super) fn identifier(&mut self, table: TableId, row: &mut Row) -> MemberKind {
        let of = self.api.model.relations.catalog.table(table);
        let mut code = Writing::default();
        code.text.push_str("[1, ");
        code.string(&of.schema);
        code.text.push_str(", ");
        code.string(&of.name);
        for &column in of.primary_key.iter().flat_map(|it| &it.columns) {
            code.text.push_str(", ");
            code.value(row.column(Expr::Column(column)), of.column(column).ty.facts().cell);
        }
        code.text.push(']');
        self.plan.codes.push(code.finish());
        MemberKind::Coded(self.plan.codes.len() as u32 - 1)
    }
}
