//! Arithmetic over variables: known parts are folded while planning, the rest is a list of steps.
//!
//! **Invariant:** a step reads earlier steps only; every operation stops at the greatest cost.
//!
//! **Cost:** one visit per step; up to 24 steps allocate nothing.

use super::list_argument::{ListItems, SlicingFault};
use super::units::{LIMIT, add, multiply};
use super::weights::{VariableWeight, Weights};
use smallvec::SmallVec;
use weir_language::value::Variables;

/// A part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    /// A number.
    Known(u64),
    /// Result of the step at this place.
    Step(u32),
}

impl Term {
    pub(crate) const ZERO: Self = Self::Known(0);
}

/// An operation over two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Multiply,
    Greater,
}

impl Operator {
    fn apply(self, one: u64, other: u64) -> u64 {
        match self {
            Self::Add => add(one, other),
            Self::Multiply => multiply(one, other),
            Self::Greater => one.max(other),
        }
    }
}

/// One step.
#[derive(Debug)]
pub(crate) enum FormulaStep {
    Operation(Operator, Term, Term),
    /// Weight of the value of a variable.
    Value(VariableWeight),
    /// Size of a list.
    Size(ListItems),
}

/// A formula that is being built, then evaluated.
#[derive(Debug, Default)]
pub(crate) struct Formula {
    steps: Vec<FormulaStep>,
}

/// Results of the steps of a formula for the variables of a request.
pub(crate) struct Results {
    numbers: SmallVec<[u64; 24]>,
    /// The first arguments that contradict each other.
    pub(crate) fault: Option<SlicingFault>,
}

impl Results {
    /// Value of `term`.
    pub(crate) fn value(&self, term: Term) -> u64 {
        match term {
            Term::Known(number) => number,
            Term::Step(at) => self.numbers[at as usize],
        }
    }
}

impl Formula {
    /// Appends a step.
    pub(crate) fn push(&mut self, step: FormulaStep) -> Term {
        self.steps.push(step);
        Term::Step(self.steps.len() as u32 - 1)
    }

    pub(crate) fn add(&mut self, one: Term, other: Term) -> Term {
        self.combine(Operator::Add, one, other)
    }

    pub(crate) fn multiply(&mut self, one: Term, other: Term) -> Term {
        self.combine(Operator::Multiply, one, other)
    }

    pub(crate) fn greater(&mut self, one: Term, other: Term) -> Term {
        self.combine(Operator::Greater, one, other)
    }

    fn combine(&mut self, operator: Operator, one: Term, other: Term) -> Term {
        match (operator, one, other) {
            (_, Term::Known(one), Term::Known(other)) => Term::Known(operator.apply(one, other)),
            (Operator::Add | Operator::Greater, Term::Known(0), term)
            | (Operator::Add | Operator::Greater, term, Term::Known(0))
            | (Operator::Multiply, Term::Known(1), term)
            | (Operator::Multiply, term, Term::Known(1)) => term,
            // The step is evaluated all the same, so contradicting arguments are found.
            (Operator::Multiply, Term::Known(0), _) | (Operator::Multiply, _, Term::Known(0)) => Term::ZERO,
            (Operator::Add | Operator::Multiply | Operator::Greater, _, _) => {
                self.push(FormulaStep::Operation(operator, one, other))
            }
        }
    }

    /// Evaluates all steps.
    pub(crate) fn evaluate(&self, weights: &Weights, variables: &Variables) -> Results {
        let mut results = Results { numbers: SmallVec::with_capacity(self.steps.len()), fault: None };
        for step in &self.steps {
            let number = match step {
                FormulaStep::Operation(operator, one, other) => {
                    operator.apply(results.value(*one), results.value(*other))
                }
                FormulaStep::Value(value) => weights.variable_cost(variables, value),
                FormulaStep::Size(items) => {
                    let found = items.count(variables);
                    if results.fault.is_none() && found.is_contradiction {
                        results.fault = Some(items.fault());
                    }
                    found.count.min(LIMIT)
                }
            };
            results.numbers.push(number);
        }
        results
    }

    /// Bytes it takes, roughly.
    pub(crate) fn weight_bytes(&self) -> usize {
        const ARGUMENTS_BYTES: usize = 64;
        self.steps.len() * (size_of::<FormulaStep>() + ARGUMENTS_BYTES)
    }
}
