# shellcheck shell=bash
# Installs what is missing: Debian packages, the Python environment, Bazel's local settings. A second run finds
# everything in place and takes a tenth of a second.

# shellcheck disable=SC2154  # tools/dev sets root
venv=$root/.venv
packages_list=$root/tools/debian-packages.txt
lock=$root/tools/python/requirements.lock
sources=$root/tools/python/sources.lock

wanted_packages() { grep -vE '^(#|$)' "$packages_list"; }

installed_packages() { dpkg-query --show --showformat='${Package} ${db:Status-Abbrev}\n' 2> /dev/null | awk '$2 == "ii" { print $1 }'; }

missing_of() { comm -23 <(printf '%s\n' "$@" | sort -u) <(installed_packages | sort -u); }

# Runs a command as root; apt must never ask.
as_root() {
  if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"; return; fi
  command -v sudo > /dev/null || die "root or sudo must be there to install Debian packages, got user $(id -un) and no sudo"
  sudo env DEBIAN_FRONTEND=noninteractive "$@"
}

# apt's status lines (kind:name:percent:text) as one line for each tenth, on descriptor 4.
show_apt_progress() {
  local kind percent last=
  while IFS=: read -r kind _ percent _; do
    case $kind in dlstatus) kind=downloaded ;; pmstatus) kind=installed ;; *) continue ;; esac
    percent=${percent%%.*}; percent=$((percent / 10 * 10))
    [ "$kind $percent" = "$last" ] || echo "  packages $kind: $percent %" >&4
    last="$kind $percent"
  done
}

install_packages() {
  local log=$1; shift
  as_root apt-get update -qq -o Acquire::Retries=3 > "$log" 2>&1 || die_with_log "apt-get update must succeed" "$log"
  as_root apt-get install -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Options::=--force-confold -o APT::Status-Fd=3 "$@" 4>&2 3> >(show_apt_progress) >> "$log" 2>&1 ||
    die_with_log "apt-get install must succeed (Debian 12 with its security suite)" "$log"
}

# Installs those of the named packages that are missing.
need_packages() {
  local missing log
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} = 0 ] && return
  log=$(mktemp -t tessera-apt.XXXXXX)
  stage "installing ${#missing[@]} Debian packages and what they need (log $log)"
  install_packages "$log" "${missing[@]}"
}

# What one command needs and no other (tools/python/NAME.lock), in the folder .NAME that later commands do not see.
need_extra() {
  local name=$1 wanted=$root/tools/python/$1.lock folder=$root/.$1
  export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
  cmp -s "$wanted" "$folder/installed.lock" && return
  stage "installing the packages of $name into .$name ($(grep -c == "$wanted") packages, $2)"
  rm -rf "$folder"
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check --retries 5 --no-deps --only-binary=:all: \
    --require-hashes --target "$folder" --requirement "$wanted" || die "the packages of $name must install, got the error above"
  cp "$wanted" "$folder/installed.lock"
}

# The environment holds absolute paths and this Python's wheels: both are part of what it is.
environment_id() { { cat "$lock" "$sources"; echo "$venv"; /usr/bin/python3 --version; } | sha256sum | cut -c1-16; }

make_environment() {
  local version
  [ ! -L "$venv" ] || die ".venv must be a folder of this clone, because it is cleared first, got a link to $(readlink "$venv")"
  version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ "$version" = 3.11 ] || die "/usr/bin/python3 must be Debian 12's Python 3.11, for which the wheels are locked, got $version"
  /usr/bin/python3 -m venv --clear "$venv" || die "python3 -m venv must succeed, got the error above"
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check --retries 5 --no-deps --only-binary=:all: \
    --require-hashes --requirement "$lock" || die "pip install must succeed, got the error above"
}

# Unpacks a library's sources into .venv/src/NAME.
add_source() {
  local name=$1 url=$2 hash=$3 archive
  archive=$(mktemp -t tessera-source.XXXXXX)
  curl --silent --show-error --fail --location --retry 5 --output "$archive" "$url" || die "$name must download from PyPI, got the error above"
  echo "$hash $archive" | sha256sum --check --status || die "the sources of $name must have the locked hash, got $(sha256sum < "$archive")"
  mkdir -p "$venv/src/$name"
  tar -xf "$archive" -C "$venv/src/$name" --strip-components=1
  rm "$archive"
}

add_sources() {
  local name url hash
  while read -r name url hash; do add_source "$name" "$url" "$hash"; done < <(grep -v '^#' "$sources")
}

setup_environment() {
  local id; id=$(environment_id)
  [ "$(cat "$venv/tessera-id" 2> /dev/null)" = "$id" ] && return
  stage "installing the Python environment into ${venv#"$root"/} ($(grep -c == "$lock") packages)"
  make_environment
  add_sources
  echo "$id" > "$venv/tessera-id"
}

# Versions of Debian's packages are part of every action's key: headers under /usr are no inputs that Bazel sees.
system_id() { wanted_packages | xargs dpkg-query --show 2> /dev/null | sha256sum | cut -c1-16; }

# Bazel lists the headers under /usr once for each output base, and anew when BAZEL_HOST_SYSTEM, which only names the tool chain, changes.
bazelrc_text() {
  local system; system=$(system_id)
  echo "# Written by tools/dev setup."
  echo "build --repo_env=TESS_PYTHON=$venv/bin/python --repo_env=TESS_LOCK=$(cat "$venv/tessera-id")"
  echo "build --action_env=TESS_SYSTEM=$system --repo_env=BAZEL_HOST_SYSTEM=$system"
}

setup_bazelrc() {
  local text; text=$(bazelrc_text)
  [ "$(cat "$root/.bazelrc.user" 2> /dev/null)" = "$text" ] || echo "$text" > "$root/.bazelrc.user"
}

setup() {
  # shellcheck disable=SC2046  # package names have no spaces
  need_packages $(wanted_packages)
  setup_environment
  setup_bazelrc
}
