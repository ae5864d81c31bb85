//! The comparisons of PostGIS's types.

use super::meaning::InputMeaning;
use super::schema_core::{Core, certain, plain};
use weir_relational::catalog::ColumnType;
use weir_relational::catalog::facts::Operators;
use weir_relational::plan::comparison_table::{MEASURES, Needed};

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
            for (at, (&(member, needed), ty)) in (0..).zip(members.iter().zip(types)) {
                let base = if member == "distance" { plain(self.common.float) } else { ty };
                let ty = if matches!(needed, Needed::Yes) { certain(base) } else { base };
                self.input_field(member, "", ty, InputMeaning::Measured(at));
                if let Needed::Default(value) = needed {
                    self.b.default(value);
                }
            }
        }
    }
}
