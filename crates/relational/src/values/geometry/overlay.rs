//! One map laid over another: whether polygons lie in polygons, holes and islands and all.
//!
//! Every height at which an edge ends or meets another cuts the map into strips. Within a strip no edges meet, so a line
//! through its middle meets the same parts as any other: what is inside the first there has to be inside the second.
//!
//! **Invariant:** a gap narrower than [`SLIVER_DEGREES`] counts for nothing, because where edges meet is rounded.
//!
//! **Cost:** edges are swept by height, so that only those of one height are compared.

use super::{Point, Polygon};

/// A tenth of a millimetre.
pub const SLIVER_DEGREES: f64 = 1e-9;

/// An edge, its lower end first.
#[derive(Clone, Copy)]
struct Edge {
    low: Point,
    high: Point,
    /// The polygon it is of, those of the inner map first.
    polygon: usize,
}

impl Edge {
    /// Longitude of the edge at a height between its ends.
    fn longitude(&self, y: f64) -> f64 {
        let share = (y - self.low[1]) / (self.high[1] - self.low[1]);
        self.low[0] + share * (self.high[0] - self.low[0])
    }
}

/// True if `inner` lies completely in `outer`.
pub(super) fn is_within(inner: &[Polygon], outer: &[Polygon]) -> bool {
    let edges = edges(inner.iter().chain(outer));
    let heights = heights(&edges);
    let mut next = 0;
    let mut active = Vec::new();
    let mut crossed = Vec::new();
    let mut inside = vec![false; inner.len() + outer.len()];
    heights.windows(2).all(|strip| {
        let middle = f64::midpoint(strip[0], strip[1]);
        if middle <= strip[0] || middle >= strip[1] {
            return true;
        }
        while next < edges.len() && edges[next].low[1] < middle {
            active.push(edges[next]);
            next += 1;
        }
        active.retain(|it: &Edge| it.high[1] > middle);
        crossed.clear();
        crossed.extend(active.iter().map(|it| (it.longitude(middle), it.polygon)));
        crossed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        inside.fill(false);
        is_strip_within(&crossed, &mut inside, inner.len())
    })
}

/// True if each part between two of the edges `crossed` is outside of the inner map or inside the outer one.
fn is_strip_within(crossed: &[(f64, usize)], inside: &mut [bool], inner: usize) -> bool {
    // In how many polygons of each a part lies.
    let mut ours = 0;
    let mut theirs = 0;
    for (at, &(from, polygon)) in crossed.iter().enumerate() {
        inside[polygon] = !inside[polygon];
        let count = if polygon < inner { &mut ours } else { &mut theirs };
        *count = if inside[polygon] { *count + 1 } else { *count - 1 };
        let to = crossed.get(at + 1).map_or(from, |it| it.0);
        if ours > 0 && theirs == 0 && to - from > SLIVER_DEGREES {
            return false;
        }
    }
    true
}

/// All edges, the lowest first.
fn edges<'p>(polygons: impl Iterator<Item = &'p Polygon>) -> Vec<Edge> {
    let mut all = Vec::new();
    for (polygon, rings) in polygons.enumerate() {
        for ring in rings {
            let next = ring.iter().cycle().skip(1);
            all.extend(ring.iter().zip(next).map(|(&a, &b)| {
                let (low, high) = if a[1] <= b[1] { (a, b) } else { (b, a) };
                Edge { low, high, polygon }
            }));
        }
    }
    all.sort_unstable_by(|a, b| a.low[1].total_cmp(&b.low[1]));
    all
}

/// Every height at which an edge ends or meets another, in order.
fn heights(edges: &[Edge]) -> Vec<f64> {
    let mut out: Vec<f64> = edges.iter().flat_map(|it| [it.low[1], it.high[1]]).collect();
    let mut active: Vec<&Edge> = Vec::new();
    for edge in edges {
        active.retain(|it| it.high[1] >= edge.low[1]);
        out.extend(active.iter().filter_map(|it| meeting(it, edge)));
        active.push(edge);
    }
    out.sort_unstable_by(f64::total_cmp);
    out.dedup();
    out
}

/// The height at which two edges cross.
fn meeting(a: &Edge, b: &Edge) -> Option<f64> {
    let direction = |edge: &Edge| [edge.high[0] - edge.low[0], edge.high[1] - edge.low[1]];
    let [ax, ay] = direction(a);
    let [bx, by] = direction(b);
    let offset = [b.low[0] - a.low[0], b.low[1] - a.low[1]];
    let area = ax * by - ay * bx;
    let on_a = (offset[0] * by - offset[1] * bx) / area;
    let on_b = (offset[0] * ay - offset[1] * ax) / area;
    let is_on = |share: f64| (0.0..=1.0).contains(&share);
    (area != 0.0 && is_on(on_a) && is_on(on_b)).then_some(a.low[1] + on_a * ay)
}
