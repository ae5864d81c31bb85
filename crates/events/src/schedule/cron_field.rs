//! One field of a cron expression, as a set of numbers.

/// The range and names of a field.
pub(super) struct FieldKind {
    pub(super) first: u8,
    pub(super) last: u8,
    /// Names of the numbers from `names_from` on.
    pub(super) names: &'static [&'static str],
    pub(super) names_from: u8,
}

/// The numbers of a field; the bit of a number is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) bits: u64,
    /// True if the field's text restricts nothing: `*`, `*/1`, or a list with `*`.
    pub(super) is_free: bool,
}

impl Field {
    pub(super) fn has(self, number: u8) -> bool {
        self.bits >> number & 1 == 1
    }

    /// Parses a field: numbers, ranges and lists of them, or one of them with a step.
    pub(super) fn parse(text: &str, kind: &FieldKind) -> Option<Self> {
        if let Some((base, step)) = text.split_once('/') {
            let step = parse_number(step).filter(|it| *it > 0)?;
            let (first, last) = match parse_item(base, kind)? {
                // A single number with a step goes on to the end.
                Item::Number(first) => (first, kind.last),
                Item::Range(first, last) => (first, last),
                Item::Star => (kind.first, kind.last),
            };
            let is_free = base == "*" && step == 1;
            let mut bits = 0;
            for number in (u16::from(first)..=u16::from(last)).step_by(step.into()) {
                bits |= 1 << number;
            }
            return Some(Self { bits, is_free });
        }
        let mut field = Self { bits: 0, is_free: false };
        for item in text.split(',') {
            let (first, last) = match parse_item(item, kind)? {
                Item::Number(number) => (number, number),
                Item::Range(first, last) => (first, last),
                Item::Star => {
                    field.is_free = true;
                    (kind.first, kind.last)
                }
            };
            for number in first..=last {
                field.bits |= 1 << number;
            }
        }
        Some(field)
    }
}

enum Item {
    Star,
    Number(u8),
    Range(u8, u8),
}

fn parse_item(text: &str, kind: &FieldKind) -> Option<Item> {
    if text == "*" {
        return Some(Item::Star);
    }
    match text.split_once('-') {
        None => parse_value(text, kind).map(Item::Number),
        Some((first, last)) => {
            let (first, last) = (parse_value(first, kind)?, parse_value(last, kind)?);
            (first <= last).then_some(Item::Range(first, last))
        }
    }
}

fn parse_value(text: &str, kind: &FieldKind) -> Option<u8> {
    let named = kind.names.iter().position(|it| text.eq_ignore_ascii_case(it));
    let number = match named {
        Some(at) => kind.names_from + u8::try_from(at).ok()?,
        None => u8::try_from(parse_number(text)?).ok()?,
    };
    (kind.first..=kind.last).contains(&number).then_some(number)
}

/// Digits alone; no sign.
fn parse_number(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let significant = text.trim_start_matches('0');
    match (is_number, significant) {
        (false, _) => None,
        (true, "") => Some(0),
        // A number with more digits is larger than any field.
        (true, digits) => Some(digits.parse().unwrap_or(u16::MAX)),
    }
}
