//! Finds the wanted members of many objects, in one pass over each.
//!
//! **Cost:** a look at each member of an object up to the last one that is wanted. Services write members in one order, so
//! the next wanted name is compared first.

use weir_language::json::{JsonKind, JsonNode, JsonRef, is_same_name};

/// Tree of member names to find in an object.
#[derive(Debug, Default)]
pub(super) struct Scan {
    wants: Vec<Want>,
}

#[derive(Debug)]
struct Want {
    key: Box<str>,
    slot: Option<u32>,
    /// Members to find within the value.
    below: Scan,
}

impl Scan {
    /// Reserves a slot for the value at the end of `path`, or returns the slot it has.
    pub(super) fn reserve_slot(&mut self, path: &[Box<str>], slots: &mut u32) -> Option<u32> {
        let (key, rest) = path.split_first()?;
        let at = match self.wants.iter().position(|it| it.key == *key) {
            Some(at) => at,
            None => {
                self.wants.push(Want { key: key.clone(), slot: None, below: Self::default() });
                self.wants.len() - 1
            }
        };
        let want = &mut self.wants[at];
        if !rest.is_empty() {
            return want.below.reserve_slot(rest, slots);
        }
        Some(*want.slot.get_or_insert_with(|| {
            *slots += 1;
            *slots - 1
        }))
    }
}

/// Values found, by slot and row.
pub(super) struct Located<'t> {
    values: Vec<Option<JsonRef<'t>>>,
    /// By slot: true if a list was met on the path in some row.
    detours: Vec<bool>,
    rows: usize,
}

impl<'t> Located<'t> {
    pub(super) fn slot(&self, slot: u32) -> &[Option<JsonRef<'t>>] {
        &self.values[slot as usize * self.rows..][..self.rows]
    }

    /// Clears the values of a row.
    pub(super) fn leave_out(&mut self, row: usize) {
        self.values.iter_mut().skip(row).step_by(self.rows.max(1)).for_each(|it| *it = None);
    }

    pub(super) fn has_detour(&self, slot: u32) -> bool {
        self.detours[slot as usize]
    }
}

/// Searches all `rows`.
pub(super) fn locate<'t>(scan: &Scan, slots: u32, rows: &[Option<JsonRef<'t>>]) -> Located<'t> {
    let mut located = Located {
        values: vec![None; slots as usize * rows.len()],
        detours: vec![false; slots as usize],
        rows: rows.len(),
    };
    if slots > 0 {
        for (row, object) in rows.iter().enumerate() {
            match object {
                Some(value) if value.is_object() => look(scan, *value, row, &mut located),
                Some(value) if value.is_array() => mark_detours(scan, &mut located),
                Some(_) | None => {}
            }
        }
    }
    located
}

/// Searches one object. Recursion is bounded by the length of the mapping's paths.
fn look<'t>(scan: &Scan, object: JsonRef<'t>, row: usize, located: &mut Located<'t>) {
    let nodes: &[JsonNode] = &object.json.nodes;
    let text = object.json.text.as_bytes();
    let wants = scan.wants.as_slice();
    let mut next = object.at as usize + 1;
    let end = nodes[object.at as usize].next as usize;
    let mut expected = 0;
    let mut left = wants.len();
    while next < end && left > 0 {
        let key = nodes[next];
        let value = next + 1;
        next = nodes[value].next as usize;
        let found = match key.kind {
            JsonKind::String { escapes: true } => {
                let name = JsonRef { json: object.json, at: value as u32 - 1 }.as_str();
                wants.iter().position(|it| name.as_deref() == Some(&*it.key))
            }
            _ => {
                let name = &text[key.start as usize..key.end as usize];
                let is = |want: &Want| is_same_name(want.key.as_bytes(), name);
                match wants.get(expected) {
                    Some(want) if is(want) => Some(expected),
                    _ => wants.iter().position(is),
                }
            }
        };
        let Some(found) = found else { continue };
        left -= 1;
        expected = found + 1;
        let want = &wants[found];
        let value = JsonRef { json: object.json, at: value as u32 };
        if let Some(slot) = want.slot {
            located.values[slot as usize * located.rows + row] = Some(value);
        }
        if !want.below.wants.is_empty() {
            match value.kind() {
                JsonKind::Object => look(&want.below, value, row, located),
                JsonKind::Array => mark_detours(&want.below, located),
                JsonKind::Null
                | JsonKind::True
                | JsonKind::False
                | JsonKind::Number
                | JsonKind::String { .. } => {}
            }
        }
    }
}

fn mark_detours(scan: &Scan, located: &mut Located<'_>) {
    for want in &scan.wants {
        if let Some(slot) = want.slot {
            located.detours[slot as usize] = true;
        }
        mark_detours(&want.below, located);
    }
}
