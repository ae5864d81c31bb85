//! Lists whose later items follow the first ones, from sources of the tests.

use super::rows::column;
use serde_json::Value;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{Chunk, Chunks, Ids, ItemBatch};
use weir_engine::unread::channel;
use weir_language::schema::Schema;

/// A batch of `items` of the list that is the member `field`.
pub fn batch(
    (schema, ids, output): (&Schema, &Ids, &OutputPlan),
    field: u32,
    items: &[Value],
    is_last: bool,
) -> ItemBatch {
    let values: Vec<&Value> = items.iter().collect();
    let items = column(schema, ids, output, output.fields[field as usize].member, &values);
    ItemBatch { items, len: values.len() as u32, bytes: 64 * values.len(), is_last }
}

/// Batches of `len` items of the list that is the member `field`: one at least.
pub fn batches(of: (&Schema, &Ids, &OutputPlan), field: u32, items: &[Value], len: usize) -> Vec<ItemBatch> {
    let mut batches: Vec<ItemBatch> = items.chunks(len).map(|it| batch(of, field, it, false)).collect();
    match batches.last_mut() {
        Some(last) => last.is_last = true,
        None => batches.push(batch(of, field, &[], true)),
    }
    batches
}

/// A channel on which `batches` come one after another.
pub fn chunks(batches: Vec<ItemBatch>) -> Chunks {
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        for batch in batches {
            if sender.send(Chunk::Items(batch)).await.is_err() {
                return;
            }
        }
    });
    Chunks { receiver }
}
