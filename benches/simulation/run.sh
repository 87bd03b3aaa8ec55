#!/usr/bin/env bash
# Simulation Mode beside hftbacktest and NautilusTrader's Rust crates, on one data set and in turns: one line of JSON for each
# run, then what they come to. hftbacktest and numpy come from PyPI, NautilusTrader from crates.io, both into folders below
# target/; a peer that cannot be had is left out, with a message.
#
# run.sh [ROUNDS]
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
rounds="${1:-3}"
target="${CARGO_TARGET_DIR:-$here/../../target}"
mkdir -p "$target/bench-data"
target="$(cd "$target" && pwd)"
data="$target/bench-data"
venv="$target/bench-venv"
rialto="$target/dist/examples/simulation"
nautilus="$target/nautilus/release/bench-nautilus"

if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import hftbacktest' 2>/dev/null; then
  python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check hftbacktest==2.4.4 \
    || echo "hftbacktest cannot be installed here and is left out" >&2
fi
[ -f "$data/quotes.bin" ] || "$venv/bin/python" "$here/data.py" "$data" > /dev/null \
  || { echo "there is no data: numpy is needed once to make it" >&2; exit 1; }
[ -x "$nautilus" ] || echo "NautilusTrader is built for the first time, which takes minutes" >&2
(cd "$here/nautilus" && CARGO_TARGET_DIR="$target/nautilus" cargo build --release --locked --quiet) \
  || echo "NautilusTrader cannot be built here and is left out" >&2

lines="$(mktemp)"
trap 'rm -f "$lines"' EXIT
say() { tee -a "$lines"; }
ours() { "$rialto" "$data" "$@" | say; }
hftbacktest() { "$venv/bin/python" "$here/hftbacktest_run.py" "$data" "$@" 2>/dev/null | say || true; }
nautilus() { [ ! -x "$nautilus" ] || "$nautilus" "$data" "$@" | say; }

echo "{\"host\":\"$(nproc) cores\",\"load\":\"$(cut -d' ' -f1-3 /proc/loadavg)\"}"
for round in $(seq "$rounds"); do
  ours quotes 10 20
  hftbacktest 10 20
  # Orders that pile up must not make the next one dearer. NautilusTrader's do, so it plays the first two sizes only.
  for size in 12500 50000; do
    ours quotes 10 20 $size
    nautilus quotes 10 20 $size
  done
  ours quotes 10 20 100000
  ours quotes 10 20 200000
  ours quotes 0 0
  nautilus quotes 0 0 50000
  ours bars 10 20
  ours bars 10 20 50000
  # It needs ten seconds for these.
  [ "$round" != 1 ] || nautilus bars 10 20 50000
  ours bars 0 0
  nautilus bars 0 0 50000
done
python3 "$here/report.py" "$lines"
