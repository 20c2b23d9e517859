#!/usr/bin/env bash
# Runs the command as a user would and looks at what comes out:  tests/cli/run.sh build/native/plimsoll
set -u
plimsoll=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

# run CODE ARGUMENTS...: runs the command with standard input from the file `in`; out and err hold what it wrote.
# The exit code it must have goes into the verdict of the case.
run() {
  local wanted="$1" code=0
  shift
  "$plimsoll" "$@" <in >out 2>err || code=$?
  [ "$code" -eq "$wanted" ] || complain "exit code $code, not $wanted"
}

complain() { complaints="$complaints    $1"$'\n'; }
expect() { grep -qF -- "$2" "$1" || complain "$1 does not hold: $2"; }
expect_line() { grep -qE -- "$2" "$1" || complain "$1 has no line like: $2"; }
expect_not() { ! grep -qF -- "$2" "$1" || complain "$1 holds: $2"; }
expect_empty() { [ ! -s "$1" ] || complain "$1 is not empty: $(head -c 200 "$1")"; }
expect_same() { diff "$1" "$2" >difference || complain "$1 and $2 differ: $(head -c 200 difference)"; }
expect_lines() { [ "$(wc -l <"$1")" -eq "$2" ] || complain "$1 has $(wc -l <"$1") lines, not $2"; }

# case NAME, then its commands, then verdict.
begin() { name="$1" complaints="" && : >in; }
verdict() {
  if [ -z "$complaints" ]; then
    passed=$((passed + 1)) && echo "ok      $name"
  else
    failed=$((failed + 1)) && printf 'FAILED  %s\n%s' "$name" "$complaints"
  fi
}

# on_terminal COMMAND...: its standard output and error are a terminal; what it wrote goes to the file out.
on_terminal() { script -qec "$*" /dev/null <in 2>&1 | tr -d '\r' >out; }

escape=$(printf '\033')
echo '{"model": "mistral-7b-v0.3", "peft": {"r": 16}, "hardware": {"gpu": "a10g"}}' >request.json
printf '%s\n' '{"model": "mistral-7b-v0.3"}' '{"model": 7}' '{"model": "gpt2"}' >requests.jsonl

begin "--version prints a version and nothing else"
run 0 --version
expect_line out '^[0-9]+\.[0-9]+\.[0-9]+$'
expect_lines out 1
verdict

begin "--help shows examples and the commands"
run 0 --help
expect out "Examples:"
for command in report check advise compare models gpus; do expect out "  $command"; done
verdict

begin "no command, an unknown command and an unknown flag are bad input"
run 3
expect_empty out
run 3 frobnicate
expect_empty out
run 3 report --frobnicate
expect_empty out
verdict

begin "a report is one line of JSON when it goes into a file"
run 0 report request.json
expect_lines out 1
expect out '"ok":true'
expect out '"schema":1'
expect_empty err
verdict

begin "a file, standard input and - give the same bytes"
run 0 report request.json && mv out from_file
cp request.json in && run 0 report && mv out from_input
run 0 report - && mv out from_dash
expect_same from_file from_input
expect_same from_file from_dash
run 0 report --json request.json
expect_same from_file out
verdict

begin "--table prints tables into a pipe, without colour"
run 0 report --table request.json
for heading in "Peak: " "What fills it" "Instants" "Tiers" "Assumed"; do expect out "$heading"; done
expect_not out "$escape"
expect_not out '"schema"'
verdict

begin "tables keep to the width that COLUMNS names"
for width in 60 80 140; do
  COLUMNS=$width run 0 report --table request.json
  longest=$(awk '{ if (length($0) > most) most = length($0) } END { print most }' out)
  [ "$longest" -le "$width" ] || complain "a line of $longest characters at a width of $width"
done
verdict

begin "a terminal gets tables in colour, and none with NO_COLOR"
on_terminal "env -u NO_COLOR TERM=xterm $plimsoll report request.json"
expect out "What fills it"
expect out "${escape}["
on_terminal "NO_COLOR=1 TERM=xterm $plimsoll report request.json"
expect out "What fills it"
expect_not out "${escape}["
verdict

begin "a terminal gets JSON with --json, and errors in words"
on_terminal "$plimsoll report --json request.json"
expect out '"ok": true'
echo '{"model": 7}' >bad.json
on_terminal "$plimsoll report bad.json"
expect out "/model: "
expect_not out '"errors"'
verdict

begin "--json and --table exclude each other"
run 3 report --json --table request.json
expect_empty out
verdict

begin "a file that is missing, or a folder, is said in words"
run 3 report nowhere.json
expect_empty out
expect err '"ok":false'
expect err 'nowhere.json cannot be read: No such file or directory.'
run 3 report "$work"
expect_empty out
expect err 'cannot be read: Is a directory.'
run 3 report --lines nowhere.json
expect_empty out
run 3 check nowhere.json --gpu a10g
expect_empty out
verdict

begin "an output that cannot be written is not a success"
code=0
"$plimsoll" report request.json >/dev/full 2>err || code=$?
[ "$code" -eq 3 ] || complain "exit code $code, not 3"
expect err "could not be written"
verdict

begin "--lines answers each line in its place, a bad one by its errors"
run 3 report --lines requests.jsonl
expect_lines out 3
sed -n 1p out >first && sed -n 2p out >second && sed -n 3p out >third
expect first '"ok":true'
expect_line second '^\{"schema":1,"ok":false,"errors":\['
expect second '"pointer":"/model"'
expect third '"ok":true'
expect_empty err
echo '{"model": "mistral-7b-v0.3"}' >in
run 0 report --quick
expect_same first out
verdict

begin "a single report holds plans, limits and machines; --quick and a want of its own leave them out"
run 0 report request.json
for part in '"plans":[' '"limits":{' '"machines":['; do expect out "$part"; done
run 0 report --quick request.json
expect_not out '"plans":['
echo '{"model": "gpt2", "want": ["limits"]}' >in
run 0 report
expect_not out '"plans":['
verdict

begin "advise and compare answer with JSON, and with tables for people"
run 0 advise request.json
for part in '"tiers":[' '"ladder":[' '"habits":[' '"blocked":'; do expect out "$part"; done
run 0 advise --table request.json
expect out "Every size, with the fewest changes"
run 0 compare request.json request.json
expect out '"differences":[]'
run 3 compare request.json
run 3 advise bad.json
expect_empty out
verdict

begin "advise takes any configuration, and a plan comes as that file again"
cat >config.yaml <<'END'
# ours
base_model: mistralai/Mistral-7B-v0.3
sequence_len: 4096   # tokens
micro_batch_size: 4
gradient_accumulation_steps: 4
adapter: lora
lora_r: 32
lora_target_linear: true
END
run 0 advise config.yaml --gpu rtx-4090
expect out '"file":{"text":'
run 0 advise config.yaml --gpu rtx-4090 --diff
expect out "+gradient_checkpointing: true"
run 0 advise config.yaml --gpu rtx-4090 --plan fewest
expect out "sequence_len: 4096   # tokens"
cp out fixed.yaml
run 0 import fixed.yaml
cp out fixed.json
run 0 check fixed.json --gpu rtx-4090
run 3 advise config.yaml --plan same
expect_empty out
verdict

begin "import says in words what a command leaves open, and reads versions around it"
cat >issue.txt <<'END'
It dies at the first step.

- `transformers` version: 4.51.3
- PyTorch version (GPU?): 2.6.0+cu124 (True)

accelerate launch --num_processes 2 train.py --model_name_or_path Qwen/Qwen3-4B --bf16 \
  --per_device_train_batch_size 4
END
run 0 import issue.txt
expect out '"transformers":"4.51.3"'
expect out '"num_gpus":2'
expect err "Not said: /hardware/gpu"
expect err "Not said: /training/max_length"
expect_not err "/parallel/num_gpus"
echo 'mlx_lm.lora --model Qwen/Qwen3-4B --train --iters 600' >mlx.sh
run 3 import mlx.sh
expect_empty out
expect err "MLX"
verdict

begin "--lines without a bad line ends with 0, and no line gives no line"
run 0 report --lines
expect_empty out
printf '{"model": "gpt2"}\r\n{"model": "gpt2"}' >in
run 0 report --lines
expect_lines out 2
expect_not out '"ok":false'
printf '{"model": "gpt2"}\n\n{"model": "gpt2"}\n' >in
run 3 report --lines
expect_lines out 3
verdict

begin "--lines answers before its input ends"
mkfifo questions answers
"$plimsoll" report --lines <questions >answers &
exec 8>questions 9<answers
echo '{"model": "gpt2"}' >&8
IFS= read -r -t 20 answer <&9 || complain "no answer in 20 seconds"
printf '%s' "${answer:-}" >out
expect out '"ok":true'
exec 8>&- 9<&-
wait $!
verdict

begin "check ends with 0 when it fits"
run 0 check request.json --gpu h200-sxm
expect out '"verdict":"fits"'
expect out '"id":"h200-sxm"'
expect_empty err
verdict

begin "check ends with 1 when only the estimate fits, not its high end"
for length in $(seq 256 256 8192); do
  echo '{"model": "mistral-7b-v0.3", "peft": {}, "training": {"per_device_train_batch_size": 1, "max_length": '"$length"'}, "hardware": {"gpu": "a10g"}}'
done >lengths.jsonl
cp lengths.jsonl in
run 0 report --lines
tight=$(grep -nE '"gpu":\{[^}]*"verdict":"tight"' out | head -n 1 | cut -d: -f1)
sed -n "${tight:-1}p" lengths.jsonl >in
run 1 check --gpu a10g
expect out '"verdict":"tight"'
run 1 check --gpu a10g --table
expect out "but the high end of the estimate does not fit"
verdict

begin "check ends with 2 when it does not fit, whatever GPU the request names"
echo '{"model": "mistral-7b-v0.3", "hardware": {"gpu": "h200-sxm"}}' >in
run 2 check --gpu rtx-2060-6
expect out '"verdict":"no"'
expect out '"id":"rtx-2060-6"'
run 2 check --gpu rtx-2060-6 --table
expect_line out '^  no  [0-9.]+ GiB too much'
verdict

begin "check ends with 3 for a GPU that nobody knows and for a request that is wrong"
run 3 check request.json --gpu voodoo-2
expect_empty out
expect err '"code":"unknown_gpu","pointer":"/hardware/gpu"'
for request in 'no JSON' '[]' '{"model": "gpt2", "hardware": 5}' '{"model": "gpt2", "model": "gpt2"}' '{"hardware": null}'; do
  echo "$request" >in
  run 3 check --gpu a10g
  expect_empty out
  expect err '"ok":false'
done
run 3 check request.json
expect_empty out
verdict

begin "models and gpus list what --gpu and model take"
run 0 gpus
expect_lines out 1
expect out '"a10g"'
run 0 gpus --table
expect_line out '^ *a10g +24 +22\.18 +'
run 0 models
expect out '"mistral-7b-v0.3"'
run 0 models --table
expect_line out 'mistral-7b-v0\.3 +7,248,023,552 '
verdict

begin "diagnose explains a pasted error, with and without the run's request"
echo 'CUDA out of memory. Tried to allocate 1.72 GiB (GPU 0; 5.79 GiB total capacity; 2.37 GiB already allocated; 1.23 GiB free; 2.38 GiB reserved in total by PyTorch)' >in
run 0 diagnose
expect out '"tried":1846835937'
expect out '"id":"other_process"'
run 0 diagnose --table --request request.json --phase loss
expect_line out '^ +1\.72 GiB  asked for'
echo 'all is well' >in
run 3 diagnose
expect_empty out
expect err '"code":"no_message"'
verdict

# A line of bad_requests.tsv: the code and the pointer of each error that it must give, then the request.
while IFS=$'\t' read -r errors request; do
  case "$errors" in '#'* | '') continue ;; esac
  begin "refused: $request"
  printf '%s\n' "$request" >in
  run 3 report
  expect_empty out
  grep -oE '"code":"[a-z_]*","pointer":"[^"]*"' err | sed -E 's/"code":"(.*)","pointer":"(.*)"/\1 \2/' |
    LC_ALL=C sort | paste -sd, >found
  printf '%s\n' "$errors" >wanted
  expect_same wanted found
  verdict
done <"$here/bad_requests.tsv"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
