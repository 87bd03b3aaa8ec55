#!/bin/sh
# Unpacks QuickFIX's sample programs executor and ordermatch into a folder. Debian has them compiled, among the examples of
# libquickfix-doc; they run with libquickfix17, which libquickfix-dev brings.
set -eu

folder=$1
[ -x "$folder/executor" ] && [ -x "$folder/ordermatch" ] && exit 0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "unpacking QuickFIX's sample programs into $folder"
(cd "$scratch" && apt-get download -qq libquickfix-doc 2>/dev/null && dpkg-deb -x libquickfix-doc_*.deb unpacked) || {
  echo "could not get the package libquickfix-doc: it needs Debian's archive" >&2
  exit 1
}
mkdir -p "$folder"
examples=$scratch/unpacked/usr/share/doc/libquickfix-doc/examples
for program in executor/C++/.libs/executor ordermatch/.libs/ordermatch; do
  gzip -dc "$examples/$program.gz" >"$folder/${program##*/}"
  chmod +x "$folder/${program##*/}"
done
