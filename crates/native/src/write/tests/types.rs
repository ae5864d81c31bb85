//! The types of the random mutations, once as a text for Weir and once as a table for the oracle.

/// Every kind of edge: one to many, one to one, many to many, without an inverse, to an interface, to a union, to its own
/// type both ways; one to one where one side has to be there, with the column on that side and on the other; to many where
/// the side of one has to be there; two fields of one type that are each other's inverse.
pub(super) const SDL: &str = r"
interface Named {
  id: ID!
  name: String! @id(interface: true)
  rank: Int
  near: [Named] @hasInverse(field: near)
}
type Country implements Named {
  cities: [City] @hasInverse(field: country)
  capital: City @hasInverse(field: capitalOf)
}
type City implements Named {
  tags: [String]
  country: Country @hasInverse(field: cities)
  capitalOf: Country @hasInverse(field: capital)
  lovers: [Person] @hasInverse(field: loves)
}
type Person {
  id: ID!
  nick: String! @id
  age: Int!
  tags: [String]
  friends: [Person] @hasInverse(field: friends)
  spouse: Person @hasInverse(field: spouse)
  loves: [City] @hasInverse(field: lovers)
  home: City
  goal: Named
  seen: [Sight]
  badge: Badge @hasInverse(field: owner)
  visa: Visa @hasInverse(field: holder)
  pets: [Pet] @hasInverse(field: keeper)
  boss: Person
  staff: [Person] @hasInverse(field: boss)
}
type Badge {
  id: ID!
  code: String! @id
  owner: Person!
}
type Visa {
  id: ID!
  code: String! @id
  holder: Person!
}
type Pet {
  id: ID!
  code: String! @id
  keeper: Person!
}
union Sight = City | Country
";

pub(super) struct OracleType {
    pub(super) name: &'static str,
    /// The field that tells its objects apart.
    pub(super) key: &'static str,
    pub(super) fields: &'static [OracleField],
}

pub(super) struct OracleField {
    pub(super) name: &'static str,
    pub(super) kind: OracleKind,
    pub(super) required: bool,
}

pub(super) enum OracleKind {
    Key,
    Int,
    Texts,
    Edge { to: &'static str, many: bool, inverse: Option<&'static str> },
}

const fn field(name: &'static str, kind: OracleKind) -> OracleField {
    OracleField { name, kind, required: false }
}

const fn required(name: &'static str, kind: OracleKind) -> OracleField {
    OracleField { name, kind, required: true }
}

const fn one(to: &'static str, inverse: Option<&'static str>) -> OracleKind {
    OracleKind::Edge { to, many: false, inverse }
}

const fn many(to: &'static str, inverse: Option<&'static str>) -> OracleKind {
    OracleKind::Edge { to, many: true, inverse }
}

pub(super) const COUNTRY: usize = 0;
pub(super) const CITY: usize = 1;
pub(super) const PERSON: usize = 2;
pub(super) const NAMED: usize = 3;
pub(super) const BADGE: usize = 4;
pub(super) const VISA: usize = 5;
pub(super) const PET: usize = 6;

/// All types but the union.
pub(super) const TYPES: [OracleType; 7] = [
    OracleType {
        name: "Country",
        key: "name",
        fields: &[
            required("name", OracleKind::Key),
            field("rank", OracleKind::Int),
            field("near", many("Named", Some("near"))),
            field("cities", many("City", Some("country"))),
            field("capital", one("City", Some("capitalOf"))),
        ],
    },
    OracleType {
        name: "City",
        key: "name",
        fields: &[
            required("name", OracleKind::Key),
            field("rank", OracleKind::Int),
            field("near", many("Named", Some("near"))),
            field("tags", OracleKind::Texts),
            field("country", one("Country", Some("cities"))),
            field("capitalOf", one("Country", Some("capital"))),
            field("lovers", many("Person", Some("loves"))),
        ],
    },
    OracleType {
        name: "Person",
        key: "nick",
        fields: &[
            required("nick", OracleKind::Key),
            required("age", OracleKind::Int),
            field("tags", OracleKind::Texts),
            field("friends", many("Person", Some("friends"))),
            field("spouse", one("Person", Some("spouse"))),
            field("loves", many("City", Some("lovers"))),
            field("home", one("City", None)),
            field("goal", one("Named", None)),
            field("seen", many("Sight", None)),
            field("badge", one("Badge", Some("owner"))),
            field("visa", one("Visa", Some("holder"))),
            field("pets", many("Pet", Some("keeper"))),
            field("boss", one("Person", Some("staff"))),
            field("staff", many("Person", Some("boss"))),
        ],
    },
    OracleType {
        name: "Named",
        key: "name",
        fields: &[
            required("name", OracleKind::Key),
            field("rank", OracleKind::Int),
            field("near", many("Named", Some("near"))),
        ],
    },
    OracleType {
        name: "Badge",
        key: "code",
        fields: &[required("code", OracleKind::Key), required("owner", one("Person", Some("badge")))],
    },
    OracleType {
        name: "Visa",
        key: "code",
        fields: &[required("code", OracleKind::Key), required("holder", one("Person", Some("visa")))],
    },
    OracleType {
        name: "Pet",
        key: "code",
        fields: &[required("code", OracleKind::Key), required("keeper", one("Person", Some("pets")))],
    },
];

impl OracleType {
    pub(super) fn field(&self, name: &str) -> Option<&OracleField> {
        self.fields.iter().find(|it| it.name == name)
    }
}

/// The type whose keys an object's has to differ from: its own, or the interface it implements.
pub(super) fn scope(ty: usize) -> usize {
    match ty {
        COUNTRY | CITY => NAMED,
        own => own,
    }
}

/// The object types that can stand where `name` does.
pub(super) fn members(name: &str) -> &'static [usize] {
    match name {
        "Country" => &[COUNTRY],
        "City" => &[CITY],
        "Person" => &[PERSON],
        "Badge" => &[BADGE],
        "Visa" => &[VISA],
        "Pet" => &[PET],
        _ => &[COUNTRY, CITY],
    }
}
