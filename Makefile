# The doors of the project. `make help` lists them; each does its own set-up.

SHELL := /bin/bash
.DEFAULT_GOAL := help
CARGO ?= cargo
ONLY ?=
SUITE ?=
LISTEN ?= 127.0.0.1:8080
DEMO_FLAGS ?=
PARTS ?= binary deb wheel npm

.PHONY: help agent demo restaurants gateway install python release test clients kits lint soak mutants fleet check bench bless console fuzz fast announce pictures

# The optimised build of the demos: see the profile `fast` in Cargo.toml.
WEIR = $(CURDIR)/target/fast/weir
# What the demos can do without is not in it: Redis, gRPC, collectors of traces, profiles, progress bars.
FAST_FEATURES =

help: ## list what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t12

demo: fast ## build Weir and serve Chinook with the console at http://127.0.0.1:8080
	$(WEIR) demo --listen $(LISTEN) $(DEMO_FLAGS)

restaurants: FAST_FEATURES = --features progress
restaurants: fast ## build Weir and serve made-up restaurants from GraphQL types (SCALE=1 for 4.2 million dishes)
	WEIR="$(WEIR)" examples/restaurants/serve.sh --listen $(LISTEN)

gateway: fast ## build Weir and serve a match centre over made-up REST services
	WEIR="$(WEIR)" examples/gateway/serve.sh --listen $(LISTEN)

agent: FAST_FEATURES = --features mcp
agent: fast ## build Weir and let a script in place of an agent answer over Chinook (QUESTION='Which albums has Queen?')
	cd tests/clients/mcp && npm ci --no-audit --no-fund --loglevel=error
	node tests/clients/mcp/agent.mjs $(if $(QUESTION),'$(QUESTION)') -- $(WEIR) mcp --demo

install: console ## build Weir at full speed and install it into ~/.cargo/bin
	@echo "Building Weir with all optimisations: about 7 minutes on two cores."
	$(CARGO) install --locked --path crates/weir

python: ## build the Python package `weir` at full speed: a wheel in target/wheels
	@scripts/python-wheel.sh

release: ## build packages at full speed into target/packages (PARTS='binary deb wheel npm image' for some)
	@scripts/release.sh $(PARTS)

fast: announce console
	$(CARGO) build --profile fast -p weir --bin weir --no-default-features $(FAST_FEATURES)

announce:
	@[ -x "$(WEIR)" ] || echo "Building Weir: about three minutes the first time on two cores (the console, then Rust); nothing is built again while nothing changes."

test: ## run all tests (ONLY=name for some); installs what they need
	@ONLY='$(ONLY)' scripts/test.sh

clients: ## run clients as people have them against Weir: codegen, Apollo in a browser, refine, react-admin, Python
	@scripts/test-clients.sh

kits: ## run foreign kits against Weir and keep what they wrote for `make test`: object mappers, code generators, poolers (ONLY=name for some)
	@CARGO='$(CARGO)' scripts/kits.sh $(ONLY)

lint: ## lint what deploys: the Helm chart, workflows, Dockerfiles, scripts; installs the linters
	@scripts/lint.sh

soak: ## kill a server 200 times in storms of mutations, look at what it leaves; wall tests on each PostgreSQL; change definitions under load
	@scripts/soak.sh

mutants: ## take out parts of policies and mends, one by one; tests have to see each (ONLY='@auth: rows' for some)
	@CARGO='$(CARGO)' scripts/mutants.sh $(if $(ONLY),'$(ONLY)')

fleet: FAST_FEATURES = --features redis
fleet: fast ## restart three servers in turn under load, in front of a primary, a replica and a Redis (WEIR_ROUNDS=3)
	@WEIR="$(WEIR)" scripts/fleet.sh

check: ## formatting, lints, dependency rules, documentation
	@scripts/check.sh

bench: console ## measure and write the pages of docs/performance (SUITE=sql|native|services|live|events|engine|product|console|python; takes the machine for itself)
	@scripts/bench.sh $(SUITE) $(ONLY)

bless: ## write the answers of the golden tests anew (ONLY=name for some)
	WEIR_BLESS=1 ONLY='$(ONLY)' $(CARGO) test -p weir --test golden
	WEIR_BLESS=1 $(CARGO) test -p weir-hasura -p weir-native -p weir-http --test '*_tests' -- $(or $(ONLY),golden)

fuzz: ## a minute of each fuzz target, where cargo-fuzz is installed
	@scripts/fuzz.sh

pictures: ## make the pictures of README and the manual anew, from the demo
	@scripts/pictures.sh

console: console/dist/index.html.br ## build the web page that is embedded in the binary

console/dist/index.html.br: $(shell find console -name node_modules -prune -o -name dist -prune -o -type f -print)
	@scripts/console.sh
