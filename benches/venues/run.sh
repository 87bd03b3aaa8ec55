#!/usr/bin/env bash
# The adapter of Binance spot beside ccxt.pro and NautilusTrader, each at a venue lab of its own, on loopback and in turns: one line of JSON for
# each run, then what they come to. ccxt comes with `make setup`; NautilusTrader is installed into CLIENTS once. A peer that cannot be had
# is left out, with a message.
#
# run.sh RIALTO PYTHON CLIENTS NAUTILUS [ROUNDS] (ORDERS=, SECONDS_OF_DEPTH=, SYMBOLS=)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
rialto=$1 python=$2 clients=$3 nautilus=$4 rounds=${5:-3}
bench="$(dirname "$rialto")/examples/adapter_bench"
export ORDERS="${ORDERS:-500}" SECONDS_OF_DEPTH="${SECONDS_OF_DEPTH:-30}"

# The venue sends ten depth updates a second of each symbol, whatever happens in it.
DEPTH_SYMBOLS="BTCUSDT$(for n in $(seq 2 "${SYMBOLS:-40}"); do printf ' C%03dUSDT' "$n"; done)"
export DEPTH_SYMBOLS

folder="$(mktemp -d)"
lines="$folder/lines"
touch "$lines"
lab=
finish() {
  [ -z "$lab" ] || kill "$lab" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

# The same folder and mark as in scripts/venue-clients.sh.
if [ "$(cat "$clients/nautilus/installed" 2>/dev/null)" != "$nautilus" ]; then
  { "$python" -m venv --clear "$clients/nautilus" && "$clients/nautilus/bin/pip" install --quiet "$nautilus" \
    && echo "$nautilus" > "$clients/nautilus/installed"; } || echo "$nautilus cannot be installed here and is left out" >&2
fi

symbols_and_account() {
  echo 'seed = 1'
  for symbol in $DEPTH_SYMBOLS; do
    printf '[[symbols]]\nsymbol = "%s"\nbase = "%s"\nquote = "USDT"\ntickSize = "0.01"\nstepSize = "0.00001"\nmid = "60000"\nsize = "0.5"\n' \
      "$symbol" "${symbol%USDT}"
  done
  printf '[[accounts]]\naccount = "ALPHA"\nbalances = { USDT = "1000000" }\n'
}
symbols_and_account > "$folder/lab.toml"

# A lab for each run, so that nobody meets the orders of another. It has listen keys and the calls under /sapi, which NautilusTrader needs, and limits that nobody meets.
start_lab() {
  rm -rf "$folder/lab"
  "$rialto" venue serve "$folder/lab.toml" --demo --data-dir "$folder/lab" --set activity=busy --set binance.listenKeys=true --set binance.sapi=true \
    --set limits.requestWeightPerMinute=4000000000 --set limits.rawRequestsPer5Minutes=4000000000 \
    --set limits.ordersPer10Seconds=4000000000 --set limits.ordersPerDay=4000000000 > "$folder/ready" 2>"$folder/lab-errors" &
  lab=$!
  while ! grep -q '"ready":true' "$folder/ready" 2>/dev/null; do
    kill -0 "$lab" 2>/dev/null || { echo "the lab did not start:" >&2; tail -5 "$folder/lab-errors" >&2; exit 1; }
    sleep 0.05
  done
  export RIALTO_VENUE_READY="$folder/ready"
}

measure() {
  start_lab
  "$@" 2>"$folder/errors" | tee -a "$lines" || { echo "$1 failed:" >&2; tail -5 "$folder/errors" >&2; }
  kill "$lab"
  wait "$lab" 2>/dev/null || true
  lab=
}

echo "{\"host\":\"$(nproc) cores\",\"load\":\"$(cut -d' ' -f1-3 /proc/loadavg)\"}"
for _ in $(seq "$rounds"); do
  measure "$bench"
  if "$python" -c 'import ccxt.pro' 2>/dev/null; then
    measure "$python" "$here/ccxt_bench.py"
  else
    echo "ccxt is not installed and is left out" >&2
  fi
  if "$clients/nautilus/bin/python" -c 'import nautilus_trader' 2>/dev/null; then
    measure "$clients/nautilus/bin/python" "$here/nautilus_bench.py"
  fi
done
"$python" "$here/report.py" "$lines"
