#!/usr/bin/env bash
# Simulation Mode beside hftbacktest, on one data set and in turns: one line of JSON for each run, then the ratio.
# The peer and numpy come from PyPI into a folder of their own below target/; without them only Rialto runs, on data that
# is there already.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
target="${CARGO_TARGET_DIR:-$here/../../target}"
venv="$target/bench-venv"
data="$target/bench-data"
rialto="$target/release/examples/simulation"
mkdir -p "$data"
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import hftbacktest' 2>/dev/null; then
  python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check hftbacktest==2.4.4 \
    || echo "hftbacktest cannot be installed here: Rialto runs alone" >&2
fi
[ -f "$data/quotes.bin" ] || "$venv/bin/python" "$here/data.py" "$data" > /dev/null \
  || { echo "there is no data: numpy is needed once to make it" >&2; exit 1; }
echo "{\"host\":\"$(nproc) cores\",\"load\":\"$(cut -d' ' -f1-3 /proc/loadavg)\"}"
lines="$(mktemp)"
trap 'rm -f "$lines"' EXIT
# Orders that pile up must not make the next one dearer.
for n in 12500 50000 200000; do "$rialto" "$data" quotes 10 20 $n; done
for round in 1 2 3; do
  "$rialto" "$data" quotes 10 20 | tee -a "$lines"
  "$venv/bin/python" "$here/hftbacktest_run.py" "$data" 10 20 2>/dev/null | tee -a "$lines" || true
done
"$rialto" "$data" quotes 0 0
"$rialto" "$data" bars 10 20
"$rialto" "$data" bars 0 0
python3 - "$lines" <<'PY'
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
best = lambda name, key: max((run[key] for run in runs if run["engine"].startswith(name)), default=None)
ours, peer = best("rialto", "events_per_cpu_s"), best("hftbacktest", "quotes_per_cpu_s")
orders = {run["orders"] for run in runs}
print(f"quotes per CPU second, best of each: Rialto {ours:,}, hftbacktest {peer:,}, ratio {ours / peer:.2f}; orders {orders}"
      if peer else f"quotes per CPU second: Rialto {ours:,}; the peer did not run")
PY
