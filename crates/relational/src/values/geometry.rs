//! Shapes on the globe: points and polygons in degrees, and tests for near, within and intersecting.
//!
//! Format: GeoJSON's `coordinates`, longitude before latitude, rings in polygons. Edges are straight on the map of
//! longitude and latitude; a point on an edge is inside. Distances are great circles on a sphere.
//!
//! **Invariant:** `Geometry::reach` encloses whatever stands so to a place, so that what an index of boxes leaves out is
//! never wanted.
//!
//! **Cost:** linear in the points of a shape for a point, their product for whether two shapes meet; nothing is allocated
//! but to read and to lay one shape over another.

mod overlay;

pub use overlay::SLIVER_DEGREES;

/// Metres. Source: IUGG, mean radius of the Earth.
pub const RADIUS_M: f64 = 6_371_008.8;

/// Longitude and latitude in degrees.
pub type Point = [f64; 2];

/// West, south, east and north, in degrees.
pub type BoundingBox = [f64; 4];

/// Further than any place, and a number that every database can write.
const FAR_DEGREES: f64 = 1e6;

/// Tolerance of sums.
const SLACK: f64 = 1e-9;

/// Rings: the outer one first, then holes.
type Polygon = Vec<Vec<Point>>;

/// A point, or polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Set if the geometry is a point.
    point: Option<Point>,
    polygons: Vec<Polygon>,
    /// A list in it is empty.
    lacks: bool,
}

/// Relations between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// The first is within a distance of the second, a point.
    Near,
    /// The first lies inside the second.
    Within,
    /// The second lies inside the first.
    Contains,
    /// The second, a point, lies inside the first.
    Covers,
    /// The shapes have a point in common.
    Intersects,
}

/// True if there is such a place. NaN is none.
pub fn is_on_globe([longitude, latitude]: Point) -> bool {
    longitude.abs() <= 180.0 && latitude.abs() <= 90.0
}

impl Geometry {
    /// A point as a shape.
    pub fn point(point: Point) -> Self {
        Self { point: Some(point), ..Self::default() }
    }

    /// Reads `coordinates`; other characters than numbers and brackets count as separators.
    pub fn read(text: &str) -> Self {
        let mut out = Self::default();
        let mut ring: Vec<Point> = Vec::new();
        let mut polygon: Polygon = Vec::new();
        let mut numbers: Vec<f64> = Vec::new();
        let mut digits = String::new();
        let mut opened = false;
        for byte in text.chars() {
            if byte.is_ascii_digit() || matches!(byte, '-' | '+' | '.' | 'e' | 'E') {
                digits.push(byte);
                continue;
            }
            opened &= digits.is_empty();
            numbers.extend(digits.parse::<f64>().ok());
            digits.clear();
            if byte != ']' {
                opened |= byte == '[';
                continue;
            }
            out.lacks |= std::mem::take(&mut opened);
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

    /// True if the first place has the relation `placed` to the second.
    pub fn is(&self, placed: Placed, other: &Self, metres: f64) -> bool {
        match placed {
            Placed::Near => other.point.is_some_and(|it| self.distance(it) <= metres),
            Placed::Within => self.is_within(other),
            Placed::Contains | Placed::Covers => other.is_within(self),
            Placed::Intersects => self.intersects(other),
        }
    }

    /// The bounds of whatever has a point in common with this place, or is at most so many metres from it; of no place, bounds
    /// that enclose nothing.
    pub fn reach(&self, metres: f64) -> BoundingBox {
        match self.point {
            Some(point) => bounds_around(point, metres),
            None => {
                self.points().fold([FAR_DEGREES, FAR_DEGREES, -FAR_DEGREES, -FAR_DEGREES], |it, [x, y]| {
                    [it[0].min(x), it[1].min(y), it[2].max(x), it[3].max(y)]
                })
            }
        }
    }

    /// The geometry and its bounds extended by `metres`, as a JSON document for PostgreSQL.
    pub fn json(&self, metres: f64) -> String {
        let point = |[x, y]: Point| format!("[{x},{y}]");
        let list = |items: Vec<String>| format!("[{}]", items.join(","));
        let ring = |ring: &Vec<Point>| list(ring.iter().map(|it| point(*it)).collect());
        let polygon = |polygon: &Polygon| list(polygon.iter().map(ring).collect());
        let (name, place) = match self.point {
            Some(it) => ("point", point(it)),
            None => ("polygons", list(self.polygons.iter().map(polygon).collect())),
        };
        let bounds = list(self.reach(metres).iter().map(f64::to_string).collect());
        format!("{{\"bounds\":{bounds},\"{name}\":{place}}}")
    }

    /// Reason why it is no place on the globe: a missing point, a ring without an area. The text continues "this is no".
    pub fn fault(&self) -> Option<&'static str> {
        let encloses = |ring: &Vec<Point>| {
            let first = ring[0];
            let other = ring.iter().find(|it| **it != first);
            other.is_some_and(|second| ring.iter().any(|it| turn(first, *second, *it) != 0.0))
        };
        if !self.points().all(is_on_globe) {
            return Some("place: longitudes are between -180 and 180, latitudes between -90 and 90");
        }
        if self.point.is_none() && self.polygons.is_empty() {
            return Some("polygon: it has no ring");
        }
        let all_enclose = !self.lacks && self.polygons.iter().flatten().all(encloses);
        (!all_enclose).then_some("polygon: a ring has at least three points that are not on one line")
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

    /// True if a point lies in one of the polygons, and in none of its holes.
    fn covers(&self, point: Point) -> bool {
        let on_edge = || self.edges().any(|(a, b)| turn(a, b, point) == 0.0 && is_between(a, b, point));
        let inside =
            |polygon: &Polygon| polygon.iter().filter(|ring| is_inside(ring, point)).count() % 2 == 1;
        self.polygons.iter().any(inside) || on_edge()
    }

    fn crosses(&self, other: &Self) -> bool {
        self.edges().any(|(a, b)| {
            other.edges().any(|(c, d)| {
                let ours = turn(a, b, c) * turn(a, b, d);
                let theirs = turn(c, d, a) * turn(c, d, b);
                ours < 0.0 && theirs < 0.0
            })
        })
    }

    fn is_within(&self, other: &Self) -> bool {
        match self.point {
            Some(point) => other.covers(point),
            None => !self.polygons.is_empty() && overlay::is_within(&self.polygons, &other.polygons),
        }
    }

    fn intersects(&self, other: &Self) -> bool {
        self.points().any(|it| other.covers(it))
            || other.points().any(|it| self.covers(it))
            || self.crosses(other)
    }
}

/// The bounds of all points that are at most so many metres from `from`: all longitudes where a pole or the date line is
/// near.
fn bounds_around([x, y]: Point, metres: f64) -> BoundingBox {
    let angle = metres.max(0.0) / RADIUS_M * (1.0 + SLACK) + SLACK;
    let south = y - angle.to_degrees();
    let north = y + angle.to_degrees();
    let width = (angle.sin() / y.to_radians().cos()).asin().to_degrees() * (1.0 + SLACK) + SLACK;
    let west = x - width;
    let east = x + width;
    if south > -90.0 && north < 90.0 && west >= -180.0 && east <= 180.0 {
        return [west, south, east, north];
    }
    let [south, north] = [south, north].map(|it| it.clamp(-FAR_DEGREES, FAR_DEGREES));
    [-FAR_DEGREES, south, FAR_DEGREES, north]
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
    let p = flat(a);
    let q = flat(b);
    let dx = q[0] - p[0];
    let dy = q[1] - p[1];
    let length = dx * dx + dy * dy;
    let share = if length == 0.0 { 0.0 } else { (-(p[0] * dx + p[1] * dy) / length).clamp(0.0, 1.0) };
    [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]
}

/// On which side of the line from `a` to `b` a point lies.
fn turn(a: Point, b: Point, point: Point) -> f64 {
    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
}

fn is_between(a: Point, b: Point, point: Point) -> bool {
    (0..2).all(|at| point[at] >= a[at].min(b[at]) && point[at] <= a[at].max(b[at]))
}

/// True if a ray to the east crosses the ring an odd number of times.
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
    fn a_hole_is_no_part_of_what_has_it() {
        let around_hole = "[[[3,3],[7,3],[7,7],[3,7]]]";
        let around_with_hole = "[[[3,3],[7,3],[7,7],[3,7]],[[4,4],[6,4],[6,6],[4,6]]]";
        let smaller_hole = "[[[3,3],[7,3],[7,7],[3,7]],[[4.5,4.5],[5.5,4.5],[5.5,5.5],[4.5,5.5]]]";
        let in_hole = "[[[4.5,4.5],[5.5,4.5],[5.5,5.5]]]";
        let island = format!("[{SQUARE},[[[4,4],[6,4],[6,6],[4,6]]]]");
        for (inner, outer, expected) in [
            (around_hole, SQUARE, false),
            (around_with_hole, SQUARE, true),
            (smaller_hole, SQUARE, false),
            (SQUARE, SQUARE, true),
            (in_hole, SQUARE, false),
            (around_hole, &island, true),
            (in_hole, &island, true),
            // The corners lie on the edge, the way between them outside.
            ("[[[0,0],[4,0],[4,4]]]", "[[[0,0],[2,0],[2,1],[4,0],[4,4],[0,4]]]", false),
        ] {
            check(inner, Placed::Within, outer, 0.0, expected);
            check(outer, Placed::Contains, inner, 0.0, expected);
        }
        check(in_hole, Placed::Intersects, SQUARE, 0.0, false);
        check(around_hole, Placed::Intersects, SQUARE, 0.0, true);
    }

    #[test]
    fn what_is_no_place_has_a_fault() {
        for (text, expected) in [
            ("[181,0]", true),
            ("[0,-90.5]", true),
            ("[]", true),
            ("[[[0,0],[1,1]]]", true),
            ("[[[0,0],[1,1],[2,2],[0,0]]]", true),
            ("[[[0,0],[0,0],[0,0]]]", true),
            ("[[[0,0],[1,0],[1,1]],[]]", true),
            ("[[[0,0],[1,0],[1,1]],[[0,0],[1,1]]]", true),
            ("[180,-90]", false),
            (SQUARE, false),
        ] {
            assert_eq!(Geometry::read(text).fault().is_some(), expected, "{text}");
        }
    }

    #[test]
    fn whatever_is_near_lies_in_the_bounds() {
        let places = [-179.999, -90.0, -0.001, 0.0, 13.4, 89.9, 179.999];
        let heights = [-89.99, -60.0, 0.0, 52.5, 89.9];
        let all = || places.iter().flat_map(|x| heights.iter().map(move |y| [*x, *y]));
        for (from, to) in all().flat_map(|from| all().map(move |to| (from, to))) {
            let metres = distance(from, to);
            let [west, south, east, north] = Geometry::point(from).reach(metres);
            let is_inside = west <= to[0] && to[0] <= east && south <= to[1] && to[1] <= north;
            assert!(is_inside, "{from:?} {to:?} {metres}");
        }
        let [west, _, east, _] = Geometry::point([13.4, 52.5]).reach(1000.0);
        assert!(east - west < 0.04, "a kilometre is few degrees");
    }

    #[test]
    fn distances_are_great_circles() {
        let berlin = "[13.405,52.52]";
        let paris = "[2.3522,48.8566]";
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
