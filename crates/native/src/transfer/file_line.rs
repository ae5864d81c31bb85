//! Lines of files that are read together, each as one number: above the bits of the line stands the number of the file.

/// Bits of the line number; the number of the file is in the bits above.
pub(crate) const LINE_BITS: u32 = 48;

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileLine<'f> {
    pub(crate) file: &'f str,
    pub(crate) line: u64,
}

/// The file and the line that `line` means; `files` are read together.
pub(crate) fn find_line(files: &[String], line: u64) -> FileLine<'_> {
    let file = files.get((line >> LINE_BITS) as usize).map_or("", String::as_str);
    FileLine { file, line: line & ((1 << LINE_BITS) - 1) }
}

/// The table of deferred edges, with the names of the files that are read together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredTable<'d> {
    pub(crate) name: &'d str,
    pub(crate) files: &'d [String],
}

impl<'d> DeferredTable<'d> {
    /// The file and the line that `line` means.
    pub(crate) fn find_line(self, line: u64) -> FileLine<'d> {
        find_line(self.files, line)
    }
}
