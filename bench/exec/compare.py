"""Runs the contenders of the execution benchmark, compares their answers and puts the tables into docs/performance/engine.md if PUBLISH is set.

Usage: compare.py FIXTURES NAME=COMMAND... The Rust contenders take turns within one program, the others run before and after it, so that
both sides of a ratio are taken within the same minutes; the better of the two runs counts for them. Each has one core.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import SERVER_CORE, publish, table  # noqa: E402

RELEASE = pathlib.Path("bench/target/release")
# The row of each case in the table of the Rust contenders.
CASES = {
    "list": "list 1,000 x 10",
    "nested": "nested 100 x 10 x 10",
    "chain": "20 lazy chains of 50",
    "introspection-mid": "introspection of 32 types",
    "introspection-big": "introspection of 1,200 types",
}
OTHERS = ["graphql-js", "graphql-jit", "graphql-java", "gqlgen", "graphql-core", "strawberry", "ruby-graphql"]
# Members of an introspection that libraries may have more or less than Weir, as each says what it knows itself.
SHARE_OF_OWN = 0.05


def printed(*command):
    return subprocess.run(["taskset", "-c", SERVER_CORE, *map(str, command)], stdout=subprocess.PIPE, text=True, check=True).stdout


def fields(value):
    """The members in a value."""
    if isinstance(value, list):
        return sum(map(fields, value))
    return sum(1 + fields(it) for it in value.values()) if isinstance(value, dict) else 0


def data(folder, case):
    answer = json.loads((folder / f"{case}.json").read_text())
    assert not answer.get("errors"), f"{folder.name}, {case}: {answer['errors'][0]}"
    return answer["data"]


def measure(name, command, fixtures, answers):
    """One run of a contender: its version, and by case nanoseconds and allocated objects."""
    version, found = "", {}
    for line in printed(*shlex.split(command), fixtures, answers / name).splitlines():
        case, *figures = line.split("\t")
        if case == "version":
            version = figures[0]
        else:
            found[case] = [float(it) for it in figures]
    return version, found


def compare(name, answers):
    """Members by case of the answers of `name`, which have to be Weir's. A case may lack."""
    count = {}
    for case in filter(lambda it: (answers / name / f"{it}.json").exists(), CASES):
        ours, theirs = data(answers / "Weir", case), data(answers / name, case)
        count[case] = fields(theirs)
        if case.startswith("introspection"):
            assert abs(count[case] / fields(ours) - 1) < SHARE_OF_OWN, f"{name}, {case}: {count[case]} members, not {fields(ours)}"
        else:
            assert theirs == ours, f"{name}, {case}: the answer differs"
    return count


def columns(text):
    """By row of the Rust contenders' table: cells by head, of which those named `ratio` are left out."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {cells[0]: {head: cell for head, cell in zip(lines[0], cells) if head != "ratio"} for cells in lines[2:]}


def compared(rows, best, count, versions):
    """The table of the contenders that are not in Rust."""
    names = [it for it in OTHERS if it in best]
    heads = ["ns per field", "Weir", *(it for name in names for it in (f"{name} {versions[name]}", "ratio"))]
    lines = []
    for case, row in CASES.items():
        ours, cells = float(rows[row]["Weir"]), []
        for name in names:
            ns = best[name][case][0] / count[name][case] if case in count[name] else None
            cells += [f"{ns:,.0f}", f"{ns / ours:,.0f} x"] if ns else ["", ""]
        lines.append([row, f"{ours:.2f}", *cells])
    return table(heads, lines)


def post_form(rows, allocations, best, versions):
    """Introspections per second and allocated objects, the form of graphql-ruby's own benchmark."""
    row = CASES["introspection-mid"]
    lines = []
    for line in allocations.splitlines():
        name, members, objects = line.split("\t")
        of = rows[row + ", folded"] if name.endswith("folded") else rows[row]
        head = next(it for it in of if it.startswith(name.split(",")[0]))
        lines.append([name.replace(name.split(",")[0], head), 1e9 / (float(of[head]) * int(members)), f"{int(objects):,}"])
    for name in OTHERS:
        found = best.get(name, {})
        if not (figures := found.get("post", found.get("introspection-mid"))):
            continue
        ns, *objects = figures
        lines.append([f"{name} {versions[name]}", 1e9 / ns, f"{objects[0]:,.0f}" if objects else ""])
    lines = [[name, f"{rate:,.0f}" if rate > 100 else f"{rate:.1f}", objects] for name, rate, objects in lines]
    return table([row, "per second", "allocated objects"], lines)


def main():
    fixtures, *others = sys.argv[1:]
    commands = dict(it.split("=", 1) for it in others)
    best, versions, runs = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        answers = pathlib.Path(folder)

        def others_run(names):
            for name in names:
                versions[name], found = measure(name, commands[name], fixtures, answers)
                runs.append({"who": name, "cases": found})
                for case, figures in found.items():
                    known = best.setdefault(name, {})
                    known[case] = min(known.get(case, figures), figures)

        others_run(commands)
        rust = printed(RELEASE / "bench-exec", fixtures, answers / "Weir")
        others_run(reversed(commands))
        count = {name: compare(name, answers) for name in commands}
    rows = columns(rust)
    allocations = printed(RELEASE / "allocations", fixtures)
    parts = [rust.rstrip() + "\n", compared(rows, best, count, versions), post_form(rows, allocations, best, versions)]
    missing = [it for it in OTHERS if it not in best]
    if missing:
        parts.append(f"Left out, as they could not be installed: {', '.join(missing)}.\n")
    text = "\n".join(parts)
    if os.environ.get("PUBLISH"):
        publish("exec", text, runs + [{"who": "Rust", "table": rows}], versions)
    else:
        print(text)


main()
