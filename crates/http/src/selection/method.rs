//! The methods of the mapping language: names and numbers of arguments. What they do stands in `eval`.

use super::ExprId;

/// `->name(arguments)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// As written, in order.
    pub arguments: Vec<ExprId>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $text:literal $min:literal..=$max:expr),* $(,)?) => {
        /// A method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($(#[$doc])* $name),* }

        impl Method {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// As it is written.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The fewest and the most arguments it takes.
            #[must_use]
            pub const fn arguments(self) -> (usize, usize) {
                match self { $(Self::$name => ($min, $max)),* }
            }
        }
    };
}

/// For methods that take any number of arguments.
const ANY: usize = usize::MAX;

methods! {
    /// The first item of a list or character of a text.
    First "first" 0..=0,
    /// The last item of a list or character of a text.
    Last "last" 0..=0,
    /// The argument.
    Echo "echo" 1..=1,
    /// The argument's value for each item.
    Map "map" 1..=1,
    /// The second of the first pair whose first equals the value.
    Match "match" 1..=ANY,
    /// The items that are not null, as one text with the argument between them.
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
    /// True if it is an item of the argument, or one of several arguments.
    In "in" 1..=ANY,
    /// True if the argument is an item of it.
    Contains "contains" 1..=1,
    /// The items for which the argument is true.
    Filter "filter" 1..=1,
    /// The first item for which the argument is true.
    Find "find" 1..=1,
    /// The items from the first number up to, not including, the second.
    Slice "slice" 0..=2,
    /// The sum with all arguments.
    Add "add" 1..=ANY,
    /// Less all arguments.
    Sub "sub" 1..=ANY,
    /// The product with all arguments.
    Mul "mul" 1..=ANY,
    /// Divided by all arguments, one after another.
    Div "div" 1..=ANY,
    /// The remainder of the division by all arguments, one after another.
    Mod "mod" 1..=ANY,
    /// The value as text.
    ToString "toString" 0..=0,
    /// The whole number a text holds, in the argument's base; of a number, its whole part.
    ParseInt "parseInt" 0..=1,
    /// The parsed value of a text with JSON.
    JsonParse "jsonParse" 0..=0,
    /// The parts of a text between the argument's places.
    Split "split" 1..=1,
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
}

impl Method {
    /// The method called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}
