#!/bin/bash
# Runs inside a throw-away copy of the root file system: installs the packages, uses them as a person would, upgrades them under
# a running daemon, removes them. Prints "ok" at the end; the first thing that is wrong ends it.
#
#   life_of_a_package.sh PACKAGES_FOLDER NEXT_PACKAGES_FOLDER MODEL.gguf
set -euo pipefail
packages=$1 next=$2 model=$3

fail() { echo "failed: $*" >&2; exit 1; }
export HOME=/tmp/home XDG_RUNTIME_DIR=/tmp/run HEARTH_PORT=0 DEBIAN_FRONTEND=noninteractive
unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME HEARTH_SOCKET
mkdir -p -m 700 "$HOME" "$XDG_RUNTIME_DIR"
trap 'hearth stop >/dev/null 2>&1 || true; kill $(pgrep -x hearthd -s 0) 2>/dev/null || true' EXIT

dpkg -i "$packages"/*.deb
[ "$(readlink -f /usr/bin/hearth)" = /usr/lib/hearth/hearth ] || fail "hearth is not where it belongs"
man --local-file /usr/share/man/man1/hearthd.1.gz | grep -q -e --idle-unload || fail "hearthd(1) does not list settings"
bash -c 'source /usr/share/bash-completion/completions/hearth && complete -p hearth' >/dev/null
systemd-analyze --user verify /usr/lib/systemd/user/hearthd.socket /usr/lib/systemd/user/hearthd.service
hearth start
hearth import "$model" --name mine
answer=$(hearth run --temperature 0 -n 8 "Hello")
pid=$(hearth status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["pid"])')

echo "upgrade under a running daemon"
dpkg -i "$next"/*.deb
[ "$(dpkg-query -W -f '${Version}' hearth)" = 99.0 ] || fail "the upgrade did not take"
kill -0 "$pid" || fail "the upgrade ended the daemon"
hearth unload mine
[ "$(hearth run --temperature 0 -n 8 "Hello")" = "$answer" ] || fail "the daemon does not work on after the upgrade"
hearth start --replace
hearth list --json | grep -q '"mine"' || fail "the upgrade lost a model"

echo "remove"
dpkg -r $(dpkg-query -W -f '${Package} ' 'hearth*')
[ ! -e /usr/bin/hearth ] && [ ! -e /usr/lib/hearth/hearthd ] || fail "programs are left"
[ -s "$HOME/.local/share/hearth/hearth.db" ] || fail "removing took the user's database"
ls "$HOME"/.local/share/hearth/models/*.gguf >/dev/null || fail "removing took the user's models"
curl -fsS --unix-socket "$XDG_RUNTIME_DIR/hearth/hearth.sock" -X POST http://localhost/hearth/v1/shutdown >/dev/null

echo "install again"
dpkg -i "$packages"/*.deb
hearth list --json | grep -q '"mine"' || fail "the model is gone after installing again"
dpkg -P $(dpkg-query -W -f '${Package} ' 'hearth*')
[ -s "$HOME/.local/share/hearth/hearth.db" ] || fail "purging took the user's database"
echo ok
