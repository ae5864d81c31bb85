"""Writes and reads a table with every column type of SQLAlchemy.

The list of types is SQLAlchemy's own, of the library and of the database's dialect: a type without a column ends the program."""

import datetime as dt
import decimal
import enum
import inspect
import sys
import uuid

import pysqlite3
import sqlalchemy as sa
from sqlalchemy import types as general
from sqlalchemy.dialects import postgresql, sqlite

command, address = sys.argv[1:]
is_postgres = address.startswith("postgres://")
if is_postgres:
    engine = sa.create_engine("postgresql+psycopg" + address.removeprefix("postgres"))
    dialect = postgresql
else:
    # Its SQLite knows JSONB, which that of Python may not.
    engine = sa.create_engine("sqlite:///" + address.removeprefix("sqlite:"), module=pysqlite3)
    dialect = sqlite


class Color(enum.Enum):
    RED = 1
    DARK_BLUE = 2


UTC = dt.timezone.utc
DAY, NOON = dt.date(2024, 2, 29), dt.time(12, 30, 15, 250000)
MOMENT = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
FIRST = dt.datetime(1970, 1, 1)
# The type `UUID` loses values of decimal digits alone on SQLite.
KEYS = [uuid.UUID("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001"), uuid.UUID("ffffffff-ffff-ffff-ffff-ffffffffffff")]
PRICES = [decimal.Decimal("12345678.123456"), decimal.Decimal("-0.000001")]
TEXTS = ["Straße, 東京", ""]
BYTES = [b"\x00\xff bytes", b""]
SMALL, WHOLE, BIG = [-32768, 0], [2147483647, -1], [9223372036854775807, -1]
DOCUMENTS = [{"a": [1, 2.5, None], "b": {"c": True}}, []]
REALS = [0.5, -1e30]
DOUBLES = [0.1 + 0.2, 1e300]

# Each type with an instance of it and two values; the third row has nulls.
GENERAL = {
    "BIGINT": (general.BIGINT(), BIG),
    "BINARY": (general.BINARY(20), BYTES),
    "BLOB": (general.BLOB(), BYTES),
    "BOOLEAN": (general.BOOLEAN(), [True, False]),
    "BigInteger": (general.BigInteger(), BIG),
    "Boolean": (general.Boolean(), [False, True]),
    "CHAR": (general.CHAR(6), ["sixsix", "123456"]),
    "CLOB": (general.CLOB(), TEXTS),
    "DATE": (general.DATE(), [DAY, dt.date(1, 1, 1)]),
    "DATETIME": (general.DATETIME(), [MOMENT, FIRST]),
    "DECIMAL": (general.DECIMAL(20, 6), PRICES),
    "DOUBLE": (general.DOUBLE(), DOUBLES),
    "DOUBLE_PRECISION": (general.DOUBLE_PRECISION(), DOUBLES),
    "Date": (general.Date(), [DAY, dt.date(9999, 12, 31)]),
    "DateTime": (general.DateTime(timezone=is_postgres), [MOMENT.replace(tzinfo=UTC if is_postgres else None), FIRST.replace(tzinfo=UTC if is_postgres else None)]),
    "Double": (general.Double(), DOUBLES),
    "Enum": (general.Enum(Color, name="color"), [Color.RED, Color.DARK_BLUE]),
    "FLOAT": (general.FLOAT(), DOUBLES),
    "Float": (general.Float(), DOUBLES),
    "INT": (general.INT(), WHOLE),
    "INTEGER": (general.INTEGER(), WHOLE),
    "Integer": (general.Integer(), WHOLE),
    "Interval": (general.Interval(), [dt.timedelta(days=3, microseconds=5), dt.timedelta(seconds=1)]),
    "JSON": (general.JSON(), DOCUMENTS),
    "LargeBinary": (general.LargeBinary(), BYTES),
    "NCHAR": (general.NCHAR(6), ["sixsix", "123456"]),
    "NUMERIC": (general.NUMERIC(20, 6), PRICES),
    "NVARCHAR": (general.NVARCHAR(40), TEXTS),
    "Numeric": (general.Numeric(20, 6), PRICES),
    "PickleType": (general.PickleType(), [{"a": (1, 2)}, []]),
    "REAL": (general.REAL(), REALS),
    "SMALLINT": (general.SMALLINT(), SMALL),
    "SmallInteger": (general.SmallInteger(), SMALL),
    "String": (general.String(40), TEXTS),
    "TEXT": (general.TEXT(), TEXTS),
    "TIME": (general.TIME(), [NOON, dt.time()]),
    "TIMESTAMP": (general.TIMESTAMP(), [MOMENT, FIRST]),
    "Text": (general.Text(), TEXTS),
    "Time": (general.Time(), [NOON, dt.time(23, 59, 59)]),
    "UUID": (general.UUID(), KEYS),
    "Unicode": (general.Unicode(40), TEXTS),
    "UnicodeText": (general.UnicodeText(), TEXTS),
    "Uuid": (general.Uuid(), KEYS),
    "VARBINARY": (general.VARBINARY(40), BYTES),
    "VARCHAR": (general.VARCHAR(40), TEXTS),
}

# What no database takes as it is, or one of the two does not, and why.
APART = {
    "ARRAY": "of PostgreSQL: the dialect's own has a column",
    "JSONB": "the dialect's own has a column",
    "MatchType": "the type of an expression",
    "NullType": "no type of a column",
    "TupleType": "the type of an expression",
    "TypeDecorator": "the base of types",
    "TypeEngine": "the base of types",
    "UserDefinedType": "the base of types",
    "Variant": "a name of earlier releases",
    "_Binary": "the base of types",
    "AbstractMultiRange": "the base of types",
    "AbstractRange": "the base of types",
    "AbstractSingleRange": "the base of types",
    "NamedType": "the base of types",
}
# Types whose names PostgreSQL does not have.
NOT_OF_POSTGRES = {"BINARY", "BLOB", "CLOB", "DATETIME", "DOUBLE", "NCHAR", "NVARCHAR", "VARBINARY"}

Range = postgresql.Range
RANGES = {
    "DATERANGE": [DAY, dt.date(2024, 3, 3)],
    "INT4RANGE": [1, 5],
    "INT8RANGE": [1, 5000000000],
    "NUMRANGE": [decimal.Decimal("0.5"), decimal.Decimal("1.25")],
    "TSRANGE": [FIRST, MOMENT],
    "TSTZRANGE": [FIRST.replace(tzinfo=UTC), MOMENT.replace(tzinfo=UTC)],
}


def of_postgres():
    types = {
        "ARRAY": (postgresql.ARRAY(sa.Integer), [[1, None, 3], []]),
        "BIT": (postgresql.BIT(4), ["1010", "0000"]),
        "BYTEA": (postgresql.BYTEA(), BYTES),
        "CIDR": (postgresql.CIDR(), ["10.0.0.0/8", "2001:db8::/32"]),
        "CITEXT": (postgresql.CITEXT(), TEXTS),
        "DOMAIN": (postgresql.DOMAIN("positive", sa.Integer(), check="VALUE > 0"), [1, 7]),
        "ENUM": (postgresql.ENUM("small", "very large", name="size"), ["small", "very large"]),
        "HSTORE": (postgresql.HSTORE(), [{"a": "1", "b": None}, {}]),
        "INET": (postgresql.INET(), ["10.0.0.1", "2001:db8::1/64"]),
        "INTERVAL": (postgresql.INTERVAL(), [dt.timedelta(days=3, microseconds=5), dt.timedelta(seconds=-1)]),
        "JSONB": (postgresql.JSONB(), DOCUMENTS),
        "JSONPATH": (postgresql.JSONPATH(), ['$."a"[*]', "$"]),
        "MACADDR": (postgresql.MACADDR(), ["08:00:2b:01:02:03", "00:00:00:00:00:00"]),
        "MACADDR8": (postgresql.MACADDR8(), ["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"]),
        "MONEY": (postgresql.MONEY(), ["$1,234.50", "-$0.01"]),
        "OID": (postgresql.OID(), [4294967295, 0]),
        "REGCLASS": (postgresql.REGCLASS(), ["pg_class", "pg_type"]),
        "REGCONFIG": (postgresql.REGCONFIG(), ["english", "simple"]),
        "TSQUERY": (postgresql.TSQUERY(), ["'a' & 'b'", "'c'"]),
        "TSVECTOR": (postgresql.TSVECTOR(), ["'a':1 'b':2", ""]),
    }
    for name, (low, high) in RANGES.items():
        types[name] = (getattr(postgresql, name)(), [Range(low, high), Range(low, None)])
        many = name.replace("RANGE", "MULTIRANGE")
        types[many] = (getattr(postgresql, many)(), [postgresql.MultiRange([Range(low, high)]), postgresql.MultiRange([])])
    return types


def type_names(module):
    return {name for name, it in vars(module).items() if inspect.isclass(it) and issubclass(it, general.TypeEngine)}


def columns():
    """Types with their values, by the name of the column."""
    own = of_postgres() if is_postgres else {"JSONB": (sqlite.JSONB(), DOCUMENTS)}
    unknown = NOT_OF_POSTGRES if is_postgres else set()
    usual = {name: it for name, it in GENERAL.items() if name not in own and name not in unknown}
    found = usual | own
    missing = (type_names(general) | type_names(dialect)) - set(found) - set(APART) - unknown
    if missing:
        sys.exit(f"types without a column: {sorted(missing)}")
    # `Date` and `DATE` are two types, and names of columns are one in SQLite.
    return {f"{name.lower()}_{'sql' if name.isupper() else 'any'}": it for name, it in found.items()}


meta = sa.MetaData()
types = columns()
table = sa.Table(
    "everything",
    meta,
    sa.Column("id", sa.Integer, primary_key=True),
    *(sa.Column(name, ty, nullable=True) for name, (ty, _) in types.items()),
)
pairs = sa.Table(
    "pairs",
    meta,
    sa.Column("everything_id", sa.ForeignKey("everything.id"), primary_key=True),
    sa.Column("name", sa.String(20), primary_key=True),
    sa.Column("twice", sa.Integer, sa.Computed("everything_id * 2", persisted=True)),
)


def write():
    with engine.begin() as connection:
        if is_postgres:
            connection.execute(sa.text("CREATE EXTENSION hstore"))
            connection.execute(sa.text("CREATE EXTENSION citext"))
        meta.create_all(connection)
        rows = [{name: values[at] for name, (_, values) in types.items()} for at in range(2)]
        for row in [*rows, dict.fromkeys(types, sa.null())]:
            connection.execute(table.insert().values(**row))
        for name in ("a", "b"):
            connection.execute(pairs.insert().values(everything_id=1, name=name))


def read():
    with engine.connect() as connection:
        for it in (table, pairs):
            for row in connection.execute(it.select().order_by(*it.primary_key)):
                print(it.name, *(f"{name}={cell!r}" for name, cell in row._mapping.items()))


write() if command == "write" else read()
