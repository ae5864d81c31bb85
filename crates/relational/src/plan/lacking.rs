//! Operators that types lack.

use super::operators::Comparison;
use crate::catalog::{Catalog, ColumnType};

impl Catalog {
    /// The operator of `by`, if the database has none for values of the type `ty`.
    pub fn missing_operator(&self, ty: &ColumnType, by: Comparison) -> Option<&'static str> {
        let operator = match by {
            Comparison::Eq | Comparison::In => "=",
            // Shapes differ where they are not equal: PostGIS has no other operator.
            Comparison::Neq | Comparison::Nin
                if matches!(ty, ColumnType::Geometry | ColumnType::Geography) =>
            {
                "="
            }
            Comparison::Neq | Comparison::Nin => "<>",
            Comparison::Gt => ">",
            Comparison::Gte => ">=",
            Comparison::Lt => "<",
            Comparison::Lte => "<=",
            // Lists compare their items for equality.
            Comparison::Contains if ty.element().is_some() => return self.lacks_items(ty, "@>"),
            Comparison::ContainedIn if ty.element().is_some() => return self.lacks_items(ty, "<@"),
            _ => return None,
        };
        (!self.abilities.of(ty).has_operator(operator)).then_some(operator)
    }

    /// The `operator` of lists, if their items have no equality.
    fn lacks_items(&self, ty: &ColumnType, operator: &'static str) -> Option<&'static str> {
        (!self.abilities.of(ty).has_operator("=")).then_some(operator)
    }
}

impl ColumnType {
    /// The database's name for a type, for messages.
    pub fn display_name(&self) -> String {
        let element = self.element().unwrap_or(self);
        let name = element.own_name().or(element.facts().scalar).unwrap_or("unknown");
        if self.element().is_some() { format!("{name}[]") } else { name.to_owned() }
    }
}
