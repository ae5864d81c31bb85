//! Number of items of a list, by its slicing arguments.
//!
//! A negative number, null and what is no number are no limit, as services differ in what they make of them.
//! Source: the cost directive specification, `@listSize`.

use std::sync::Arc;
use weir_language::schema::InputId;
use weir_language::value::{Node, Values, Variables};

/// A slicing argument that a variable decides.
#[derive(Clone, Debug)]
pub(crate) struct ListArgument {
    pub(crate) variable: u32,
    /// Input fields from the value of the variable to the number.
    pub(crate) path: Box<[InputId]>,
    /// Number if the variable is absent: the argument's default.
    pub(crate) absent: Option<u64>,
}

/// Rule for the size of one list of an operation.
#[derive(Clone, Debug)]
pub(crate) struct ListItems {
    /// Arguments that variables decide.
    pub(crate) arguments: Vec<ListArgument>,
    /// Greatest number among the other arguments.
    pub(crate) known: Option<u64>,
    /// Number of the other arguments.
    pub(crate) known_count: u32,
    /// Coordinate of the field and names of the arguments, if exactly one has to be given.
    pub(crate) exactly_one: Option<SlicingFault>,
    /// Size without an argument.
    pub(crate) otherwise: u64,
    /// The greatest size.
    pub(crate) max: u64,
}

/// Slicing arguments of which not exactly one is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlicingFault {
    /// Coordinate of the field.
    pub(crate) field: Arc<str>,
    /// Names of the arguments.
    pub(crate) arguments: Arc<str>,
}

impl SlicingFault {
    /// Message for the client.
    pub(crate) fn message(&self) -> String {
        let Self { field, arguments } = self;
        format!(
            "`{field}` needs exactly one of the arguments {arguments}, which say how many items there are"
        )
    }
}

/// Size of a list in one request.
pub(crate) struct CountedItems {
    pub(crate) count: u64,
    /// True if not exactly one argument is given where one has to be.
    pub(crate) is_contradiction: bool,
}

impl ListItems {
    /// The size of the list if no variable decides it.
    pub(crate) fn constant(&self) -> Option<u64> {
        let is_sound = self.exactly_one.is_none() || self.known_count == 1;
        (self.arguments.is_empty() && is_sound).then(|| self.known.unwrap_or(self.otherwise).min(self.max))
    }

    /// The size of the list for `variables`.
    pub(crate) fn count(&self, variables: &Variables) -> CountedItems {
        let mut greatest = self.known;
        let mut given = self.known_count;
        for argument in &self.arguments {
            if let Some(number) = argument.read(variables) {
                greatest = greatest.max(Some(number));
                given += 1;
            }
        }
        CountedItems {
            count: greatest.unwrap_or(self.otherwise).min(self.max),
            is_contradiction: self.exactly_one.is_some() && given != 1,
        }
    }

    /// The field and its arguments, for the message of a contradiction.
    pub(crate) fn fault(&self) -> SlicingFault {
        self.exactly_one.clone().unwrap_or_else(|| SlicingFault { field: "".into(), arguments: "".into() })
    }
}

impl ListArgument {
    fn read(&self, variables: &Variables) -> Option<u64> {
        let start = *variables.starts.get(self.variable as usize)? as usize;
        let values = &variables.values;
        if values.nodes[start] == Node::Absent {
            return self.absent;
        }
        let at = follow(values, start, &self.path)?;
        read_number(values, at)
    }
}

/// The place of the value at the end of `path` in the input object at `start`.
pub(crate) fn follow(values: &Values, start: usize, path: &[InputId]) -> Option<usize> {
    let mut at = start;
    for input in path {
        at = values.members(at).find(|it| it.0 == *input)?.1;
    }
    Some(at)
}

/// The number of items that the value at `at` asks for.
pub(crate) fn read_number(values: &Values, at: usize) -> Option<u64> {
    match values.nodes[at] {
        Node::Int(number) | Node::QuotedInt(number) => u64::try_from(number).ok(),
        Node::Number(span) | Node::Text(span) => values.str(span).parse().ok(),
        Node::List { len, .. } => Some(len.into()),
        Node::Absent
        | Node::Null
        | Node::Bool(_)
        | Node::Float(_)
        | Node::Json(_)
        | Node::Enum(_)
        | Node::Object { .. }
        | Node::Key(_)
        | Node::Variable(_)
        | Node::Parent(_) => None,
    }
}
