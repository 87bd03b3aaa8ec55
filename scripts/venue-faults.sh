#!/bin/sh
# Starts a venue lab, plays every fault to the clients of crates/scenarios/venue_lab/faults.py, and stops the lab.
# usage: venue-faults.sh RIALTO PYTHON [FAULT…]
set -eu
rialto=$1 python=$2
shift 2
folder=$(mktemp -d)
"$rialto" venue serve --demo --set activity=off --data-dir "$folder/data" > "$folder/ready.json" 2> "$folder/log" &
lab=$!
trap 'kill $lab; rm -rf "$folder"' EXIT
until [ -s "$folder/ready.json" ]; do kill -0 $lab || { cat "$folder/log" >&2; exit 1; }; sleep 0.1; done
"$python" "$(dirname "$0")/../crates/scenarios/venue_lab/faults.py" "$folder/ready.json" "$@"
