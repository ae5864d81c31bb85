"""Joins the table of the Rust contenders (TABLE) with graphql-jit's lines (JIT) and puts both into docs/performance.md."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import publish, table  # noqa: E402

ours = {}
for line in os.environ["TABLE"].splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) > 2 and cells[2].replace(".", "").isdigit():
        ours[cells[0]] = float(cells[2])
best = {}
for line in os.environ["JIT"].splitlines():
    name, figure = line.split("\t")
    best[name] = min(best.get(name, float("inf")), float(figure))
rows = [[name, f"{ours[name]:.2f}", f"{figure:.1f}", f"{figure / ours[name]:.0f} x"] for name, figure in best.items()]
publish("exec", os.environ["TABLE"] + "\n\n" + table(["ns per field", "Weir", "graphql-jit 0.8 to JSON text", "ratio"], rows))
