//! Reads: asks once, writes the answer.
//!
//! **Invariant:** a piece is one statement, so all of its rows are of one snapshot; on a database of shards, which has none, a row may be read
//! before what is below it.
//!
//! Ways that are seldom taken are boxed: each request's future is as large as the largest of its ways, and moved.
//!
//! **Cost:** a warm run allocates the future, the parameters and the answer's buffer.

use super::parts;
use super::portal::ListParameters;
use crate::exec::bindings::Bindings;
use crate::exec::driver::PlannedFetch;
use crate::exec::output::answer::TooLong;
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::output::row_collector::RowCollector;
use crate::exec::output::stream_batch::{Batch, rows_max};
use crate::postgres::driver::{PostgresDriver, PostgresFetch};
use crate::postgres::retry::is_repeated;
use crate::postgres::statements::asked_levels::Asked;
use crate::postgres::statements::prepared::{InParts, List, Prepared};
use crate::postgres::statements::result_rows::ResultRows;
use crate::postgres::statements::result_set::ResultSet;
use crate::postgres::values::bind::push_last;
use crate::postgres::values::key_text;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::Column;
use weir_engine::source::{FetchBody, FetchInput, FetchResult, SourceError, StreamRead};
use weir_postgres::error::Error;
use weir_postgres::rows::Rows;
use weir_postgres::statement::{Parameters, Statement};

/// Rows of more bytes are written away from the event loop: it would stand still for some milliseconds.
const WRITTEN_BYTES_MAX: usize = 1 << 20;

impl PostgresFetch {
    /// The values of a request for the statement `asked`, after the keys of its parents.
    pub(crate) fn values(
        &self,
        asked: &Asked,
        bindings: &Bindings<'_>,
        mut parameters: Parameters,
    ) -> Result<Parameters, SourceError> {
        push_last(bindings, &self.state.driver.dialect.types, asked.own_parameters(), &mut parameters)
            .map_err(|error| {
                let field = Some(self.first_field());
                SourceError::Rejected { error: *error, field }
            })?;
        Ok(parameters)
    }

    /// The values of a request for each of `lists`.
    fn values_of_lists(
        &self,
        lists: &[List],
        bindings: &Bindings<'_>,
    ) -> Result<Vec<ListParameters>, SourceError> {
        let values = |asked: &Asked| self.values(asked, bindings, Parameters::default());
        let both = |list: &List| {
            let below = list.below.as_ref().map(|it| values(&it.asked)).transpose()?;
            Ok(ListParameters { own: values(&list.own)?, below: below.unwrap_or_default() })
        };
        lists.iter().map(both).collect()
    }

    /// Asks, on a connection that is shared or an own one.
    async fn rows(
        &self,
        (prepared, asked): (&Prepared, &Asked),
        parameters: Parameters,
        input: &FetchInput<'_>,
    ) -> Result<Rows, Error> {
        if asked.arms.is_empty() {
            return Ok(Rows::default());
        }
        let deadline = input.deadline;
        let statement = self.statement(prepared, asked, input);
        self.state.driver.count(asked.reach);
        let settings = self.read_settings(input);
        if prepared.is_volatile {
            let pool = &self.state.driver.pool;
            let settings = settings.as_deref();
            // Equal reads are asked once among the shared, and replicas cannot write.
            return Box::pin(pool.change_alone(&asked.statement, &parameters, settings, None, deadline))
                .await;
        }
        let reads = self.reads(input).with_settings(settings.as_deref());
        if prepared.is_long {
            Box::pin(reads.read_alone(&asked.statement, parameters, deadline)).await
        } else {
            reads.read(statement, parameters, deadline).await
        }
    }

    /// The statement of `asked`, of the read of a member that others may join.
    fn statement<'a>(
        &self,
        prepared: &Prepared,
        asked: &'a Asked,
        input: &FetchInput<'_>,
    ) -> &'a Arc<Statement> {
        let is_whole = prepared.then.is_none() && input.parent_keys.is_none();
        if !input.may_join || !is_whole || self.state.driver.session.separates_reads() {
            return &asked.statement;
        }
        asked.of_members(|| self.state.together(&prepared.plan))
    }

    /// Reads rows like [`Self::rows`], and repeats the read if a retry may help.
    async fn rows_again(
        &self,
        of: (&Prepared, &Asked),
        parameters: &Parameters,
        input: &FetchInput<'_>,
    ) -> Result<Rows, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.rows(of, parameters.clone(), input).await {
                Err(error) if is_repeated(&error, tries) && (!of.0.is_volatile || error.is_overtaken()) => {}
                done => return done,
            }
        }
    }

    /// Reads the levels below the row in `rows`, by its values; nothing if there is no row.
    async fn rows_below(
        &self,
        prepared: &Prepared,
        rows: &Rows,
        bindings: &Bindings<'_>,
        input: &FetchInput<'_>,
    ) -> Result<Option<Rows>, SourceError> {
        let (Some(then), Some(row)) = (&prepared.then, rows.iter().next()) else { return Ok(None) };
        let mut parameters = Parameters::default();
        for &key in &then.keys {
            let key = usize::from(key);
            key_text::push(&prepared.read.decoders[key], row.column(key).flatten(), &mut parameters);
        }
        let parameters = self.values(&then.asked, bindings, parameters)?;
        let below = self.rows_again((prepared, &then.asked), &parameters, input).await;
        below.map(Some).map_err(|error| self.failure(error, &prepared.plan))
    }

    /// Writes `rows` as the answer; below the root they belong to this number of `parents`.
    fn answer(
        &self,
        prepared: &Prepared,
        (rows, below): (&Rows, Option<&Rows>),
        output: &OutputPlan,
        parents: Option<usize>,
        stream: Option<(&Arc<StreamRead>, Option<i64>)>,
    ) -> Result<FetchResult, TooLong> {
        let plan = &prepared.plan;
        let names = self.names(output);
        let below = prepared.then.as_ref().zip(below).map(|(then, rows)| ResultSet::new(&then.asked, rows));
        let set = ResultSet::new(&prepared.read, rows).with_children(below);
        let source = ResultRows::of_query(prepared, Some(&set));
        if self.rows {
            let mut collector = RowCollector::new(source, plan, names);
            collector.batch = Batch::of(stream.map(|it| it.0));
            let rows = collector.collect(parents)?;
            stream.into_iter().for_each(|it| collector.batch.report_end(it.0, it.1));
            return Ok(FetchResult { body: FetchBody::Rows(rows), errors: Vec::new(), cache_control: None });
        }
        let capacity = self.answer_bytes.load(Ordering::Relaxed);
        let mut writer = ResponseWriter::new(source, plan, names, capacity);
        writer.batch = Batch::of(stream.map(|it| it.0));
        let (finished, errors) = writer.finish()?;
        stream.into_iter().for_each(|it| writer.batch.report_end(it.0, it.1));
        let bytes = finished.bytes.len();
        self.answer_bytes.store(bytes + bytes / 8 + 64, Ordering::Relaxed);
        Ok(FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None })
    }
}

/// Reads; `shown` are the objects that were looked up.
pub(crate) async fn read(
    run: PlannedFetch<'_, PostgresDriver>,
    shown: Vec<i64>,
) -> Result<FetchResult, SourceError> {
    let fetch = run.fetch;
    let input = &run.input;
    let prepared = &*run.prepared;
    fetch.state.driver.session.check_role(input)?;
    let bindings = run.bindings(&shown);
    let mut parameters = Parameters::default();
    for column in bindings.parent_keys {
        key_text::push_column(column, &mut parameters);
    }
    let parameters = fetch.values(&prepared.read, &bindings, parameters)?;
    match &prepared.in_parts {
        InParts::No => {}
        InParts::Rows => return Box::pin(parts::run_rows(fetch, prepared, input, parameters)).await,
        InParts::Lists(lists) => {
            let values = fetch.values_of_lists(lists, &bindings)?;
            return Box::pin(parts::run_lists(fetch, prepared, input, parameters, values)).await;
        }
    }
    let rows = fetch.rows_again((prepared, &prepared.read), &parameters, input).await.map_err(|error| {
        let error = fetch.failure(error, &prepared.plan);
        bindings.of_encoded(error, &prepared.read.parameters)
    })?;
    let below = match prepared.then {
        Some(_) => Box::pin(fetch.rows_below(prepared, &rows, &bindings, input)).await?,
        None => None,
    };
    let parents = input.parent_keys.map(|keys| keys.first().map_or(1, Column::len));
    let stream = input.stream.map(|it| (it, rows_max(&prepared.plan, &bindings)));
    if rows.bytes_len() + below.as_ref().map_or(0, Rows::bytes_len) <= WRITTEN_BYTES_MAX {
        let rows = (&rows, below.as_ref());
        return fetch.answer(prepared, rows, input.output, parents, stream).map_err(TooLong::into_error);
    }
    let fetch = Arc::clone(fetch);
    let prepared = Arc::clone(prepared);
    let output = Arc::clone(input.output);
    let stream = stream.map(|it| (Arc::clone(it.0), it.1));
    let written = move || {
        let rows = (&rows, below.as_ref());
        let stream = stream.as_ref().map(|it| (&it.0, it.1));
        fetch.answer(&prepared, rows, &output, parents, stream).map_err(TooLong::into_error)
    };
    let written = tokio::task::spawn_blocking(written).await;
    written.unwrap_or_else(|_| Err(SourceError::Broken("writing an answer panicked".into())))
}
