//! Introspection that is written per request: at once while it is short, else in chunks, from the program that was compiled once.
//!
//! **Invariant:** the last byte of a chunk is held back, as the comma after a list's last item has to become a bracket.
//!
//! **Cost:** a chunk is written when the client has read the ones before it, so a slow client costs two chunks of memory.

use super::{Full, Introspection, IntrospectionProgress};
use crate::answer::chunk::Chunk;
use crate::answer::field_error::SourceError;
use crate::answer::output_plan::OutputPlan;
use crate::answer::size_hint::SizeHint;
use crate::answer::unread::{Gone, Sender, channel};
use crate::answer::write::out::Out;
use crate::caching::tag_versions::Tag;
use crate::caller::Profile;
use crate::request::protocol::Protocol;
use crate::source::{
    AnswerForm, BoxFuture, Chunks, ExplainInput, FetchBody, FetchInput, FetchResult, Finished, PreparedFetch,
};
use std::sync::Arc;
use tokio::runtime::Handle;
use weir_language::schema::{Schema, SchemaView};
use weir_language::value::Variables;

/// Bytes of a chunk, about.
const CHUNK_BYTES: usize = 64 << 10;

/// Room for a type beyond a chunk's bytes.
const TYPE_BYTES: usize = 16 << 10;

/// Chunks on their way to a slow client.
const CHUNKS_MAX: usize = 2;

/// Gets the root members at `fields` ready to be written per request.
pub(crate) fn prepare(
    schema: &Arc<Schema>,
    profile: &Arc<Profile>,
    output: &OutputPlan,
    (fields, answer): (&[u32], AnswerForm),
    protocol: Protocol,
) -> Box<dyn PreparedFetch> {
    let program = Introspection::new(profile.view(schema), output, fields, protocol);
    let may_stream = matches!(answer, AnswerForm::Any { contiguous: true });
    let written = Written { schema: Arc::clone(schema), profile: Arc::clone(profile), program };
    Box::new(IntrospectionFetch { written: Arc::new(written), may_stream, size: SizeHint::default() })
}

/// A program and the schema that a profile sees.
struct Written {
    schema: Arc<Schema>,
    profile: Arc<Profile>,
    program: Introspection,
}

struct IntrospectionFetch {
    written: Arc<Written>,
    /// True if the members follow each other in the answer.
    may_stream: bool,
    size: SizeHint,
}

impl Written {
    fn view(&self) -> SchemaView<'_> {
        self.profile.view(&self.schema)
    }

    /// Sends what comes after `progress`, which begins with the byte `held`.
    async fn send_rest(
        &self,
        variables: &Variables,
        mut progress: IntrospectionProgress,
        mut held: Vec<u8>,
        sender: &Sender<Chunk>,
    ) -> Result<(), Gone> {
        loop {
            let mut bytes = Vec::with_capacity(CHUNK_BYTES + TYPE_BYTES);
            bytes.append(&mut held);
            let mut out = Out::new(bytes);
            let written =
                self.program.write_on(self.view(), Some(variables), &mut progress, &mut out, CHUNK_BYTES);
            let mut bytes = out.into_bytes();
            if written.is_err() {
                held = bytes.pop().into_iter().collect();
            }
            sender.send(Chunk::Bytes(bytes)).await?;
            if written.is_ok() {
                return sender.send(Chunk::End(Vec::new())).await;
            }
        }
    }
}

impl IntrospectionFetch {
    fn write(&self, input: FetchInput<'_>) -> FetchResult {
        let mut out = Out::new(Vec::with_capacity(self.size.room(64)));
        let mut progress = IntrospectionProgress::default();
        let Written { program, .. } = &*self.written;
        let view = self.written.view();
        let roots = program.program.roots.len();
        let mut ends = Vec::with_capacity(roots);
        let runtime = Handle::try_current().ok().filter(|_| self.may_stream);
        let bytes_max = runtime.as_ref().map_or(usize::MAX, |_| input.hold_back_bytes);
        while progress.roots < roots {
            let written = program.write_root(view, Some(input.variables), &mut progress, &mut out, bytes_max);
            match (written, &runtime) {
                (Err(Full), Some(runtime)) => return self.stream(input, progress, out.into_bytes(), runtime),
                (Ok(()) | Err(Full), _) => ends.push(out.len() as u32),
            }
        }
        let bytes = self.size.record_size(out.into_bytes(), 0);
        let finished = Finished { bytes, ends, failed: false, rest: None };
        FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None }
    }

    /// Answers with the `bytes` that are written, and writes the rest in a task.
    fn stream(
        &self,
        input: FetchInput<'_>,
        progress: IntrospectionProgress,
        mut bytes: Vec<u8>,
        runtime: &Handle,
    ) -> FetchResult {
        let (sender, receiver) = channel(CHUNKS_MAX);
        let held: Vec<u8> = bytes.pop().into_iter().collect();
        let written = Arc::clone(&self.written);
        let variables = Arc::clone(input.variables);
        runtime.spawn(async move {
            // A client that is gone needs no more.
            let _ = written.send_rest(&variables, progress, held, &sender).await;
        });
        let rest = Some(Chunks { receiver });
        let finished = Finished { bytes, ends: Vec::new(), failed: false, rest };
        FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None }
    }
}

impl PreparedFetch for IntrospectionFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(std::future::ready(Ok(self.write(input))))
    }

    fn touches(&self) -> &[Tag] {
        &[]
    }

    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("written from the schema");
    }
}
