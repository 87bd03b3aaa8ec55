# Everything a developer does here, by name. `make` alone lists it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test bench lint build setup ui

# The binary is built once; end-to-end tests find it by this name.
RIALTO := $(abspath $(or $(CARGO_TARGET_DIR),target))/release/rialto
export RIALTO_BIN := $(RIALTO)

# Commands and the Debian packages that bring them: a C compiler for SQLite, a tool that makes syncs fail, and what the
# README calls the server with.
TOOLS := cc=gcc strace=strace curl=curl python3=python3-venv g++=g++ node=nodejs npm=npm chromium=chromium

# The same for headers: QuickFIX is the foreign FIX client of the tests and the peer of the benchmark.
HEADERS := /usr/include/quickfix/Session.h=libquickfix-dev

# The tool that tries the interface against its own description, in a folder of its own; end-to-end tests find it there.
VENV := $(abspath $(or $(CARGO_TARGET_DIR),target))/venv
SCHEMATHESIS := schemathesis==4.32.5
export SCHEMATHESIS_BIN := $(VENV)/bin/schemathesis

# What the programs of examples/stomp are built on; the tests run them.
STOMP_PY := stomp.py==9.0.0
STOMP_EXAMPLES := $(abspath examples/stomp)
export EXAMPLES_PYTHON := $(VENV)/bin/python

# What the trading screen is built from.
UI_SOURCES := ui/src ui/public ui/index.html ui/package-lock.json ui/vite.config.ts ui/svelte.config.js ui/tsconfig.json

help: ## list what can be done here
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

run: build ## build the server and open the demo desk on http://localhost:9090 (ARGS="--set http.port=0" adds flags)
	$(RIALTO) serve $(ARGS)

# The runner's own closing summary is the last line of a good run, so nothing follows it here.
test: setup ui lint build ## check everything that must hold: tools, format, lints, stories, house rules
	cd ui && npm test --silent && npm run --silent stories
	cargo test -p strategy --doc --quiet
	cargo build -p server --example troupe
	@if command -v cargo-nextest >/dev/null; then \
	  cargo nextest run --workspace --no-fail-fast; \
	else \
	  cargo test --workspace --lib --bins --tests --no-fail-fast; \
	fi

bench: setup build ## measure the trading core against its aims, the matching engine beside its peers, the journal alone
	cargo run --release -p runtime --example bench
	cd benches/matching && cargo run --release
	cargo run --release -p storage --example journal_bench
	cargo run --release -p broker --example stomp_bench
	cargo run --release -p server --example rest-bench
	cargo build --profile dist -p runtime --example simulation
	benches/simulation/run.sh
	cargo build --release -p fix-net --example fix-echo
	cargo run --release -p fix-net --example fix-bench

lint: ## check format and lints, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

build: ui ## build the rialto binary in release mode, with the screen in it
	REQUIRE_UI=1 cargo build --release -p server

# Packages are installed when the lock file is newer than they are, the screen is built when a source is newer than it.
ui: ## build the trading screen into ui/dist
	@node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2>/dev/null \
	  || { echo "the screen needs Node 20.19 or later, https://nodejs.org" >&2; exit 1; }
	@[ ui/node_modules/.package-lock.json -nt ui/package-lock.json ] \
	  || { cd ui && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json; }
	@[ -f ui/dist/index.html ] && [ -z "$$(find $(UI_SOURCES) -newer ui/dist/index.html)" ] \
	  || { cd ui && npm run --silent build -- --logLevel warn; }

setup: ## check that the tools are there; install missing Debian packages where allowed, and schemathesis
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.95 or later, https://rustup.rs" >&2; exit 1; }
	@missing=""; \
	for tool in $(TOOLS); do command -v $${tool%=*} >/dev/null || missing="$$missing $${tool#*=}"; done; \
	for header in $(HEADERS); do [ -e $${header%=*} ] || missing="$$missing $${header#*=}"; done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi; \
	echo "installing$$missing"; \
	$$as_root apt-get update -qq && $$as_root apt-get install -y -qq --no-install-recommends $$missing \
	  || { echo "could not install$$missing: please install with your package manager and try again" >&2; exit 1; }
	@[ -x $(SCHEMATHESIS_BIN) ] || { \
	  echo "installing $(SCHEMATHESIS) into $(VENV)"; \
	  rm -rf $(VENV) && python3 -m venv $(VENV) && $(VENV)/bin/pip install -q --disable-pip-version-check $(SCHEMATHESIS) \
	    || { rm -rf $(VENV); echo "could not install $(SCHEMATHESIS): it needs python3 with venv, and PyPI" >&2; exit 1; }; }
	@$(EXAMPLES_PYTHON) -c 'import stomp' 2>/dev/null || { \
	  echo "installing $(STOMP_PY) into $(VENV)"; \
	  $(VENV)/bin/pip install -q --disable-pip-version-check $(STOMP_PY) \
	    || { echo "could not install $(STOMP_PY): it needs PyPI" >&2; exit 1; }; }
	@[ -d $(STOMP_EXAMPLES)/node_modules ] || { \
	  echo "installing what $(STOMP_EXAMPLES)/package-lock.json names"; \
	  cd $(STOMP_EXAMPLES) && npm ci --no-audit --no-fund --loglevel=error \
	    || { echo "could not install the packages of $(STOMP_EXAMPLES): they need npm and its registry" >&2; exit 1; }; }
