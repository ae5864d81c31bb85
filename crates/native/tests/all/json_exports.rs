//! Dgraph's export as JSON, which is loaded like its N-Quads.

use crate::transfer::{Folder, loaded, source};
use weir_native::transfer::Count;

#[test]
fn an_export_as_json_is_loaded_as_one_of_n_quads() {
    let sdl = "type User @secret(field: \"pwd\") { id: ID!, name: String! @id, tags: [String], age: Int, ok: Boolean, at: Point, friends: [User], boss: User @hasInverse(field: staff), staff: [User] @hasInverse(field: boss) }";
    let hash = "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe";
    let statement =
        |uid: u32, member: &str| format!("  {{\"uid\":\"0x{uid:x}\",\"namespace\":\"0x0\",{member}}}");
    let members = [
        (1, r#""dgraph.type":"User""#.to_owned()),
        (2, r#""User.boss":[{"uid":"0x1"}]"#.to_owned()),
        (1, r#""User.name":"a \u003c b","User.name|origin":"f""#.to_owned()),
        (1, format!(r#""User.pwd":"{hash}""#)),
        (1, r#""User.tags":"x""#.to_owned()),
        (1, r#""User.tags":"y""#.to_owned()),
        (1, r#""User.age":42"#.to_owned()),
        (1, r#""User.ok":"true""#.to_owned()),
        (1, r#""User.at":"{'type':'Point','coordinates':[1.5,2]}""#.to_owned()),
        (1, r#""User.friends":[{"uid":"0x2","User.friends|since":"2005"}]"#.to_owned()),
        (1, r#""User.gone":"x""#.to_owned()),
        (2, r#""User.name":"bob""#.to_owned()),
        (2, r#""User.age":"old""#.to_owned()),
        (2, r#""dgraph.type":"User""#.to_owned()),
    ];
    let lines: Vec<String> = members.iter().map(|it| statement(it.0, &it.1)).collect();
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    let folder = Folder::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    let path = folder.0.join("g01.json.gz");
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    for (store, file) in [("a.db", folder.write("g01.json", &text)), ("b.db", path)] {
        let place = folder.store(store, sdl);
        let (report, rejects) = loaded(&place, &[source(&file, None)]);
        let expected = Count { objects: 2, statements_refused: 2, facets_left_out: 2, ..Count::default() };
        assert_eq!(report.count, expected, "{rejects:?}");
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(
            rejects,
            [
                format!(
                    "{name}:12: `User.gone` is no field of `User`; map it to one, or to null to leave it out"
                ),
                format!("{name}:14: User.age: `old` is no Int")
            ]
        );
        let rows = folder.rows(
            store,
            "SELECT u.name, u.pwd, u.age, u.ok, u.at_longitude, f.friends_id, b.name, (SELECT count(*) FROM User_tags) FROM User u \
             JOIN User_friends f ON f.user_id = u.id JOIN User b ON b.boss_id = u.id",
        );
        assert_eq!(rows, format!("a < b|{hash}|42|1|1.5|2|bob|2"));
    }
}
