"""Draws the results of the suites: for each of bench/results/*.json with runs one plot in docs/performance/, CPU of the server per request."""

import json
import pathlib
import statistics

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Readable on white and on black.
plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "text.color": "#7a7a7a", "axes.labelcolor": "#7a7a7a", "xtick.color": "#7a7a7a",
                     "ytick.color": "#7a7a7a", "axes.edgecolor": "#7a7a7a", "svg.hashsalt": "weir"})
COLOURS = {"Weir": "#1f8a70"}
OTHERS = ["#b0793b", "#7d6bb0", "#a34f6a", "#5b7fa6", "#8d8d4a"]


def draw(file):
    data = json.loads(file.read_text())
    cpu = {(run["who"], run["operation"]): statistics.median(it["cpu_us"] for it in run["passes"])
           for run in data["runs"] if all(isinstance(it, dict) and it.get("cpu_us") for it in run.get("passes", [None]))}
    if not cpu:
        return
    who = list(dict.fromkeys(it[0] for it in cpu))
    operations = list(dict.fromkeys(it[1] for it in cpu))
    figure, axes = plt.subplots(figsize=(7.5, 0.5 + 0.16 * len(cpu) + 0.22 * len(operations)))
    at, places = 0, []
    colours = dict(zip((it for it in who if it not in COLOURS), OTHERS)) | COLOURS
    for operation in operations:
        of = [it for it in who if (it, operation) in cpu]
        places.append((at + (len(of) - 1) / 2, operation))
        for name in of:
            value = cpu[name, operation]
            axes.barh(at, value, height=0.85, color=colours[name], label=name)
            axes.annotate(f"{value:,.1f}" if value < 100 else f"{value:,.0f}", (value, at), (3, -0.5), textcoords="offset points", va="center", fontsize=7)
            at += 1
        at += 1.2
    axes.set_yticks([it[0] for it in places], [it[1] for it in places])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"CPU of the server per request, microseconds, logarithmic; {data['date']}")
    axes.spines[["top", "right"]].set_visible(False)
    handles = dict(zip(*reversed(axes.get_legend_handles_labels())))
    if len(handles) > 1:
        axes.legend(handles.values(), handles.keys(), frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.4, 1), ncols=len(handles))
    out = ROOT / "docs/performance" / f"{data['section']}.svg"
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out, transparent=True, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(out.relative_to(ROOT))


for result in sorted((ROOT / "bench/results").glob("*.json")):
    draw(result)
