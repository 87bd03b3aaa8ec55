#!/bin/sh
# Installs frameworks into folders of their own, runs each client of examples/venue through the faults of the venue lab, and prints the table of
# docs/venue-lab/scoreboard.md. Everything stays on loopback addresses. CLIENTS, FAULTS and SEED choose; VENUE_CLIENT_SETTLE is how long a
# framework may reconcile after the plan, in seconds.
# usage: venue-clients.sh RIALTO PYTHON FOLDER NAUTILUS FREQTRADE
set -eu
rialto=$1 python=$2 folder=$3 nautilus=$4 freqtrade=$5
examples=$(cd "$(dirname "$0")/../examples/venue" && pwd)
seed=${SEED:-1}
export RIALTO_BIN="$rialto"

# A folder with its packages, made once for each set of versions.
install() {
  place=$folder/$1
  shift
  if [ "$(cat "$place/installed" 2> /dev/null)" != "$*" ]; then
    echo "== installing $*"
    "$python" -m venv --clear "$place"
    "$place/bin/pip" install --quiet "$@"
    echo "$*" > "$place/installed"
  fi
}

certify() {
  echo "== $1, seed $seed"
  "$rialto" venue certify --client "$2 $examples/$1_client.py" --faults "${FAULTS:-all}" --seed "$seed" --timeout 180 \
    --report "$folder/reports/$1@$seed" || [ $? = 1 ]
}

mkdir -p "$folder/reports"
for client in ${CLIENTS:-naive ccxt freqtrade nautilus rialto}; do
  case $client in
    nautilus)
      install nautilus "$nautilus"
      certify nautilus "$folder/nautilus/bin/python" ;;
    freqtrade)
      # Two packages.
      # shellcheck disable=SC2086
      install freqtrade $freqtrade
      certify freqtrade "$folder/freqtrade/bin/python" ;;
    *) certify "$client" "$python" ;;
  esac
done
"$python" "$examples/scoreboard.py" "$folder/reports"
