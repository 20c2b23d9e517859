// Scripts of the shell, followed as bash does: what stands behind "train" is what bash 5.2 gives it, but where a value is
// not known here, a paste lost its backslashes, or a command is passed over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/exchange/import.h"
#include "core/exchange/shell/follow.h"

namespace plimsoll::exchange::shell {
namespace {

// The words behind "train" of the command that is found.
std::string given_to_train(std::string_view script) {
  const Followed run = follow(script, {});
  std::string words;
  bool behind = false;
  for (const Word& word : run.command) {
    if (behind) words += (words.empty() ? "" : " ") + word.text.characters;
    behind = behind || word.is("train");
  }
  return words;
}

TEST(FollowedShell, VariablesArePutIn) {
  EXPECT_EQ(given_to_train("A=6\nB=4\ntrain $A/${B}"), "6/4");
  EXPECT_EQ(given_to_train("train ${C:-7} ${C-8} ${C:=9}"), "7 8 9");
  EXPECT_EQ(given_to_train("A=6\ntrain ${A:-7} ${A:+x} \"${B:+x}\""), "6 x ");
  EXPECT_EQ(given_to_train("A='a b'\ntrain $A"), "a b");
  EXPECT_EQ(given_to_train("M=org/name.ext\ntrain ${M##*/} ${M%.*} ${M%%/*} ${M#org/} ${M/name/other} ${#M}"),
            "name.ext org/name org name.ext org/other.ext 12");
  EXPECT_EQ(given_to_train("M=Llama\ntrain ${M,,} ${M^^} ${M:0:2} ${M:3}"), "llama LLAMA Ll ma");
  EXPECT_EQ(given_to_train("A=2\nB='$A'\ntrain $B \"$A\" '$A' x\"$A\"'y'"), "$A 2 $A x2y");
  EXPECT_EQ(given_to_train("A=x\nA+=y\ntrain $A"), "xy");
  EXPECT_EQ(given_to_train("B=A\nA=deep\ntrain ${!B} ${N:-${A}}"), "deep deep");
  EXPECT_EQ(given_to_train("train a\\ b \"c\\\"d\" e\\\nf"), "a b c\"d ef");
}

TEST(FollowedShell, WhatIsNotKnownStaysAsItIsWritten) {
  EXPECT_EQ(given_to_train("train $UNKNOWN/model $(nproc) ${A%.*} $1"), "$UNKNOWN/model $(nproc) ${A%.*} $1");
  EXPECT_EQ(given_to_train("A=6\ntrain $((A / 0)) $((A / C))"), "$((A / 0)) $((A / C))");
  EXPECT_EQ(given_to_train("train \"$@\" --x"), "--x");
}

TEST(FollowedShell, WholeNumbersAreWorkedOut) {
  EXPECT_EQ(given_to_train("A=6\nB=4\ntrain $((A * (B + 2) / 3)) $((${A} % $B)) $(expr $A + 1)"), "12 2 7");
}

TEST(FollowedShell, ListsAreTheirItems) {
  EXPECT_EQ(given_to_train("L=(a 'b c' d)\nL+=(e)\ntrain \"${L[@]}\" ${#L[@]} ${L[1]} $L"),
            "a b c d e 4 b c a");
  EXPECT_EQ(given_to_train("declare -A M=([small]=1b [large]=7b)\nS=large\ntrain ${M[$S]}"), "7b");
  EXPECT_EQ(given_to_train("L=(7b 13b)\nfor ((i=0;i<2;i++)); do\ntrain ${L[$i]}\ndone"), "7b");
  EXPECT_EQ(given_to_train("L=(7b 13b)\nfor i in \"${!L[@]}\"; do\ntrain ${L[$i]} $i\ndone"), "7b 0");
}

TEST(FollowedShell, ACommentInAListIsNone) {
  EXPECT_EQ(given_to_train("L=(\n  --a 1  # it's (not\n  # --b 2\n  --c 3\n)\ntrain \"${L[@]}\""),
            "--a 1 --c 3");
}

TEST(FollowedShell, ConditionsAreSettledByTheText) {
  EXPECT_EQ(
      given_to_train(
          "S=sft\nif [ \"$S\" = dpo ]; then A=1; elif [[ $S == s* ]]; then A=2; else A=3; fi\ntrain $A"),
      "2");
  EXPECT_EQ(given_to_train("N=${N:-8}\n[ $N -gt 4 ] && A=many || A=few\ntrain $A"), "many");
  EXPECT_EQ(given_to_train("[ -z \"$X\" ] && X=5\n[[ -n $X && ! $X == 4 ]] || X=6\ntrain $X"), "5");
  EXPECT_EQ(given_to_train(
                "case ${STAGE:-lora} in\n  full) A=1 ;;\n  lora|qlora) A=2 ;;\n  *) A=3 ;;\nesac\ntrain $A"),
            "2");
  EXPECT_EQ(given_to_train("N=3\nif ((N > 2)); then A=1; else A=2; fi\ntrain $A"), "1");
  EXPECT_EQ(given_to_train("N=4\nif [[ -v N && -n \"$N\" ]]; then A=$N; else A=$(nproc); fi\ntrain $A"), "4");
  EXPECT_EQ(given_to_train("V=colocate\ntrain $([ \"$V\" != off ] && echo true || echo false)"), "true");
}

TEST(FollowedShell, ACheckThatEndsTheScriptIsPassed) {
  EXPECT_EQ(given_to_train(
                "if [ $# -lt 1 ]; then echo usage; exit 1; fi\nif [ ! -d data ]; then exit 1; fi\n"
                "cd x || exit 1\nset -euo pipefail\ntorchrun train 1\nexit 0\ntorchrun train 2 --a --b --c"),
            "1");
}

TEST(FollowedShell, FunctionsRunWithWhatTheyAreGiven) {
  EXPECT_EQ(
      given_to_train(
          "run() {\n  local model=$1 size=${2:-4}\n  shift\n  train $model $size $# \"$@\"\n}\nrun a 5 c"),
      "a 5 2 5 c");
  EXPECT_EQ(given_to_train("function start {\n  bash -c \"train $1\"\n}\nstart b"), "b");
}

TEST(FollowedShell, LoopsGoRoundForWhatTheyName) {
  EXPECT_EQ(given_to_train("for m in a b; do\n  train $m\ndone"), "a");
  EXPECT_EQ(given_to_train("A=\nfor f in 1 2 3; do A=\"$A --x$f\"; done\ntrain $A"), "--x1 --x2 --x3");
  EXPECT_EQ(
      given_to_train(
          "B=1\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --b) B=\"$2\"; shift 2 ;;\n  esac\ndone\ntrain $B"),
      "1");
  EXPECT_EQ(given_to_train(
                "G=0,1,2\ntrain $(echo $G | tr ',' '\\n' | wc -l) $(basename a/b.sh .sh) $(dirname a/b)"),
            "3 b a");
}

TEST(FollowedShell, TheCommandThatTrainsIsMeant) {
  EXPECT_EQ(
      given_to_train(
          "python prepare.py --a 1 --b 2 --c 3\npython train 1 --lr 2\npython eval.py --x 1 --y 2 --z 3"),
      "1 --lr 2");
  EXPECT_EQ(given_to_train("cat <<EOF\ntrain wrong --a --b --c\nEOF\ntrain right > log 2>&1 &\nwait"),
            "right");
  EXPECT_EQ(given_to_train("echo 'train wrong --a --b'\nsrun -n 1 bash -c 'train right --x'"), "right --x");
}

TEST(FollowedShell, ADocumentIsReadIntoAVariableOrWrittenToAFile) {
  EXPECT_EQ(given_to_train("M=x\nread -r -d '' ARGS <<EOF\n--model $M\nEOF\ntrain $ARGS"), "--model x");
  EXPECT_EQ(given_to_train("ARGS=$(cat <<'EOF'\n--model $M\nEOF\n)\ntrain $ARGS"), "--model $M");
  EXPECT_EQ(given_to_train("bash <<EOF\ntrain inside\nEOF"), "inside");
  const Followed run = follow("cat > ds.json <<EOF\n{\"a\": 1}\nEOF\ntrain --deepspeed ds.json", {});
  ASSERT_EQ(run.files.size(), 1U);
  EXPECT_EQ(run.files[0].first, "ds.json");
  EXPECT_EQ(run.files[0].second.characters, "{\"a\": 1}\n");
}

TEST(FollowedShell, APasteThatLostItsBackslashesGoesOn) {
  EXPECT_EQ(given_to_train("train \\ \n  --a 1\n  # --b 2\n\n  --c 3\n"), "--a 1 --c 3");
}

TEST(FollowedShell, AVariableKnowsWhereItWasWritten) {
  const std::string script = "MODEL=\"Qwen/Qwen3-4B\"\nARGS=\"--name $MODEL --lr 1e-4\"\ntrain $ARGS";
  const Followed run = follow(script, {});
  ASSERT_EQ(run.command.size(), 5U);
  EXPECT_EQ(script.substr(run.command[2].span.at, run.command[2].span.length), "\"Qwen/Qwen3-4B\"");
  EXPECT_EQ(script.substr(run.command[4].span.at, run.command[4].span.length), "1e-4");
}

TEST(FollowedShell, WhatIsMeantToHurtEnds) {
  std::string grows = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 200; ++i) grows += "A=$A$A$A$A\n";
  std::string nested, open;
  for (int i = 0; i < 500; ++i) nested += "if true; then for i in 1 2 3 4 5 6 7 8 9; do ";
  for (int i = 0; i < 5000; ++i) open += "$(${$((\"`";
  std::string braces, brackets, quotes, calls = "f() { f; f; }\n", lists = "A=(1)\n";
  for (int i = 0; i < 100'000; ++i) {
    braces += "${";
    brackets += "$(";
    quotes += i % 2 == 0 ? "'\"" : "\\";
    calls += "f\n";
    lists += "A+=(1)\n";
  }
  for (const std::string& script : {grows,
                                    nested,
                                    open,
                                    braces,
                                    brackets,
                                    quotes,
                                    calls,
                                    lists,
                                    std::string("while true; do A=$A.; done"),
                                    std::string("case"),
                                    std::string("case x in a"),
                                    std::string("case x in\n"),
                                    std::string("for"),
                                    std::string("(((((("),
                                    std::string("a() b() c() {"),
                                    std::string("<<A <<B"),
                                    std::string("A[=1"),
                                    std::string("A=(\n"),
                                    std::string("${"),
                                    std::string("\\"),
                                    std::string("!"),
                                    std::string("[")})
    follow(script, {});
}

using json::Json;

Import command(const std::string& text) { return import_document(read_text(text), text); }

Json said(const Import& import, const char* pointer) {
  return import.request.value(Json::json_pointer(pointer), Json());
}

// transformers/hf_argparser.py: a bare flag of a bool is True.
TEST(ExchangeCommand, ABareFlagThatChangesMemoryIsOn) {
  const Import import = command(
      "llamafactory-cli train --model_name_or_path Qwen/Qwen3-8B --stage sft --template qwen3 --use_adam_mini "
      "--shift_attn --auto_find_batch_size false --bf16");
  const auto use_of = [&import](const std::string& path) {
    const auto found = std::find_if(import.findings.begin(), import.findings.end(),
                                    [&path](const Finding& one) { return one.path == path; });
    return found == import.findings.end() ? Use::unknown : found->use;
  };
  EXPECT_EQ(use_of("use_adam_mini"), Use::unsupported);
  EXPECT_EQ(use_of("shift_attn"), Use::unsupported);
  EXPECT_EQ(use_of("auto_find_batch_size"), Use::implied);
}

// torch/distributed/run.py parse_min_max_nnodes.
TEST(ExchangeCommand, OfARangeOfMachinesTheFewestAreTaken) {
  const Import import =
      command("torchrun --nnodes=1:4 --nproc_per_node=8 train.py --model_name_or_path gpt2 --max_length 512");
  EXPECT_EQ(said(import, "/parallel/num_gpus"), Json(8));
  EXPECT_EQ(said(command("torchrun --nnodes=2:4 --nproc_per_node=8 train.py --model_name_or_path gpt2"),
                 "/parallel/num_gpus"),
            Json(16));
  EXPECT_THAT(import.findings,
              testing::Contains(testing::Field(&Finding::message, testing::HasSubstr("fewest"))));
}

// deepspeed/launcher/runner.py parse_resource_filter.
TEST(ExchangeCommand, DeepSpeedsFilterCountsTheSlotsOfEachMachine) {
  const auto gpus = [](const std::string& filter) {
    return said(
        command("deepspeed --include=" + filter + " train.py --model_name_or_path gpt2 --max_length 512"),
        "/parallel/num_gpus");
  };
  EXPECT_EQ(gpus("worker-0:0,1@worker-1:2,3"), Json(4));
  EXPECT_EQ(gpus("localhost:0,1,2"), Json(3));
  EXPECT_EQ(gpus("worker-0@worker-1:0,2"), Json());  // as many as that machine has
}

// trl/accelerate_configs/*.yaml.
TEST(ExchangeCommand, TrlsOwnConfigurationsOfAccelerateAreKnownByTheirNames) {
  const std::string run = "trl sft --model_name_or_path Qwen/Qwen3-8B --accelerate_config ";
  EXPECT_EQ(said(command(run + "zero3"), "/parallel/strategy"), Json("zero3"));
  EXPECT_EQ(said(command(run + "zero3"), "/parallel/num_gpus"), Json(8));
  EXPECT_EQ(said(command(run + "single_gpu"), "/parallel/num_gpus"), Json(1));
  EXPECT_EQ(said(command(run + "fsdp2 --num_processes 4"), "/parallel/strategy"), Json("fsdp2"));
  EXPECT_EQ(said(command(run + "fsdp2 --num_processes 4"), "/parallel/num_gpus"), Json(4));
  EXPECT_EQ(said(command(run + "configs/my_zero2.yaml"), "/parallel/strategy"), Json("zero2"));
}

TEST(ExchangeCommand, AModuleIsTheFileThatItNames) {
  const std::string model = " --model_name_or_path Qwen/Qwen3-8B --max_length 1024";
  EXPECT_EQ(said(command("accelerate launch -m trl.scripts.sft" + model), "/stack"), Json("trl"));
  const Import dpo = command("python -m trl.scripts.dpo" + model);
  EXPECT_EQ(said(dpo, "/stack"), Json("trl"));
  EXPECT_EQ(said(dpo, "/task"), Json("dpo"));
  EXPECT_EQ(said(command("python -m swift.cli.sft --model Qwen/Qwen3-8B"), "/stack"), Json("ms-swift"));
  EXPECT_EQ(said(command("python -m llamafactory.cli train --stage sft" + model), "/stack"),
            Json("llamafactory"));
}

TEST(ExchangeCommand, WhatStartsAnotherCommandLeavesItAsItIs) {
  const std::string python = "python train.py --model_name_or_path gpt2 --per_device_train_batch_size 3";
  const std::string trl = "trl sft --model_name_or_path gpt2 --per_device_train_batch_size 3";
  for (const char* before :
       {"time ", "time -p ", "sudo ", "sudo -u me ", "poetry run ", "conda run -n x ",
        "conda run --no-capture-output -n x ", "docker run --gpus all -v $PWD:/w image:1 ",
        "apptainer exec --nv image.sif ", "mpirun -x NCCL_DEBUG ", "uv run --with trl ", "nice -n 5 ",
        "timeout 3h ", "!", "! "}) {
    const Import import = command(before + python);
    ASSERT_TRUE(import.errors.empty()) << before << import.errors.front().message;
    EXPECT_EQ(said(import, "/model"), Json("gpt2")) << before;
    EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(3)) << before;
    for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << before << found.path;
  }
  for (const char* before :
       {"uvx --from trl ", "uv run --with trl ", "poetry run ", "docker run -it image ", "!"})
    EXPECT_EQ(said(command(before + trl), "/stack"), Json("trl")) << before;
  EXPECT_EQ(said(command("mpirun -np 8 -H a:4,b:4 " + python), "/parallel/num_gpus"), Json(8));
}

TEST(ExchangeCommand, LinesOfACellAreACommand) {
  const Import import = command(
      "!pip install trl\n!CUDA_VISIBLE_DEVICES=0,1 accelerate launch train.py \\\n  --model_name_or_path gpt2 \\\n"
      "  --max_length 512\n");
  ASSERT_TRUE(import.errors.empty()) << import.errors.front().message;
  EXPECT_EQ(said(import, "/model"), Json("gpt2"));
  EXPECT_EQ(said(import, "/parallel/num_gpus"), Json(2));
  EXPECT_EQ(language_of("base_model: !env MODEL\nlora_r: 8\n"), Language::yaml);
  EXPECT_EQ(language_of("time is short: train\nconda: yes\n"), Language::yaml);
}

// axolotl/cli/utils/args.py: its flags stand over the file's keys.
TEST(ExchangeCommand, AFileThatIsNotHereIsNamedThoughTheModelIsSaid) {
  const Import import =
      command("axolotl train qwen3.yaml --base-model Qwen/Qwen3-4B --micro-batch-size 4 --sequence-len 2048");
  EXPECT_THAT(import.notes, testing::Contains(testing::HasSubstr("qwen3.yaml")));
  EXPECT_THAT(command("tune run lora_finetune_single_device --config my_qwen.yaml batch_size=2").notes,
              testing::Contains(testing::HasSubstr("my_qwen.yaml")));
}

// trl/trainer/grpo_config.py v0.25 to v0.27 __post_init__.
TEST(ExchangeCommand, TheLossOfLigerIsReadByItsOldName) {
  EXPECT_EQ(
      said(command("trl grpo --model_name_or_path gpt2 --use_liger_loss True"), "/training/use_liger_kernel"),
      Json(true));
}

}  // namespace
}  // namespace plimsoll::exchange::shell
