//! Places in PostgreSQL without an extension: bounds first, which an index finds, then the exact test in plain SQL.
//!
//! The bound value is one document, `{"bounds": [west, south, east, north], "point": [x, y]}` or with `"polygons"` for
//! `"point"`; a stored shape is the text of its coordinates. The tests are those of [`crate::values::geometry`], word for word, so
//! that both databases answer the same.
//!
//! **Cost:** rows outside of the bounds are never looked at; for others, the points of a shape, or their product.

use super::Place;
use crate::values::geometry::{Placed, RADIUS_M, SLIVER_DEGREES};

/// The condition that the place of a row stands so to the one that is bound.
pub(super) fn place(place: &Place<'_>) -> String {
    let other = place.with.first().map(|it| format!("{it}::jsonb")).unwrap_or_default();
    let end = |at: u32| format!("({other} #>> '{{bounds,{at}}}')::float8");
    let [west, south, east, north] = &place.bounds;
    let bounds = format!(
        "{west} <= {} AND {east} >= {} AND {south} <= {} AND {north} >= {}",
        end(2),
        end(0),
        end(3),
        end(1)
    );
    let exact = exact(place, &other);
    match place.behind {
        // Comparing bounds cannot fail, as they are numbers. So they may stand before the policy, where an index can use them.
        Some(policy) => format!("({bounds} AND CASE WHEN {policy} THEN {exact} END)"),
        None => format!("({bounds} AND ({exact}))"),
    }
}

fn exact(place: &Place<'_>, other: &str) -> String {
    let metres = place.with.get(1).map(|it| format!("{it}::float8")).unwrap_or_default();
    let point = [0, 1].map(|at| format!("({other} #>> '{{point,{at}}}')::float8"));
    let point = [point[0].as_str(), point[1].as_str()];
    let theirs = edges(&format!("{other} -> 'polygons'"));
    if let [longitude, latitude] = place.of.as_slice() {
        let own = [longitude.as_str(), latitude.as_str()];
        return match place.by {
            Placed::Near => format!("{} <= {metres}", distance(own, point)),
            Placed::Within | Placed::Contains | Placed::Covers | Placed::Intersects => covers(&theirs, own),
        };
    }
    let text = format!("{}::jsonb", place.of.concat());
    let ours = edges(&format!(
        "CASE jsonb_typeof({text} #> '{{0,0,0}}') WHEN 'array' THEN {text} ELSE jsonb_build_array({text}) END"
    ));
    match place.by {
        Placed::Near => format!("{} OR {}", covers(&ours, point), is_near(&ours, point, &metres)),
        Placed::Within => is_within(&ours, &theirs),
        Placed::Contains => is_within(&theirs, &ours),
        Placed::Covers => covers(&ours, point),
        Placed::Intersects => intersects(&ours, &theirs),
    }
}

/// The edges of a document of polygons: the number of the polygon and both ends.
fn edges(polygons: &str) -> String {
    format!(
        "SELECT p.n AS p, (a.v ->> 0)::float8 AS x1, (a.v ->> 1)::float8 AS y1, \
         (b.v ->> 0)::float8 AS x2, (b.v ->> 1)::float8 AS y2 \
         FROM jsonb_array_elements({polygons}) WITH ORDINALITY AS p(v, n) \
         CROSS JOIN LATERAL jsonb_array_elements(p.v) AS r(v) \
         CROSS JOIN LATERAL jsonb_array_elements(r.v) WITH ORDINALITY AS a(v, n) \
         CROSS JOIN LATERAL (SELECT r.v -> (a.n % jsonb_array_length(r.v))::int AS v) AS b"
    )
}

/// Great circle in metres.
fn distance([ax, ay]: [&str; 2], [bx, by]: [&str; 2]) -> String {
    let half = |a: &str, b: &str| format!("power(sin((radians({b}) - radians({a})) / 2), 2)");
    let rise = half(ay, by);
    let run = half(ax, bx);
    let h = format!("{rise} + cos(radians({ay})) * cos(radians({by})) * {run}");
    format!("2 * {RADIUS_M:?} * asin(least(1, sqrt({h})))")
}

/// On which side of the line from `a` to `b` a point lies.
fn turn([ax, ay]: [&str; 2], [bx, by]: [&str; 2], [x, y]: [&str; 2]) -> String {
    format!("(({bx} - {ax}) * ({y} - {ay}) - ({by} - {ay}) * ({x} - {ax}))")
}

/// SQL condition: a point lies in one of the polygons, in none of its holes, or on an edge.
fn covers(edges: &str, [x, y]: [&str; 2]) -> String {
    let on_line = turn(["e.x1", "e.y1"], ["e.x2", "e.y2"], [x, y]);
    format!(
        "EXISTS (SELECT 1 FROM ({edges}) AS e WHERE {on_line} = 0 \
         AND {x} BETWEEN least(e.x1, e.x2) AND greatest(e.x1, e.x2) \
         AND {y} BETWEEN least(e.y1, e.y2) AND greatest(e.y1, e.y2)) \
         OR EXISTS (SELECT 1 FROM ({edges}) AS e WHERE CASE WHEN (e.y1 > {y}) <> (e.y2 > {y}) \
         THEN {x} < (e.x2 - e.x1) * ({y} - e.y1) / (e.y2 - e.y1) + e.x1 ELSE false END \
         GROUP BY e.p HAVING count(*) % 2 = 1)"
    )
}

/// SQL condition: an edge is near a point, by its nearest point on a map that is accurate there.
fn is_near(edges: &str, [x, y]: [&str; 2], metres: &str) -> String {
    let from = distance(["e.x1 + (e.x2 - e.x1) * s.along", "e.y1 + (e.y2 - e.y1) * s.along"], [x, y]);
    format!(
        "EXISTS (SELECT 1 FROM ({edges}) AS e \
         CROSS JOIN LATERAL (SELECT (e.x1 - {x}) * cos(radians({y})) AS px, e.y1 - {y} AS py, \
         (e.x2 - e.x1) * cos(radians({y})) AS dx, e.y2 - e.y1 AS dy) AS f \
         CROSS JOIN LATERAL (SELECT CASE WHEN f.dx * f.dx + f.dy * f.dy = 0 THEN 0 ELSE \
         greatest(0, least(1, -(f.px * f.dx + f.py * f.dy) / (f.dx * f.dx + f.dy * f.dy))) END AS along) AS s \
         WHERE {from} <= {metres})"
    )
}

/// SQL condition: two shapes have a point in common.
fn intersects(ours: &str, theirs: &str) -> String {
    let ([a, b], [c, d]) = ([["a.x1", "a.y1"], ["a.x2", "a.y2"]], [["b.x1", "b.y1"], ["b.x2", "b.y2"]]);
    let cross =
        format!("{} * {} < 0 AND {} * {} < 0", turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b));
    let corner = |of: &str, within: &str| {
        format!("EXISTS (SELECT 1 FROM ({of}) AS v WHERE {})", covers(within, ["v.x1", "v.y1"]))
    };
    format!(
        "EXISTS (SELECT 1 FROM ({ours}) AS a CROSS JOIN ({theirs}) AS b WHERE {cross}) OR {} OR {}",
        corner(ours, theirs),
        corner(theirs, ours)
    )
}

/// SQL condition: the first lies in the second. In no strip between two heights at which edges end or meet does the first
/// have a part that the second has not.
fn is_within(inner: &str, outer: &str) -> String {
    let inside = |side: u32| {
        format!(
            "EXISTS (SELECT 1 FROM x WHERE x.m = g.m AND x.s = {side} AND x.x < g.x \
             GROUP BY x.p HAVING count(*) % 2 = 1)"
        )
    };
    let area = "((a.x2 - a.x1) * (b.y2 - b.y1) - (a.y2 - a.y1) * (b.x2 - b.x1))";
    let on_a = format!("((b.x1 - a.x1) * (b.y2 - b.y1) - (b.y1 - a.y1) * (b.x2 - b.x1)) / {area}");
    let on_b = format!("((b.x1 - a.x1) * (a.y2 - a.y1) - (b.y1 - a.y1) * (a.x2 - a.x1)) / {area}");
    format!(
        "NOT EXISTS (WITH e AS (SELECT 0 AS s, i.* FROM ({inner}) AS i UNION ALL SELECT 1, o.* FROM ({outer}) AS o), \
         y AS (SELECT y1 AS y FROM e UNION SELECT a.y1 + {on_a} * (a.y2 - a.y1) FROM e AS a CROSS JOIN e AS b \
         WHERE CASE WHEN {area} = 0 THEN false ELSE {on_a} BETWEEN 0 AND 1 AND {on_b} BETWEEN 0 AND 1 END), \
         m AS (SELECT (y + next) / 2 AS m FROM (SELECT y, lead(y) OVER (ORDER BY y) AS next FROM y) AS z \
         WHERE (y + next) / 2 > y AND (y + next) / 2 < next), \
         x AS (SELECT m.m, e.s, e.p, e.x1 + (m.m - e.y1) / (e.y2 - e.y1) * (e.x2 - e.x1) AS x \
         FROM m JOIN e ON (e.y1 > m.m) <> (e.y2 > m.m)), \
         g AS (SELECT m, (x + next) / 2 AS x FROM (SELECT m, x, lead(x) OVER (PARTITION BY m ORDER BY x) AS next FROM x) AS z \
         WHERE next - x > {SLIVER_DEGREES:?}) \
         SELECT 1 FROM g WHERE {} AND NOT {})",
        inside(0),
        inside(1)
    )
}
