//! Conditions on places: near, within, contains, intersects.

use super::{At, Compiler};
use crate::api::meaning::{Geo, InputMeaning, Operator};
use crate::layout::IndexKind;
use weir_database::frontend::input::Place;
use weir_engine::source::PlanError;
use weir_relational::catalog::{ColumnId, ColumnType};
use weir_relational::plan::{Filter, Reader};
use weir_relational::values::geometry::Placed;

impl Compiler<'_> {
    /// The conditions on the place in the columns `of`, whose bounds are in the columns `bounds`.
    pub(super) fn places(
        &self,
        value: Place,
        at: At,
        of: &[ColumnId],
        bounds: [ColumnId; 4],
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        for (input, operand) in self.inputs.members(value) {
            let InputMeaning::Compare(operator) = self.meaning(input) else { continue };
            if self.is_missing(operand) {
                continue;
            }
            let by = match operator {
                Operator::Near => Placed::Near,
                Operator::Within => Placed::Within,
                Operator::Contains => Placed::Contains,
                Operator::Intersects => Placed::Intersects,
                _ => return Err(self.refuse("places are not compared so")),
            };
            let mut places = Vec::new();
            let mut distance = None;
            for (input, part) in self.inputs.members(operand) {
                match self.meaning(input) {
                    _ if self.is_missing(part) => {}
                    InputMeaning::Geo(Geo::Distance) => {
                        distance = Some(self.parameter(part, Reader::Column(ColumnType::Double)));
                    }
                    InputMeaning::Geo(Geo::Point) if by == Placed::Contains => {
                        places.push((part, Placed::Covers));
                    }
                    InputMeaning::Geo(_) => places.push((part, by)),
                    _ => {}
                }
            }
            let metres = distance.as_ref().map(|it| it.origin.clone());
            for (place, by) in places {
                let place = self.parameter(place, Reader::Place { metres: metres.clone() });
                let with = std::iter::once(place).chain(distance.clone()).collect();
                let indexes = self.native.indexes(at.table, bounds[0], IndexKind::Boxes);
                let key = self.row_key(at);
                let of = of.to_vec();
                all.push(Filter::Place { key, indexes, bounds, of, by, with });
            }
        }
        Ok(())
    }
}
