//! Expressions between `$(` and `)` in a scenario or plan: parsed once, evaluated for each answer.
//!
//! Names, integers, decimals, 'texts', the operators `+ - * / %` and comparisons, and functions that generate values from the seed:
//! `words 3`, `between 1 90`, `pick A B`, `chance 0.3`.
//!
//! **Invariant:** the same scenario, seed and request give the same value, whatever came before.

use std::borrow::Cow;

/// Words of generated texts.
const VOCABULARY: [&str; 24] = [
    "amber", "river", "stone", "north", "maple", "cedar", "harbour", "meadow", "copper", "winter", "lantern",
    "orchard", "falcon", "summit", "breeze", "garden", "silver", "thunder", "valley", "willow", "ember",
    "canyon", "prairie", "marble",
];

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Decimal(f64),
    Text(Cow<'a, str>),
    /// JSON that is written as it stands.
    Json(Cow<'a, str>),
}

impl Value<'_> {
    /// Digits are an integer, all else is text.
    pub(crate) fn of_text(text: &str) -> Value<'_> {
        match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Value::Int(number),
            Ok(_) | Err(_) => Value::Text(Cow::Borrowed(text)),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "made-up decimals")]
            Self::Int(it) => Some(*it as f64),
            Self::Decimal(it) => Some(*it),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::Json(_) => None,
        }
    }

    /// Hash input that represents this value in a seed.
    pub(crate) fn hash(&self) -> u64 {
        match self {
            Self::Null => 1,
            Self::Bool(it) => 2 + u64::from(*it),
            Self::Int(it) => mix(5, it.cast_unsigned()),
            Self::Decimal(it) => mix(7, it.to_bits()),
            Self::Text(it) | Self::Json(it) => it.bytes().fold(11, |seed, byte| mix(seed, byte.into())),
        }
    }
}

/// Values that names have while an answer is written.
pub(crate) trait Known<N> {
    /// The value of `name`; null where the request has none.
    fn value(&self, name: &N) -> Value<'_>;
    /// The seed of this answer, at this object and item.
    fn seed(&self) -> u64;
}

/// An expression that was read.
#[derive(Debug, PartialEq)]
pub(crate) enum Expression<N> {
    Constant(Value<'static>),
    Name(N),
    /// The number distinguishes the calls of one scenario, so that they generate different values.
    Call(Call, Vec<Expression<N>>, u64),
    Binary(Box<Expression<N>>, Operator, Box<Expression<N>>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
}

/// Functions that generate values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Words,
    Between,
    Pick,
    Chance,
}

const CALLS: [(&str, Call, usize); 4] = [
    ("words", Call::Words, 1),
    ("between", Call::Between, 2),
    ("pick", Call::Pick, 1),
    ("chance", Call::Chance, 1),
];

/// Operators by how tightly they bind, loosest first.
const LEVELS: [&[(&str, Operator)]; 3] = [
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        ("<", Operator::Less),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// Maximum nesting of parentheses.
const NESTING_MAX: usize = 16;

/// Steps a seed by a value (splitmix64's finaliser).
pub(crate) fn mix(seed: u64, value: u64) -> u64 {
    let mut it = (seed ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
    it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    it ^ (it >> 31)
}

impl<N> Expression<N> {
    /// Reads `text`; `resolve` knows the names, `place` numbers the calls.
    pub(crate) fn read(
        text: &str,
        resolve: &dyn Fn(&str) -> Result<N, String>,
        place: &mut u64,
    ) -> Result<Self, String> {
        let mut reader = ExpressionReader { rest: text, resolve, place, depth: 0 };
        let read = reader.binary(0)?;
        match reader.rest.trim_start() {
            "" => Ok(read),
            rest => Err(format!("`{rest}` is left over; an operator is missing before it")),
        }
    }

    pub(crate) fn value<'a>(&'a self, known: &'a dyn Known<N>) -> Value<'a> {
        match self {
            Self::Constant(it) => it.clone(),
            Self::Name(name) => known.value(name),
            Self::Call(call, arguments, place) => made_up(*call, arguments, mix(known.seed(), *place), known),
            Self::Binary(left, operator, right) => {
                compute(&left.value(known), *operator, &right.value(known))
            }
        }
    }

    /// True if `holds` is true of a name in this expression.
    pub(crate) fn any_name(&self, holds: &dyn Fn(&N) -> bool) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Name(name) => holds(name),
            Self::Call(_, arguments, _) => arguments.iter().any(|it| it.any_name(holds)),
            Self::Binary(left, _, right) => left.any_name(holds) || right.any_name(holds),
        }
    }
}

/// A division by zero, and anything but a number in a sum, is null.
fn compute(left: &Value<'_>, operator: Operator, right: &Value<'_>) -> Value<'static> {
    match operator {
        Operator::Equal => return Value::Bool(left == right),
        Operator::Unequal => return Value::Bool(left != right),
        Operator::Add
        | Operator::Subtract
        | Operator::Multiply
        | Operator::Divide
        | Operator::Remainder
        | Operator::Less
        | Operator::LessOrEqual => {}
    }
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let number = match operator {
            Operator::Add => Some(a.wrapping_add(*b)),
            Operator::Subtract => Some(a.wrapping_sub(*b)),
            Operator::Multiply => Some(a.wrapping_mul(*b)),
            Operator::Divide => a.checked_div(*b),
            Operator::Remainder => a.checked_rem(*b),
            Operator::Less => return Value::Bool(a < b),
            Operator::LessOrEqual => return Value::Bool(a <= b),
            Operator::Equal | Operator::Unequal => None,
        };
        return number.map_or(Value::Null, Value::Int);
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return Value::Null };
    let number = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Remainder => a % b,
        Operator::Less => return Value::Bool(a < b),
        Operator::LessOrEqual => return Value::Bool(a <= b),
        Operator::Equal | Operator::Unequal => f64::NAN,
    };
    if number.is_finite() { Value::Decimal(number) } else { Value::Null }
}

fn made_up<'a, N>(
    call: Call,
    arguments: &'a [Expression<N>],
    seed: u64,
    known: &'a dyn Known<N>,
) -> Value<'a> {
    let mut random = fastrand::Rng::with_seed(seed);
    let argument = |at: usize| arguments.get(at).map_or(Value::Null, |it| it.value(known));
    match call {
        Call::Words => {
            let Value::Int(count) = argument(0) else { return Value::Null };
            let words: Vec<&str> =
                (0..count.clamp(0, 10_000)).map(|_| VOCABULARY[random.usize(..VOCABULARY.len())]).collect();
            Value::Text(words.join(" ").into())
        }
        Call::Between => match (argument(0), argument(1)) {
            (Value::Int(low), Value::Int(high)) if low <= high => Value::Int(random.i64(low..=high)),
            (low, high) => match (low.number(), high.number()) {
                // Two digits behind the point, as prices and points have.
                (Some(low), Some(high)) => {
                    Value::Decimal(((low + (high - low) * random.f64()) * 100.0).round() / 100.0)
                }
                (None, _) | (_, None) => Value::Null,
            },
        },
        Call::Pick => arguments[random.usize(..arguments.len())].value(known),
        Call::Chance => argument(0).number().map_or(Value::Null, |it| Value::Bool(random.f64() < it)),
    }
}

struct ExpressionReader<'t, 'r, N> {
    rest: &'t str,
    resolve: &'r dyn Fn(&str) -> Result<N, String>,
    place: &'r mut u64,
    depth: usize,
}

impl<N> ExpressionReader<'_, '_, N> {
    fn binary(&mut self, level: usize) -> Result<Expression<N>, String> {
        let Some(operators) = LEVELS.get(level) else { return self.call() };
        let mut left = self.binary(level + 1)?;
        loop {
            let rest = self.rest.trim_start();
            let Some((sign, operator)) = operators.iter().find(|it| rest.starts_with(it.0)) else {
                return Ok(left);
            };
            self.rest = &rest[sign.len()..];
            let right = self.binary(level + 1)?;
            left = Expression::Binary(Box::new(left), *operator, Box::new(right));
        }
    }

    /// A word with its arguments, or a single thing.
    fn call(&mut self) -> Result<Expression<N>, String> {
        let rest = self.rest.trim_start();
        let word = leading_word(rest);
        let Some((name, call, least)) = CALLS.iter().find(|it| it.0 == word) else { return self.atom() };
        self.rest = &rest[word.len()..];
        *self.place += 1;
        let place = *self.place;
        let mut arguments = Vec::new();
        while self
            .rest
            .trim_start()
            .starts_with(|it: char| it.is_alphanumeric() || matches!(it, '\'' | '(' | '.'))
        {
            // The arguments of `pick` are texts, not names.
            let bare = leading_word(self.rest.trim_start());
            if *call == Call::Pick && bare.starts_with(char::is_alphabetic) {
                self.rest = &self.rest.trim_start()[bare.len()..];
                arguments.push(Expression::Constant(Value::Text(bare.to_string().into())));
            } else {
                arguments.push(self.atom()?);
            }
        }
        if arguments.len() < *least || (*call != Call::Pick && arguments.len() > *least) {
            return Err(format!(
                "`{name}` takes {least}, as in `words 3`, `between 1 90`, `pick A B`, `chance 0.3`"
            ));
        }
        Ok(Expression::Call(*call, arguments, place))
    }

    fn atom(&mut self) -> Result<Expression<N>, String> {
        let rest = self.rest.trim_start();
        if let Some(inner) = rest.strip_prefix('(') {
            self.depth += 1;
            if self.depth > NESTING_MAX {
                return Err(format!("parentheses nest deeper than {NESTING_MAX}"));
            }
            self.rest = inner;
            let read = self.binary(0)?;
            self.depth -= 1;
            self.rest = self.rest.trim_start().strip_prefix(')').ok_or("a `)` is missing")?;
            return Ok(read);
        }
        if let Some(inner) = rest.strip_prefix('\'') {
            let (text, after) = inner.split_once('\'').ok_or("a text ends with `'`")?;
            self.rest = after;
            return Ok(Expression::Constant(Value::Text(text.to_string().into())));
        }
        let word = leading_word(rest);
        self.rest = &rest[word.len()..];
        if word.is_empty() {
            return Err(match rest.chars().next() {
                Some(sign) => format!("`{sign}` cannot stand there"),
                None => "a value is missing at the end".into(),
            });
        }
        if word.starts_with(|it: char| it.is_ascii_digit()) {
            let number = match word.parse::<i64>() {
                Ok(it) => Value::Int(it),
                Err(_) => Value::Decimal(word.parse().map_err(|_| format!("`{word}` is no number"))?),
            };
            return Ok(Expression::Constant(number));
        }
        Ok(Expression::Name((self.resolve)(word)?))
    }
}

/// The name or number that `text` begins with.
fn leading_word(text: &str) -> &str {
    let end =
        text.find(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '.' | '-')).unwrap_or(text.len());
    // A `-` inside belongs to the name of a header; after a number or with spaces around it is a minus.
    let word = &text[..end];
    let name = word.starts_with("header.") || word.starts_with("query.");
    match word.find('-') {
        Some(minus) if !name => &word[..minus],
        Some(_) | None => word,
    }
}
