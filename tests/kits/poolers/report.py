"""report.py FOLDER LOG: reads what the golden cases printed that ran behind the pooler of FOLDER, and prints which answers differ.

`known.txt` in FOLDER lists those that are known: a pattern of names, two spaces, the reason. Any other fails, and so does a line for which nothing differs.
"""
import fnmatch
import pathlib
import re
import sys

folder, log = pathlib.Path(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read()
told = dict(re.findall(r"^test (golden::\S+) \.\.\. (ok|FAILED)$", log, re.M))
known = []
if (folder / "known.txt").exists():
    lines = (folder / "known.txt").read_text(encoding="utf-8").splitlines()
    known = [line.split("  ", 1) for line in lines if line and not line.startswith("#")]
title = re.search(r"^# (.*)\.$", (folder / "run.sh").read_text(encoding="utf-8"), re.M)[1]
failed = [name for name, verdict in told.items() if verdict == "FAILED"]
used, unknown = {}, []
for name in failed:
    pattern = next((it[0] for it in known if fnmatch.fnmatchcase(name, it[0])), None)
    if pattern is None:
        unknown.append(name)
    else:
        used.setdefault(pattern, []).append(name)
print(f"# {title}\n\n{len(told) - len(failed)} of {len(told)} cases are answered as by the server itself.")
if used:
    print("\n| cases | what differs |\n|---|---|")
    for pattern, reason in known:
        if pattern in used:
            print(f"| `{pattern}` ({len(used[pattern])}) | {reason} |")
stale = [pattern for pattern, _ in known if pattern not in used]
for name in unknown:
    found = re.search(rf"^---- {re.escape(name)} ----\n(.*?)(?=^---- |^test result)", log, re.M | re.S)
    print(f"{name}: {found[1].strip()[:600] if found else 'no words'}", file=sys.stderr)
for pattern in stale:
    print(f"known.txt: nothing differs for {pattern}", file=sys.stderr)
if not told:
    print("no case was run", file=sys.stderr)
sys.exit(1 if unknown or stale or not told else 0)
