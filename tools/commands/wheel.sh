# shellcheck shell=bash
# shellcheck disable=SC2154  # tools/dev sets root, setup.sh venv, build_package package and bin
# The command `wheel` of tools/dev.

# The path of the interpreter that `wheel --python` names: itself, or of a version on PATH.
find_python() {
  local name=$1 python facts kind include path
  case $name in */*) python=$name ;; *) python=$(command -v "python$name") ;; esac
  facts=$("$python" -c 'import sys, sysconfig
print("%s-%d.%d" % (sys.implementation.name, *sys.version_info[:2]), sysconfig.get_path("include"), sys.executable)' 2> /dev/null) ||
    die "wheel: --python must name an interpreter that runs (a path, or a version such as 3.12 for python3.12 on PATH), got '$name', which does not: install it and its headers (in Debian python3.X and python3.X-dev)"
  read -r kind include path <<< "$facts"
  case $kind in
    cpython-3.1[123]) ;; # the versions whose bytecode and frames frontends/python/src knows
    *) die "wheel: --python must name CPython 3.11, 3.12 or 3.13, got '$name', which is $kind" ;;
  esac
  [ -e "$include/Python.h" ] || die "wheel: headers of $path must be installed (in Debian python3.X-dev), got no $include/Python.h"
  echo "$path"
}

# The demo by a wheel, in a new environment of its Python, with NumPy and scikit-learn from the registry.
try_wheel() {
  local wheel=$1 python=$2 folder
  folder=$(mktemp -d -t tessera-wheel.XXXXXX)
  stage "trying $(basename "$wheel") in $folder"
  if ! { "$python" -m venv "$folder/venv" && "$folder/venv/bin/python" -m pip install -qq --disable-pip-version-check \
    --only-binary=:all: "$wheel" scikit-learn matplotlib tqdm; }; then
    die "the wheel must install, got the error above"
  fi
  if ! (cd "$folder" && "$folder/venv/bin/python" "$root/frontends/examples/digits.py" --quick --output out \
    --tess-run "$folder/venv/bin/tess-run" && "$folder/venv/bin/tess-dump" --help > /dev/null) >&2; then
    die "the demo must run, got the errors above (in $folder)"
  fi
  rm -rf "$folder"
}

run_wheel() {
  local python='' targets=(//tools:tess-run //ops/tblgen:tess-tblgen) extension=() tries='' line
  while [ $# -gt 0 ]; do
    case $1 in
      --python) python=$(find_python "${2:?wheel: --python must have a path or a version, got none}") || exit 1; shift ;;
      --python=*) python=$(find_python "${1#*=}") || exit 1 ;;
      --try) tries=yes ;;
      *) die "wheel: options must be --python and --try, got '$1'" ;;
    esac
    shift
  done
  if [ -n "$python" ]; then
    export TESS_BAZEL_FLAGS="${TESS_BAZEL_FLAGS:-} --repo_env=TESS_WHEEL_PYTHON=$python"
    targets+=(//frontends/python:for_wheel/_core)
  fi
  stage "building the package"
  build_package "${targets[@]}"
  [ -z "$python" ] || extension=(--extension "$bin/frontends/python/for_wheel/_core$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')")
  mkdir -p "$root/dist"
  line=$(PYTHONPATH=$root "$venv/bin/python" -m tools.commands.make_wheel "${extension[@]}" "$package/tessera" "$root/dist" "$bin/tools/tess-run" "$bin/ops/tblgen/tess-tblgen") || exit 1
  [ -z "$tries" ] || (unset PYTHONPATH; try_wheel "${line% (*}" "${python:-/usr/bin/python3}") || exit 1
  echo "$line"
}
