//! Places on the globe: points and polygons in degrees, and what lies near, within or across what.
//!
//! Written as GeoJSON's `coordinates`: longitude before latitude, rings in polygons. Edges are straight on the map of
//! longitude and latitude; what lies on an edge is inside. Distances are great circles on a sphere.
//!
//! **Cost:** linear in the points of a shape for a point, their product for two shapes; nothing is allocated but to read.

/// Metres. Source: IUGG, mean radius of the Earth.
const RADIUS_M: f64 = 6_371_008.8;

/// Longitude and latitude in degrees.
pub(crate) type Point = [f64; 2];

/// Rings: the outer one first, then holes.
type Polygon = Vec<Vec<Point>>;

/// One point, or polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Geometry {
    /// Of a point.
    point: Option<Point>,
    polygons: Vec<Polygon>,
}

/// What is asked of two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// The first is at most so many metres from the second, a point.
    Near,
    /// The first lies inside the second.
    Within,
    /// The second lies inside the first.
    Contains,
    /// They have a point in common.
    Intersects,
}

impl Geometry {
    pub(crate) const fn point(point: Point) -> Self {
        Self { point: Some(point), polygons: Vec::new() }
    }

    /// Reads `coordinates`; what is no number and no bracket only separates.
    pub(crate) fn read(text: &str) -> Self {
        let mut out = Self::default();
        let (mut ring, mut polygon): (Vec<Point>, Polygon) = (Vec::new(), Vec::new());
        let mut numbers: Vec<f64> = Vec::new();
        let mut digits = String::new();
        for byte in text.chars() {
            if byte.is_ascii_digit() || matches!(byte, '-' | '+' | '.' | 'e' | 'E') {
                digits.push(byte);
                continue;
            }
            numbers.extend(digits.parse::<f64>().ok());
            digits.clear();
            if byte != ']' {
                continue;
            }
            match numbers.as_slice() {
                [longitude, latitude, ..] => ring.push([*longitude, *latitude]),
                _ if !ring.is_empty() => polygon.push(std::mem::take(&mut ring)),
                _ if !polygon.is_empty() => out.polygons.push(std::mem::take(&mut polygon)),
                _ => {}
            }
            numbers.clear();
        }
        out.point = ring.first().copied();
        out
    }

    /// Whether the first place stands to the second as `placed` says.
    pub(crate) fn is(&self, placed: Placed, other: &Self, metres: f64) -> bool {
        match placed {
            Placed::Near => other.point.is_some_and(|it| self.distance(it) <= metres),
            Placed::Within => self.is_within(other),
            Placed::Contains => other.is_within(self),
            Placed::Intersects => self.intersects(other),
        }
    }

    fn distance(&self, from: Point) -> f64 {
        if let Some(point) = self.point {
            return distance(point, from);
        }
        if self.covers(from) {
            return 0.0;
        }
        self.edges().map(|(a, b)| distance(nearest(a, b, from), from)).fold(f64::INFINITY, f64::min)
    }

    fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.point.into_iter().chain(self.polygons.iter().flatten().flatten().copied())
    }

    fn edges(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        self.polygons.iter().flatten().flat_map(|ring| {
            let next = ring.iter().cycle().skip(1);
            ring.iter().zip(next).map(|(a, b)| (*a, *b))
        })
    }

    /// Whether a point lies in one of the polygons, and in none of its holes.
    fn covers(&self, point: Point) -> bool {
        let on_edge = || self.edges().any(|(a, b)| turn(a, b, point) == 0.0 && is_between(a, b, point));
        let inside =
            |polygon: &Polygon| polygon.iter().filter(|ring| is_inside(ring, point)).count() % 2 == 1;
        self.polygons.iter().any(inside) || on_edge()
    }

    fn crosses(&self, other: &Self) -> bool {
        self.edges().any(|(a, b)| {
            other.edges().any(|(c, d)| {
                let (ours, theirs) = (turn(a, b, c) * turn(a, b, d), turn(c, d, a) * turn(c, d, b));
                ours < 0.0 && theirs < 0.0
            })
        })
    }

    fn is_within(&self, other: &Self) -> bool {
        let has_any = self.points().next().is_some();
        has_any && self.points().all(|it| other.covers(it)) && !self.crosses(other)
    }

    fn intersects(&self, other: &Self) -> bool {
        self.points().any(|it| other.covers(it))
            || other.points().any(|it| self.covers(it))
            || self.crosses(other)
    }
}

/// Great circle in metres. Source: R. W. Sinnott, "Virtues of the Haversine", 1984.
fn distance(a: Point, b: Point) -> f64 {
    let [lon_a, lat_a] = a.map(f64::to_radians);
    let [lon_b, lat_b] = b.map(f64::to_radians);
    let half = |difference: f64| (difference / 2.0).sin().powi(2);
    let h = half(lat_b - lat_a) + lat_a.cos() * lat_b.cos() * half(lon_b - lon_a);
    2.0 * RADIUS_M * h.sqrt().min(1.0).asin()
}

/// The point of an edge that is nearest to `from`, on a map that is true there.
fn nearest(a: Point, b: Point, from: Point) -> Point {
    let scale = from[1].to_radians().cos();
    let flat = |it: Point| [(it[0] - from[0]) * scale, it[1] - from[1]];
    let (p, q) = (flat(a), flat(b));
    let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
    let length = dx * dx + dy * dy;
    let along = if length == 0.0 { 0.0 } else { (-(p[0] * dx + p[1] * dy) / length).clamp(0.0, 1.0) };
    [a[0] + (b[0] - a[0]) * along, a[1] + (b[1] - a[1]) * along]
}

/// On which side of the line from `a` to `b` a point lies.
fn turn(a: Point, b: Point, point: Point) -> f64 {
    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
}

fn is_between(a: Point, b: Point, point: Point) -> bool {
    (0..2).all(|at| point[at] >= a[at].min(b[at]) && point[at] <= a[at].max(b[at]))
}

/// Whether a ray to the east crosses the ring an odd number of times.
fn is_inside(ring: &[Point], [x, y]: Point) -> bool {
    let next = ring.iter().cycle().skip(1);
    let crosses = ring
        .iter()
        .zip(next)
        .filter(|([ax, ay], [bx, by])| (*ay > y) != (*by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax);
    crosses.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]";

    fn check(first: &str, placed: Placed, second: &str, metres: f64, expected: bool) {
        let is = Geometry::read(first).is(placed, &Geometry::read(second), metres);
        assert_eq!(is, expected, "{first} {placed:?} {second} {metres}");
    }

    #[test]
    fn a_point_lies_in_a_polygon_on_its_edge_and_not_in_its_hole() {
        for (point, expected) in [
            ("[1,1]", true),
            ("[10,5]", true),
            ("[0,0]", true),
            ("[5,5]", false),
            ("[4,5]", true),
            ("[11,5]", false),
            ("[-1,0]", false),
        ] {
            check(point, Placed::Within, SQUARE, 0.0, expected);
            check(SQUARE, Placed::Contains, point, 0.0, expected);
        }
    }

    #[test]
    fn distances_are_great_circles() {
        let (berlin, paris) = ("[13.405,52.52]", "[2.3522,48.8566]");
        check(berlin, Placed::Near, paris, 879_000.0, true);
        check(berlin, Placed::Near, paris, 876_000.0, false);
        check(SQUARE, Placed::Near, "[1,1]", 0.0, true);
        check(SQUARE, Placed::Near, "[11,5]", 112_000.0, true);
        check(SQUARE, Placed::Near, "[11,5]", 110_000.0, false);
        check("[179.9,0]", Placed::Near, "[-179.9,0]", 23_000.0, true);
    }

    #[test]
    fn shapes_lie_in_each_other_or_have_points_in_common() {
        let small = "[[[1,1],[2,1],[2,2],[1,2]]]";
        let beside = "[[[20,20],[21,20],[21,21]]]";
        let across = "[[[-1,3],[11,3],[11,3.5],[-1,3.5]]]";
        check(small, Placed::Within, SQUARE, 0.0, true);
        check(SQUARE, Placed::Within, small, 0.0, false);
        check(across, Placed::Within, SQUARE, 0.0, false);
        check(across, Placed::Intersects, SQUARE, 0.0, true);
        check(beside, Placed::Intersects, SQUARE, 0.0, false);
        check(small, Placed::Intersects, &format!("[{beside},{SQUARE}]"), 0.0, true);
    }
}
