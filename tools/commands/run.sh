# shellcheck shell=bash
# shellcheck disable=SC2154  # tools/dev sets root; setup.sh sets venv and lock
# The commands of tools/dev, one function run_NAME each.

bazel_do() {
  # Both variables hold several options: split them.
  # shellcheck disable=SC2086
  (cd "$root" && bazel ${TESS_BAZEL_STARTUP:-} "$1" ${TESS_BAZEL_FLAGS:-} "${@:2}")
}

# The server that tests/frontends/python/utils/test_persistent_cache.py starts: not in the list, whose versions are part of every action's key.
run_setup() {
  need_packages redis-server
  stage "everything is installed"
}

run_build() {
  stage "building ${*:-//...}"
  bazel_do build "${@:-//...}"
}

sanitizer_config() {
  case $1 in
    address) echo asan ;;
    thread) echo tsan ;;
    undefined) echo ubsan ;;
    *) die "--sanitize must be address, thread or undefined, got '$1'" ;;
  esac
}

has_target() { local arg; for arg in "$@"; do [[ $arg == -* ]] || return 0; done; return 1; }

# Bazel's build events name the test XML of every target of this run, cached ones included.
run_test() {
  local arg config args=() count=() events status=0
  for arg in "$@"; do
    case $arg in
      --sanitize=*) config=$(sanitizer_config "${arg#*=}") || exit 1; args+=("--config=$config") ;;
      --quick) args+=(--config=quick); count+=(--note "the quick subset") ;;
      *) args+=("$arg") ;;
    esac
  done
  has_target "${args[@]}" || args+=(//...)
  events=${TESS_TEST_EVENTS:-$(mktemp -t tessera-events.XXXXXX)}
  stage "building and testing ${args[*]}"
  bazel_do test --keep_going --build_event_json_file="$events" "${args[@]}" || status=$?
  trim_disk_cache
  "$venv/bin/python" "$root/tools/commands/count_tests.py" "${count[@]}" "$events" || status=1
  [ -n "${TESS_TEST_EVENTS:-}" ] || rm -f "$events"
  return $status
}

# Bazel 4 never empties its disk cache: beyond the limit the files that were written first go.
trim_disk_cache() {
  local folder=$HOME/.cache/tessera/bazel-disk limit=$((${TESS_DISK_CACHE_GB:-20} << 30))
  [ -d "$folder" ] || return 0
  find "$folder" -type f -printf '%T@ %s %p\n' | sort -rn |
    awk -v limit="$limit" '{ total += $2 } total > limit { print $3 }' | xargs -r rm -f
}

# Builds with errors and, each ten seconds, progress as the only output, all on stderr.
build_quietly() {
  bazel_do build --color=no --curses=no --show_progress_rate_limit=10 --show_result=0 "$@" 2>&1 > /dev/null |
    { grep --line-buffered -vE '^(Loading:|Analyzing:|INFO:|Starting local|\[0 / |$)' >&2 || true; }
}

# The runfiles of this target are the package as one tree: sources, generated files, extension.
build_package() { build_package_of python "$@"; }

build_package_of() {
  local target=$1
  shift
  build_quietly "//tools:$target" "$@" || die "the Python package must build, got the errors above"
  bin=$(bazel_do info bazel-bin 2> /dev/null)
  package=$bin/tools/$target.runfiles/tessera/frontends/python
  export PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH}
}

run_python() {
  build_package_of python_without_warm_set
  exec "$venv/bin/python" "$@"
}

run_demo() {
  stage "building the package and tess-run"
  build_package //tools:tess-run
  stage "running the demo, output in demo_out/"
  mkdir -p "$root/demo_out"
  export TESS_RUN=$bin/tools/tess-run
  exec "$venv/bin/python" "$root/frontends/examples/digits.py" --output "$root/demo_out" "$@"
}

# --peers, anywhere: beside the locked peers, or =openvino,jax beside some. --against REV: beside the build of another commit.
run_bench() {
  local arguments=() argument script=bench.py peers=
  for argument in "$@"; do
    case $argument in
      --peers) peers=all ;;
      --peers=*) peers=${argument#*=} ;;
      --against | --against=*) script=against.py; arguments+=("$argument") ;;
      *) arguments+=("$argument") ;;
    esac
  done
  [ -z "$peers" ] || [ $script = bench.py ] || die "bench: --peers and --against must not come together, got both"
  [ -z "$peers" ] || need_extra peers "some GB"
  set -- "${arguments[@]}"
  stage "building the package"
  build_package //ops:samples.json //tests/benchmarks:{eager_cache,executable_codecs,limits,quantized,thresholds} \
    //tests/custom:libawkward.so //tools:tess-run
  export TESS_AWKWARD=$bin/tests/custom/libawkward.so TESS_RUN=$bin/tools/tess-run
  export TESS_SAMPLES=$bin/ops/samples.json TESS_EAGER_CACHE=$bin/tests/benchmarks/eager_cache
  export TESS_THRESHOLDS=$bin/tests/benchmarks/thresholds TESS_CODECS=$bin/tests/benchmarks/executable_codecs
  export TESS_LIMITS=$bin/tests/benchmarks/limits TESS_QUANTIZED=$bin/tests/benchmarks/quantized TESS_PEERS=$peers
  stage "measuring ${*:-everything}"
  exec "$venv/bin/python" "$root/tests/benchmarks/$script" "$@"
}

# Writes the calls of tests/opinfo anew, by the locked PyTorch.
run_record() {
  need_extra peers "some GB"
  build_package
  stage "recording ${*:-every family}"
  cd "$root" && PYTHONPATH=$root:$PYTHONPATH exec "$venv/bin/python" -m tests.opinfo.record "$@"
}

# --sanitize=address first: the compiler instrumented, and the kernels that it makes; tess-run is left out.
run_campaign() {
  local preload='' targets=(//ops:samples.json //tests/custom:{demo_rows,libawkward.so} //tools:tess-run)
  case ${1:-} in
    --sanitize=address)
      export TESS_BAZEL_FLAGS="${TESS_BAZEL_FLAGS:-} --config=$(sanitizer_config address)"
      preload=/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-x86_64.so
      targets=(//ops:samples.json)
      shift
      ;;
    --sanitize=*) die "campaign: --sanitize must be address, got '${1#*=}'" ;;
  esac
  case ${1:-} in
    random | records | attributes) ;;
    *) die "campaign: the kind must be random, records or attributes, got '${1:-}'" ;;
  esac
  build_package "${targets[@]}"
  export TESS_SAMPLES=$bin/ops/samples.json
  if [ -n "$preload" ]; then
    export LD_PRELOAD=$preload ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=0
  else
    export TESS_RUN=$bin/tools/tess-run
    export TESS_AWKWARD=$bin/tests/custom/libawkward.so TESS_RECORDS=$bin/tests/custom/demo.json
  fi
  if [ "$1" = attributes ]; then
    shift
    export TESS_CACHE_DIR='' TESS_WARM_SET=''
    PYTHONPATH=$root:$PYTHONPATH exec "$venv/bin/python" -m tests.records.attribute_values "$@"
  fi
  PYTHONPATH=$root:$PYTHONPATH exec "$venv/bin/python" -m tests.random.campaign "$@"
}

# A target for some seconds, from its corpus and what earlier runs kept in .fuzz/; status 1 when something was found.
fuzz_one() {
  local target=$1 seconds=$2 kept=$root/.fuzz/$1 found=$root/.fuzz/findings/$1
  mkdir -p "$kept" "$found"
  stage "$target: $seconds seconds"
  # LLVM's archives are plain: see .bazelrc.
  ASAN_OPTIONS=allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1 nice "$bin/tests/fuzz/$target" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$found/" "$kept" "$root/tests/fuzz/corpus/$target" && return
  stage "$target: a finding lies in ${found#"$root"/}; mended, it goes to tests/fuzz/corpus/$target"
  return 1
}

# Random Python calls until the time is over, each process with a seed of its own.
fuzz_calls() {
  local end=$((SECONDS + $1)) seed
  build_package
  while [ $SECONDS -lt $end ]; do
    seed=$RANDOM
    stage "calls: seed $seed"
    (cd "$root" && PYTHONPATH=$PYTHONPATH:$root "$venv/bin/python" -m tests.fuzz.drive --seed $seed --count 5000) || return 1
  done
}

# Records of traced modules until the time is over, each process with a seed of its own.
fuzz_records() {
  local end=$((SECONDS + $1)) seed
  build_package
  while [ $SECONDS -lt $end ]; do
    seed=$RANDOM
    stage "records: seed $seed"
    (cd "$root" && PYTHONPATH=$PYTHONPATH:$root TESS_FUZZ_SEED=$seed TESS_FUZZ_COUNT=5000 \
      "$venv/bin/python" -m pytest -q tests/frontends/python/traced_module/test_saved_bytes.py) || return 1
  done
}

run_fuzz() {
  local seconds=60 targets=() built=() target status=0 bin
  while [ $# -gt 0 ]; do
    case $1 in
      --seconds=*) seconds=${1#*=} ;;
      --seconds) seconds=${2:?--seconds must have a number, got none}; shift ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
  [ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd "$root/tests/fuzz" && grep -l '^void fuzzOne' -- *.cpp | sed 's/[.]cpp$//'; echo calls; echo records)
  mapfile -t built < <(printf '//tests/fuzz:%s\n' "${targets[@]}" | grep -v ':calls$\|:records$')
  if [ ${#built[@]} -gt 0 ]; then
    stage "building ${targets[*]} as fuzzers"
    bazel_do build --config=fuzz "${built[@]}" || die "the fuzzers must build, got the errors above"
    bin=$(bazel_do info --config=fuzz bazel-bin 2> /dev/null)
  fi
  for target in "${targets[@]}"; do
    case $target in
      calls | records) "fuzz_$target" "$seconds" ;;
      *) fuzz_one "$target" "$seconds" ;;
    esac || status=1
  done
  return $status
}

run_new() { cd "$root" && PYTHONPATH=$root "$venv/bin/python" -m tools.commands.new "$@"; }

run_lint() {
  local status=0
  run_test //tools/lint/... || status=$?
  (cd "$root" && PYTHONPATH=$root "$venv/bin/python" -m tools.commands.figures) || status=1
  return $status
}

run_format() { cd "$root" && PYTHONPATH=$root "$venv/bin/python" -m tools.lint.format --fix "$@"; }

# Writes compile_commands.json, after a build of what a compiler reads: generated headers, and folders of links to headers.
# Options, such as --config=dbg, decide whose flags and whose headers they are.
run_compile_commands() {
  local actions status=0
  stage "building generated headers"
  build_quietly --output_groups=compilation_prerequisites_INTERNAL_ "$@" //... || die "generated headers must build, got the errors above"
  actions=$(mktemp -t tessera-actions.XXXXXX)
  bazel_do aquery "$@" 'mnemonic("CppCompile", //...)' --output=jsonproto 2> "$actions.log" > "$actions" ||
    die_with_log "bazel aquery must succeed" "$actions.log"
  "$venv/bin/python" "$root/tools/commands/compile_commands.py" "$root" "$(bazel_do info output_base 2> /dev/null)" \
    "$(bazel_do info output_path 2> /dev/null)" < "$actions" || status=1
  rm -f "$actions" "$actions.log"
  return $status
}

# Generated headers must be there: build first. Checks of debug builds are read as well.
run_tidy() {
  local include generated
  need_packages clang-tidy-22
  generated=$(bazel_do info bazel-bin 2> /dev/null)
  include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  (cd "$root" && "$venv/bin/python" tools/commands/tidy.py "$@" -- -std=c++20 -march=x86-64-v3 -DTESS_DEBUG=1 -I. \
    -Ifrontends/cc -Ifrontends/cc/include -Ifrontends/cc/translate -I"$generated" -I"$generated/frontends/cc" \
    -I"$generated/ops/custom/_virtual_includes/abi" \
    -I"$generated/frontends/cc/translate" -isystem/usr/lib/llvm-22/include -isystem"$include" \
    -isystem"$venv/lib/python3.11/site-packages/nanobind/include" -isystem"$venv/src/ducc0/src")
}

run_polynomials() {
  need_packages sollya
  nice "$venv/bin/python" "$root/tools/commands/polynomials.py" "$@"
}

run_hot_functions() {
  need_packages linux-perf
  (cd "$root" && PYTHONPATH=$root "$venv/bin/python" -m tools.commands.hot_functions)
}

run_shell() {
  build_package_of python_without_warm_set
  export PATH=$venv/bin:$bin/tools:$PATH VIRTUAL_ENV=$venv # what of //tools is built
  exec "${SHELL:-/bin/bash}" "$@"
}

# Sphinx reads the built package; a warning is an error.
run_docs() {
  local out=$root/dist/docs
  build_package //ops:Ops.md
  need_extra docs "100 MB"
  stage "writing the pages"
  TESS_OPERATORS=$bin/ops/Ops.md "$venv/bin/python" -m sphinx --builder html --fail-on-warning --keep-going --quiet \
    --doctree-dir "$root/dist/doctrees" "$root/docs" "$out" || die "the pages must be written without a warning, got those above"
  stage "the pages begin at dist/docs/index.html"
}

# All locks, or the named ones. An extra leaves out what the environment has, so that both load the same NumPy.
run_lock() {
  local name besides
  [ $# -gt 0 ] || set -- requirements peers docs
  for name in "$@"; do
    [ "$name" = peers ] && besides=(--besides) || besides=()
    stage "resolving tools/python/$name.in"
    "$venv/bin/python" "$root/tools/python/lock.py" "${besides[@]}" "$root/tools/python/$name.in" "$root/tools/python/$name.lock"
  done
}
