# The native core and the one compiled to WebAssembly give the same bytes for drawn requests, whatever they are asked:
#
#     bash tests/wasm/same_answers.sh NATIVE WASM [DRAWS]
#
# of plimsoll_drawn both. Ends like a test program.
set -euo pipefail
export DIGESTS="${3:-200}"
only=(--gtest_filter='Digests*')
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$1" "${only[@]}" >"$folder/native" &
node --no-experimental-fetch "$2" "${only[@]}" >"$folder/wasm"
wait $!
native=$(grep '^digest' "$folder/native")
wasm=$(grep '^digest' "$folder/wasm")
differing=$(diff <(echo "$native") <(echo "$wasm") | grep -c '^<' || true)
if [ "$differing" -ne 0 ]; then diff <(echo "$native") <(echo "$wasm") | head -n 20 || true; fi
echo "$(($(echo "$native" | wc -l) - differing)) passed, $differing failed"
[ "$differing" -eq 0 ]
