//! Shapes of PostGIS: how they are given, how they are shown, and when a stored one equals a given one.
//!
//! A shape is shown as GeoJSON, which has no place for all of it: for a measure (`M`), for the sign of a zero, and for a shape without a
//! reference system, as GeoJSON without one means WGS 84. So a column equals given GeoJSON if it is shown as that. Any other text says
//! all, and equals the same shape alone. Triangles, which are shown as polygons, are found by such texts.
//!
//! **Invariant:** an equality fails for no stored shape, also for one that cannot be shown.
//!
//! **Cost:** on a plane the boxes of both are compared first, which an index on shapes finds; a B-tree on them is not used.

use super::Dialect;
use super::postgres::Postgres;
use crate::catalog::postgres_types::{Kind, Type};
use crate::plan::operators::{Comparison, Spatial};

/// More digits behind the point than a floating point number needs: so each is shown to its last.
const DECIMALS: u32 = 30;

/// A PostGIS type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// On a plane.
    Geometry,
    /// On the globe.
    Geography,
}

/// A type of shapes of a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeType<'t> {
    shape: Shape,
    ty: &'t Type,
}

impl Postgres {
    /// The type with the number `ty`, if it is one of shapes.
    pub(super) fn shape(&self, ty: u32) -> Option<ShapeType<'_>> {
        let ty = self.types.by_oid(ty).filter(|it| it.kind == Kind::Base && it.schema != "pg_catalog")?;
        match ty.name.as_str() {
            "geometry" => Some(ShapeType { shape: Shape::Geometry, ty }),
            "geography" => Some(ShapeType { shape: Shape::Geography, ty }),
            _ => None,
        }
    }

    /// The beginning of a call of a function of the same extension as `ty`.
    pub(super) fn call(&self, ty: &Type, function: &str) -> String {
        let mut out = String::new();
        self.identifier(&mut out, &ty.schema);
        out + "." + function + "("
    }

    /// The type of shapes on a plane, of the same extension as `of`.
    pub(super) fn plane(&self, of: u32) -> u32 {
        self.sibling_type(of, "geometry").map_or(0, |it| it.oid)
    }

    pub(super) fn spatial(&self, left: &str, by: Spatial, value: &str, ty: u32) -> String {
        let function = match by {
            Spatial::Contains => "st_contains",
            Spatial::Crosses => "st_crosses",
            Spatial::Equals => "st_equals",
            Spatial::Intersects => "st_intersects",
            Spatial::Intersects3d => "st_3dintersects",
            Spatial::Overlaps => "st_overlaps",
            Spatial::Touches => "st_touches",
            Spatial::Within => "st_within",
        };
        let call = self.types.by_oid(ty).map_or_else(|| format!("{function}("), |ty| self.call(ty, function));
        format!("{call}{left}, {})", self.input_form(value.to_owned(), ty))
    }

    /// A shape that is bound as a text: GeoJSON, or one of PostGIS's own, WKT and WKB in hexadecimal.
    pub(super) fn write_given(&self, placeholder: &str, of: ShapeType<'_>) -> String {
        let ShapeType { shape, ty } = of;
        let json = self.write_reading(placeholder, ty);
        let plane = self.cast_name(self.plane(ty.oid));
        let geometry =
            format!("CASE WHEN left({placeholder}, 1) = '{{' THEN {json} ELSE {placeholder}::{plane} END");
        match shape {
            Shape::Geometry => geometry,
            Shape::Geography => format!("({geometry})::{}", ty.cast),
        }
    }

    /// A column as GeoJSON, which names its reference system. Of a shape on the globe the function for these names another.
    pub(super) fn write_shown(&self, column: &str, of: ShapeType<'_>) -> String {
        let ShapeType { ty, .. } = of;
        format!("{}{}, {DECIMALS}, 4)::json", self.call(ty, "st_asgeojson"), self.cast_to_plane(column, of))
    }

    /// True for rows whose shape is the given one, or is shown as the given GeoJSON; `None`: another comparison.
    pub(super) fn compare_shapes(
        &self,
        left: &str,
        by: Comparison,
        placeholder: &str,
        of: ShapeType<'_>,
    ) -> Option<String> {
        let ShapeType { shape, ty } = of;
        let given = match by {
            Comparison::Eq | Comparison::Neq => self.write_given(placeholder, of),
            Comparison::In | Comparison::Nin => {
                format!("ANY({})", self.given_list(placeholder, ty.oid))
            }
            _ => return None,
        };
        let forms = match by {
            Comparison::In | Comparison::Nin => {
                let forms = self.write_forms("v", of);
                format!("ARRAY(SELECT f FROM unnest({placeholder}) AS v, unnest({forms}) AS f)")
            }
            _ => self.write_forms(placeholder, of),
        };
        let known = self.write_comparable(left, of);
        let is_shown_so = format!("{known} = ANY({forms})");
        let is_same = match shape {
            Shape::Geometry => format!("({left} ~= {given} AND ({left} = {given} OR {is_shown_so}))"),
            // Empty ones overlap nothing.
            Shape::Geography => format!("({left} = {given} OR ({left} && {given} AND {is_shown_so}))"),
        };
        Some(match by {
            Comparison::Neq | Comparison::Nin => format!("NOT {is_same}"),
            _ => is_same,
        })
    }

    /// The shapes on a plane that are shown as the bound GeoJSON, as far as their columns are [comparable](Self::write_comparable); of
    /// any other text none.
    fn write_forms(&self, placeholder: &str, of: ShapeType<'_>) -> String {
        let ShapeType { shape, ty } = of;
        let json = self.write_reading(placeholder, ty);
        let forms = match shape {
            Shape::Geometry => format!(
                "{json}, CASE WHEN {placeholder}::json ->> 'crs' IS NULL THEN {}{json}, 0) ELSE {json} END",
                self.call(ty, "st_setsrid")
            ),
            Shape::Geography => json,
        };
        format!("CASE WHEN left({placeholder}, 1) = '{{' THEN ARRAY[{forms}] ELSE '{{}}' END")
    }

    /// A column on a plane, with what GeoJSON shows of it alone.
    fn write_comparable(&self, column: &str, of: ShapeType<'_>) -> String {
        let ShapeType { ty, .. } = of;
        let call = |function: &str| self.call(ty, function);
        let plane = self.cast_to_plane(column, of);
        // Zeros lose their sign when something is added.
        format!(
            "{}CASE {}{plane}) WHEN 1 THEN {}{plane}) WHEN 3 THEN {}{plane}) ELSE {plane} END, 0, 0)",
            call("st_translate"),
            call("st_zmflag"),
            call("st_force2d"),
            call("st_force3d"),
        )
    }

    fn write_reading(&self, placeholder: &str, ty: &Type) -> String {
        format!("{}{placeholder})", self.call(ty, "st_geomfromgeojson"))
    }

    fn cast_to_plane(&self, column: &str, ShapeType { shape, ty }: ShapeType<'_>) -> String {
        match shape {
            Shape::Geometry => column.to_owned(),
            Shape::Geography => format!("{column}::{}", self.cast_name(self.plane(ty.oid))),
        }
    }
}
