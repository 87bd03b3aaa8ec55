#!/bin/sh
# Installs the packages of PyPI that are missing in a virtual environment of Python, with one call of pip. The first argument is
# its folder, which is made where it is not there. Each other one is TEST=PACKAGES, where TEST is a program of it, such as
# bin/schemathesis, or modules with a comma between them.
set -u
venv=$1
shift

is_there() {
  case $1 in
    bin/*) [ -x "$venv/$1" ] ;;
    *) "$venv/bin/python" -c "import $1" 2>/dev/null ;;
  esac
}

install() {
  # shellcheck disable=SC2086 # the packages are meant apart
  "$venv/bin/pip" install -q --disable-pip-version-check $1
}

if [ ! -x "$venv/bin/pip" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv" || {
    rm -rf "$venv"
    echo "could not make $venv: it needs python3 with venv" >&2
    exit 1
  }
fi

missing=""
for tool in "$@"; do
  is_there "${tool%%=*}" || missing="$missing ${tool#*=}"
done
[ -n "$missing" ] || exit 0
echo "installing$missing into $venv"
install "$missing" && exit 0

# One that cannot be installed must not keep the others away, and is named.
failed=0
for tool in "$@"; do
  is_there "${tool%%=*}" || install "${tool#*=}" || {
    echo "could not install ${tool#*=}: it needs PyPI" >&2
    failed=1
  }
done
exit $failed
