//! Methods of the mapping language: names and numbers of arguments. `eval` implements them.

use super::ExprId;

/// `->name(arguments)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub method: Method,
    /// Arguments in source order.
    pub arguments: Vec<ExprId>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $text:literal $min:literal..=$max:expr),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($(#[$doc])* $name),* }

        impl Method {
            /// All methods.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name in the mapping language.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// Minimum and maximum number of arguments.
            pub const fn arguments(self) -> (usize, usize) {
                match self { $(Self::$name => ($min, $max)),* }
            }
        }
    };
}

/// Maximum for methods with any number of arguments.
const ANY: usize = usize::MAX;

methods! {
    /// The first item of a list or character of a text.
    First "first" 0..=0,
    /// The last item of a list or character of a text.
    Last "last" 0..=0,
    /// The argument's value.
    Echo "echo" 1..=1,
    /// The argument evaluated for each item.
    Map "map" 1..=1,
    /// The second part of the first pair whose first part equals the value.
    Match "match" 1..=ANY,
    /// Non-null items joined with the argument as separator.
    JoinNotNull "joinNotNull" 1..=1,
    /// An item by number or a member by name.
    Get "get" 1..=1,
    /// The number of items, members or characters.
    Size "size" 0..=0,
    /// The members as a list of `{key, value}`.
    Entries "entries" 0..=0,
    /// The value as JSON text.
    JsonStringify "jsonStringify" 0..=0,
    /// True if it equals the argument.
    Eq "eq" 1..=1,
    /// True if it differs from the argument.
    Ne "ne" 1..=1,
    /// True if it is greater than the argument.
    Gt "gt" 1..=1,
    /// True if it is greater than the argument or equal to it.
    Gte "gte" 1..=1,
    /// True if it is less than the argument.
    Lt "lt" 1..=1,
    /// True if it is less than the argument or equal to it.
    Lte "lte" 1..=1,
    /// True if it and all arguments are true.
    And "and" 1..=ANY,
    /// True if it or any argument is true.
    Or "or" 1..=ANY,
    /// The opposite of true or false.
    Not "not" 0..=0,
    /// True if the value is an item of the argument, or one of several arguments.
    In "in" 1..=ANY,
    /// True if the argument is an item of the value.
    Contains "contains" 1..=1,
    /// The items for which the argument is true.
    Filter "filter" 1..=1,
    /// The first item for which the argument is true.
    Find "find" 1..=1,
    /// Items from the first index up to, not including, the second.
    Slice "slice" 0..=2,
    /// Sum of the value and all arguments.
    Add "add" 1..=ANY,
    /// The value minus all arguments.
    Sub "sub" 1..=ANY,
    /// Product of the value and all arguments.
    Mul "mul" 1..=ANY,
    /// The value divided by each argument in turn.
    Div "div" 1..=ANY,
    /// Remainder of the division by each argument in turn.
    Mod "mod" 1..=ANY,
    /// The value as text.
    ToString "toString" 0..=0,
    /// Integer in a text, in the argument's base; for a number, its integer part.
    ParseInt "parseInt" 0..=1,
    /// The value parsed from JSON text.
    JsonParse "jsonParse" 0..=0,
    /// The parts of a text between the first argument's places; at most as many as the second says.
    Split "split" 1..=2,
    /// The text without blanks at both ends.
    Trim "trim" 0..=0,
    /// The text without blanks at its start.
    TrimStart "trimStart" 0..=0,
    /// The text without blanks at its end.
    TrimEnd "trimEnd" 0..=0,
    /// The object with its names in camel case.
    KeysToCamelCase "keysToCamelCase" 0..=0,
    /// The value with the names of all objects in it in camel case.
    KeysToCamelCaseDeep "keysToCamelCaseDeep" 0..=0,
    /// The value. The message that the arguments make is for traces of mappings, which are not kept here.
    WithError "withError" 1..=ANY,
}

impl Method {
    /// The method called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}
