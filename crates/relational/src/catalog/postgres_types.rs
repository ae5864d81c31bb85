//! The types of a database by OID: their names in casts, and their structure.
//!
//! The types of `pg_catalog` have the same OIDs in every version and in every database of the family, so they stand
//! here; the catalog adds what a database defines itself (enums, domains, composites, extensions).
//!
//! **Invariant:** an OID is there once, and the element of an array, the base of a domain, the subtype of a range
//! may be missing (a database may hide what they are), so each is looked up.

use super::abilities::ValueAbilities;
use crate::quoting::quote_identifier;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// OIDs of the types that are spoken of by name in the code.
#[allow(missing_docs)]
pub mod oid {
    /// An `int8` that is never quoted, however numbers are: a count, a sum of smaller ones. No released catalog has the
    /// numbers from 8000 to 9999.
    pub const COUNT: u32 = 9997;
    /// A `numeric` that is never quoted, see [`COUNT`]: a mean of small integers.
    pub const MEAN: u32 = 9998;
    /// A `float8` that is never quoted, see [`COUNT`]: a mean of `float4`.
    pub const RATIO: u32 = 9999;
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const CHAR: u32 = 18;
    pub const INT2VECTOR: u32 = 22;
    pub const OIDVECTOR: u32 = 30;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const XID: u32 = 28;
    pub const CID: u32 = 29;
    pub const JSON: u32 = 114;
    pub const POINT: u32 = 600;
    pub const CIDR: u32 = 650;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const UNKNOWN: u32 = 705;
    pub const MONEY: u32 = 790;
    pub const INET: u32 = 869;
    pub const TEXT_ARRAY: u32 = 1009;
    pub const INT8_ARRAY: u32 = 1016;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const DATE: u32 = 1082;
    pub const TIME: u32 = 1083;
    pub const TIMESTAMP: u32 = 1114;
    pub const TIMESTAMPTZ: u32 = 1184;
    pub const INTERVAL: u32 = 1186;
    pub const TIMETZ: u32 = 1266;
    pub const NUMERIC: u32 = 1700;
    pub const VOID: u32 = 2278;
    pub const UUID: u32 = 2950;
    pub const JSONB: u32 = 3802;
    pub const XID8: u32 = 5069;
}

/// All types of one database.
#[derive(Clone, Debug)]
pub struct Types {
    list: Vec<Type>,
    places: HashMap<u32, u32>,
    /// Abilities of base types, by OID.
    abilities: HashMap<u32, ValueAbilities>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// OID of the type.
    pub oid: u32,
    /// The type of arrays of it, or 0.
    pub array_oid: u32,
    /// Name in a cast: quoted, with the schema unless it is PostgreSQL's own.
    pub cast: String,
    /// Name of the type.
    pub name: String,
    pub schema: String,
    /// Structure of the type.
    pub kind: Kind,
}

/// Structures of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A type that is not made of others.
    Base,
    /// Many of one type, in any number of dimensions.
    Array {
        /// Type of the items.
        element: u32,
    },
    /// Another type with a check; on the wire it is that one.
    Domain {
        /// Base type, which may be a domain itself.
        base: u32,
    },
    /// One of a list of labels.
    Enum {
        /// In their order.
        labels: Vec<String>,
    },
    /// A row of named fields.
    Composite {
        /// Name and type of each.
        fields: Vec<(String, u32)>,
    },
    /// A range between two values.
    Range {
        /// The type of both.
        subtype: u32,
    },
    /// Several ranges.
    Multirange {
        /// Range type; 0 if the database does not report it.
        range: u32,
    },
    /// Not the type of a column: `void`, `record`, `anyelement`.
    Pseudo,
}

impl Types {
    /// The types of `pg_catalog`.
    pub fn builtin() -> Self {
        let mut types = Self {
            list: Vec::with_capacity(256),
            places: HashMap::with_capacity(256),
            abilities: HashMap::from_iter([(oid::JSON, ValueAbilities::NONE)]),
        };
        let mut add = |oid, array_oid, name: &str, kind| {
            let cast = builtin_cast(name);
            types.add(Type { oid, array_oid, cast, name: name.into(), schema: "pg_catalog".into(), kind });
        };
        for (oid, array_oid, name) in BASES {
            add(oid, array_oid, name, Kind::Base);
        }
        for (oid, array_oid, name) in PSEUDO {
            add(oid, array_oid, name, Kind::Pseudo);
        }
        for (oid, name) in [(oid::COUNT, "int8"), (oid::MEAN, "numeric"), (oid::RATIO, "float8")] {
            add(oid, 0, name, Kind::Base);
        }
        for (range, array_oid, name, subtype) in RANGES {
            add(range, array_oid, name, Kind::Range { subtype });
        }
        for (oid, array_oid, name, range) in MULTIRANGES {
            add(oid, array_oid, name, Kind::Multirange { range });
        }
        types
    }

    /// Adds a type and, where it has one, the array of it; a type that is there already stays.
    pub fn add(&mut self, ty: Type) {
        if ty.array_oid != 0 {
            self.add_one(Type {
                oid: ty.array_oid,
                array_oid: 0,
                cast: format!("{}[]", ty.cast),
                name: format!("_{}", ty.name),
                schema: ty.schema.clone(),
                kind: Kind::Array { element: ty.oid },
            });
        }
        self.add_one(ty);
    }

    fn add_one(&mut self, ty: Type) {
        if let Entry::Vacant(entry) = self.places.entry(ty.oid) {
            entry.insert(self.list.len() as u32);
            self.list.push(ty);
        }
    }

    /// The type with this number.
    pub fn by_oid(&self, oid: u32) -> Option<&Type> {
        self.places.get(&oid).map(|&at| &self.list[at as usize])
    }

    /// The type called `name` in `schema`. Searches the whole list: for the configuration, not for requests.
    pub fn find(&self, schema: &str, name: &str) -> Option<&Type> {
        self.list.iter().find(|ty| ty.name == name && ty.schema == schema)
    }

    /// The first type with this name, in any schema.
    pub fn find_by_name(&self, name: &str) -> Option<&Type> {
        self.list.iter().find(|ty| ty.name == name)
    }

    /// Wire type: the type itself, or the base type of its domain.
    pub fn base(&self, oid: u32) -> u32 {
        let mut oid = oid;
        // A domain may be over a domain; 64 is beyond any that was meant.
        for _ in 0..64 {
            match self.by_oid(oid).map(|ty| &ty.kind) {
                Some(&Kind::Domain { base }) => oid = base,
                Some(
                    Kind::Base
                    | Kind::Array { .. }
                    | Kind::Enum { .. }
                    | Kind::Composite { .. }
                    | Kind::Range { .. }
                    | Kind::Multirange { .. }
                    | Kind::Pseudo,
                )
                | None => break,
            }
        }
        oid
    }

    /// Notes by what values of a base type can be compared.
    pub fn learn(&mut self, oid: u32, abilities: ValueAbilities) {
        self.abilities.insert(oid, abilities);
    }

    /// Comparison, order and grouping of values of the type `oid`; a type made of others has the abilities of its parts.
    pub fn abilities(&self, oid: u32) -> ValueAbilities {
        let base = self.base(oid);
        match self.by_oid(base).map(|it| &it.kind) {
            // The operators of this type treat it as an array.
            Some(Kind::Base) if base == oid::INT2VECTOR => ValueAbilities::ALL,
            Some(Kind::Base) => self.abilities.get(&base).copied().unwrap_or(ValueAbilities::ALL),
            Some(Kind::Array { element }) => self.abilities(*element).of_arrays(),
            Some(Kind::Composite { fields }) => {
                let of = |it: &(String, u32)| self.abilities(it.1).of_arrays();
                fields.iter().map(of).fold(ValueAbilities::ALL, ValueAbilities::and)
            }
            Some(Kind::Domain { .. } | Kind::Enum { .. } | Kind::Range { .. } | Kind::Multirange { .. })
            | Some(Kind::Pseudo)
            | None => ValueAbilities::ALL,
        }
    }

    /// Iterates over all types.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.list.iter()
    }
}

/// PostgreSQL's own types go by their bare names; but bare, these two mean types of length 1.
fn builtin_cast(name: &str) -> String {
    match name {
        "char" | "bit" => quote_identifier(name),
        _ => name.into(),
    }
}

/// Number, number of the array, name.
const BASES: [(u32, u32, &str); 65] = [
    (16, 1000, "bool"),
    (17, 1001, "bytea"),
    (18, 1002, "char"),
    (19, 1003, "name"),
    (20, 1016, "int8"),
    (21, 1005, "int2"),
    (22, 1006, "int2vector"),
    (23, 1007, "int4"),
    (24, 1008, "regproc"),
    (25, 1009, "text"),
    (26, 1028, "oid"),
    (27, 1010, "tid"),
    (28, 1011, "xid"),
    (29, 1012, "cid"),
    (30, 1013, "oidvector"),
    (114, 199, "json"),
    (142, 143, "xml"),
    (194, 0, "pg_node_tree"),
    (600, 1017, "point"),
    (601, 1018, "lseg"),
    (602, 1019, "path"),
    (603, 1020, "box"),
    (604, 1027, "polygon"),
    (628, 629, "line"),
    (650, 651, "cidr"),
    (700, 1021, "float4"),
    (701, 1022, "float8"),
    (718, 719, "circle"),
    (774, 775, "macaddr8"),
    (790, 791, "money"),
    (829, 1040, "macaddr"),
    (869, 1041, "inet"),
    (1033, 1034, "aclitem"),
    (1042, 1014, "bpchar"),
    (1043, 1015, "varchar"),
    (1082, 1182, "date"),
    (1083, 1183, "time"),
    (1114, 1115, "timestamp"),
    (1184, 1185, "timestamptz"),
    (1186, 1187, "interval"),
    (1266, 1270, "timetz"),
    (1560, 1561, "bit"),
    (1562, 1563, "varbit"),
    (1700, 1231, "numeric"),
    (1790, 2201, "refcursor"),
    (2202, 2207, "regprocedure"),
    (2203, 2208, "regoper"),
    (2204, 2209, "regoperator"),
    (2205, 2210, "regclass"),
    (2206, 2211, "regtype"),
    (2950, 2951, "uuid"),
    (2970, 2949, "txid_snapshot"),
    (3220, 3221, "pg_lsn"),
    (3614, 3643, "tsvector"),
    (3615, 3645, "tsquery"),
    (3642, 3644, "gtsvector"),
    (3734, 3735, "regconfig"),
    (3769, 3770, "regdictionary"),
    (3802, 3807, "jsonb"),
    (4072, 4073, "jsonpath"),
    (4089, 4090, "regnamespace"),
    (4096, 4097, "regrole"),
    (4191, 4192, "regcollation"),
    (5038, 5039, "pg_snapshot"),
    (5069, 271, "xid8"),
];

/// Number, number of the array, name.
const PSEUDO: [(u32, u32, &str); 8] = [
    (705, 0, "unknown"),
    (2249, 2287, "record"),
    (2275, 1263, "cstring"),
    (2276, 0, "any"),
    (2277, 0, "anyarray"),
    (2278, 0, "void"),
    (2283, 0, "anyelement"),
    (2279, 0, "trigger"),
];

/// Number, number of the array, name, number of the bounds' type.
const RANGES: [(u32, u32, &str, u32); 6] = [
    (3904, 3905, "int4range", 23),
    (3906, 3907, "numrange", 1700),
    (3908, 3909, "tsrange", 1114),
    (3910, 3911, "tstzrange", 1184),
    (3912, 3913, "daterange", 1082),
    (3926, 3927, "int8range", 20),
];

/// Number, number of the array, name, number of the range.
const MULTIRANGES: [(u32, u32, &str, u32); 6] = [
    (4451, 6150, "int4multirange", 3904),
    (4532, 6151, "nummultirange", 3906),
    (4533, 6152, "tsmultirange", 3908),
    (4534, 6153, "tstzmultirange", 3910),
    (4535, 6155, "datemultirange", 3912),
    (4536, 6157, "int8multirange", 3926),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(oid: u32, cast: &str, kind: &Kind) {
        let types = Types::builtin();
        let ty = types.by_oid(oid).expect("it is known");
        assert_eq!((ty.cast.as_str(), &ty.kind), (cast, kind));
    }

    #[test]
    fn the_usual_types_are_known_by_number() {
        check(oid::INT4, "int4", &Kind::Base);
        check(oid::CHAR, "\"char\"", &Kind::Base);
        check(oid::TEXT_ARRAY, "text[]", &Kind::Array { element: oid::TEXT });
        check(3904, "int4range", &Kind::Range { subtype: oid::INT4 });
        check(3905, "int4range[]", &Kind::Array { element: 3904 });
    }

    #[test]
    fn a_domain_over_a_domain_is_its_base_on_the_wire() {
        let mut types = Types::builtin();
        for (oid, base) in [(20_000, oid::TEXT), (20_001, 20_000)] {
            let name = format!("d{oid}");
            let cast = format!("\"public\".{}", quote_identifier(&name));
            let schema = "public".into();
            types.add(Type { oid, array_oid: 0, cast, name, schema, kind: Kind::Domain { base } });
        }
        assert_eq!(types.base(20_001), oid::TEXT);
        assert_eq!(types.base(oid::INT4), oid::INT4);
        assert_eq!(types.find("public", "d20001").map(|ty| ty.oid), Some(20_001));
    }
}
