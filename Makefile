# The doors of the project. `make help` lists them; each does its own set-up.

SHELL := /bin/bash
.DEFAULT_GOAL := help
CARGO ?= cargo
ONLY ?=
LISTEN ?= 127.0.0.1:8080
DEMO_FLAGS ?=

.PHONY: help demo restaurants gateway test clients soak check bench bless console fuzz

help: ## list what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t12

demo: console ## build Weir and serve Chinook with the console at http://127.0.0.1:8080
	$(CARGO) run --release --bin weir -- demo --listen $(LISTEN) $(DEMO_FLAGS)

restaurants: console ## build Weir and serve made-up restaurants from GraphQL types (SCALE=1 for 4.2 million dishes)
	$(CARGO) build --release --bin weir
	WEIR="$(CURDIR)/target/release/weir" examples/restaurants/serve.sh --listen $(LISTEN)

gateway: console ## build Weir and serve a match centre over made-up REST services
	$(CARGO) build --release --bin weir
	WEIR="$(CURDIR)/target/release/weir" examples/gateway/serve.sh --listen $(LISTEN)

test: ## run all tests (ONLY=name for some); installs what they need
	@ONLY='$(ONLY)' scripts/test.sh

clients: ## run clients as people have them against Weir: codegen, Apollo in a browser, refine, react-admin, Python
	@scripts/test-clients.sh

soak: ## kill a server 200 times in storms of mutations, and look at what it leaves
	@scripts/soak.sh

check: ## formatting, lints, dependency rules, documentation
	@scripts/check.sh

bench: console ## measure everything and write docs/performance.md's tables (takes the machine for itself)
	@scripts/bench.sh $(ONLY)

bless: ## write the answers of the golden tests anew (ONLY=name for some)
	WEIR_BLESS=1 ONLY='$(ONLY)' $(CARGO) test -p weir --test golden
	WEIR_BLESS=1 $(CARGO) test -p weir-sql -p weir-language -p weir-native --tests -- golden

fuzz: ## a minute of each fuzz target, where cargo-fuzz is installed
	@scripts/fuzz.sh

console: console/dist/index.html.br ## build the web page that is embedded in the binary

console/dist/index.html.br: console/package-lock.json $(shell find console/src console/index.html console/vite.config.ts console/scripts -type f)
	@scripts/console.sh
