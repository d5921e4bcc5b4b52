# Sourced by the scripts of this folder: where the checkout is, how they speak, who builds, and how.
# Through sudo only apt-get runs as root; all that writes into the checkout runs as its owner.
# shellcheck shell=bash

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(realpath --relative-to="$root" "$0")

# Paths inside the checkout enter the compiler cache relative to it: another clone hits the same
# entries.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# Git answers here whoever owns the checkout: the scripts run none of its hooks.
git_config=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$git_config=safe.directory" "GIT_CONFIG_VALUE_$git_config=$root"
export GIT_CONFIG_COUNT=$((git_config + 1))

say() { printf '%s: %s\n' "$script" "$*" >&2; }

# fail CODE WORDS...: 2 wrong usage, 4 the environment lacks something (the codes of `tocsin`).
fail() {
  local code=$1
  shift
  printf '%s: error: %s\n' "$script" "$*" >&2
  exit "$code"
}

caller_prefix=()
if [ "$EUID" -eq 0 ] && [ "${SUDO_UID:-0}" -ne 0 ] &&
  [ "$(stat -c %u "$root")" = "$SUDO_UID" ]; then
  caller_prefix=(setpriv --reuid "$SUDO_UID" --regid "$SUDO_GID" --init-groups
    env "HOME=$(getent passwd "$SUDO_UID" | cut -d: -f6)" "USER=$SUDO_USER" "LOGNAME=$SUDO_USER")
fi

# as_caller COMMAND...: runs it as the one who called sudo, or as is.
as_caller() { "${caller_prefix[@]}" "$@"; }

# configure PRESET [CMAKE OPTIONS...]: only where ninja would not do it by itself, that is the first
# time, after a change of the presets, and in a checkout that was moved together with its build.
configure() {
  local preset=$1 build=$root/build/$1
  shift
  if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    (cd "$root" && as_caller cmake --fresh --preset "$preset" "$@")
  elif [ ! -f "$build/build.ninja" ] || [ "$root/CMakePresets.json" -nt "$build/build.ninja" ]; then
    (cd "$root" && as_caller cmake --preset "$preset" "$@")
  fi
}
