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
run 0 report --table --all request.json
for heading in "Peak: " "What fills it" "Instants" "Tiers" "Assumed"; do expect out "$heading"; done
expect_not out "$escape"
expect_not out '"schema"'
verdict

begin "tables keep to the width that COLUMNS names"
for width in 60 80 140; do
  for all in "" --all; do
    COLUMNS=$width run 0 report --table $all request.json
    longest=$(awk '{ if (length($0) > most) most = length($0) } END { print most }' out)
    [ "$longest" -le "$width" ] || complain "a line of $longest characters at a width of $width"
  done
done
verdict

begin "a terminal gets tables in colour, and none with NO_COLOR"
on_terminal "env -u NO_COLOR TERM=xterm $plimsoll report request.json"
expect out "Most of it"
expect out "${escape}["
on_terminal "NO_COLOR=1 TERM=xterm $plimsoll report request.json"
expect out "Most of it"
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

begin "a checkpoint that is stored in 4 bits loads so, and a dtype has short names"
run 0 report unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit --gpu 4090 --lora --batch 1 --length 2k --dtype bf16 --table
expect out 'quantization.load_in_4bit is true'
expect_not err 'not known here'
verdict

begin "QLoRA is what it is in words and as a fix: nf4 with double quantisation"
run 0 report Llama-3.1-8B --gpu 4090 --qlora --batch 1 --length 4k
peak=$(grep -oE '"peak": ?\{[^}]*"device": ?[0-9]+' out | head -n 1)
echo '{"model": "Llama-3.1-8B", "hardware": {"gpu": "rtx-4090"}, "peft": {"target_modules": "all-linear"}, "quantization":
  {"load_in_4bit": true, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true}, "training": {"bf16": true,
  "per_device_train_batch_size": 1, "max_length": 4096, "gradient_checkpointing": true}}' >in
run 0 report
expect out "${peak:-no peak}"
verdict

begin "what is usual is what a card and a trainer take: fp16 without bf16, and whole groups of completions"
run 0 report llama-3.2-1b --gpu t4 --length 1k --table
expect out 'training.fp16 is true'
expect out 'model_args.dtype is float32'
run 0 report llama-3.2-1b --gpu t4 --length 1k --lora --table
expect out 'model_args.dtype is float16'
run 0 report qwen2.5-7b --gpu h100 --lora --task grpo --table
expect out 'training.gradient_accumulation_steps is 8'
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
expect out "Every size, with what is usually tried first"
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

begin "a plan that a file has no words for ends with the exit code of check, and says what is lacking"
cat >full.py <<'END'
import torch
from transformers import AutoModelForCausalLM
from trl import SFTConfig
model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.3", dtype=torch.bfloat16)
args = SFTConfig(per_device_train_batch_size=8, max_length=4096, bf16=True, gradient_checkpointing=False)
END
run 2 advise full.py --gpu rtx-4090 --plan fewest
expect out "gradient_checkpointing=True"
expect err "The printed file does not fit yet: it lacks /training/optimizer"
verdict

begin "a field that the command beside a file says is changed there, and the file alone is no plan"
cat >flat.json <<'END'
{"model_name_or_path": "meta-llama/Llama-3.1-8B", "use_peft": true, "lora_r": 16, "max_length": 4096, "bf16": true,
 "per_device_train_batch_size": 8, "gradient_checkpointing": true, "output_dir": "out"}
END
echo 'accelerate launch sft.py --config flat.yaml --per_device_train_batch_size 16' >flat.sh
run 2 advise flat.json --with flat.sh --gpu rtx-4090 --plan same
expect out '"per_device_train_batch_size": 8'
expect err "Not in this file: /training/per_device_train_batch_size"
expect err "the command beside it says this"
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

begin "what a file says and the replay leaves out is named"
cat >left.yaml <<'END'
model_name_or_path: Qwen/Qwen2.5-7B
stage: sft
finetuning_type: lora
tensor_model_parallel_size: 2
cutoff_len: 2048
logging_steps: 10
END
for command in import report check advise; do
  flags="--gpu h100-sxm"
  [ $command = import ] && flags=
  run 0 $command left.yaml $flags
  expect err "Not counted: tensor_model_parallel_size"
  expect_not err "logging_steps"
done
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

begin "check takes the card of the request, and asks where nobody names one"
echo '{"model": "gpt2", "peft": {}, "hardware": {"gpu": "a10g"}}' >in
run 0 check
echo '{"model": "gpt2", "peft": {}}' >in
run 3 check
expect err "--gpu NAME"
verdict

begin "files of one run are read together, given apart or pasted as one"
printf 'from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\nmodel = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-32B")\nTrainer(model=model, args=TrainingArguments(per_device_train_batch_size=2, bf16=True, gradient_checkpointing=True))\n' >train.py
printf 'compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_offload_params: true\nmixed_precision: bf16\nnum_processes: 8\n' >accelerate.yaml
run 0 report train.py --with accelerate.yaml --gpu h100-sxm --quick
expect out '"gpus":8'
cat accelerate.yaml train.py >in
run 0 import -
expect out '"num_gpus":8'
expect out '"strategy":"fsdp"'
expect out '"per_device_train_batch_size":2'
{ cat accelerate.yaml; printf '\naccelerate launch --config_file fsdp.yaml trl/scripts/sft.py \\\n  --model_name_or_path Qwen/Qwen3-8B \\\n  --max_length 8192\n'; } >in
run 0 import -
expect out '"model":"Qwen/Qwen3-8B"'
expect out '"num_gpus":8'
run 3 report train.py --with nowhere.yaml
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
tr '\n' ' ' <out | tr -s ' ' >words
expect words "but that is not sure to be enough"
verdict

begin "check ends with 2 when it does not fit, whatever GPU the request names"
echo '{"model": "mistral-7b-v0.3", "hardware": {"gpu": "h200-sxm"}}' >in
run 2 check --gpu rtx-2060-6
expect out '"verdict":"no"'
expect out '"id":"rtx-2060-6"'
run 2 check --gpu rtx-2060-6 --table
expect_line out '^  no  Needs [0-9.]+ of 5\.[0-9]+ GiB: [0-9.]+ GiB too much'
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

begin "a word shows the part of a list whose names have it"
run 0 gpus 3090
expect_lines out 1
expect out '"rtx-3090"'
expect_not out '"id":"a10g"'
run 0 models QWEN 7b --table
expect out 'qwen2.5-7b'
expect_not out 'mistral'
run 0 fields offload --table
expect out '/parallel/zero_optimization/offload_param/device'
expect_not out '/peft/r '
run 3 gpus zx81
expect err '"code":"unknown_name"'
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

begin "flags alone are a request, and what they were taken for is said"
run 0 report llama-3.1-8b --gpu 4090 --gpus 2 --qlora --rank 16 --batch 2 --length 4k \
  --set training.optim=paged_adamw_8bit --json
expect out '"ok":true'
expect out '"id":"rtx-4090"'
expect out '"command_line":[{"pointer":"/hardware/gpu","value":"rtx-4090","why":"found by the parts of \"4090\""}'
expect out '{"pointer":"/training/max_length","value":4096,"why":"for 4k"}'
expect out '"pointer":"/training/gradient_checkpointing","value":true,"why":"on in most trainers and recipes"'
expect_empty err
echo '{"model": "meta-llama/Llama-3.1-8B", "quantization": {"load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
  "bnb_4bit_use_double_quant": true}, "peft": {"r": 16, "target_modules": "all-linear"}, "hardware": {"gpu": "rtx-4090"}, "parallel": {"num_gpus": 2},
  "training": {"per_device_train_batch_size": 2, "max_length": 4096, "optim": "paged_adamw_8bit", "bf16": true,
  "gradient_checkpointing": true}}' >same.json
sed 's/,"command_line":.*/}/' out >by_flags
run 0 report same.json
expect_same by_flags out
verdict

begin "a run begun with flags has micro-batch 1, said as an assumption; a file has its trainer's default"
run 0 report llama-3.1-8b --gpu 4090 --lora --length 4k --json
expect out '{"pointer":"/training/per_device_train_batch_size","value":1,"why":"the smallest; --batch says another"}'
echo '{"model": "llama-3.1-8b", "peft": {"r": 8}}' >in
run 0 report in --gpu 4090
expect out '"pointer":"/training/per_device_train_batch_size","value":8,"why":"TrainingArguments default"'
verdict

begin "the first table is a verdict, one subtraction, three components and fixes; --all is the rest"
run 0 report llama-3.1-8b --gpu 4090 --lora --batch 2 --length 4k --set training.gradient_checkpointing=false --table
expect_line out '^  no  Needs [0-9.]+ of 23\.5 GiB: [0-9.]+ GiB too much'
expect out "Makes it fit"
expect out "--checkpointing"
expect_not out "Tiers"
[ "$(sed -n '/^Most of it/,/^$/p' out | grep -cE '^ +[0-9.]+  ')" -eq 3 ] || complain "not three components"
[ "$(wc -l <out)" -le 40 ] || complain "the first table has $(wc -l <out) lines"
run 0 report llama-3.1-8b --gpu 4090 --lora --batch 2 --length 4k --table --all
expect out "Tiers"
verdict

begin "the flags of a fix make it fit"
run 0 report llama-3.1-8b --gpu 4090 --qlora --batch 2 --length 4k --table
flags=$(tr '\n' ' ' <out | grep -oE ' --[a-z]+[^ ]*' | tr -d '\n')
first=$(tr '\n' ' ' <out | sed 's/ 2  .*//; s/From the command line.*//' | grep -oE ' --[a-z]+[^ ]*' | tr -d '\n')
[ -n "$flags" ] || complain "no fix is given as flags"
run 0 check llama-3.1-8b --gpu 4090 --qlora --length 4k $(case "$first" in *--batch*) ;; *) echo --batch 2 ;; esac) $first
expect out '"verdict":"fits"'
verdict

begin "flags go before a request, and that is said"
run 0 report request.json --gpu t4 --length 8,192 --json
expect out '{"pointer":"/hardware/gpu","value":"t4","why":"the request says a10g"}'
run 0 report request.json --gpu t4 --table
expect out "hardware.gpu is t4: the request says a10g"
cp request.json in && run 0 report --gpu t4
expect out '"id":"t4"'
cp request.json in && run 0 report - --model gpt2 --full
expect out '"id":"gpt2"'
expect out '"pointer":"/peft","value":null,"why":"the request says '
cp requests.jsonl in && run 3 report --lines --gpu t4
expect_lines out 3
expect out '"id":"t4"'
verdict

begin "a configuration of another tool is checked and reported as it is, with flags on top"
run 1 check config.yaml --gpu h200-sxm
expect out '"verdict":"tight"'
run 0 report config.yaml --gpu 4090 --batch 1 --json
expect out '"id":"rtx-4090"'
expect out '"pointer":"/training/per_device_train_batch_size","value":1,"why":"the request says 4"'
verdict

begin "check, advise, compare and export take a model and flags too"
run 2 check llama-3.1-8b --gpu 4090 --full --length 2k
run 0 check gpt2 --gpu 4090 --lora --length 512
run 0 advise llama-3.1-8b --gpu 4090 --qlora --length 4k
expect out '"plans":['
run 0 compare llama-3.1-8b qwen3-8b --gpu 4090 --qlora --length 2k
expect out '"field":"model"'
run 0 compare request.json --checkpointing
expect out '"field":"training.gradient_checkpointing"'
run 0 export llama-3.1-8b --qlora --rank 16 --length 4k --stack axolotl --as axolotl
expect out "base_model: meta-llama/Llama-3.1-8B"
expect out "adapter: qlora"
expect out "lora_r: 16"
expect out "sequence_len: 4096"
expect err "training.max_length is 4096: for 4k"
verdict

begin "--set takes every field, by its whole name, by its last part or by parts"
run 0 export gpt2 --set training.packing=yes --set optim=adafactor --set /training/max_length=1e3 \
  --set gradient_accumulation=4 --set want=plans,limits --set locks=peft.r --as request
expect out '"packing": true'
expect out '"optim": "adafactor"'
expect out '"max_length": 1000'
expect out '"gradient_accumulation_steps": 4'
expect err "training.optim is adafactor: the field that --set optim means"
run 0 export gpt2 --lora --set peft.target_modules=c_attn,c_proj --set peft.lora_dropout=0.05 --as request
expect out '"c_proj"'
expect out '"lora_dropout": 0.05'
run 0 export request.json --set peft=null --as request
expect_not out '"peft": {'
verdict

begin "a card is found as nvidia-smi, a shop or a person writes it, with how many there are"
card() {
  run 0 report gpt2 --gpu "$1" --json
  expect out "\"gpu\":{\"id\":\"$2\""
}
card "NVIDIA H100 80GB HBM3" h100-sxm
card "NVIDIA A100 80GB PCIe" a100-pcie-80
card "NVIDIA RTX 6000 Ada Generation" rtx-6000-ada
card "NVIDIA GeForce RTX 4060 Laptop GPU" rtx-4060-laptop
card "A100 80GB" a100-sxm-80
card "a100-40" a100-sxm-40
card h100 h100-sxm
card 3060 rtx-3060-12
card "4060 ti 16gb" rtx-4060-ti-16
run 0 report gpt2 --gpu "2x 3090s" --table
expect out "2 x GeForce RTX 3090"
run 3 report gpt2 --gpu "4090 mobile"
verdict

begin "words given to check are pointed to diagnose"
echo "Will Llama 3.1 8B with QLoRA fit on a 4090?" >words.txt
run 3 check words.txt
expect err "plimsoll diagnose FILE"
verdict

begin "what --set cannot mean is refused in the words of the core, with what was probably meant"
refused() {
  local wanted="$1" meant="$2"
  shift 2
  run 3 "$@"
  expect_empty out
  expect err "$wanted"
  expect err "$meant"
}
refused '"code":"unknown_key","pointer":"/training/optin"' "Did you mean optim?" report gpt2 --set training.optin=x
refused '"code":"unknown_key","pointer":"/optin"' "Did you mean optim?" report gpt2 --set optin=x
refused '"code":"unknown_value","pointer":"/training/optim"' "Did you mean adamw_torch?" report gpt2 --optim adamw_tosch
refused '"code":"wrong_type","pointer":"/training/max_length"' "a whole number" report gpt2 --length long
refused '"code":"negative","pointer":"/peft/r"' "cannot be negative" report gpt2 --lora --rank=-1
refused '"code":"wrong_type","pointer":"/training/packing"' "true or false" report gpt2 --set packing=perhaps
refused '"code":"out_of_range","pointer":"/parallel/num_gpus"' "1 to 65536" report gpt2 --gpus 0
refused '"code":"missing"' "gives no field and value" report gpt2 --set training.packing
refused '"code":"conflict","pointer":"/peft"' "no adapter" report gpt2 --full --rank 8
refused '"code":"unknown_stack"' "Did you mean axolotl?" report gpt2 --stack axolotle
refused '"code":"ambiguous","pointer":"/hardware/gpu"' '"a100-pcie-40, a100-pcie-80, a100-sxm-40, a100-sxm-80"' report gpt2 --gpu a100
refused '"code":"ambiguous","pointer":"/model"' '"llama-3.1-70b, ' report llama-70b
refused '"code":"ambiguous","pointer":"/training/optim"' 'adamw_torch' report gpt2 --optim adamw
refused '"code":"unknown_gpu"' "Did you mean rtx-4090?" report gpt2 --gpu rtx-4909
refused '"code":"unknown_model"' "Did you mean llama-3.1-8b?" report lama-3.1-8b
refused "" "--lora excludes" report gpt2 --full --lora
refused "" "Did you mean --rank?" report gpt2 --ranks 8
refused "" "Did you mean report?" reprot gpt2
refused '"code":"missing"' "nothing to compare" compare request.json
verdict

begin "a model that no list holds is read from the local Hugging Face cache, and that is said"
snapshots=cache/models--ours--secret-9b/snapshots
mkdir -p "$snapshots/aaaa" "$snapshots/bbbb" cache/models--ours--secret-9b/refs
config='{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 512, "intermediate_size": 1024,
  "num_hidden_layers": LAYERS, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 1000, "torch_dtype": "bfloat16"}'
echo "${config/LAYERS/2}" >"$snapshots/aaaa/config.json"
echo "${config/LAYERS/4}" >"$snapshots/bbbb/config.json"
printf bbbb >cache/models--ours--secret-9b/refs/main
HF_HUB_CACHE=$work/cache run 0 report ours/secret-9b --gpu 4090 --json
expect out '"parameters":11514368'
expect out "from the local Hugging Face cache, $work/cache/models--ours--secret-9b/snapshots/bbbb/config.json"
rm -r cache/models--ours--secret-9b/refs
HF_HUB_CACHE=$work/cache run 0 report ours/secret-9b --gpu 4090 --json
expect out '"parameters":6269440'
mkdir -p home/hub && mv cache/models--ours--secret-9b home/hub/
echo '{"model": "ours/secret-9b"}' >in
HF_HOME=$work/home run 0 report
expect out '"parameters":6269440'
HF_HUB_CACHE=$work/cache run 3 report ours/secret-9b
expect err '"code":"unknown_model"'
HF_HUB_CACHE=$work/home/hub run 3 report ../models--ours--secret-9b
verdict

begin "a folder that holds a config.json is a model"
run 0 report home/hub/models--ours--secret-9b/snapshots/aaaa --lora --json
expect out '"parameters":6269440'
verdict

begin "a config.json alone gets the choices that the name of a model gets"
small=home/hub/models--ours--secret-9b/snapshots/aaaa
run 0 report "$small" --gpu 4090 --lora --json
grep -o '"allocated":[0-9]*' out | head -1 >by_folder
for given in "$small/config.json" "--model $small/config.json"; do
  run 0 report $given --gpu 4090 --lora --json
  [ "$(grep -o '"allocated":[0-9]*' out | head -1)" = "$(cat by_folder)" ] || complain "$given: another peak than the folder"
done
verdict

begin "every command's help has an example, and every example of a model runs"
for command in report check advise compare export import patch diagnose models gpus fields completion man; do
  run 0 "$command" --help
  expect out "Examples:"
  expect out "plimsoll $command"
  grep -E '^  plimsoll (report|check|advise|compare|export) [a-z]+[0-9.-]*[^ ]* --' out | grep -v '\.json\|\.yaml --\|<' |
    sed 's/   .*//; s/ > .*//' >>examples
done
[ "$(wc -l <examples)" -ge 4 ] || complain "only $(wc -l <examples) examples of models"
while read -r _ words; do
  code=0
  "$plimsoll" $words >out 2>err </dev/null || code=$?
  [ "$code" -ne 3 ] || complain "the example fails: $words: $(head -c 200 err)"
done <examples
verdict

begin "help keeps to the width, but for examples"
for width in 80 120; do
  for command in report check compare completion; do
    COLUMNS=$width run 0 "$command" --help
    longest=$(grep -v '^  plimsoll\|^  source\|Excludes' out | awk '{ if (length($0) > most) most = length($0) } END { print most }')
    [ "$longest" -le "$width" ] || complain "$command: a line of $longest characters at a width of $width"
  done
done
verdict

begin "completion knows commands, flags, cards, models, words and fields, in three shells"
for shell in bash zsh fish; do
  run 0 completion "$shell"
  for word in report axolotl rtx-4090 qwen3-8b paged_adamw_8bit accumulation zero3 training.packing; do
    expect out "$word"
  done
done
run 3 completion tcsh
run 0 completion bash
cp out completion.bash
complete_as() { bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plimsoll 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' _ "$@" >out; }
complete_as plimsoll rep
expect_line out '^report$'
complete_as plimsoll report gpt2 --gpu rtx-409
expect_line out '^rtx-4090$'
complete_as plimsoll report qwen3-8
expect_line out '^qwen3-8b$'
complete_as plimsoll check gpt2 --str
expect_line out '^--strategy$'
complete_as plimsoll report gpt2 --set training.pack
expect_line out '^training.packing=$'
complete_as plimsoll export gpt2 --as ax
expect_line out '^axolotl$'
complete_as plimsoll check req
expect_line out '^request\.json$'
verdict

begin "the manual page has every command and flag, and is clean troff"
run 0 man
expect_line out '^\.TH PLIMSOLL 1 '
for word in 'plimsoll report' 'plimsoll completion' '\-\-accumulation' 'NO_COLOR' 'HF_HUB_CACHE' 'EXIT STATUS'; do expect out "$word"; done
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww -z out 2>err
  expect_empty err
fi
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

while IFS=$'\t' read -r said text; do
  case "$said" in '#'* | '') continue ;; esac
  begin "told of: $text"
  printf '%b' "$text" >in
  "$plimsoll" import in --json >out 2>err || true
  cat out err | grep -oE '"code":"[a-z_]*"|"key":"[^"]*","use":"(unsupported|unknown)"' |
    sed -E 's/"code":"(.*)"/error \1/; s/"key":"(.*)","use":"(.*)"/\2 \1/' |
    awk '/^error/ { errors = errors "," $0; next } { rest = rest "," $0 } END { print substr(errors rest, 2) }' >found
  printf '%s\n' "$said" >wanted
  expect_same wanted found
  verdict
done <"$here/bad_configurations.tsv"

while IFS=$'\t' read -r said text; do
  case "$said" in '#'* | '') continue ;; esac
  begin "pasted: $text"
  printf '%s' "$text" >in
  "$plimsoll" diagnose in --json >out 2>err || true
  if [ "$said" = no_message ]; then expect err '"code":"no_message"'; else expect out "$said"; fi
  verdict
done <"$here/bad_pastes.tsv"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
