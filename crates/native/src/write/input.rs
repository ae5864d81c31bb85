//! Input of a request: values in the literals of a plan or in its variables, read uniformly.
//!
//! **Invariant:** a visited value is never a variable: variables are replaced by their values.
//!
//! **Cost:** nothing is copied.

use weir_database::frontend::coordinates::write_coordinates;
use weir_database::frontend::program::Call;
use weir_engine::source::Ids;
use weir_language::schema::{EnumValueId, InputId};
use weir_language::value::{Node, Values, Variables};

/// A value of the request.
#[derive(Clone, Copy)]
pub(super) struct InputValue<'r> {
    values: &'r Values,
    at: usize,
    variables: &'r Variables,
    ids: &'r Ids,
}

impl<'r> InputValue<'r> {
    /// The arguments of the field of `call`: input and value. Those that were not given are left out.
    pub(super) fn arguments(call: &Call<'r>) -> impl Iterator<Item = (InputId, Self)> {
        let field = &call.output.fields[call.field as usize];
        let literals = &call.output.literals;
        let variables = call.variables;
        let ids = call.ids;
        let at = move |at: u32| Self { values: literals, at: at as usize, variables, ids }.resolve_variable();
        call.output.arguments(field).iter().filter_map(move |argument| {
            let given = match (at(argument.value), argument.default) {
                (given, Some(default)) if given.is_absent() => at(default),
                (given, _) => given,
            };
            (!given.is_absent()).then(|| (ids.input(argument.input), given))
        })
    }

    fn resolve_variable(self) -> Self {
        match self.node() {
            Node::Variable(number) => {
                let at = self.variables.starts[number as usize] as usize;
                Self { values: &self.variables.values, at, ..self }
            }
            _ => self,
        }
    }

    pub(super) fn node(self) -> Node {
        self.values.nodes[self.at]
    }

    fn is_absent(self) -> bool {
        self.node() == Node::Absent
    }

    pub(super) fn is_null(self) -> bool {
        matches!(self.node(), Node::Null | Node::Absent)
    }

    /// The text, if it is one.
    pub(super) fn text(self) -> Option<&'r str> {
        match self.node() {
            Node::Text(span) | Node::Number(span) => Some(self.values.str(span)),
            _ => None,
        }
    }

    /// The source's own id of an enum value.
    pub(super) fn own(self, value: EnumValueId) -> EnumValueId {
        self.ids.enum_value(value)
    }

    /// GeoJSON's `coordinates`, if it is a shape.
    pub(super) fn coordinates(self) -> String {
        write_coordinates(self.values, self.at, self.variables)
    }

    /// The items of a list that are not null; a value that is no list is a list of one.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let single = (!matches!(self.node(), Node::List { .. })).then_some(self.at);
        let places = self.values.items(self.at).chain(single);
        places.map(move |at| Self { at, ..self }.resolve_variable()).filter(|it| !it.is_null())
    }

    /// The members of an input object that were given, with the source's ids.
    pub(super) fn members(self) -> impl Iterator<Item = (InputId, Self)> {
        let members = self.values.members(self.at);
        members
            .map(move |(input, at)| (self.ids.input(input), Self { at, ..self }.resolve_variable()))
            .filter(|it| !it.1.is_absent())
    }
}
