//! Conditions on places: near, within, contains, intersects.

use super::Compiler;
use crate::api::meaning::{Geo, InputMeaning, Operator};
use weir_engine::source::PlanError;
use weir_sql::catalog::{ColumnId, ColumnType};
use weir_sql::geometry::Placed;
use weir_sql::relational::input::Place;
use weir_sql::relational::{Filter, Reader};

impl Compiler<'_> {
    /// The conditions on the place in the columns `of`.
    pub(super) fn places(
        &self,
        value: Place,
        of: &[ColumnId],
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        if !self.native.is_embedded() {
            return Err(self.refuse("filters by place are served on SQLite alone yet"));
        }
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
            let (mut places, mut distance) = (Vec::new(), None);
            for (input, part) in self.inputs.members(operand) {
                match self.meaning(input) {
                    _ if self.is_missing(part) => {}
                    InputMeaning::Geo(Geo::Distance) => {
                        distance = Some(self.parameter(part, Reader::Column(ColumnType::Double)));
                    }
                    InputMeaning::Geo(_) => places.push(self.parameter(part, Reader::Place)),
                    _ => {}
                }
            }
            for place in places {
                let with = std::iter::once(place).chain(distance.clone()).collect();
                all.push(Filter::Place { of: of.to_vec(), by, with });
            }
        }
        Ok(())
    }
}
