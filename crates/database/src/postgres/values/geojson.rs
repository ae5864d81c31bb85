//! GeoJSON for PostGIS's shapes: checked before the database sees it, in Hasura's words.
//!
//! Source: RFC 7946, section 3.1. What PostGIS checks itself (numbers, the reference system) is left to it.
//!
//! **Invariant:** recursion is over collections of shapes only, at most [`COLLECTIONS_MAX`] deep.

use weir_language::json::JsonRef;

/// Maximum nesting of collections.
const COLLECTIONS_MAX: u32 = 16;

/// Checks a shape.
/// # Errors
/// Words for the client.
pub(crate) fn check(shape: JsonRef<'_>) -> Result<(), String> {
    geometry(shape, 0)?;
    check_system(shape)
}

/// Refuses a reference system that PostGIS writes and does not read: it would put the shape into none, without a word.
/// # Errors
/// Words for the client.
pub(crate) fn check_system(shape: JsonRef<'_>) -> Result<(), String> {
    let name = shape.get("crs").and_then(|it| it.get("properties")).and_then(|it| it.get("name"));
    let Some(name) = name.and_then(JsonRef::as_str) else { return Ok(()) };
    let written = name.strip_prefix("urn:ogc:def:crs:").and_then(|it| it.split_once("::"));
    match written {
        Some((authority, _)) if !authority.bytes().all(|it| it.is_ascii_alphabetic()) => Err(format!(
            "PostGIS does not read the reference system \"{name}\" from GeoJSON: give the shape as a text with its number, such as \"SRID=900913;POINT(1 2)\""
        )),
        _ => Ok(()),
    }
}

fn geometry(shape: JsonRef<'_>, depth: u32) -> Result<(), String> {
    let name = shape.get("type").and_then(JsonRef::as_str).ok_or("key \"type\" not found")?;
    let coordinates = || shape.get("coordinates").ok_or("key \"coordinates\" not found");
    match &*name {
        "Point" => position(coordinates()?),
        "MultiPoint" => each(coordinates()?, "MultiPoint", position),
        "LineString" => line(coordinates()?),
        "MultiLineString" => each(coordinates()?, "MultiLineString", line),
        "Polygon" => each(coordinates()?, "Polygon", ring),
        "MultiPolygon" => each(coordinates()?, "MultiPolygon", |polygon| each(polygon, "Polygon", ring)),
        "GeometryCollection" if depth == COLLECTIONS_MAX => {
            Err(format!("a GeometryCollection may be nested {COLLECTIONS_MAX} deep"))
        }
        "GeometryCollection" => {
            let shapes = shape.get("geometries").ok_or("key \"geometries\" not found")?;
            each(shapes, "GeometryCollection", |it| geometry(it, depth + 1))
        }
        other => Err(format!("unexpected geometry type: {other}")),
    }
}

fn each<'j>(
    list: JsonRef<'j>,
    name: &str,
    check: impl Fn(JsonRef<'j>) -> Result<(), String>,
) -> Result<(), String> {
    if !list.is_array() {
        return Err(format!("a {name} needs a list"));
    }
    list.items().try_for_each(check)
}

fn position(list: JsonRef<'_>) -> Result<(), String> {
    if !list.is_array() || list.items().count() < 2 {
        return Err("A Position needs at least 2 elements".to_owned());
    }
    if list.items().all(|it| it.as_number().is_some()) {
        Ok(())
    } else {
        Err("A Position needs numbers".to_owned())
    }
}

fn line(list: JsonRef<'_>) -> Result<(), String> {
    each(list, "LineString", position)?;
    match list.items().count() {
        0 | 1 => Err("A LineString needs at least 2 Positions".to_owned()),
        _ => Ok(()),
    }
}

fn ring(list: JsonRef<'_>) -> Result<(), String> {
    each(list, "LinearRing", position)?;
    if list.items().count() < 4 {
        return Err("A LinearRing needs at least 4 Positions".to_owned());
    }
    let place = |it: JsonRef<'_>| it.items().map(|it| it.as_number().map(str::to_owned)).collect::<Vec<_>>();
    if list.items().next().map(place) == list.items().last().map(place) {
        Ok(())
    } else {
        Err("the first and last locations have to be equal for a LinearRing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use weir_language::json::Json;

    #[test]
    fn systems_that_would_be_lost_are_refused() {
        let of = |name: &str| {
            format!(
                r#"{{"type":"Point","crs":{{"type":"name","properties":{{"name":"{name}"}}}},"coordinates":[1,2]}}"#
            )
        };
        for name in [
            "EPSG:4326",
            "urn:ogc:def:crs:EPSG::3857",
            "urn:ogc:def:crs:ESRI::102100",
            "urn:ogc:def:crs:OGC:1.3:CRS84",
        ] {
            check(&of(name), Ok(()));
        }
        for name in ["urn:ogc:def:crs:spatialreferencing.org::900913", "urn:ogc:def:crs:my-org::7"] {
            let words = format!(
                "PostGIS does not read the reference system \"{name}\" from GeoJSON: give the shape as a text with its number, such as \"SRID=900913;POINT(1 2)\""
            );
            check(&of(name), Err(&words));
        }
    }

    fn check(shape: &str, expected: Result<(), &str>) {
        let json = Json::parse(shape.as_bytes(), 64).unwrap();
        assert_eq!(super::check(json.root()), expected.map_err(str::to_owned), "{shape}");
    }

    #[test]
    fn shapes_that_are_whole_pass() {
        check(r#"{"type": "Point", "coordinates": [1, 2.50, 3]}"#, Ok(()));
        check(r#"{"type": "MultiPoint", "coordinates": []}"#, Ok(()));
        check(r#"{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}"#, Ok(()));
        check(r#"{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}"#, Ok(()));
        check(
            r#"{"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [1, 2]}]}"#,
            Ok(()),
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        check(r#"{"type": "Point", "coordinates": [1]}"#, Err("A Position needs at least 2 elements"));
        check(r#"{"type": "Cube", "coordinates": []}"#, Err("unexpected geometry type: Cube"));
        check(r#"{"coordinates": [1, 2]}"#, Err("key \"type\" not found"));
        check(
            r#"{"type": "LineString", "coordinates": [[1, 2]]}"#,
            Err("A LineString needs at least 2 Positions"),
        );
        check(
            r#"{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}"#,
            Err("A LinearRing needs at least 4 Positions"),
        );
        check(
            r#"{"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 1]]]]}"#,
            Err("the first and last locations have to be equal for a LinearRing"),
        );
    }

    #[test]
    fn collections_are_followed_only_so_deep() {
        let open = r#"{"type":"GeometryCollection","geometries":["#;
        let deep = format!("{}{}", open.repeat(17), "]}".repeat(17));
        check(&deep, Err("a GeometryCollection may be nested 16 deep"));
    }
}
