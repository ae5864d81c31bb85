#!/usr/bin/env python3
"""Services: the same REST services as one graph by Weir, Tailcall, Mercurius (jit), Apollo Server, async-graphql and Hive Gateway (GraphQL Mesh).

The server that is measured has core 0, the mock services and the load have core 1. Each answer is compared with the first server's before
anything is measured. Passes take turns, medians, with the spread of Weir's. Every request carries an `X-Request-Id` of its own, as
real clients' do; where calls are not to be shared Weir is told to forward it, so that no two calls are equal. Calls per request are
what the mock counted.

Arguments choose servers by a part of their name.
"""

import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from common import LOAD_CORE, PASSES, ROOT, SECONDS, SERVER_CORE, WEIR, Failed, free_port, listed, load, post, publish, rss_mb, spread, table, turns  # noqa: E402

HERE = ROOT / "bench/gateway"
BUILT = ROOT / "bench/target/gateway"

USER = "{posts{id userId title user{id name email}}}"
CENTRE = (
    "query MatchCentre($m:Int!,$u:Int!){match(id:$m){id name status startTime format venue teams{id name shortName flag colour rank} "
    "squad{slot captain player{id name country role credits selectedBy points imageUrl recentForm isPlaying}} "
    "score{summary requiredRate innings{number runs wickets overs extras batters{playerId runs balls fours sixes howOut}}} "
    "contests{id name prizePool entryFee spots spotsLeft guaranteed multiEntry winners firstPrize tag prizes{from to amount}} "
    "leaderboard{rank points teamNumber user{id name avatar city level}} "
    "myTeams(user:$u){id name captainId viceCaptainId points credits rank}} "
    "me(id:$u){id name email avatar level wallet{currency balance winnings bonus}}}")


def centres(users):
    """Requests for 8 matches by so many users."""
    values = {"m": {"random": "1..8"}, "u": {"random": f"1000..{999 + users}"}}
    return {"query": CENTRE, "variables": {"m": "$(m)", "u": "$(u)"}, "values": values}


# What is asked, of which form of the servers' configuration, at which latency of the services; Weir's bars in microseconds and calls.
SCENARIOS = {
    "greet": ("posts", {"query": "{greet}"}, 0, (7, 0)),
    "posts": ("posts", {"query": "{posts{title}}"}, 0, (40, 1)),
    "n1b: posts, users in one call": ("batched", {"query": USER}, 0, (60, 2)),
    "n1: posts, a call per user": ("posts", {"query": USER}, 0, (120, 11)),
    "n1, equal calls in flight shared": ("shared", {"query": USER}, 0, (20, 0.17)),
    "match centre, nothing cached": ("centre", centres(5000), 5, (150, 10)),
    "match centre, public parts cached": ("centre-parts", centres(5000), 5, (60, 3)),
    "match centre, whole answer cached": ("centre-whole", centres(64), 5, (20, 0)),
}
# The same request without the header that varies, to be put beside its line.
STILL = "n1, equal calls in flight shared, no header varies"
SCENARIOS[STILL] = ("shared", {"query": USER}, 0, (20, 0.17))


class Server:
    """A process on the server's core that answers at /graphql."""

    def __init__(self, command, port, folder, **env):
        self.port, self.log = port, folder / f"{port}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *map(str, command)], env={**os.environ, "PORT": str(port), **env},
                                            stdout=log, stderr=log)
        for _ in range(300):
            with contextlib.suppress(OSError):
                post(port, {"query": "{__typename}"})
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"{command} does not start:\n{self.log.read_text()}")

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Mock:
    """The services, on the load's core."""

    def __init__(self, folder):
        scenario = folder / "mock.yaml"
        scenario.write_text((ROOT / "examples/gateway/mock.yaml").read_text() + (HERE / "posts.yaml").read_text())
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(["taskset", "-c", LOAD_CORE, WEIR, "mock", scenario, "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                self.ask("set?errors=0&version=1")
                return
            if self.process.poll() is not None:
                raise SystemExit("the mock does not start")
            time.sleep(0.05)

    def ask(self, what):
        with urllib.request.urlopen(f"{self.url}/__{what}") as answer:
            return json.loads(answer.read())

    def calls(self):
        return self.ask("stats")["calls"]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def write_sdl(form, url, folder):
    """The SDL of a form; X-Request-Id is forwarded where calls are not to be shared."""
    file = "centre" if form.startswith("centre") else "batched" if form == "batched" else "posts"
    text = (HERE / f"weir/{file}.graphql").read_text().replace("UPSTREAM", url)
    forwarded = '{name: "X-Request-Id", from: "X-Request-Id"}'
    text = text.replace("FORWARDED", forwarded if form in ("posts", "batched", "centre") else "")
    text = text.replace("# public: ", "" if form == "centre-parts" else "# ").replace("# whole: ", "" if form == "centre-whole" else "# ")
    target = folder / f"{form}.graphql"
    target.write_text(text)
    return target


def weir(form, url, folder):
    target, port = write_sdl(form, url, folder), free_port()
    return Server([WEIR, "serve", target, "--listen", f"127.0.0.1:{port}"], port, folder)


def node(name):
    def start(form, url, folder):
        there = BUILT / "node"
        command = [shutil.which("node"), there / f"{name}.mjs"]
        return Server(command, free_port(), folder, UPSTREAM=url, BATCH="1" if form == "batched" else "0", NODE_ENV="production")
    return start


def async_graphql(form, url, folder):
    return Server([BUILT / "cargo/release/bench-gateway-async-graphql"], free_port(), folder, UPSTREAM=url, BATCH="1" if form == "batched" else "0")


def tailcall(form, url, folder):
    centre, port = form.startswith("centre"), free_port()
    text = (HERE / f"tailcall/{'centre' if centre else 'posts'}.graphql").read_text()
    if form == "batched":
        text = text.replace("tcpKeepAlive: 60", "tcpKeepAlive: 60, batch: { delay: 1, maxSize: 100 }")
        text = text.replace('users/{{.value.userId}}"', 'users", query: [{ key: "id", value: "{{.value.userId}}" }], batchKey: ["id"]')
    if form == "shared":
        text = text.replace("@http(", "@http(dedupe: true, ")
    target = folder / f"tailcall-{form}.graphql"
    target.write_text(text.replace("PORT", str(port)).replace("UPSTREAM", url))
    return Server([BUILT / "tailcall/tailcall", "start", target], port, folder, TAILCALL_TRACKER="false", TAILCALL_LOG_LEVEL="error")


def hive(form, url, folder):
    """Hive Gateway over a graph that GraphQL Mesh composes anew, as the address of the services is in it."""
    there, batch = BUILT / "hive", "1" if form == "batched" else "0"
    port, graph = free_port(), folder / f"hive-{form}.graphql"
    subprocess.run([there / "node_modules/.bin/mesh-compose", "-c", "mesh.config.mjs", "-o", graph], cwd=there, check=True, capture_output=True,
                   env={**os.environ, "UPSTREAM": url, "BATCH": batch})
    command = [shutil.which("node"), there / "node_modules/@graphql-hive/gateway/dist/bin.js", "supergraph", graph, "--port", port, "--host", "127.0.0.1"]
    return Server(command, port, there, NODE_ENV="production")


SERVERS = {"Weir": weir, "Tailcall": tailcall, "Mercurius": node("mercurius"), "async-graphql": async_graphql, "Apollo Server": node("apollo"), "Hive Gateway": hive}


def npm(there, *packages):
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages], cwd=there, check=True)


def fetch():
    """Puts the servers that are not there yet below bench/target, and says which Tailcall this is, if one runs here."""
    shutil.copy(HERE / "schema.graphql", BUILT)
    for name in ("node", "hive"):
        there = BUILT / name
        shutil.copytree(HERE / name, there, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
        if not (there / "node_modules").exists():
            npm(there)
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", HERE / "async-graphql/Cargo.toml",
                    "--target-dir", BUILT / "cargo"], check=True)
    there = BUILT / "tailcall"
    there.mkdir(exist_ok=True)
    # The newest needs a newer C library than some systems have.
    for version in ("1.6.14", "1.0.0"):
        if not (there / "tailcall").exists():
            npm(there, "--prefix", there, "--force", f"@tailcallhq/core-linux-x64-gnu@{version}")
            program = there / "node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall"
            with contextlib.suppress(OSError):
                if subprocess.run([program, "--version"], capture_output=True).returncode == 0:
                    (there / "tailcall").symlink_to(program)
    if not (there / "tailcall").exists():
        return None
    return subprocess.run([there / "tailcall", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


class Farm:
    """Servers by name and form, started when they are first needed; they stay, so that passes can take turns."""

    def __init__(self, running, url, folder):
        self.running, self.url, self.folder, self.servers = running, url, folder, {}

    def get(self, name, form):
        # Only Weir has forms for caches, and Tailcall one for shared calls; the others answer as they do without.
        form = form if name == "Weir" else form.split("-")[0]
        form = "posts" if form == "shared" and name not in ("Weir", "Tailcall") else form
        if (name, form) not in self.servers:
            server = SERVERS[name](form, self.url, self.folder)
            self.running.callback(server.stop)
            self.servers[name, form] = server
        return self.servers[name, form]


def asked(name, scenario):
    # Two have no field that is a constant; the name of a type costs Weir what a constant does.
    return {"query": "{__typename}"} if name in ("Weir", "Hive Gateway") and scenario == "greet" else SCENARIOS[scenario][1]


def first(name, scenario):
    """One request of a scenario, with values in place of expressions."""
    one = asked(name, scenario)
    values = {key: int(value["random"].split("..")[0]) for key, value in one.get("values", {}).items()}
    return {"query": one["query"], "variables": {key: values[value.strip("$()")] for key, value in one.get("variables", {}).items()}}


def check(farm, names, scenario):
    """All servers give the same data."""
    form, known = SCENARIOS[scenario][0], None
    for name in names:
        answer = json.loads(post(farm.get(name, form).port, first(name, scenario)))
        if answer.get("errors") or not answer.get("data"):
            raise SystemExit(f"{scenario}, {name}: {json.dumps(answer)[:400]}")
        data = answer["data"] if scenario != "greet" else None
        if known is not None and data != known[1]:
            raise SystemExit(f"{scenario}: {name} and {known[0]} give different data")
        known = known or (name, data)


def measure(farm, mock, names):
    runs = {(name, scenario): [] for name in names for scenario in SCENARIOS}
    # What only Weir does is not asked of the others again.
    def skip(name, scenario):
        form = SCENARIOS[scenario][0]
        return name == "Hive Gateway" and form.startswith("centre") or name != "Weir" and form in ("centre-parts", "centre-whole")

    for scenario in SCENARIOS:
        check(farm, [name for name in names if not skip(name, scenario)], scenario)
    for scenario, (form, _, latency_ms, _) in SCENARIOS.items():
        mock.ask(f"set?latency={latency_ms}ms")
        for name in turns(PASSES, [name for name in names if not skip(name, scenario)]):
            server, vary = farm.get(name, form), {} if scenario == STILL else {"x-request-id": "$(request)"}
            try:
                run = load(server.port, asked(name, scenario), seconds=SECONDS, pid=server.pid, counter=mock.calls, headers=vary)
            except Failed as failed:
                # A rival that breaks down under a scenario is no reason to measure nothing; Weir may not.
                if name == "Weir":
                    raise
                print(f"{scenario}, {name}: {str(failed)[:200]}", flush=True)
                continue
            print(f"{scenario}, {name}: {run['cpu_us']:,.1f} us, {run['count']:.2f} calls, {run['req_s']:,.0f}/s", flush=True)
            runs[name, scenario].append(run)
    return runs


def report(runs, names, tailcall_version, memory):
    median = lambda of, key: statistics.median(run[key] for run in runs[of])  # noqa: E731
    cell = lambda of: f"{median(of, 'cpu_us'):,.1f}, {median(of, 'count'):.2f}" if runs[of] else "-"  # noqa: E731
    rows = []
    for scenario, (_, _, _, (cpu_most, calls_most)) in SCENARIOS.items():
        row = [scenario]
        for name in names:
            of = (name, scenario)
            if name != "Weir":
                row.append(cell(of))
                continue
            cpus = [run["cpu_us"] for run in runs[of]]
            row += [f"**{cell(of)}** ({cpu_most}, {calls_most})", f"{median(of, 'req_s'):,.0f}", spread(cpus)]
        rows.append(row)
    heads = ["server CPU us, calls upstream (bars)"]
    for name in names:
        heads += ["Weir", "req/s", "spread"] if name == "Weir" else [f"{name} {tailcall_version}" if name == "Tailcall" else name]
    held = ", ".join(f"{name} {mb:.0f} MB" for name, mb in memory.items())
    return table(heads, rows) + f"\nResident memory after the match centre (Hive Gateway: after the posts): {held}.\n"


def versions(tailcall_version):
    package = json.loads((HERE / "node/package.json").read_text())["dependencies"]
    locked = (HERE / "async-graphql/Cargo.lock").read_text().split('name = "async-graphql"\nversion = "')[1].split('"')[0]
    return {"Tailcall": tailcall_version, "Mercurius": package["mercurius"], "Apollo Server": package["@apollo/server"], "async-graphql": locked,
            "Hive Gateway": json.loads((HERE / "hive/package.json").read_text())["dependencies"]["@graphql-hive/gateway"]}


def main():
    names = [name for name in SERVERS if not sys.argv[1:] or any(part.lower() in name.lower() for part in sys.argv[1:])]
    BUILT.mkdir(parents=True, exist_ok=True)
    version = fetch()
    if version is None:
        print("Tailcall does not run on this system; going on without it")
        names = [name for name in names if name != "Tailcall"]
    with contextlib.ExitStack() as running:
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        mock = Mock(folder)
        running.callback(mock.stop)
        farm = Farm(running, mock.url, folder)
        runs = measure(farm, mock, names)
        memory = {name: rss_mb(farm.get(name, "posts" if name == "Hive Gateway" else "centre").pid) for name in names}
        text = report(runs, names, version, memory)
    if not sys.argv[1:]:
        publish("services", text, listed(runs), versions(version))
    else:
        print(text)


if __name__ == "__main__":
    main()
