//! Checks of arguments and input fields that a type cannot say: length, range, pattern, one of.
//!
//! They stand in the SDL as `@validate(…)`, whose definition is added if the SDL has none, or at fields of derived inputs, whose SDL has
//! them; or they are given by coordinate ([`crate::SchemaBuilder::validate`]). They are compiled with the schema and run before the
//! resolver is called.
//!
//! **Invariant:** digits are compared as the value holds them: integers as integers.
//!
//! **Cost:** one comparison per check; a pattern is compiled once.

use super::{InputError, InputValue};
use regex::Regex;
use weir_language::ast::{Definition, Document, Selection, ValueId, ValueKind};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::value::Node;

/// The directive's name.
pub(crate) const DIRECTIVE: &str = "validate";

/// The directive, for an SDL that applies it and does not define it.
pub(crate) const DEFINITION: &str = "\"Checks a value before the resolver is called.\"
directive @validate(minLength: Int, maxLength: Int, min: Float, max: Float, pattern: String, oneOf: [String!]) on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
";

/// One check of a value. Null passes; the items of a list are checked one by one, but for the length.
///
/// ```
/// use weir_runtime::Check;
/// # fn main() -> Result<(), String> {
/// let names = [Check::min_length(2), Check::max_length(20), Check::pattern("^[a-z]+$")?, Check::one_of(["ada", "bob"])];
/// let sizes = [Check::min("1")?, Check::max("100")?];
/// assert!(Check::pattern("(").is_err() && Check::max("many").is_err());
/// # let _ = (names, sizes);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Check(Rule);

#[derive(Clone, Debug)]
enum Rule {
    MinLength(usize),
    MaxLength(usize),
    Min(Bound),
    Max(Bound),
    Pattern(Regex),
    OneOf(Vec<Box<str>>),
}

#[derive(Clone, Debug)]
struct Bound {
    text: Box<str>,
    integer: Option<i64>,
    number: f64,
}

impl Bound {
    fn new(text: &str) -> Result<Self, String> {
        let number = text.parse().map_err(|_| format!("`{text}` is no number"))?;
        Ok(Self { text: text.into(), integer: text.parse().ok(), number })
    }

    /// Compares `node` with the bound; `None` if it is no number.
    fn compare(&self, node: Node) -> Option<std::cmp::Ordering> {
        match (node, self.integer) {
            (Node::Int(value) | Node::QuotedInt(value), Some(bound)) => Some(value.cmp(&bound)),
            (Node::Int(value) | Node::QuotedInt(value), None) => (value as f64).partial_cmp(&self.number),
            (Node::Float(value), _) => value.partial_cmp(&self.number),
            _ => None,
        }
    }
}

impl Check {
    /// Characters of a text, or items of a list, at least.
    #[must_use]
    pub fn min_length(min: usize) -> Self {
        Self(Rule::MinLength(min))
    }
    /// Characters of a text, or items of a list, at most.
    #[must_use]
    pub fn max_length(max: usize) -> Self {
        Self(Rule::MaxLength(max))
    }
    /// A number is not below `min`, which is written in digits.
    /// # Errors
    /// `min` is no number.
    pub fn min(min: &str) -> Result<Self, String> {
        Bound::new(min).map(|it| Self(Rule::Min(it)))
    }
    /// A number is not above `max`, which is written in digits.
    /// # Errors
    /// `max` is no number.
    pub fn max(max: &str) -> Result<Self, String> {
        Bound::new(max).map(|it| Self(Rule::Max(it)))
    }
    /// A text has a match of the regular expression.
    /// # Errors
    /// It is no regular expression.
    pub fn pattern(pattern: &str) -> Result<Self, String> {
        Regex::new(pattern).map(|it| Self(Rule::Pattern(it))).map_err(|error| error.to_string())
    }
    /// A text is one of these.
    #[must_use]
    pub fn one_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self(Rule::OneOf(texts.into_iter().map(Into::into).collect()))
    }

    /// Checks `value`.
    pub(crate) fn run(&self, value: InputValue<'_>) -> Result<(), InputError> {
        if let Node::List { len, .. } = value.node() {
            return match self.0 {
                Rule::MinLength(_) | Rule::MaxLength(_) => self.length(len as usize, "items"),
                Rule::Min(_) | Rule::Max(_) | Rule::Pattern(_) | Rule::OneOf(_) => {
                    value.items().flatten().try_for_each(|item| self.run(item))
                }
            };
        }
        let text = value.text().filter(|_| !value.is_null());
        let failed = |words: String| Err(InputError::new(words));
        match &self.0 {
            Rule::MinLength(_) | Rule::MaxLength(_) => {
                text.map_or(Ok(()), |text| self.length(text.chars().count(), "characters"))
            }
            Rule::Min(bound) if bound.compare(value.node()).is_some_and(std::cmp::Ordering::is_lt) => {
                failed(format!("it is below {}", bound.text))
            }
            Rule::Max(bound) if bound.compare(value.node()).is_some_and(std::cmp::Ordering::is_gt) => {
                failed(format!("it is above {}", bound.text))
            }
            Rule::Pattern(pattern) if text.is_some_and(|it| !pattern.is_match(it)) => {
                failed(format!("it does not match `{pattern}`"))
            }
            Rule::OneOf(texts) if text.is_some_and(|it| texts.iter().all(|one| **one != *it)) => {
                failed(format!("it is none of {}", texts.join(", ")))
            }
            Rule::Min(_) | Rule::Max(_) | Rule::Pattern(_) | Rule::OneOf(_) => Ok(()),
        }
    }

    fn length(&self, len: usize, unit: &str) -> Result<(), InputError> {
        match self.0 {
            Rule::MinLength(min) if len < min => {
                Err(InputError::new(format!("it has {len} {unit}, at least {min} are needed")))
            }
            Rule::MaxLength(max) if len > max => {
                Err(InputError::new(format!("it has {len} {unit}, at most {max} are taken")))
            }
            _ => Ok(()),
        }
    }
}

/// The checks of a directive, from its arguments as they were written: `(min: 1)`.
pub(crate) fn read(arguments: &str) -> Result<Vec<Check>, String> {
    let text = format!("{{validate{arguments}}}");
    let document = parser::parse(&text, &Limits::STANDARD).map_err(|error| error.message)?;
    let Some(Definition::Operation(operation)) = document.definitions.first() else { return Ok(Vec::new()) };
    let Some(Selection::Field(field)) = document.list(operation.selections).first() else {
        return Ok(Vec::new());
    };
    let arguments = document.list(field.arguments).iter();
    arguments.map(|it| check(&document, document.str(it.name), it.value)).collect()
}

fn check(document: &Document<'_>, name: &str, value: ValueId) -> Result<Check, String> {
    let text = document.string(value);
    let length = || text.parse().map_err(|_| format!("`{text}` is no length"));
    match name {
        "minLength" => length().map(Check::min_length),
        "maxLength" => length().map(Check::max_length),
        "min" => Check::min(&text),
        "max" => Check::max(&text),
        "pattern" => Check::pattern(&text),
        "oneOf" => match document.value(value).kind {
            ValueKind::List(items) => {
                let first = items.range().start as u32;
                let texts = (first..first + items.len() as u32).map(|it| document.string(ValueId(it)));
                let texts: Vec<_> = texts.collect();
                Ok(Check::one_of(texts.iter().map(|it| &**it)))
            }
            _ => Ok(Check::one_of([&*text])),
        },
        other => Err(format!("there is no check `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_has_a_check_per_argument() {
        let checks = read("(minLength: 1, max: 2.5, oneOf: [\"a\", \"b\"])").unwrap();
        assert!(matches!(
            checks.as_slice(),
            [Check(Rule::MinLength(1)), Check(Rule::Max(_)), Check(Rule::OneOf(texts))] if texts.len() == 2
        ));
        assert!(read("(pattern: \"(\")").is_err());
    }

    #[test]
    fn integers_are_compared_as_integers() {
        let bound = Bound::new("9007199254740993").unwrap();
        assert_eq!(bound.compare(Node::Int(9_007_199_254_740_992)), Some(std::cmp::Ordering::Less));
        assert_eq!(bound.compare(Node::Int(9_007_199_254_740_993)), Some(std::cmp::Ordering::Equal));
    }
}
