//! SQL of PostgreSQL and of compatible databases.
//!
//! Parameters travel as text in a declared type, so that strings are taken for every type and digits stay as they are:
//! the types of the columns decide, found by their numbers.

use super::flavour::Flavour;
use super::{CHECK_FAILED, Dialect, Floats, Place, Side, Usual};
use crate::catalog::postgres_types::{Kind, Type, Types, oid};
use crate::catalog::{ColumnType, PREFIX_CHARACTERS};
use crate::plan::comparison_table::Takes;
use crate::plan::operators::{Aggregation, Cast, Comparison, Measure, Tree};
use crate::plan::write::Operator;
use crate::plan::{Order, Reader};
use crate::values::text_search::Words;

/// The planner tries in which order related rows are best joined. For 100 relationships side by side it took over a minute, and
/// takes 50 ms when all but so many are looked for row by row.
const SEMI_JOINS_MAX: u32 = 4;

/// PostgreSQL 13 or later.
#[derive(Clone, Debug)]
pub struct Postgres {
    /// Compatible database.
    pub flavour: Flavour,
    /// The types of the database.
    pub types: Types,
    /// Output format of floating point numbers: elsewhere a mean is one, here it may be a decimal.
    pub floats: Floats,
}

impl Postgres {
    /// True if `function` is a mean of integers that is returned as a float: the nearest to the exact sum, divided once.
    fn is_mean(&self, function: Aggregation, base: u32) -> bool {
        let is_integer = matches!(base, oid::INT2 | oid::INT4 | oid::INT8);
        self.floats == Floats::AsElsewhere && function == Aggregation::Avg && is_integer
    }

    /// The number of the type of arrays of `element`, if there is one.
    pub fn list_of(&self, element: u32) -> Option<u32> {
        self.types.by_oid(element).map(|it| it.array_oid).filter(|&it| it != 0)
    }

    /// The number of the type in which keys of parents are bound, if not as texts: `unnest` takes composites apart.
    pub fn list_of_keys(&self, key: u32) -> Option<u32> {
        let kind = self.types.by_oid(self.types.base(key)).map(|it| &it.kind);
        self.list_of(key).filter(|_| !matches!(kind, Some(Kind::Composite { .. })))
    }

    /// The number of the type in which many of `element` are bound.
    pub fn array_of(&self, element: u32) -> u32 {
        self.list_of(element).unwrap_or(oid::TEXT_ARRAY)
    }

    /// The type's name as a cast writes it.
    pub fn cast_name(&self, ty: u32) -> &str {
        self.types.by_oid(ty).map_or("text", |it| &it.cast)
    }

    /// Many values of the type `base`, which are bound as `placeholder`.
    pub(super) fn given_list(&self, placeholder: &str, base: u32) -> String {
        match self.shape(base) {
            Some(_) => {
                let item = self.input_form("v".to_owned(), base);
                format!("ARRAY(SELECT {item} FROM unnest({placeholder}) AS v)")
            }
            // PostgreSQL has no array of this type; the items are bound as an array of texts and cast.
            None if base != 0 && self.list_of(base).is_none() => {
                let item = self.cast_name(base);
                format!("SELECT v::{item} FROM unnest({placeholder}) AS v")
            }
            None => placeholder.to_owned(),
        }
    }

    /// A type of the same extension as the type `of`.
    pub(super) fn sibling_type(&self, of: u32, name: &str) -> Option<&Type> {
        self.types.by_oid(of).and_then(|it| self.types.find(&it.schema, name))
    }
}

impl Dialect for Postgres {
    fn table(&self, out: &mut String, schema: &str, name: &str) {
        // Always qualified: the meaning of a bare name depends on the session's search path.
        self.identifier(out, schema);
        out.push('.');
        self.identifier(out, name);
    }

    fn placeholder(&self, number: usize) -> String {
        format!("${number}")
    }

    fn page(&self, out: &mut String, limit: Option<&str>, offset: Option<&str>) {
        for (word, value) in [(" LIMIT ", limit), (" OFFSET ", offset)] {
            if let Some(value) = value {
                out.push_str(word);
                out.push_str(value);
            }
        }
    }

    fn direction(&self, out: &mut String, order: &Order) {
        out.push_str(if order.descending { " DESC" } else { "" });
        let usual =
            if self.flavour.abilities().nulls_are_largest { order.descending } else { !order.descending };
        if order.nullable && order.nulls_first != usual {
            out.push_str(if order.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
        }
    }

    fn compare(&self, out: &mut String, left: &str, by: Comparison, right: Side<'_>) {
        if *right.reader == Reader::Sequence {
            let [own, asked] = [left, right.placeholder].map(crate::values::text_search::stems_expression);
            return out.push_str(&format!("strpos({own}, {asked}) > 0"));
        }
        let base = self.types.base(right.ty);
        // Documents of type `json` have no order of their own.
        let document = format!("{left}::jsonb");
        let left = if base == oid::JSON { document.as_str() } else { left };
        if let Some(shape) = self.shape(base)
            && let Some(text) = self.compare_shapes(left, by, right.placeholder, shape)
        {
            return out.push_str(&text);
        }
        let single = self.input_form(right.placeholder.to_owned(), base);
        let value = &single;
        let list = self.given_list(right.placeholder, base);
        if self.types.abilities(base).is_same()
            && let Some(text) = same(left, by, value, &list)
        {
            return out.push_str(&text);
        }
        let tree = right.placeholder;
        out.push_str(&match by {
            Comparison::Eq => format!("{left} = {value}"),
            Comparison::Neq => format!("{left} <> {value}"),
            Comparison::Gt => format!("{left} > {value}"),
            Comparison::Gte => format!("{left} >= {value}"),
            Comparison::Lt => format!("{left} < {value}"),
            Comparison::Lte => format!("{left} <= {value}"),
            Comparison::In => format!("{left} = ANY({list})"),
            Comparison::Nin => format!("{left} <> ALL({list})"),
            Comparison::IsNull => format!("({left} IS NULL) = {}", right.placeholder),
            Comparison::Like => format!("{left} LIKE {value}"),
            Comparison::Nlike => format!("{left} NOT LIKE {value}"),
            Comparison::Ilike => format!("{left} ILIKE {value}"),
            Comparison::Nilike => format!("{left} NOT ILIKE {value}"),
            Comparison::Similar => format!("{left} SIMILAR TO {value}"),
            Comparison::Nsimilar => format!("{left} NOT SIMILAR TO {value}"),
            Comparison::Regex => format!("{left} ~ {value}"),
            Comparison::Nregex => format!("{left} !~ {value}"),
            Comparison::Iregex => format!("{left} ~* {value}"),
            Comparison::Niregex => format!("{left} !~* {value}"),
            Comparison::Contains => format!("{left} @> {value}"),
            Comparison::ContainedIn => format!("{left} <@ {value}"),
            Comparison::HasKey => format!("{left} ? {value}"),
            Comparison::HasKeysAny => format!("{left} ?| {value}"),
            Comparison::HasKeysAll => format!("{left} ?& {value}"),
            Comparison::Tree(Tree::Ancestor | Tree::AncestorAny) => format!("{left} @> {tree}"),
            Comparison::Tree(Tree::Descendant | Tree::DescendantAny) => format!("{left} <@ {tree}"),
            Comparison::Tree(Tree::Matches) => format!("{left} ~ {tree}"),
            Comparison::Tree(Tree::MatchesAny) => format!("{left} ? {tree}"),
            Comparison::Tree(Tree::MatchesFulltext) => format!("{left} @ {tree}"),
            Comparison::Spatial(by) => self.spatial(left, by, right.placeholder, base),
        });
    }

    fn judge_value(&self, by: Comparison, right: Side<'_>) -> Option<String> {
        let Side { placeholder, ty, .. } = right;
        let base = self.types.base(ty);
        let is_shape = self.shape(base).is_some();
        let judge = match by {
            // Words in a row are no pattern here.
            _ if *right.reader == Reader::Sequence => return None,
            Comparison::Regex | Comparison::Nregex | Comparison::Iregex | Comparison::Niregex => {
                format!("'' ~ {placeholder}")
            }
            Comparison::Similar | Comparison::Nsimilar => format!("'' SIMILAR TO {placeholder}"),
            Comparison::In | Comparison::Nin if is_shape => {
                format!(
                    "ARRAY(SELECT {} FROM unnest({placeholder}) AS v)",
                    self.input_form("v".to_owned(), base)
                )
            }
            // Texts of a type without arrays are read one by one.
            Comparison::In | Comparison::Nin if base != 0 && self.list_of(base).is_none() => {
                format!("(SELECT count(v::{}) FROM unnest({placeholder}) AS v)", self.cast_name(base))
            }
            _ if is_shape => self.input_form(placeholder.to_owned(), base),
            _ => return None,
        };
        self.flavour.abilities().judges.then_some(judge)
    }

    fn judge_measure_value(&self, by: Measure, at: usize, value: &str, ty: u32) -> Option<String> {
        let base = self.types.base(ty);
        let shape = match by.types().get(at)? {
            ColumnType::Geometry => self.plane(base),
            ColumnType::Geography => base,
            _ => return None,
        };
        self.flavour.abilities().judges.then(|| self.input_form(value.to_owned(), shape))
    }

    fn joins_conditions(&self) -> bool {
        true
    }

    fn prefix_condition(&self, out: &mut String, left: &str, by: Comparison, right: &str) {
        let to = match by {
            Comparison::In => {
                format!("ANY(ARRAY(SELECT left(v, {PREFIX_CHARACTERS}) FROM unnest({right}) AS v))")
            }
            _ => format!("left({right}, {PREFIX_CHARACTERS})"),
        };
        out.push_str(&format!("left({left}, {PREFIX_CHARACTERS}) = {to}"));
    }

    fn word_test(&self, out: &mut String, [_, text]: [&str; 2], _: &[Box<str>], kind: Words, words: &str) {
        match kind {
            Words::Plain | Words::Stems => {
                let vector = crate::values::text_search::vector(kind, text);
                let language = crate::values::text_search::language(kind);
                out.push_str(&format!("{vector} @@ to_tsquery('{language}', {words})"));
            }
            // The pattern itself asks the index.
            Words::Trigrams => out.push_str("true"),
        }
    }

    fn each_word(&self, list: &str) -> String {
        format!("unnest({list}) AS word(value)")
    }

    fn place(&self, out: &mut String, place: &Place<'_>) {
        out.push_str(&super::postgres_place::place(place));
    }

    fn function(&self, out: &mut String, function: Aggregation, column: &str, ty: u32) {
        let base = self.types.base(ty);
        let name = match (function, base) {
            (Aggregation::Min, oid::BOOL) => "bool_and",
            (Aggregation::Max, oid::BOOL) => "bool_or",
            (Aggregation::Avg, _) => "avg",
            (Aggregation::Max, _) => "max",
            (Aggregation::Min, _) => "min",
            (Aggregation::Sum, _) => "sum",
            (Aggregation::Stddev, _) => "stddev",
            (Aggregation::StddevPop, _) => "stddev_pop",
            (Aggregation::StddevSamp, _) => "stddev_samp",
            (Aggregation::VarPop, _) => "var_pop",
            (Aggregation::VarSamp, _) => "var_samp",
            (Aggregation::Variance, _) => "variance",
        };
        let keeps = matches!(function, Aggregation::Max | Aggregation::Min | Aggregation::Sum);
        out.push_str(&match base {
            // Equal to their order, as their texts have one length and lower-case digits.
            oid::UUID => format!("{name}({column}::text COLLATE \"C\")::uuid"),
            // A text has the bytes of the other.
            other
                if other != oid::VARCHAR
                    && function.is_extreme()
                    && self.types.abilities(other).casts_extremes() =>
            {
                format!("{name}({column})::{}", self.cast_name(other))
            }
            oid::MONEY if !keeps => format!("{name}({column}::numeric)"),
            _ if self.is_mean(function, base) => format!("(sum({column})::float8 / count({column}))"),
            _ => format!("{name}({column})"),
        });
    }

    fn in_order_of_bytes(&self, text: String) -> String {
        format!("({text}) COLLATE \"C\"")
    }

    fn count(&self, out: &mut String, columns: &[String], distinct: bool) {
        match columns {
            [one] if distinct => out.push_str(&format!("count(DISTINCT {one})")),
            [one] => out.push_str(&format!("count({one})")),
            [_, _, ..] if distinct => out.push_str(&format!("count(DISTINCT ({}))", columns.join(", "))),
            [] | [_, _, ..] => out.push_str("count(*)"),
        }
    }

    fn json_path(&self, out: &mut String, column: &str, path: &str) {
        out.push_str(&format!("{column} #> {path}"));
    }

    fn check_column(&self, condition: &str) -> String {
        // A cast of a text that is no value fails only where a row needs it: that to a time is never computed beforehand. The other is
        // not where the condition reads the row.
        let ty = if self.flavour.abilities().returns_stable { "timestamptz" } else { "int4" };
        format!("(CASE WHEN {condition} THEN NULL ELSE '{CHECK_FAILED}' END)::{ty}")
    }

    fn snapshot(&self) -> &'static str {
        // Numbers of 64 bits, in all versions.
        if self.flavour.abilities().tells_snapshots { "txid_current_snapshot()::text" } else { "NULL" }
    }

    fn checked_type(&self) -> u32 {
        if self.flavour.abilities().returns_stable { oid::TIMESTAMPTZ } else { oid::INT4 }
    }

    fn by_branch(&self, alias: Option<&String>, inserted: &str, updated: &str) -> String {
        match alias.filter(|_| self.flavour.abilities().tells_upserts) {
            Some(alias) => format!("CASE WHEN {alias}.xmax = 0 THEN {inserted} ELSE {updated} END"),
            None => format!("(({inserted}) AND ({updated}))"),
        }
    }

    fn assign(&self, out: &mut String, operator: Operator, old: &str, value: Side<'_>) {
        let value = value.placeholder;
        out.push_str(&match operator {
            Operator::Increment => format!("{old} + {value}"),
            Operator::Append => format!("{old} || {value}"),
            Operator::Prepend => format!("{value} || {old}"),
            Operator::DeleteKey | Operator::DeleteElem => format!("{old} - {value}"),
            Operator::DeleteAtPath => format!("{old} #- {value}"),
        });
    }

    fn measure(&self, left: &str, by: Measure, values: &[Option<String>], ty: u32) -> String {
        let ty = self.types.base(ty);
        let function = match by {
            Measure::Within | Measure::WithinOnGlobe => "st_dwithin",
            Measure::Within3d => "st_3ddwithin",
            Measure::BandMeets | Measure::RasterMeets => "st_intersects",
        };
        let call = match self.types.by_oid(ty) {
            Some(ty) => self.call(ty, function),
            None => format!("{function}("),
        };
        let value = |at: usize| values.get(at).and_then(Option::as_ref);
        let plain = |at: usize| value(at).map_or("NULL", String::as_str);
        let shape = |at: usize, of: u32| self.input_form(plain(at).to_owned(), of);
        match by {
            Measure::Within | Measure::Within3d => format!("{call}{left}, {}, {})", shape(1, ty), plain(0)),
            Measure::WithinOnGlobe => match value(2) {
                Some(spheroid) => format!("{call}{left}, {}, {}, {spheroid})", shape(1, ty), plain(0)),
                None => format!("{call}{left}, {}, {})", shape(1, ty), plain(0)),
            },
            Measure::BandMeets => format!("{call}{left}, {}, {})", plain(1), shape(0, self.plane(ty))),
            Measure::RasterMeets => match value(1) {
                Some(band) => format!("{call}{left}, {}, {band})", shape(0, self.plane(ty))),
                None => format!("{call}{left}, {})", shape(0, self.plane(ty))),
            },
        }
    }

    fn measured_type(&self, ty: u32, by: Measure, at: usize) -> u32 {
        match by.types().get(at) {
            Some(ColumnType::Double) => oid::FLOAT8,
            Some(ColumnType::Boolean) => oid::BOOL,
            Some(ColumnType::Int) => oid::INT4,
            Some(ColumnType::Geometry | ColumnType::Geography) => oid::TEXT,
            Some(_) | None => ty,
        }
    }

    fn cast(&self, of: String, ty: u32, to: Cast) -> String {
        let name = self.cast_name(self.cast_type(ty, to));
        format!("{of}::{name}")
    }

    fn output_form(&self, column: String, ty: u32) -> String {
        match self.shape(self.types.base(ty)) {
            Some(shape) => self.write_shown(&column, shape),
            None => column,
        }
    }

    fn input_form(&self, placeholder: String, ty: u32) -> String {
        match self.shape(self.types.base(ty)) {
            Some(shape) => self.write_given(&placeholder, shape),
            None => placeholder,
        }
    }

    fn typed_null(&self, ty: u32) -> String {
        format!("NULL::{}", self.cast_name(ty))
    }

    fn parent_key(&self, column: String, first: u32, ty: u32) -> String {
        // A type without lists of keys came as text.
        let same = first == ty && (ty == 0 || self.list_of_keys(ty).is_some());
        if same || are_comparable(first, ty) { column } else { format!("{column}::{}", self.cast_name(ty)) }
    }

    fn semi_joins_max(&self) -> u32 {
        if self.flavour.abilities().subplans { SEMI_JOINS_MAX } else { u32::MAX }
    }

    fn correlates_shards(&self) -> bool {
        self.flavour.abilities().correlates_shards
    }

    fn has_row_types(&self) -> bool {
        self.flavour.abilities().has_row_types
    }

    fn distinct_on(&self) -> bool {
        true
    }

    fn conflict_by_name(&self) -> bool {
        self.flavour.abilities().conflict_by_name
    }

    fn usual(&self, ty: Usual) -> u32 {
        match ty {
            Usual::Integer => oid::INT8,
            Usual::Text => oid::TEXT,
            Usual::Texts => oid::TEXT_ARRAY,
        }
    }

    fn shown_type(&self, ty: u32) -> u32 {
        let base = self.types.base(ty);
        if self.shape(base).is_some() { oid::JSON } else { base }
    }

    fn function_type(&self, function: Aggregation, ty: u32) -> u32 {
        let base = self.types.base(ty);
        match function {
            Aggregation::Max | Aggregation::Min => base,
            Aggregation::Sum => match base {
                oid::INT2 | oid::INT4 => oid::INT8,
                oid::INT8 => oid::NUMERIC,
                other => other,
            },
            Aggregation::Avg
            | Aggregation::Stddev
            | Aggregation::StddevPop
            | Aggregation::StddevSamp
            | Aggregation::VarPop
            | Aggregation::VarSamp
            | Aggregation::Variance => match base {
                oid::FLOAT4 | oid::FLOAT8 => oid::FLOAT8,
                oid::INTERVAL => oid::INTERVAL,
                _ if self.is_mean(function, base) => oid::FLOAT8,
                _ => oid::NUMERIC,
            },
        }
    }

    fn cast_type(&self, ty: u32, to: Cast) -> u32 {
        let sibling = |name| self.sibling_type(self.types.base(ty), name).map_or(0, |it| it.oid);
        match to {
            Cast::Text => oid::TEXT,
            Cast::Geometry => sibling("geometry"),
            Cast::Geography => sibling("geography"),
        }
    }

    fn compared_type(&self, left: u32, by: Comparison) -> u32 {
        let base = self.types.base(left);
        let question = |name| self.sibling_type(base, name).map_or(0, |it| it.oid);
        let array = |of: u32| if of == 0 { 0 } else { self.array_of(of) };
        let given = match self.given_type(base) {
            oid::JSON => oid::JSONB,
            other => other,
        };
        match by.takes() {
            Takes::Own => given,
            Takes::Owns => array(given),
            Takes::Boolean => oid::BOOL,
            // An extension's text brings its own patterns.
            Takes::Pattern => match base {
                oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME => oid::TEXT,
                _ => 0,
            },
            Takes::Text => oid::TEXT,
            Takes::Texts => oid::TEXT_ARRAY,
            Takes::Question(name) => question(name),
            Takes::Questions(name) => array(question(name)),
        }
    }

    fn given_type(&self, ty: u32) -> u32 {
        let base = self.types.base(ty);
        if self.shape(base).is_some() { oid::TEXT } else { base }
    }

    fn assigned_type(&self, operator: Operator, ty: u32) -> u32 {
        match operator {
            Operator::Increment | Operator::Append | Operator::Prepend => self.types.base(ty),
            Operator::DeleteKey => oid::TEXT,
            Operator::DeleteElem => oid::INT4,
            Operator::DeleteAtPath => oid::TEXT_ARRAY,
        }
    }
}

/// A comparison of equal values of a shape, whose `=` compares areas.
fn same(left: &str, by: Comparison, value: &str, list: &str) -> Option<String> {
    match by {
        Comparison::Eq => Some(format!("{left} ~= {value}")),
        Comparison::Neq => Some(format!("NOT ({left} ~= {value})")),
        Comparison::In => Some(format!("{left} ~= ANY({list})")),
        Comparison::Nin => Some(format!("NOT ({left} ~= ANY({list}))")),
        _ => None,
    }
}

/// True if values of both types can be compared without a cast, which could lose digits.
fn are_comparable(one: u32, other: u32) -> bool {
    const NUMBERS: [u32; 6] = [oid::INT2, oid::INT4, oid::INT8, oid::NUMERIC, oid::FLOAT4, oid::FLOAT8];
    const TIMES: [u32; 3] = [oid::DATE, oid::TIMESTAMP, oid::TIMESTAMPTZ];
    [NUMBERS.as_slice(), &TIMES].iter().any(|of| of.contains(&one) && of.contains(&other))
}

#[cfg(test)]
mod tests;
