//! Reads argument values while a plan is made: literals, and the structure of structural variables.
//!
//! **Invariant:** the values of variables that are not structural are never looked at, so a plan cannot depend on them.

use super::form::Form;
use smallvec::SmallVec;
use weir_language::schema::InputId;
use weir_language::value::{Node, TextSpan, Values, Variables};
use weir_relational::plan::{Origin, Parameter, Reader};

/// Position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A node of the output plan's literals.
    Literal(u32),
    /// In the tape of the variables.
    Inside {
        /// Index of the structural variable in the plan node.
        slot: u32,
        /// Index of the value's node in the tape.
        node: u32,
    },
}

/// Inputs of a plan node.
#[derive(Clone, Copy)]
pub struct Inputs<'i> {
    /// Literals of the output plan.
    pub literals: &'i Values,
    /// The request's; `None` when no variable is structural.
    pub variables: Option<(&'i Variables, &'i Form)>,
    /// Numbers of the structural variables, in the order of their slots.
    pub structural: &'i [u32],
}

impl<'i> Inputs<'i> {
    fn tape(&self, place: Place) -> (&'i Values, usize) {
        match place {
            Place::Literal(at) => (self.literals, at as usize),
            Place::Inside { node, .. } => {
                let (variables, _) = self.variables.expect("a place inside a variable is made from one");
                (&variables.values, node as usize)
            }
        }
    }

    /// Follows a structural variable to its value.
    pub fn resolve(&self, place: Place) -> Place {
        let (values, at) = self.tape(place);
        let Node::Variable(number) = values.nodes[at] else { return place };
        let slot = self.structural.iter().position(|&it| it == number);
        match (slot, self.variables) {
            (Some(slot), Some((variables, _))) => {
                Place::Inside { slot: slot as u32, node: variables.starts[number as usize] }
            }
            _ => place,
        }
    }

    /// The text of a node at `place`.
    pub fn text(&self, place: Place, span: TextSpan) -> &'i str {
        self.tape(self.resolve(place)).0.str(span)
    }

    /// The node at `place`; `Node::Variable` stands for a scalar that is surely given.
    pub fn node(&self, place: Place) -> Node {
        let (values, at) = self.tape(self.resolve(place));
        values.nodes[at]
    }

    /// The slot of a list of rows with one form, whose first item stands for all. `None` for other values.
    pub fn rows_of_one_form(&self, place: Place) -> Option<u32> {
        match (self.resolve(place), self.variables) {
            (Place::Inside { slot, node }, Some((variables, form))) => {
                let start = self.structural.get(slot as usize).map(|&it| variables.starts[it as usize]);
                form.rows(slot).filter(|_| start == Some(node)).map(|_| slot)
            }
            (Place::Literal(_) | Place::Inside { .. }, _) => None,
        }
    }

    fn sibling(place: Place, at: usize) -> Place {
        match place {
            Place::Literal(_) => Place::Literal(at as u32),
            Place::Inside { slot, .. } => Place::Inside { slot, node: at as u32 },
        }
    }

    /// The items of a list; a single value is a list of one, null is empty.
    pub fn items(&self, place: Place) -> SmallVec<[Place; 8]> {
        let place = self.resolve(place);
        let (values, at) = self.tape(place);
        match values.nodes[at] {
            Node::List { .. } => values.items(at).map(|it| self.resolve(Self::sibling(place, it))).collect(),
            Node::Null | Node::Absent => SmallVec::new(),
            _ => SmallVec::from_iter([place]),
        }
    }

    /// The members of an input object.
    pub fn members(&self, place: Place) -> SmallVec<[(InputId, Place); 8]> {
        let place = self.resolve(place);
        let (values, at) = self.tape(place);
        values.members(at).map(|(input, it)| (input, self.resolve(Self::sibling(place, it)))).collect()
    }

    /// A parameter whose value stands at `place`.
    pub fn parameter(&self, place: Place, reader: Reader, path: &str) -> Parameter {
        let origin = match self.resolve(place) {
            Place::Literal(at) => match self.literals.nodes[at as usize] {
                Node::Variable(number) => Origin::Variable(number),
                Node::Parent(column) => Origin::Parent(column),
                _ => Origin::Literal(at),
            },
            Place::Inside { slot, node } => {
                let leaf = self.variables.and_then(|(_, form)| form.leaf_at(slot, node));
                Origin::Inside { slot, leaf: leaf.unwrap_or(u32::MAX) }
            }
        };
        Parameter { origin, reader, path: path.into() }
    }
}
