//! Statements, as Dgraph exports them, to objects: N-Quads, a line each, or the JSON of `statement_list`.
//!
//! Statements of one object may stand anywhere in the files, so statements are sorted by subject first: in memory as
//! long as they fit, else in runs that are merged. An edge that the store keeps at its other end is turned round before,
//! so that it arrives with the object that has it.
//!
//! **Invariant:** the order of objects follows from the files alone, so an interrupted load goes on behind the last number, if
//! the files are as they were.
//!
//! **Cost:** at most [`RUN_BYTES`] of statements are held; each is written and read once more if there are more.

use super::gather::Gather;
use super::quad::{Quad, QuadObject, parse_line};
use super::statement_list::{ObjectText, ObjectTexts, quads};
use super::statements::{Predicate, Predicates, Record, assemble};
use crate::store::Types;
use crate::transfer::file_line::LINE_BITS;
use crate::transfer::parcel::Parcel;
use crate::transfer::{Reached, changed_file_message};
use flate2::Crc;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom};
use std::path::Path;
use weir_language::json::{Json, JsonBuffer};

/// Statements held before they are written to a run.
const RUN_BYTES: usize = 128 << 20;
/// Statements in the order of their subjects.
struct Sorter<'f> {
    folder: &'f Path,
    held: Vec<Record>,
    bytes: usize,
    runs: Vec<BufReader<File>>,
}

impl Sorter<'_> {
    fn push(&mut self, record: Record) -> Result<(), String> {
        self.bytes += size_of::<Record>() + record.text.len();
        self.held.push(record);
        if self.bytes > RUN_BYTES {
            self.spill().map_err(|cause| format!("{}: {cause}", self.folder.display()))?;
        }
        Ok(())
    }

    /// Writes the held statements to a file without a name, which vanishes with the process.
    fn spill(&mut self) -> std::io::Result<()> {
        self.held.sort_unstable();
        let path = self.folder.join(format!(".weir-import-{}-{}", std::process::id(), self.runs.len()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        for record in self.held.drain(..) {
            record.write(&mut out)?;
        }
        let mut file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        self.runs.push(BufReader::with_capacity(1 << 20, file));
        self.bytes = 0;
        Ok(())
    }

    /// Gives all statements in order; `take` says whether to go on.
    fn merge(mut self, take: &mut dyn FnMut(Record) -> Result<bool, String>) -> Result<(), String> {
        if self.runs.is_empty() {
            self.held.sort_unstable();
            for record in self.held {
                if !take(record)? {
                    return Ok(());
                }
            }
            return Ok(());
        }
        let words = |cause: std::io::Error| cause.to_string();
        self.spill().map_err(words)?;
        let mut heads = BinaryHeap::new();
        for (at, run) in self.runs.iter_mut().enumerate() {
            heads.extend(Record::read(run).map_err(words)?.map(|record| Reverse((record, at))));
        }
        while let Some(Reverse((record, at))) = heads.pop() {
            heads
                .extend(Record::read(&mut self.runs[at]).map_err(words)?.map(|record| Reverse((record, at))));
            if !take(record)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

pub(crate) struct StatementFile {
    pub(crate) input: Box<dyn BufRead + Send>,
    /// True for a list of JSON objects, false for N-Quads.
    pub(crate) is_json: bool,
}

/// Reads files of statements into a sorter.
struct Reading<'r, 'g, 't, 's, 'k> {
    gather: &'r mut Gather<'g>,
    predicates: &'r mut Predicates<'t>,
    sorter: &'r mut Sorter<'s>,
    take: &'r mut super::lines::Take<'k>,
    from: Reached,
    bytes: u64,
    sum: Crc,
}

impl Reading<'_, '_, '_, '_, '_> {
    /// Reads N-Quads of the file with this number; `false` to stop.
    fn lines(&mut self, mut input: impl BufRead, number: u64) -> Result<bool, String> {
        let mut line = number << LINE_BITS;
        let mut text = Vec::new();
        loop {
            text.clear();
            let read = input.read_until(b'\n', &mut text).map_err(|cause| cause.to_string())?;
            if read == 0 {
                return Ok(true);
            }
            line += 1;
            self.sum.update(&text);
            let quad =
                std::str::from_utf8(&text).map_err(|_| "it is not UTF-8".to_owned()).and_then(parse_line);
            if let Some(quad) = quad.transpose() {
                self.keep(quad, line)?;
            }
            if !self.advance(read as u64) {
                return Ok(false);
            }
        }
    }

    /// Reads a list of JSON objects; `false` to stop, see [`Self::lines`].
    fn objects(&mut self, input: impl BufRead, number: u64) -> Result<bool, String> {
        let mut objects = ObjectTexts::new(input);
        let mut text = Vec::new();
        let mut buffer = JsonBuffer::default();
        loop {
            let ObjectText { line, read } = objects.next(&mut text, &mut self.sum)?;
            if line > 0 {
                let line = (number << LINE_BITS) + line;
                match Json::parse_in(std::mem::take(&mut buffer), &text, super::cell_values::DEPTH_MAX) {
                    Ok(json) => {
                        quads(json.root()).into_iter().try_for_each(|quad| self.keep(quad, line))?;
                        buffer = json.into_buffer();
                    }
                    Err(error) => self.keep(Err(error.to_string()), line)?,
                }
            }
            if !self.advance(read) || line == 0 {
                return Ok(line == 0);
            }
        }
    }

    /// Keeps a statement of a line, or why it is none.
    fn keep(&mut self, quad: Result<Quad<'_>, String>, line: u64) -> Result<(), String> {
        // Rejected lines before the offset were told with the first parcel.
        let is_told = self.from.offset > 0;
        match quad {
            Ok(quad) => {
                if quad.has_facets && !is_told {
                    self.gather.left_out();
                }
                let record = record(self.predicates, quad, line);
                self.sorter.push(record)
            }
            Err(why) => {
                if !is_told {
                    self.gather.unread(line, why);
                }
                Ok(())
            }
        }
    }

    /// Says now and then how far it is read; `false` to stop.
    fn advance(&mut self, read: u64) -> bool {
        self.bytes += read;
        let is_time = self.bytes % (1 << 23) < read;
        !is_time || (self.take)(Parcel::progress(self.from, self.bytes))
    }
}

/// Reads statements from `files`, sorts them in `folder` and gives the objects whose numbers are greater than the offset of `from`.
pub(crate) fn read(
    files: Vec<StatementFile>,
    folder: &Path,
    types: &Types,
    mut gather: Gather<'_>,
    from: Reached,
    take: &mut super::lines::Take<'_>,
) -> Result<(), String> {
    let mut predicates = Predicates::new(types);
    let mut sorter = Sorter { folder, held: Vec::new(), bytes: 0, runs: Vec::new() };
    let mut reading = Reading {
        gather: &mut gather,
        predicates: &mut predicates,
        sorter: &mut sorter,
        take: &mut *take,
        from,
        bytes: 0,
        sum: Crc::new(),
    };
    for (number, StatementFile { input, is_json }) in files.into_iter().enumerate() {
        let number = number as u64;
        let goes_on = if is_json { reading.objects(input, number)? } else { reading.lines(input, number)? };
        if !goes_on {
            return Ok(());
        }
    }
    let Reading { bytes, sum, .. } = reading;
    if from.offset > 0 && from.sum != sum.sum() {
        return Err(changed_file_message(from.line));
    }
    let mut object: Vec<Record> = Vec::new();
    let mut last = Reached { sum: sum.sum(), ..from };
    sorter.merge(&mut |record| {
        let is_next = object.first().is_some_and(|it| it.subject != record.subject);
        let mut goes_on = true;
        if is_next {
            goes_on = finish(&mut gather, &predicates.all, &mut object, from.offset, last, bytes, take);
        }
        last.offset = record.subject as u64;
        object.push(record);
        Ok(goes_on)
    })?;
    if finish(&mut gather, &predicates.all, &mut object, from.offset, last, bytes, take)
        && let Some(parcel) = gather.parcel(true, last, bytes)
    {
        take(parcel);
    }
    Ok(())
}

fn record(predicates: &mut Predicates<'_>, quad: Quad<'_>, line: u64) -> Record {
    let predicate = predicates.place(&quad.predicate);
    match (quad.object, predicates.all[predicate as usize].turned) {
        (QuadObject::Id(id), Some(turned)) => {
            Record { subject: id, line, predicate: turned, id: quad.subject, text: String::new() }
        }
        (QuadObject::Id(id), None) => {
            Record { subject: quad.subject, line, predicate, id, text: String::new() }
        }
        (QuadObject::Text(text), _) => {
            Record { subject: quad.subject, line, predicate, id: 0, text: text.into_owned() }
        }
    }
}

/// Takes the statements of one subject as an object, unless it was loaded before, and closes the parcel if it is full.
fn finish(
    gather: &mut Gather<'_>,
    predicates: &[Predicate],
    object: &mut Vec<Record>,
    from: u64,
    reached: Reached,
    bytes: u64,
    take: &mut super::lines::Take<'_>,
) -> bool {
    let Some(first) = object.first() else { return true };
    if first.subject as u64 > from {
        assemble(gather, predicates, object);
    }
    object.clear();
    gather.parcel(false, reached, bytes).is_none_or(take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_in_the_order_of_subjects() {
        let folder = std::env::temp_dir();
        let mut sorter = Sorter { folder: &folder, held: Vec::new(), bytes: 0, runs: Vec::new() };
        for subject in [3, 1, 2, 1] {
            let text = format!("text of {subject}");
            sorter.push(Record { subject, text, ..Record::default() }).unwrap();
            sorter.spill().unwrap();
        }
        let mut seen = Vec::new();
        sorter
            .merge(&mut |record| {
                seen.push((record.subject, record.text));
                Ok(true)
            })
            .unwrap();
        let expected = [1, 1, 2, 3].map(|it| (it, format!("text of {it}")));
        assert_eq!(seen, expected);
    }
}
