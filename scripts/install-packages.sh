#!/bin/sh
# Installs the Debian packages of what is missing. An argument is TEST=PACKAGE, where TEST is a command, a file, or
# `python:MODULE` for a module of Python's own.
set -eu

is_there() {
  case $1 in
    /*) [ -e "$1" ] ;;
    python:*) python3 -c "import ${1#python:}" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=""
for tool in "$@"; do
  is_there "${tool%=*}" || missing="$missing ${tool#*=}"
done
[ -n "$missing" ] || exit 0

as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
echo "installing$missing"
# shellcheck disable=SC2086 # the words of both are meant apart
$as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing || {
  echo "could not install$missing: please install with your package manager and try again" >&2
  exit 1
}
