#!/bin/sh
# Puts Node and the pinned version of Pi (tests/pi/package.json) into .cache/pi.
#
#   tools/pi.sh            fails where that cannot be done
#   tools/pi.sh --if-any   says in one line that it cannot be done, and that tests are skipped
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
cache="$here/.cache/pi"
pins="$here/tests/pi/package.json"

give_up() {
    if [ "${1:-}" = --if-any ]; then
        printf 'pi-event-search: %s, so the comparisons with the real Pi are skipped.\n' "$2" >&2
        exit 0
    fi
    printf 'pi-event-search: %s.\n' "$2" >&2
    exit 1
}

mode=${1:-}
node="$cache/node_modules/.bin/node"
# The copy of the pins is written last: it says what a finished installation holds.
if cmp -s "$pins" "$cache/installed.json" && "$node" --version >/dev/null 2>&1; then
    exit 0
fi
command -v npm >/dev/null 2>&1 || give_up "$mode" "npm is needed to install Pi and was not found"
mkdir -p "$cache"
rm -f "$cache/installed.json"
cp "$pins" "$cache/package.json"
npm install --prefix "$cache" --no-package-lock --no-audit --no-fund --loglevel=error >&2 ||
    give_up "$mode" "npm could not install Pi (its message is above)"
"$node" --version >/dev/null 2>&1 ||
    give_up "$mode" "npm installed Pi, but the Node it brought does not start"
cp "$pins" "$cache/installed.json"
