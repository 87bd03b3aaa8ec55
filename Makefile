# Everything a developer does here, by name. `make` alone lists it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test bench lint build setup ui

# The binary is built once; end-to-end tests find it by this name.
RIALTO := $(abspath $(or $(CARGO_TARGET_DIR),target))/release/rialto
export RIALTO_BIN := $(RIALTO)

# Commands and the Debian packages that bring them: a C compiler for SQLite, a tool that makes syncs fail, and what the
# README calls the server with.
TOOLS := cc=gcc strace=strace curl=curl python3=python3-venv

# The tool that tries the interface against its own description, in a folder of its own; end-to-end tests find it there.
VENV := $(abspath $(or $(CARGO_TARGET_DIR),target))/venv
SCHEMATHESIS := schemathesis==4.32.5
export SCHEMATHESIS_BIN := $(VENV)/bin/schemathesis

help: ## list what can be done here
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

run: ## build the server and open the demo desk on http://localhost:9090 (ARGS="--set http.port=0" adds flags)
	cargo build --release -p server
	$(RIALTO) serve $(ARGS)

# The runner's own closing summary is the last line of a good run, so nothing follows it here.
test: setup lint build ## check everything that must hold: tools, format, lints, stories, house rules
	@if command -v cargo-nextest >/dev/null; then \
	  cargo nextest run --workspace --no-fail-fast; \
	else \
	  cargo test --workspace --lib --bins --tests --no-fail-fast; \
	fi

bench: build ## measure the trading core against its aims, the matching engine beside its peers, the journal alone
	cargo run --release -p runtime --example bench
	cd benches/matching && cargo run --release
	cargo run --release -p storage --example journal_bench

lint: ## check format and lints, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

build: ## build the rialto binary in release mode
	cargo build --release -p server

ui: ## build the screen from ui/ (that folder comes with the trading screen)
	@test -f ui/package.json || { echo "there is no ui/ yet: the trading screen is still to come" >&2; exit 1; }
	cd ui && npm ci && npm run build

setup: ## check that the tools are there; install missing Debian packages where allowed, and schemathesis
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.95 or later, https://rustup.rs" >&2; exit 1; }
	@missing=""; \
	for tool in $(TOOLS); do command -v $${tool%=*} >/dev/null || missing="$$missing $${tool#*=}"; done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi; \
	echo "installing$$missing"; \
	$$as_root apt-get update -qq && $$as_root apt-get install -y -qq --no-install-recommends $$missing \
	  || { echo "could not install$$missing: please install with your package manager and try again" >&2; exit 1; }
	@[ -x $(SCHEMATHESIS_BIN) ] || { \
	  echo "installing $(SCHEMATHESIS) into $(VENV)"; \
	  rm -rf $(VENV) && python3 -m venv $(VENV) && $(VENV)/bin/pip install -q --disable-pip-version-check $(SCHEMATHESIS) \
	    || { rm -rf $(VENV); echo "could not install $(SCHEMATHESIS): it needs python3 with venv, and PyPI" >&2; exit 1; }; }
