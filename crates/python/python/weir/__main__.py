"""`python -m weir …` is the command `weir …`: a server over databases and services.

The process becomes the binary of the wheel, so signals, exit codes and the terminal are its own.
"""

import os
import sys
from pathlib import Path

BINARY = Path(__file__).parent / "bin" / "weir"


def main() -> None:
    if not BINARY.is_file():
        sys.exit("weir: this wheel was built without the command; `scripts/release.sh wheel` builds one with it")
    os.execv(BINARY, [str(BINARY), *sys.argv[1:]])


if __name__ == "__main__":
    main()
