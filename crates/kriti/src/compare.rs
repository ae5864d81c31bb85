//! Order and equality of values: `Object < Array < String < Number < Boolean < Null`, numbers by value, texts by code point.
//!
//! **Cost:** each pair of values that is looked at is a step of the evaluation: parts that are shared in memory are compared each time
//! they stand somewhere.

use crate::budget::Budget;
use crate::error::Fault;
use crate::number::compare_numbers;
use crate::value::{Members, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// Compares two values of any kinds.
/// # Errors
/// The steps of the evaluation are used up.
pub(crate) fn compare(one: &Value, other: &Value, budget: &mut Budget) -> Result<Ordering, Fault> {
    budget.step()?;
    Ok(match (one, other) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            budget.spend_steps((left.len() + right.len()) / 64)?;
            compare_numbers(left, right)
        }
        (Value::Text(left), Value::Text(right)) => {
            budget.spend_steps(left.len().min(right.len()) / 64)?;
            left.cmp(right)
        }
        (Value::Array(left), Value::Array(right)) if Arc::ptr_eq(left, right) => Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            for (one, other) in left.iter().zip(right.iter()) {
                match compare(one, other, budget)? {
                    Ordering::Equal => {}
                    order => return Ok(order),
                }
            }
            left.len().cmp(&right.len())
        }
        (Value::Object(left), Value::Object(right)) if Arc::ptr_eq(left, right) => Ordering::Equal,
        (Value::Object(left), Value::Object(right)) => compare_members(left, right, budget)?,
        (left, right) => rank(left).cmp(&rank(right)),
    })
}

/// Compares by the members in the order of their keys.
fn compare_members(one: &Members, other: &Members, budget: &mut Budget) -> Result<Ordering, Fault> {
    let (left, right) = (by_key(one, budget)?, by_key(other, budget)?);
    for ((left_key, left), (right_key, right)) in left.iter().zip(&right) {
        let order = match left_key.cmp(right_key) {
            Ordering::Equal => compare(left, right, budget)?,
            order => order,
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(left.len().cmp(&right.len()))
}

/// The members in the order of their keys.
pub(crate) fn by_key<'m>(
    members: &'m Members,
    budget: &mut Budget,
) -> Result<Vec<(&'m Arc<str>, &'m Value)>, Fault> {
    budget.spend_steps(members.len())?;
    let mut sorted: Vec<_> = members.iter().map(|it| (&it.0, &it.1)).collect();
    sorted.sort_by(|a, b| a.0.cmp(b.0));
    Ok(sorted)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Object(_) => 0,
        Value::Array(_) => 1,
        Value::Text(_) => 2,
        Value::Number(_) => 3,
        Value::Bool(_) => 4,
        Value::Null => 5,
    }
}
