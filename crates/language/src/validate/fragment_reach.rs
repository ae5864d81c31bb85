//! The fragments that operations reach, and the uses of variables in them.

use crate::type_system::Run;
use crate::validate::rule_context::{Context, Use};

/// Fragments that an operation reaches; the buffer is reused between operations.
pub(super) struct Reach {
    /// By fragment: the round in which it was last reached, 0 for never.
    rounds: Vec<u32>,
    round: u32,
    /// The fragments of this round, nearest first.
    pub(super) reached: Vec<u32>,
}

impl Reach {
    pub(super) fn new(cx: &Context<'_>) -> Self {
        Self { rounds: vec![0; cx.fragment_scopes.len()], round: 0, reached: Vec::new() }
    }

    /// Finds what is reached by `edges`.
    pub(super) fn find_reached(&mut self, cx: &Context<'_>, edges: Run) {
        self.round += 1;
        self.reached.clear();
        self.follow(cx, edges);
        let mut next = 0;
        while let Some(&fragment) = self.reached.get(next) {
            self.follow(cx, cx.fragment_scopes[fragment as usize].edges);
            next += 1;
        }
    }

    fn follow(&mut self, cx: &Context<'_>, edges: Run) {
        for edge in &cx.edges[edges.range()] {
            let round = &mut self.rounds[edge.fragment as usize];
            if *round != self.round {
                *round = self.round;
                self.reached.push(edge.fragment);
            }
        }
    }

    /// The uses of variables in the operation (`own`) and in all fragments of this round.
    pub(super) fn uses(&self, cx: &Context<'_>, own: Run) -> Vec<Use> {
        let mut uses = cx.uses[own.range()].to_vec();
        for &fragment in &self.reached {
            uses.extend_from_slice(&cx.uses[cx.fragment_scopes[fragment as usize].uses.range()]);
        }
        uses
    }

    /// True if any operation so far reached `fragment`.
    pub(super) fn was_reached(&self, fragment: usize) -> bool {
        self.rounds[fragment] != 0
    }
}
