//! The comparisons of PostGIS's types.

use super::comparison_operators::{Operator, Takes};
use super::meaning::InputMeaning;
use super::schema_core::{Core, certain, plain};
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::facts::Operators;
use weir_relational::plan::operators::{Comparison, Measure, Spatial};

/// An input object of a comparison with several values: its name, and name, place among the values, and default of each; those
/// without one have to be given.
pub(super) type Input = (&'static str, &'static [(&'static str, u8, Needed)]);

/// Tells if a value is required.
#[derive(Clone, Copy)]
pub(super) enum Needed {
    Yes,
    No,
    Default(&'static str),
}

const WITHIN: Input = ("st_d_within_input", &[("distance", 0, Needed::Yes), ("from", 1, Needed::Yes)]);
const WITHIN_ON_GLOBE: Input = (
    "st_d_within_geography_input",
    &[("distance", 0, Needed::Yes), ("from", 1, Needed::Yes), ("use_spheroid", 2, Needed::Default("true"))],
);
const BAND: Input =
    ("st_intersects_nband_geom_input", &[("geommin", 0, Needed::Yes), ("nband", 1, Needed::Yes)]);
const RASTER_AND_SHAPE: Input =
    ("st_intersects_geom_nband_input", &[("geommin", 0, Needed::Yes), ("nband", 1, Needed::No)]);

/// Comparisons with several values: operator family, name, meaning, arguments and description.
pub(super) const MEASURES: [(Operators, &str, Measure, Input, &str); 5] = [
    (
        Operators::Plane,
        "_st_3d_d_within",
        Measure::Within3d,
        WITHIN,
        "is the column within a given 3D distance from the given geometry value",
    ),
    (
        Operators::Plane,
        "_st_d_within",
        Measure::Within,
        WITHIN,
        "is the column within a given distance from the given geometry value",
    ),
    (
        Operators::Globe,
        "_st_d_within",
        Measure::WithinOnGlobe,
        WITHIN_ON_GLOBE,
        "is the column within a given distance from the given geography value",
    ),
    (Operators::Raster, "_st_intersects_geom_nband", Measure::RasterMeets, RASTER_AND_SHAPE, ""),
    (Operators::Raster, "_st_intersects_nband_geom", Measure::BandMeets, BAND, ""),
];

pub(super) const RASTER: [Operator; 1] =
    [("_st_intersects_rast", Comparison::Spatial(Spatial::Intersects), Takes::Own, "")];

pub(super) const SHAPE: [Operator; 1] = [(
    "_st_intersects",
    Comparison::Spatial(Spatial::Intersects),
    Takes::Own,
    "does the column spatially intersect the given value",
)];

pub(super) const PLANE: [Operator; 7] = [
    (
        "_st_3d_intersects",
        Comparison::Spatial(Spatial::Intersects3d),
        Takes::Own,
        "does the column spatially intersect the given geometry value in 3D",
    ),
    (
        "_st_contains",
        Comparison::Spatial(Spatial::Contains),
        Takes::Own,
        "does the column contain the given geometry value",
    ),
    (
        "_st_crosses",
        Comparison::Spatial(Spatial::Crosses),
        Takes::Own,
        "does the column cross the given geometry value",
    ),
    (
        "_st_equals",
        Comparison::Spatial(Spatial::Equals),
        Takes::Own,
        "is the column equal to given geometry value (directionality is ignored)",
    ),
    (
        "_st_overlaps",
        Comparison::Spatial(Spatial::Overlaps),
        Takes::Own,
        "does the column 'spatially overlap' (intersect but not completely contain) the given geometry value",
    ),
    (
        "_st_touches",
        Comparison::Spatial(Spatial::Touches),
        Takes::Own,
        "does the column have at least one point in common with the given geometry value",
    ),
    (
        "_st_within",
        Comparison::Spatial(Spatial::Within),
        Takes::Own,
        "is the column contained in the given geometry value",
    ),
];

/// True if comparisons of a type refer to those of shapes.
pub(super) fn is_of_postgis(ty: &ColumnType) -> bool {
    let families = [Operators::Plane, Operators::Globe, Operators::Raster];
    ty.facts().operators.iter().any(|it| families.contains(it))
}

impl Core {
    /// Defines the input objects of the comparisons that scalars in use have.
    pub(super) fn define_measures(&mut self) {
        let mut defined: Vec<&str> = Vec::new();
        for (family, _, by, (name, members), _) in MEASURES {
            let used = self.scalars.iter().any(|(ty, ..)| ty.facts().operators.contains(&family));
            if !used || defined.contains(&name) {
                continue;
            }
            defined.push(name);
            let types: Vec<_> = by.types().iter().map(|ty| self.scalar_uses(ty).0).collect();
            self.b.input_object(&self.shared_type_name(name), "");
            for &(member, at, needed) in members {
                let base =
                    if member == "distance" { plain(self.common.float) } else { types[usize::from(at)] };
                let ty = if matches!(needed, Needed::Yes) { certain(base) } else { base };
                self.input_field(member, "", ty, InputMeaning::Measured(at));
                if let Needed::Default(value) = needed {
                    self.b.default(value);
                }
            }
        }
    }
}
