//! Values of requests: generators by name, and one run's draws from them.
//!
//! **Invariant:** a generator is drawn once per run of an operation or flow; with several generator processes no value of a
//! sequence is drawn twice.

use crate::notation::expression::{Known, Value, mix};
use crate::notation::yaml::{Mistake, Pairs, Tree, range, unknown_name};
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most elements of a Zipf distribution: its table has 8 bytes for each.
const ZIPF_MAX: u64 = 10_000_000;

/// A value that expressions of a plan may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueName {
    /// A generator, by number.
    Generator(usize),
    /// A column of a generator's CSV file.
    Column(usize, usize),
    /// A value captured from an earlier answer.
    Capture(usize),
}

/// A generator in YAML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GeneratorText {
    sequence: Option<Spanned<Tree>>,
    random: Option<Spanned<String>>,
    zipf: Option<Spanned<String>>,
    exponent: Option<f64>,
    choice: Option<Spanned<Vec<Spanned<Tree>>>>,
    weights: Option<Spanned<Vec<f64>>>,
    csv: Option<Spanned<String>>,
    #[serde(default)]
    order: RowOrder,
}

/// The order in which rows of a file are drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RowOrder {
    #[default]
    Sequence,
    Random,
}

#[derive(Debug)]
enum Source {
    /// First value, step, and values until it begins afresh.
    Sequence {
        from: i64,
        count: Option<u64>,
    },
    Random {
        from: i64,
        to: i64,
    },
    /// The cumulated probabilities of `from`, `from + 1`, ….
    Weighted {
        from: i64,
        cumulated: Vec<f64>,
    },
    Choice {
        values: Vec<Value<'static>>,
        cumulated: Vec<f64>,
    },
    Rows {
        columns: Vec<String>,
        rows: Vec<Vec<Value<'static>>>,
        order: RowOrder,
    },
}

/// All generators of a plan, and this process's share of them.
#[derive(Debug, Default)]
pub(crate) struct Generators {
    names: Vec<String>,
    sources: Vec<Source>,
    cursors: Vec<AtomicU64>,
}

impl Generators {
    /// Reads `values:`; files are relative to `base`.
    pub(super) fn read(all: Pairs<Spanned<GeneratorText>>, base: &Path) -> Result<Self, Mistake> {
        let mut found = Self::default();
        for (name, text) in all.0 {
            let plain = |it: char| it.is_alphanumeric() || it == '_';
            if !name.value.starts_with(char::is_alphabetic) || !name.value.chars().all(plain) {
                let message = format!("`{}` cannot name a value; use letters, digits and `_`", name.value);
                return Err(Mistake::at(name.referenced, message));
            }
            if found.names.contains(&name.value) {
                return Err(Mistake::at(name.referenced, format!("`{}` stands there twice", name.value)));
            }
            found.sources.push(source(text.value, text.referenced, base)?);
            found.names.push(name.value);
            found.cursors.push(AtomicU64::new(0));
        }
        Ok(found)
    }

    /// The value of that name, and its generator.
    pub(super) fn resolve(&self, name: &str) -> Result<Option<ValueName>, String> {
        let (head, column) = name.split_once('.').map_or((name, None), |it| (it.0, Some(it.1)));
        let Some(at) = self.names.iter().position(|it| it == head) else { return Ok(None) };
        match (&self.sources[at], column) {
            (Source::Rows { columns, .. }, Some(column)) => {
                match columns.iter().position(|it| it == column) {
                    Some(number) => Ok(Some(ValueName::Column(at, number))),
                    None => Err(unknown_name("column", column, columns)),
                }
            }
            (Source::Rows { columns, .. }, None) => Err(format!(
                "`{head}` is a row; name a column of it: `{head}.{}`",
                columns.first().map_or("id", String::as_str)
            )),
            (_, None) => Ok(Some(ValueName::Generator(at))),
            (_, Some(column)) => Err(format!("`{head}` has no column `{column}`; only a `csv` has some")),
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Draws the generators `used` for one run.
    pub(crate) fn draw(&self, used: &[usize], share: Share, run: u64, seed: u64, values: &mut RunValues<'_>) {
        values.seed = mix(seed, run);
        let mut random = fastrand::Rng::with_seed(mix(values.seed, 1));
        for at in used {
            let turn = || {
                let turn = self.cursors[*at].fetch_add(1, Ordering::Relaxed);
                turn * u64::from(share.of) + u64::from(share.index)
            };
            match &self.sources[*at] {
                Source::Sequence { from, count } => {
                    let turn = turn();
                    let turn = count.map_or(turn, |count| turn % count);
                    values.drawn[*at] = Value::Int(from.wrapping_add_unsigned(turn));
                }
                Source::Random { from, to } => values.drawn[*at] = Value::Int(random.i64(*from..=*to)),
                Source::Weighted { from, cumulated } => {
                    let place = pick(cumulated, random.f64());
                    values.drawn[*at] = Value::Int(from.wrapping_add_unsigned(place as u64));
                }
                Source::Choice { values: all, cumulated } => {
                    values.drawn[*at] = all[pick(cumulated, random.f64())].clone();
                }
                Source::Rows { rows, order, .. } => {
                    values.rows[*at] = match order {
                        RowOrder::Sequence => usize::try_from(turn()).unwrap_or(0) % rows.len(),
                        RowOrder::Random => random.usize(..rows.len()),
                    };
                }
            }
        }
    }
}

/// The place of a number from 0 to 1 among cumulated probabilities.
fn pick(cumulated: &[f64], drawn: f64) -> usize {
    cumulated.partition_point(|it| *it <= drawn).min(cumulated.len() - 1)
}

/// Cumulative probabilities of weights.
pub(crate) fn cumulate(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let mut all: Vec<f64> = weights
        .map(|it| {
            sum += it;
            sum
        })
        .collect();
    all.iter_mut().for_each(|it| *it /= sum);
    all
}

/// Position of this process among several generator processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of this process, from 0.
    pub index: u32,
    /// Number of processes.
    pub of: u32,
}

impl Share {
    /// The only process.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// This process's part of `count`.
    pub(crate) fn part(self, count: u32) -> u32 {
        count / self.of + u32::from(self.index < count % self.of)
    }

    /// True if the element of that number belongs to this process.
    pub(crate) fn has(self, number: u64) -> bool {
        number % u64::from(self.of) == u64::from(self.index)
    }
}

#[derive(Debug)]
pub(crate) struct RunValues<'g> {
    generators: &'g Generators,
    drawn: Vec<Value<'static>>,
    rows: Vec<usize>,
    captured: Vec<Value<'static>>,
    seed: u64,
}

impl<'g> RunValues<'g> {
    pub(crate) fn new(generators: &'g Generators, captures: usize) -> Self {
        let count = generators.sources.len();
        let drawn = vec![Value::Null; count];
        let rows = vec![0; count];
        Self { generators, drawn, rows, captured: vec![Value::Null; captures], seed: 0 }
    }

    pub(crate) fn capture(&mut self, at: usize, value: Value<'static>) {
        self.captured[at] = value;
    }
}

impl Known<ValueName> for RunValues<'_> {
    fn value(&self, name: &ValueName) -> Value<'_> {
        let value = match name {
            ValueName::Generator(at) => &self.drawn[*at],
            ValueName::Capture(at) => &self.captured[*at],
            ValueName::Column(at, column) => match &self.generators.sources[*at] {
                Source::Rows { rows, .. } => &rows[self.rows[*at]][*column],
                Source::Sequence { .. }
                | Source::Random { .. }
                | Source::Weighted { .. }
                | Source::Choice { .. } => &Value::Null,
            },
        };
        value.clone()
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

fn source(text: GeneratorText, place: Location, base: &Path) -> Result<Source, Mistake> {
    let GeneratorText { sequence, random, zipf, exponent, choice, weights, csv, order } = text;
    let kinds = [sequence.is_some(), random.is_some(), zipf.is_some(), choice.is_some(), csv.is_some()];
    if kinds.iter().filter(|it| **it).count() != 1 {
        let message = "a value is one of `sequence: 1..5000`, `random: 1..5000`, `zipf: 1..5000`, `choice: [A, B]`, `csv: FILE`";
        return Err(Mistake::at(place, message));
    }
    if exponent.is_some() && zipf.is_none() {
        return Err(Mistake::at(place, "`exponent` belongs to `zipf`"));
    }
    if let (Some(weights), None) = (&weights, &choice) {
        return Err(Mistake::at(weights.referenced, "`weights` belongs to `choice`"));
    }
    if let Some(text) = &random {
        let (from, to) = range(text)?.into_inner();
        return Ok(Source::Random { from, to });
    }
    if let Some(text) = &zipf {
        return zipf_source(text, exponent.unwrap_or(1.0));
    }
    if let Some(choice) = choice {
        return choice_source(&choice, weights);
    }
    if let Some(file) = csv {
        return rows(&file, order, base);
    }
    let sequence = sequence.map(|it| (it.value, it.referenced));
    match sequence {
        Some((Tree::Int(from), _)) => Ok(Source::Sequence { from, count: None }),
        Some((Tree::Text(text), place)) => {
            let (from, to) = range(&Spanned { value: text, referenced: place, defined: place })?.into_inner();
            Ok(Source::Sequence { from, count: Some(from.abs_diff(to) + 1) })
        }
        _ => {
            Err(Mistake::at(place, "write `sequence: 1`, or `sequence: 1..5000` to begin afresh after 5000"))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "ranks are below 10 million")]
fn zipf_source(text: &Spanned<String>, exponent: f64) -> Result<Source, Mistake> {
    let (from, to) = range(text)?.into_inner();
    let count = from.abs_diff(to) + 1;
    if count > ZIPF_MAX || !(0.0..=10.0).contains(&exponent) {
        let message = format!("`zipf` takes at most {ZIPF_MAX} values and an `exponent` from 0 to 10");
        return Err(Mistake::at(text.referenced, message));
    }
    let cumulated = cumulate((1..=count).map(|rank| (rank as f64).powf(-exponent)));
    Ok(Source::Weighted { from, cumulated })
}

fn choice_source(
    choice: &Spanned<Vec<Spanned<Tree>>>,
    weights: Option<Spanned<Vec<f64>>>,
) -> Result<Source, Mistake> {
    let scalar = |it: &Spanned<Tree>| match &it.value {
        Tree::Null => Ok(Value::Null),
        Tree::Bool(it) => Ok(Value::Bool(*it)),
        Tree::Int(it) => Ok(Value::Int(*it)),
        Tree::Decimal(it) => Ok(Value::Decimal(*it)),
        Tree::Text(it) => Ok(Value::Text(it.clone().into())),
        Tree::List(_) | Tree::Map(_) => {
            Err(Mistake::at(it.referenced, "`choice` lists texts, numbers, `true` and `false`"))
        }
    };
    let values = choice.value.iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
    let place = weights.as_ref().map_or(choice.referenced, |it| it.referenced);
    let weights = weights.map_or_else(|| vec![1.0; values.len()], |it| it.value);
    if values.is_empty() || weights.len() != values.len() || !is_weights(&weights) {
        let message = "`choice` needs a value, and `weights` a number above 0 for each of them";
        return Err(Mistake::at(place, message));
    }
    Ok(Source::Choice { values, cumulated: cumulate(weights.into_iter()) })
}

fn is_weights(weights: &[f64]) -> bool {
    weights.iter().all(|it| it.is_finite() && *it > 0.0)
}

/// Digits are integers; all else is text.
fn rows(file: &Spanned<String>, order: RowOrder, base: &Path) -> Result<Source, Mistake> {
    let path = base.join(&file.value);
    let wrong = |cause: csv::Error| {
        Mistake::at(file.referenced, format!("{} cannot be read: {cause}", path.display()))
    };
    let mut reader = csv::Reader::from_path(&path).map_err(wrong)?;
    let columns: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let own = |it: &str| match Value::of_text(it) {
            Value::Int(it) => Value::Int(it),
            _ => Value::Text(it.to_owned().into()),
        };
        rows.push(record.map_err(wrong)?.iter().map(own).collect());
    }
    if rows.is_empty() {
        let message = format!("{} has no row below its names", path.display());
        return Err(Mistake::at(file.referenced, message));
    }
    Ok(Source::Rows { columns, rows, order })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generators(yaml: &str) -> Result<Generators, Mistake> {
        Generators::read(crate::notation::yaml::read(yaml)?, Path::new("."))
    }

    fn draw_values(yaml: &str, share: Share, count: u64) -> Vec<String> {
        let all = generators(yaml).expect("they are sound");
        let mut values = RunValues::new(&all, 0);
        let draw = |run| {
            all.draw(&[0], share, run, 7, &mut values);
            format!("{:?}", values.value(&ValueName::Generator(0)))
        };
        (0..count).map(draw).collect()
    }

    #[test]
    fn a_sequence_is_divided_between_processes_and_begins_afresh() {
        let share = |index| draw_values("n: {sequence: 5..9}", Share { index, of: 2 }, 4);
        assert_eq!(share(0), ["Int(5)", "Int(7)", "Int(9)", "Int(6)"]);
        assert_eq!(share(1), ["Int(6)", "Int(8)", "Int(5)", "Int(7)"]);
    }

    #[test]
    fn draws_follow_their_distribution() {
        let count = |yaml: &str, value: &str| {
            draw_values(yaml, Share::WHOLE, 20_000).iter().filter(|it| *it == value).count() as f64 / 20_000.0
        };
        // The harmonic number of 100 is 5.187.
        assert!((count("n: {zipf: 1..100}", "Int(1)") - 1.0 / 5.187).abs() < 0.01);
        assert!((count("n: {zipf: 1..100}", "Int(2)") - 0.5 / 5.187).abs() < 0.01);
        assert!((count("n: {random: 1..4}", "Int(4)") - 0.25).abs() < 0.01);
        assert!((count("n: {choice: [a, b], weights: [3, 1]}", "Text(\"a\")") - 0.75).abs() < 0.01);
    }

    #[test]
    fn mistakes_have_their_place() {
        let check = |yaml: &str, expected: &str| {
            assert_eq!(generators(yaml).expect_err(expected).to_string(), expected);
        };
        check("n: {zipf: 5}", "1:11: `5` is no range of ids; write `1..5000`");
        check("n: {zips: 1..5}", "1:5: unknown key `zips`; did you mean `zipf`?");
        check(
            "n: {random: 1..5, zipf: 1..5}",
            "1:4: a value is one of `sequence: 1..5000`, `random: 1..5000`, `zipf: 1..5000`, `choice: [A, B]`, `csv: FILE`",
        );
        check("n: {random: 1..5, exponent: 2}", "1:4: `exponent` belongs to `zipf`");
        check("1n: {random: 1..5}", "1:1: `1n` cannot name a value; use letters, digits and `_`");
    }
}
