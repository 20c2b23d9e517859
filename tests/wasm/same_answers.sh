# The native core and the one compiled to WebAssembly give the same bytes for drawn requests, whatever they are asked:
#
#     bash tests/wasm/same_answers.sh NATIVE WASM [DRAWS]
#
# of plimsoll_drawn both. Ends like a test program. Each half of the draws takes one core.
set -euo pipefail
each=$(((${3:-200} + 1) / 2))
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# digests_of NAME COMMAND...
digests_of() {
  local name="$1" half
  shift
  for half in 0 1; do
    DIGESTS=$each SEED=$((half * each)) "$@" --gtest_filter='Digests*' >"$folder/$name-$half" &
  done
  wait
  cat "$folder/$name-0" "$folder/$name-1" | grep '^digest'
}

wasm=$(digests_of wasm node --no-experimental-fetch "$2")
native=$(digests_of native "$1")
differing=$(diff <(echo "$native") <(echo "$wasm") | grep -c '^<' || true)
if [ "$differing" -ne 0 ]; then diff <(echo "$native") <(echo "$wasm") | head -n 20 || true; fi
echo "$(($(echo "$native" | wc -l) - differing)) passed, $differing failed"
[ "$differing" -eq 0 ]
