//! Reads the actual cost of an operation from the bytes of its answer, as they are sent.
//!
//! Each object that the answer shows costs its weight and the arguments of its fields. An object of an interface or union is one of the
//! types whose members it has.
//!
//! **Invariant:** any split of an answer into parts gives the same cost.
//!
//! **Cost:** one pass over the bytes, without a tree of values.

use crate::answer::output_plan::SelectionSetId;
use crate::plan::Plan;
use crate::plan::plan_cost::{FieldCost, PlanCost};
use crate::request::demand::OperationCost;
use crate::request::demand::units::{add, whole_units};
use crate::request::demand::weights::Weights;
use smallvec::SmallVec;
use std::sync::Arc;
use weir_language::value::Variables;

/// An open object or list.
enum Frame {
    /// The whole answer, whose member `data` counts.
    Envelope,
    /// An object of one of these sets, with the weight of each.
    Object { sets: SmallVec<[(SelectionSetId, u64); 1]>, members: usize, weight: u64 },
    /// A list of a member, with so many levels of lists in it.
    List { field: usize, lists: u32 },
}

/// The value that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A key, or the end of an object.
    Key,
    Envelope,
    Data,
    Member {
        field: usize,
        lists: u32,
    },
    /// A value that does not count.
    Other,
}

/// The token that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerToken {
    /// None.
    Between,
    Key,
    Text,
    /// A number, `true`, `false` or `null`.
    Word,
    /// A value that does not count, with so many open brackets.
    Skipped(u32),
    /// A text in one.
    SkippedText(u32),
}

/// Adds up the cost of an answer.
pub(crate) struct AnswerMeter {
    plan: Arc<Plan>,
    /// Costs of arguments by member, where they are not zero for all.
    arguments: Vec<u64>,
    frames: Vec<Frame>,
    next: Next,
    token: AnswerToken,
    is_escaped: bool,
    key: Vec<u8>,
    total: u64,
}

impl AnswerMeter {
    /// A meter for an answer of `plan`; `None` if the plan has no cost.
    pub(crate) fn new(plan: &Arc<Plan>, weights: &Weights, variables: &Variables) -> Option<Self> {
        let cost = plan.cost.as_deref()?;
        let results = cost.results(weights, variables);
        let arguments = cost.fields.iter().map(|it| results.value(it.arguments)).collect();
        Some(Self {
            plan: Arc::clone(plan),
            arguments,
            frames: Vec::new(),
            next: Next::Envelope,
            token: AnswerToken::Between,
            is_escaped: false,
            key: Vec::new(),
            total: cost.base,
        })
    }

    /// Reads the next bytes of the answer.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match self.token {
                AnswerToken::Between => self.begin_token(byte),
                AnswerToken::Key => self.read_key(byte),
                AnswerToken::Text => {
                    if self.ends_text(byte) {
                        self.token = AnswerToken::Between;
                    }
                }
                AnswerToken::Word => {
                    if matches!(byte, b',' | b']' | b'}') {
                        self.token = AnswerToken::Between;
                        self.begin_token(byte);
                    }
                }
                AnswerToken::Skipped(depth) => self.skip(byte, depth),
                AnswerToken::SkippedText(depth) => {
                    if self.ends_text(byte) {
                        self.token =
                            if depth == 0 { AnswerToken::Between } else { AnswerToken::Skipped(depth) };
                    }
                }
            }
        }
    }

    /// The cost with what was read.
    pub(crate) fn finish(&self, cost: OperationCost) -> OperationCost {
        OperationCost { actual: Some(whole_units(self.total)), ..cost }
    }

    fn cost(&self) -> Option<&PlanCost> {
        self.plan.cost.as_deref()
    }

    fn field(&self, field: usize) -> Option<&FieldCost> {
        self.cost()?.fields.get(field)
    }

    /// True if `byte` ends a text.
    const fn ends_text(&mut self, byte: u8) -> bool {
        let was_escaped = self.is_escaped;
        self.is_escaped = byte == b'\\' && !was_escaped;
        byte == b'"' && !was_escaped
    }

    fn skip(&mut self, byte: u8, depth: u32) {
        self.token = match byte {
            b'"' => AnswerToken::SkippedText(depth),
            b'{' | b'[' => AnswerToken::Skipped(depth + 1),
            b'}' | b']' if depth == 1 => AnswerToken::Between,
            b'}' | b']' => AnswerToken::Skipped(depth - 1),
            _ => AnswerToken::Skipped(depth),
        };
    }

    fn read_key(&mut self, byte: u8) {
        if self.ends_text(byte) {
            self.token = AnswerToken::Between;
            self.next = self.value_of_key();
        } else {
            self.key.push(byte);
        }
    }

    fn begin_token(&mut self, byte: u8) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b':' => {}
            b',' => {
                self.next = match self.frames.last() {
                    Some(Frame::List { field, lists }) => Next::Member { field: *field, lists: *lists },
                    Some(Frame::Envelope | Frame::Object { .. }) | None => Next::Key,
                }
            }
            b'}' | b']' => self.close(),
            b'"' if self.next == Next::Key => {
                self.key.clear();
                self.token = AnswerToken::Key;
            }
            b'"' => {
                self.count_leaf();
                self.token = AnswerToken::Text;
            }
            b'{' | b'[' => self.open(byte),
            b'n' => self.token = AnswerToken::Word,
            _ => {
                self.count_leaf();
                self.token = AnswerToken::Word;
            }
        }
    }

    fn count_leaf(&mut self) {
        if let Next::Member { field, .. } = self.next {
            let leaf = self.field(field).map_or(0, |it| it.leaf);
            self.total = add(self.total, leaf);
        }
    }

    fn open(&mut self, byte: u8) {
        let next = self.next;
        let frame = match next {
            Next::Envelope if byte == b'{' => Some(Frame::Envelope),
            Next::Data if byte == b'{' => {
                let sets = SmallVec::from_buf([(SelectionSetId::ROOT, 0)]);
                Some(Frame::Object { sets, members: 0, weight: 0 })
            }
            Next::Member { field, lists } if byte == b'[' && lists > 0 => {
                Some(Frame::List { field, lists: lists - 1 })
            }
            Next::Member { field, .. } if byte == b'{' => self.field(field).and_then(object_of),
            Next::Envelope | Next::Data | Next::Member { .. } | Next::Key | Next::Other => None,
        };
        match frame {
            Some(frame) => {
                self.next = match (&frame, next) {
                    (Frame::List { field, lists }, _) => Next::Member { field: *field, lists: *lists },
                    (Frame::Envelope | Frame::Object { .. }, _) => Next::Key,
                };
                self.frames.push(frame);
            }
            None => {
                self.count_leaf();
                self.token = AnswerToken::Skipped(1);
            }
        }
    }

    fn close(&mut self) {
        if let Some(Frame::Object { sets, weight, members }) = self.frames.pop() {
            let output = &self.plan.output;
            let is_whole = |it: &&(SelectionSetId, u64)| output.set(it.0).len as usize == members;
            let whole = sets.iter().filter(is_whole).map(|it| it.1).max();
            self.total = add(self.total, whole.unwrap_or(weight));
        }
    }

    /// Finds the selection that the value behind the key just read belongs to.
    fn value_of_key(&mut self) -> Next {
        let output = &self.plan.output;
        let key = self.key.as_slice();
        let found = match self.frames.last_mut() {
            Some(Frame::Envelope) if key == b"data" => return Next::Data,
            Some(Frame::Envelope | Frame::List { .. }) | None => return Next::Other,
            Some(Frame::Object { sets, members, .. }) => {
                let at = *members;
                *members += 1;
                let member_of = |set: SelectionSetId| {
                    let field = output.set(set).range().nth(at)?;
                    (output.fields[field].key.name().as_bytes() == key).then_some(field)
                };
                sets.retain(|it| member_of(it.0).is_some());
                sets.first().and_then(|it| member_of(it.0))
            }
        };
        let Some(field) = found else { return Next::Other };
        self.total = add(self.total, self.arguments[field]);
        Next::Member { field, lists: self.field(field).map_or(0, |it| it.lists) }
    }
}

/// The frame of an object of a member; `None`: it is a leaf.
fn object_of(field: &FieldCost) -> Option<Frame> {
    let weight = field.below.iter().map(|it| it.1).max()?;
    Some(Frame::Object { sets: field.below.clone(), members: 0, weight })
}
