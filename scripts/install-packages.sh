#!/bin/sh
# Installs the Debian packages of what is missing. An argument is TEST=PACKAGE, where TEST is a command, a file (which may have a
# `*` in its path), or `python:MODULE` for a module of Python's own.
set -eu

is_there() {
  case $1 in
    # shellcheck disable=SC2086 # a path with a star is meant to be expanded
    /*) set -- $1; [ -e "$1" ] ;;
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

install() {
  $as_root apt-get install -y -qq --no-install-recommends "$@"
}

# The package of PostgreSQL makes a database cluster and starts it. The tests make clusters of their own, so the package is told to make
# none; its settings are put back afterwards.
cluster_settings=/etc/postgresql-common/createcluster.conf
kept_settings=$cluster_settings.kept

put_settings_back() {
  [ ! -e $kept_settings ] || $as_root mv $kept_settings $cluster_settings
}

forbid_cluster() {
  install postgresql-common || return 1
  put_settings_back
  trap put_settings_back EXIT
  trap 'exit 1' HUP INT TERM
  $as_root cp -p $cluster_settings $kept_settings || return 1
  echo "create_main_cluster = false" | $as_root tee -a $cluster_settings >/dev/null
}

install_missing() {
  $as_root apt-get update -qq || return 1
  case "$missing " in
    *" postgresql "*) forbid_cluster || return 1 ;;
  esac
  # shellcheck disable=SC2086 # the packages are meant apart
  install $missing
}

echo "installing$missing"
install_missing || {
  echo "could not install$missing: please install with your package manager and try again" >&2
  exit 1
}
