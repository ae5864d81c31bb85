//! "Did you mean …?": the names nearest to one that does not exist.
//!
//! Nearness, order and words are those of graphql-js.
//!
//! **Cost:** per candidate at most the product of both lengths, and nothing for those whose lengths differ too much.

use std::cmp::Ordering;

/// Names one message proposes.
const PROPOSED_MAX: usize = 5;

/// Longer names are no typing errors; measuring them would cost their square.
const MEASURED_BYTES_MAX: usize = 256;

/// ` Did you mean <what>"a", "b", or "c"?`, or nothing when there are none.
pub(crate) fn did_you_mean(what: &str, names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().take(PROPOSED_MAX).map(|name| format!("\"{name}\"")).collect();
    let list = match quoted.as_slice() {
        [] => return String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} or {two}"),
        [first @ .., last] => format!("{}, or {last}", first.join(", ")),
    };
    format!(" Did you mean {what}{list}?")
}

/// Names near `input`, nearest first.
pub fn find_near<'n>(input: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    if input.len() > MEASURED_BYTES_MAX {
        return Vec::new();
    }
    let threshold = input.len() * 2 / 5 + 1;
    let mut measure = Measure::new(input);
    let mut found: Vec<(usize, &str)> =
        names.filter_map(|name| Some((measure.distance(name, threshold)?, name))).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| natural(a.1, b.1)));
    found.dedup();
    found.into_iter().map(|(_, name)| name).collect()
}

/// Edit distance with transpositions, upper and lower case being nearly the same.
struct Measure<'i> {
    input: &'i str,
    lower: Vec<u8>,
    rows: [Vec<usize>; 3],
}

impl<'i> Measure<'i> {
    fn new(input: &'i str) -> Self {
        let row = vec![0; input.len() + MEASURED_BYTES_MAX + 1];
        Self { input, lower: input.to_ascii_lowercase().into_bytes(), rows: [row.clone(), row.clone(), row] }
    }

    fn distance(&mut self, name: &str, threshold: usize) -> Option<usize> {
        if self.input == name {
            return Some(0);
        }
        if self.input.eq_ignore_ascii_case(name) {
            return Some(1);
        }
        if self.lower.len().abs_diff(name.len()) > threshold {
            return None;
        }
        let name = name.to_ascii_lowercase().into_bytes();
        let (long, short) = if name.len() < self.lower.len() {
            (self.lower.as_slice(), name.as_slice())
        } else {
            (name.as_slice(), self.lower.as_slice())
        };
        for (column, cell) in self.rows[0][..=short.len()].iter_mut().enumerate() {
            *cell = column;
        }
        for i in 1..=long.len() {
            let mut smallest = i;
            self.rows[i % 3][0] = i;
            for j in 1..=short.len() {
                let up = &self.rows[(i - 1) % 3];
                let cost = usize::from(long[i - 1] != short[j - 1]);
                let mut cell = (up[j] + 1).min(self.rows[i % 3][j - 1] + 1).min(up[j - 1] + cost);
                if i > 1 && j > 1 && long[i - 1] == short[j - 2] && long[i - 2] == short[j - 1] {
                    cell = cell.min(self.rows[(i - 2) % 3][j - 2] + 1);
                }
                smallest = smallest.min(cell);
                self.rows[i % 3][j] = cell;
            }
            if smallest > threshold {
                return None;
            }
        }
        let distance = self.rows[long.len() % 3][short.len()];
        (distance <= threshold).then_some(distance)
    }
}

/// Orders names as people do: runs of digits by their value.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let a = a.as_bytes();
    let b = b.as_bytes();
    let mut i = 0;
    let mut j = 0;
    while i < a.len() && j < b.len() {
        let order = if a[i].is_ascii_digit() && b[j].is_ascii_digit() {
            number(a, &mut i).cmp(&number(b, &mut j))
        } else {
            i += 1;
            j += 1;
            a[i - 1].cmp(&b[j - 1])
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// The number at `at`, which moves behind it; a leading zero is a number of its own.
fn number(text: &[u8], at: &mut usize) -> u64 {
    let mut number = 0_u64;
    loop {
        number = number.saturating_mul(10).saturating_add(u64::from(text[*at] - b'0'));
        *at += 1;
        if number == 0 || !text.get(*at).is_some_and(u8::is_ascii_digit) {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, names: &[&str], expected: &str) {
        assert_eq!(did_you_mean("", &find_near(input, names.iter().copied())), expected);
    }

    #[test]
    fn near_names_are_proposed_nearest_first() {
        check("titel", &["title", "id", "tilt"], " Did you mean \"title\" or \"tilt\"?");
        check("NAME", &["name"], " Did you mean \"name\"?");
        check("xyz", &["title"], "");
        check("a", &["b10", "b9", "c", "b", "a1"], " Did you mean \"a1\", \"b\", or \"c\"?");
    }

    #[test]
    fn digits_are_ordered_by_value() {
        let mut names = ["a10", "a9", "a01", "b"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a01", "a9", "a10", "b"]);
    }
}
