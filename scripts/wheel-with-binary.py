"""Puts the command into a wheel: wheel-with-binary.py WHEEL BINARY GLIBC FOLDER.

`python -m weir` and the script `weir` run it from within the package (`weir/__main__.py`). The platform of the wheel becomes that
of the newer glibc of both, GLIBC being what the binary needs, so pip refuses the wheel where the command could not start.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

EXECUTABLE = 0o100755 << 16
TAG = re.compile(r"manylinux_2_(\d+)_(\w+)")
# Older names of versions of glibc, beside which the newer one would not count: in a name, and in a line of the metadata.
OLDER = re.compile(r"\.manylinux(?:1|2010|2014)_\w+|^Tag: \S+-manylinux(?:1|2010|2014)_\w+\n", re.M)


def raise_tag(text: str, glibc: str) -> str:
    """The text with the platform that fits both; a platform without a version of glibc stays."""
    minor = int(glibc.split(".")[1])
    return OLDER.sub("", TAG.sub(lambda tag: f"manylinux_2_{max(minor, int(tag[1]))}_{tag[2]}", text))


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def add_binary(wheel: Path, binary: Path, glibc: str, folder: Path) -> Path:
    target = folder / raise_tag(wheel.name, glibc)
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as result:
        info = next(it for it in source.namelist() if it.endswith(".dist-info/WHEEL")).removesuffix("WHEEL")
        record = ""
        for entry in source.infolist():
            if entry.filename == f"{info}RECORD":
                continue
            content = source.read(entry)
            if entry.filename == f"{info}WHEEL":
                content = raise_tag(content.decode(), glibc).encode()
            result.writestr(entry, content, zipfile.ZIP_DEFLATED)
            record += record_line(entry.filename, content)
        for path, content, mode in [
            ("weir/bin/weir", binary.read_bytes(), EXECUTABLE),
            (f"{info}entry_points.txt", b"[console_scripts]\nweir = weir.__main__:main\n", 0o100644 << 16),
        ]:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = mode
            result.writestr(entry, content, zipfile.ZIP_DEFLATED)
            record += record_line(path, content)
        result.writestr(f"{info}RECORD", record + f"{info}RECORD,,\n")
    return target


if __name__ == "__main__":
    print(add_binary(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])))
