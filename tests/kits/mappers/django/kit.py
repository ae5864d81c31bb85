"""Writes and reads a table with every field type of Django.

The list of types is Django's own: a type that the model lacks ends the program."""

import datetime as dt
import decimal
import sys
import uuid
from urllib.parse import unquote, urlsplit

import django
from django.conf import settings


def database(address):
    kind, _, path = address.partition(":")
    if kind == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path}
    url = urlsplit(address)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": url.path.lstrip("/"),
        "USER": url.username,
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname,
        "PORT": url.port,
    }


command, address = sys.argv[1:]
settings.configure(DATABASES={"default": database(address)}, USE_TZ=True, TIME_ZONE="UTC", INSTALLED_APPS=[])
django.setup()

from django.db import connection, models  # noqa: E402
from django.db.models.fields import related  # noqa: E402
from django.db.models.functions import Upper  # noqa: E402


class Group(models.Model):
    id = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=40, unique=True)

    class Meta:
        app_label = "kit"
        db_table = "kit_group"


class Profile(models.Model):
    id = models.AutoField(primary_key=True)
    name = models.CharField(max_length=40)

    class Meta:
        app_label = "kit"
        db_table = "kit_profile"


class Everything(models.Model):
    id = models.BigAutoField(primary_key=True)
    big = models.BigIntegerField(null=True)
    raw = models.BinaryField(null=True)
    truth = models.BooleanField(null=True)
    text = models.CharField(max_length=80, null=True)
    day = models.DateField(null=True)
    moment = models.DateTimeField(null=True)
    price = models.DecimalField(max_digits=20, decimal_places=6, null=True)
    span = models.DurationField(null=True)
    email = models.EmailField(null=True)
    file = models.FileField(null=True)
    path = models.FilePathField(null=True)
    real = models.FloatField(null=True)
    whole = models.IntegerField(null=True)
    address = models.GenericIPAddressField(null=True)
    document = models.JSONField(null=True)
    positive_big = models.PositiveBigIntegerField(null=True)
    positive = models.PositiveIntegerField(null=True)
    positive_small = models.PositiveSmallIntegerField(null=True)
    slug = models.SlugField(null=True)
    small = models.SmallIntegerField(null=True)
    long = models.TextField(null=True)
    time = models.TimeField(null=True)
    url = models.URLField(null=True)
    key = models.UUIDField(null=True)
    loud = models.GeneratedField(expression=Upper("text"), output_field=models.CharField(max_length=80), db_persist=True)
    group = models.ForeignKey(Group, models.PROTECT, null=True)
    profile = models.OneToOneField(Profile, models.SET_NULL, null=True)
    friends = models.ManyToManyField("self", symmetrical=False)

    class Meta:
        app_label = "kit"
        db_table = "kit_everything"


# Types that have no column of their own, and why.
APART = {
    "Field": "the base of the others",
    "CommaSeparatedIntegerField": "removed by Django: it refuses to make one",
    "IPAddressField": "removed by Django",
    "NullBooleanField": "removed by Django",
    "ImageField": "a FileField that needs a library of pictures",
    "ForeignObject": "the base of keys",
    "RelatedField": "the base of relations",
    "OrderWrt": "a column that Django manages",
    "CompositePrimaryKey": "stands for two columns: `Pair` has it",
    "ManyToManyRel": "no field",
}


class Pair(models.Model):
    pk = models.CompositePrimaryKey("left", "right")
    left = models.IntegerField()
    right = models.CharField(max_length=20)
    note = models.TextField(null=True)

    class Meta:
        app_label = "kit"
        db_table = "kit_pair"


MODELS = [Group, Profile, Everything, Pair]


def check_types():
    known = {
        name
        for module in (models, related)
        for name, it in vars(module).items()
        if isinstance(it, type) and issubclass(it, models.Field)
    }
    used = {type(field).__name__ for model in MODELS for field in model._meta.get_fields()}
    used |= {type(Everything._meta.get_field("friends")).__name__}
    missing = known - used - set(APART)
    if missing:
        sys.exit(f"field types without a column: {sorted(missing)}")


def write():
    with connection.schema_editor() as editor:
        for model in MODELS:
            editor.create_model(model)
    group = Group.objects.create(name="first")
    profile = Profile.objects.create(name="Ada")
    first = Everything.objects.create(
        big=9223372036854775807,
        raw=b"\x00\xff bytes",
        truth=True,
        text="Straße, 東京",
        day=dt.date(2024, 2, 29),
        moment=dt.datetime(2024, 2, 29, 23, 59, 59, 123456, dt.timezone.utc),
        price=decimal.Decimal("12345678901234.123456"),
        span=dt.timedelta(days=3, hours=4, microseconds=5),
        email="ada@example.org",
        file="files/a b.txt",
        path="/srv/a",
        real=0.1 + 0.2,
        whole=-2147483648,
        address="2001:db8::1",
        document={"a": [1, 2.5, None, "x"], "b": {"c": True}},
        positive_big=9223372036854775807,
        positive=2147483647,
        positive_small=32767,
        slug="a-slug",
        small=-32768,
        long="line\nline",
        time=dt.time(1, 2, 3, 4),
        url="https://example.org/?q=1",
        key=uuid.UUID("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001"),
        group=group,
        profile=profile,
    )
    second = Everything.objects.create(
        big=-1,
        raw=b"",
        truth=False,
        text="",
        day=dt.date(1, 1, 1),
        moment=dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc),
        price=decimal.Decimal("-0.000001"),
        span=dt.timedelta(seconds=-1),
        email="",
        real=1e300,
        whole=0,
        address="127.0.0.1",
        document=[],
        positive_big=0,
        positive=0,
        positive_small=0,
        slug="",
        small=0,
        long="",
        time=dt.time(23, 59, 59),
        key=uuid.UUID(int=0),
        group=group,
    )
    third = Everything.objects.create()
    # By hand: `friends.set` looks for the model in an installed application.
    through = Everything.friends.through
    for friend in (second, third):
        through.objects.create(from_everything_id=first.pk, to_everything_id=friend.pk)
    Pair.objects.create(left=1, right="a", note="both")
    Pair.objects.create(left=1, right="b")


def read():
    for model in [*MODELS, Everything.friends.through]:
        names = [field.attname for field in model._meta.concrete_fields]
        for row in model.objects.order_by("pk").values_list(*names):
            cells = (bytes(it) if isinstance(it, memoryview) else it for it in row)
            print(model._meta.db_table, *(f"{name}={cell!r}" for name, cell in zip(names, cells)))


check_types()
write() if command == "write" else read()
