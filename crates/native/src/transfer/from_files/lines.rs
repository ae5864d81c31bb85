//! NDJSON and CSV files to parcels.
//!
//! CSV is that of RFC 4180: fields with `"`, `,` or line ends stand between `"`. An empty field is null, `""` the empty
//! text. The first record has the names.
//!
//! A record of several lines that cannot be split has a `"` that is not closed: it is its first line alone, and the next one
//! begins with the second.
//!
//! **Invariant:** offsets are bytes of the unpacked text, so that a packed file can be gone on with too; the checksum is that
//! of all bytes before the offset.
//!
//! **Cost:** one pass; a line without quotes is split where it stands.

use super::gather::{Gather, put_cell};
use super::slots::{Aim, Slot};
use crate::transfer::parcel::Parcel;
use crate::transfer::{Reached, changed_file_message};
use flate2::Crc;
use memchr::{memchr, memchr_iter};
use std::io::BufRead;
use weir_language::json::{Json, JsonBuffer};

/// A line may not be longer; a record of several lines that is, is not closed.
pub(super) const LINE_BYTES_MAX: usize = 64 << 20;

/// A file and the position in it.
pub(crate) struct Lines<R> {
    input: R,
    /// Bytes that were read too far; they come before the rest of the file.
    again: Vec<u8>,
    /// Number of these bytes that were read again.
    again_from: usize,
    line: u64,
    offset: u64,
    sum: Crc,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        let again = Vec::new();
        let text = Vec::new();
        Self { input, again, again_from: 0, line: 0, offset: 0, sum: Crc::new(), text }
    }

    fn position(&self) -> Reached {
        Reached { offset: self.offset, line: self.line, sum: self.sum.sum() }
    }

    /// Reads the next line; `false` at the end.
    fn next(&mut self) -> Result<bool, String> {
        self.text.clear();
        let found = self.append_line()?;
        self.pass();
        Ok(found)
    }

    /// Appends another line to the buffered text.
    fn append_line(&mut self) -> Result<bool, String> {
        let again = &self.again[self.again_from..];
        let read = if again.is_empty() {
            self.input.read_until(b'\n', &mut self.text).map_err(|cause| cause.to_string())?
        } else {
            let end = memchr(b'\n', again).map_or(again.len(), |at| at + 1);
            self.text.extend_from_slice(&again[..end]);
            self.again_from += end;
            end
        };
        if read > LINE_BYTES_MAX {
            Err(format!("a line behind line {} is longer than {LINE_BYTES_MAX} bytes", self.line))
        } else {
            Ok(read > 0)
        }
    }

    /// Consumes the buffered text.
    fn pass(&mut self) {
        let ends = memchr_iter(b'\n', &self.text).count() as u64;
        self.line += ends + u64::from(self.text.last().is_some_and(|it| *it != b'\n'));
        self.offset += self.text.len() as u64;
        self.sum.update(&self.text);
    }

    /// Reads the next record of a CSV file, which may have line ends between quotes, and splits it; `false` at the end.
    fn record(&mut self, fields: &mut Fields) -> Result<(bool, Result<(), String>), String> {
        self.text.clear();
        let found = self.append_line()?;
        let mut is_open = false;
        let mut seen = 0;
        loop {
            is_open ^= memchr_iter(b'"', &self.text[seen..]).count() % 2 == 1;
            seen = self.text.len();
            if !is_open {
                break;
            }
            if seen > LINE_BYTES_MAX || !self.append_line()? {
                break;
            }
        }
        let mut split = self.text().and_then(|text| fields.split(text));
        if split.is_err() && memchr(b'\n', &self.text).is_some_and(|at| at + 1 < seen) {
            self.give_back();
            split = self.text().and_then(|text| fields.split(text));
        }
        self.pass();
        Ok((found, split))
    }

    /// Keeps the first of the buffered lines, and lets the others be read again.
    fn give_back(&mut self) {
        let end = memchr(b'\n', &self.text).map_or(self.text.len(), |at| at + 1);
        self.again.drain(..self.again_from);
        self.again.splice(..0, self.text.drain(end..));
        self.again_from = 0;
    }

    fn text(&self) -> Result<&str, String> {
        let line = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        std::str::from_utf8(line).map_err(|_| "it is not UTF-8".into())
    }

    /// Skips the part that was loaded before, if it is unchanged.
    fn skip_to(&mut self, from: Reached) -> Result<(), String> {
        while self.offset < from.offset && self.next()? {}
        if from.offset == 0 || self.position() == from {
            Ok(())
        } else {
            Err(changed_file_message(from.line))
        }
    }
}

/// Receiver of parcels; returns `false` to stop.
pub(crate) type Take<'t> = dyn FnMut(Parcel) -> bool + 't;

/// Reads JSON objects, one a line, behind `from`.
pub(crate) fn ndjson(
    mut lines: Lines<impl BufRead>,
    mut gather: Gather<'_>,
    from: Reached,
    take: &mut Take<'_>,
) -> Result<(), String> {
    lines.skip_to(from)?;
    let mut buffer = JsonBuffer::default();
    while lines.next()? {
        let text = lines.text.trim_ascii();
        if !text.is_empty() {
            let line = lines.line;
            let done = match Json::parse_in(std::mem::take(&mut buffer), text, super::cell_values::DEPTH_MAX)
            {
                Ok(json) => {
                    let done = gather.json(json.root(), line);
                    buffer = json.into_buffer();
                    done
                }
                Err(error) => Err(error.to_string()),
            };
            gather.note(line, done);
        }
        if let Some(parcel) = gather.parcel(false, lines.position(), lines.offset)
            && !take(parcel)
        {
            return Ok(());
        }
    }
    if let Some(parcel) = gather.parcel(true, lines.position(), lines.offset) {
        take(parcel);
    }
    Ok(())
}

/// Reads a CSV file, behind `from`.
pub(crate) fn csv(
    mut lines: Lines<impl BufRead>,
    mut gather: Gather<'_>,
    from: Reached,
    take: &mut Take<'_>,
) -> Result<(), String> {
    let mut fields = Fields::default();
    let (is_there, split) = lines.record(&mut fields)?;
    if !is_there {
        return Ok(());
    }
    split?;
    let names: Vec<String> =
        fields.iter().map(|it| it.unwrap_or_default().trim_start_matches('\u{feff}').to_owned()).collect();
    let header = Header::new(&mut gather, &names)?;
    lines.skip_to(from)?;
    loop {
        let (is_there, split) = lines.record(&mut fields)?;
        if !is_there {
            break;
        }
        let inner = &lines.text[..lines.text.len().saturating_sub(1)];
        let first_line = lines.line - memchr_iter(b'\n', inner).count() as u64;
        if !lines.text.trim_ascii().is_empty() {
            let done = split.and_then(|()| header.take(&mut gather, &fields, first_line));
            gather.note(first_line, done);
        }
        if let Some(parcel) = gather.parcel(false, lines.position(), lines.offset)
            && !take(parcel)
        {
            return Ok(());
        }
    }
    if let Some(parcel) = gather.parcel(true, lines.position(), lines.offset) {
        take(parcel);
    }
    Ok(())
}

/// Structure of the file, as its first record says.
enum Header {
    Objects(crate::model::TypeId, Vec<Slot>),
    Pairs(crate::model::FieldId),
    /// The place of the type's name, and all names.
    Mixed(usize, Vec<String>),
}

impl Header {
    fn new(gather: &mut Gather<'_>, names: &[String]) -> Result<Self, String> {
        match gather.aim {
            Aim::Objects(ty) => {
                let (slots, _) = gather.batch(ty);
                let mut found = Vec::new();
                let mut unknown = Vec::new();
                for name in names {
                    match slots.find(name) {
                        Ok(slot) => found.push(slot),
                        Err(why) => unknown.push(why),
                    }
                }
                if unknown.is_empty() { Ok(Self::Objects(ty, found)) } else { Err(unknown.join("\n")) }
            }
            Aim::Pairs(field) if names.len() == 2 => Ok(Self::Pairs(field)),
            Aim::Pairs(_) => {
                Err("a file of pairs has two columns: the object, and what belongs to it".into())
            }
            Aim::Mixed => {
                let at = names.iter().position(|it| it == "__typename" || it == "dgraph.type");
                at.map(|at| Self::Mixed(at, names.to_vec()))
                    .ok_or_else(|| "it does not say its type; add `--type`".into())
            }
        }
    }

    fn take(&self, gather: &mut Gather<'_>, fields: &Fields, line: u64) -> Result<(), String> {
        match self {
            Self::Pairs(field) => match (fields.get(0), fields.get(1)) {
                (Some(one), Some(other)) => gather.pair(*field, line, one, other),
                (_, _) => Err("a pair needs two values".into()),
            },
            Self::Objects(ty, found) => {
                if fields.len() != found.len() {
                    return Err(format!("{} fields where the first line has {}", fields.len(), found.len()));
                }
                let (slots, batch) = gather.batch(*ty);
                let first = batch.begin(line);
                for (&slot, text) in found.iter().zip(fields.iter()) {
                    let Some(text) = text else { continue };
                    if let Err(why) = put_cell(slots, batch, first, slot, text) {
                        batch.abandon();
                        return Err(why);
                    }
                }
                Ok(())
            }
            Self::Mixed(at, names) => {
                let ty = gather.type_of(fields.get(*at))?;
                let (slots, batch) = gather.batch(ty);
                let first = batch.begin(line);
                for (name, text) in names.iter().zip(fields.iter()) {
                    let Some(text) = text else { continue };
                    let done = slots.find(name).and_then(|slot| put_cell(slots, batch, first, slot, text));
                    if let Err(why) = done {
                        batch.abandon();
                        return Err(why);
                    }
                }
                Ok(())
            }
        }
    }
}

/// The fields of a record.
#[derive(Default)]
struct Fields {
    /// Position of each cell in `text`; `None` is null.
    places: Vec<Option<(usize, usize)>>,
    text: String,
}

impl Fields {
    /// Splits a record that has its line end no more.
    fn split(&mut self, record: &str) -> Result<(), String> {
        self.places.clear();
        self.text.clear();
        let mut rest = record;
        loop {
            let from = self.text.len();
            if let Some(quoted) = rest.strip_prefix('"') {
                rest = self.unquote(quoted)?;
                self.places.push(Some((from, self.text.len())));
            } else {
                let end = memchr(b',', rest.as_bytes()).unwrap_or(rest.len());
                self.text.push_str(&rest[..end]);
                self.places.push((end > 0).then_some((from, from + end)));
                rest = &rest[end..];
            }
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None if rest.is_empty() => return Ok(()),
                None => return Err("text stands behind a closing `\"`".into()),
            }
        }
    }

    /// Takes the text before the closing quote, and returns the rest.
    fn unquote<'r>(&mut self, quoted: &'r str) -> Result<&'r str, String> {
        let mut rest = quoted;
        loop {
            let end = memchr(b'"', rest.as_bytes()).ok_or("a `\"` is not closed")?;
            self.text.push_str(&rest[..end]);
            match rest[end + 1..].strip_prefix('"') {
                Some(more) => {
                    self.text.push('"');
                    rest = more;
                }
                None => return Ok(&rest[end + 1..]),
            }
        }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.places.iter().map(|it| it.map(|(from, to)| &self.text[from..to]))
    }

    fn get(&self, at: usize) -> Option<&str> {
        self.iter().nth(at).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(record: &str, expected: Result<&[Option<&str>], &str>) {
        let mut fields = Fields::default();
        match (fields.split(record), expected) {
            (Ok(()), Ok(expected)) => assert_eq!(fields.iter().collect::<Vec<_>>(), expected, "{record}"),
            (Err(why), Err(part)) => assert!(why.contains(part), "{record}: {why}"),
            (found, _) => panic!("{record}: {found:?}"),
        }
    }

    #[test]
    fn nothing_is_null_and_quotes_are_empty_text() {
        check("a,b", Ok(&[Some("a"), Some("b")]));
        check(",\"\",", Ok(&[None, Some(""), None]));
        check("\"x, \"\"y\"\"\nz\",1", Ok(&[Some("x, \"y\"\nz"), Some("1")]));
        check("\"x\"y", Err("behind a closing"));
        check("\"x", Err("not closed"));
    }
}
