// Preference and reinforcement learning: what each loss holds of the logits, and what the tasks add to a
// step.
#include "core/recipe/tasks.h"

#include "core/memory/head/log_probs.h"
#include "core/memory/step/task_parts.h"
#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

constexpr double hidden = 8, vocabulary = 50000, length = 128;

// Bytes a logit that PyTorch 2.15 allocated on a CPU for the code of the TRL versions, batch B, 128 tokens,
// 50,000 words; the forward figure without the entropy statistics (tests/measured/log_probs.py).
struct Multiplier {
  const char* kernel;
  double batch;
  bool autocast;
  memory::Division division;
  double forward, held, backward;
};
const Multiplier multipliers[] = {
    {"selective_log_softmax", 1, true, memory::Division::none, 8, 4, 16},
    {"selective_log_softmax", 4, true, memory::Division::none, 6, 4, 12},
    {"selective_log_softmax", 8, true, memory::Division::none, 6, 4, 12},
    {"selective_log_softmax", 4, true, memory::Division::in_place, 6, 4, 16},
    {"selective_log_softmax", 8, true, memory::Division::in_place, 6, 4, 16},
    {"selective_log_softmax", 1, false, memory::Division::none, 4, 2, 6},
    {"selective_log_softmax", 8, false, memory::Division::none, 4, 2, 4},
    {"log_softmax_gather", 1, true, memory::Division::none, 8, 4, 12},
    {"log_softmax_gather", 4, true, memory::Division::none, 12, 4, 12},
    {"log_softmax_gather", 1, false, memory::Division::none, 4, 2, 6},
    {"log_softmax_gather", 4, false, memory::Division::none, 6, 2, 6},
};

memory::HeadProgram program(const Multiplier& row) {
  memory::HeadProgram p;
  p.kernel = row.kernel;
  p.layer.mode.autocast = row.autocast;
  p.layer.batch = row.batch;
  p.layer.length = length;
  p.layer.hidden = hidden;
  p.head.in = hidden;
  p.head.out = vocabulary;
  p.head.size = 2;
  p.outputs_to_fp32 = row.autocast;
  p.scoring.division = row.division;
  return p;
}

class LogProbabilityBytes : public testing::TestWithParam<Multiplier> {};
TEST_P(LogProbabilityBytes, AreThoseThatPyTorchAllocates) {
  const Multiplier& row = GetParam();
  const memory::HeadReplay replay = memory::replay_head(program(row));
  const double logits = row.batch * length * vocabulary;
  EXPECT_NEAR(replay.forward_peak.total() / logits, row.forward, 0.1);
  EXPECT_NEAR(replay.held.total() / logits, row.held, 0.1);
  EXPECT_NEAR(replay.backward_peak.total() / logits, row.backward, 0.15);
}
INSTANTIATE_TEST_SUITE_P(Table, LogProbabilityBytes, testing::ValuesIn(multipliers));

TEST(LogProbabilities, OnlyTheCompletionHasLogits) {
  memory::HeadProgram whole = program(multipliers[1]), end = whole;
  end.scoring.tokens = length / 4;
  EXPECT_NEAR(
      memory::replay_head(end).backward_peak.total() / memory::replay_head(whole).backward_peak.total(), 0.25,
      0.01);
}

Json request(const char* task, const Json& training = Json::object(), const Json& rl = nullptr,
             bool adapters = true) {
  Json body = {
      {"model", "qwen2.5-7b"}, {"stack", "trl"}, {"task", task}, {"model_args", {{"dtype", "bfloat16"}}}};
  body["training"] = {{"per_device_train_batch_size", 2}};
  for (const auto& [key, value] : training.items()) body["training"][key] = value;
  if (!rl.is_null()) body["rl"] = rl;
  if (adapters) body["peft"] = {{"r", 16}, {"target_modules", "all-linear"}};
  return body;
}
uint64_t peak_of_task(const Json& body) { return bytes(answer(body), "/memory/peak/allocated"); }

TEST(Tasks, EachOneOfTheTableIsAnswered) {
  for (const recipe::Task& task : recipe::tasks()) {
    const Json report = answer(request(std::string(task.id).c_str()));
    EXPECT_TRUE(at(report, "/ok").get<bool>()) << task.id << ": " << json::write(report).substr(0, 400);
  }
}

TEST(Tasks, APrecomputedReferenceNeverNeedsMore) {
  for (const char* task : {"dpo", "kto"}) {
    for (const bool adapters : {true, false}) {
      for (const char* trl : {"0.11", "0.24", "1.9"}) {
        for (const int batch : {1, 2, 8}) {
          Json with = request(task, {{"per_device_train_batch_size", batch}}, Json::object(), adapters);
          with["versions"] = {{"trl", trl}};
          Json precomputed = with;
          precomputed["rl"]["precompute_ref_log_probs"] = true;
          EXPECT_LE(peak_of_task(precomputed), peak_of_task(with)) << json::write(with);
        }
      }
    }
  }
}

TEST(Tasks, MoreGenerationsOrLongerCompletionsNeverNeedLess) {
  for (const char* task : {"grpo", "rloo", "ppo"}) {
    uint64_t before = 0;
    for (const int generations : {1, 4, 8, 64}) {
      const uint64_t now = peak_of_task(request(task, {}, {{"num_generations", generations}}));
      EXPECT_GE(now, before) << task << " " << generations;
      before = now;
    }
    before = 0;
    for (const int completion : {16, 64, 256, 1024, 4096}) {
      const uint64_t now = peak_of_task(request(task, {}, {{"max_completion_length", completion}}));
      EXPECT_GE(now, before) << task << " " << completion;
      before = now;
    }
  }
}

// Transformers' DynamicCache concatenates layer by layer: everything, and one layer's copy.
TEST(Tasks, DecodingHoldsTheKeysOfEveryTokenOnce) {
  constexpr uint64_t rows = 16, tokens = 2048, virtual_tokens = 20;
  struct {
    const char* model;
    Json peft;
    uint64_t layers, bytes_a_token, prompt;
  } const cases[] = {
      {"qwen2.5-7b", {{"peft_type", "PROMPT_TUNING"}}, 28, 28 * 2 * 4 * 128 * 2, virtual_tokens},
      {"llava-hf/llava-1.5-7b-hf", {{"r", 8}, {"target_modules", "all-linear"}}, 32, 32 * 2 * 4096 * 2, 0},
  };
  for (const auto& each : cases) {
    const Json request = {
        {"model", each.model},
        {"task", "grpo"},
        {"model_args", {{"dtype", "bfloat16"}}},
        {"peft", each.peft},
        {"training", {{"per_device_train_batch_size", rows}, {"max_length", tokens}, {"bf16", true}}},
        {"rl", {{"max_completion_length", tokens - 64}, {"steps_per_generation", 1}}}};
    const uint64_t cache = each.bytes_a_token * rows * (tokens + each.prompt);
    EXPECT_EQ(component(instant(answer(request), "generate"), "kv_cache"), cache + cache / each.layers)
        << each.model;
  }
}

// The prompt stays as long as it is, also where sequence parallelism shares out the rows of a batch or no
// sample is as long as the row may be.
TEST(Tasks, AShorterCompletionNeverTakesMoreToGenerate) {
  for (const bool shared : {false, true}) {
    uint64_t before = 0;
    for (const uint64_t completion : {32, 256, 512, 1024}) {
      Json body =
          request("rloo", {{"max_length", 512 + completion}}, {{"max_completion_length", completion}});
      if (shared) {
        body["parallel"] = {{"num_gpus", 4}, {"strategy", "zero2"}, {"sequence_parallel_size", 2}};
      } else {
        body["data"] = {{"longest_length", 520}};
      }
      const Json report = answer(body);
      const uint64_t now = bytes(instant(report, "generate"), "/allocated");
      EXPECT_GE(now, before) << completion << (shared ? " shared" : " short samples");
      before = now;
    }
  }
}

// Prompts are padded to the longest before they are continued (transformers generate), however the rows of a
// training batch are laid out: short samples between make no room.
TEST(Tasks, GenerationIsPaddedWhateverTheTrainingDoes) {
  Json body =
      request("rloo", {{"max_length", 1024}, {"padded_batches", false}, {"per_device_train_batch_size", 8}},
              {{"max_completion_length", 512}});
  body["model_args"]["attn_implementation"] = "flash_attention_2";
  body["data"] = {{"longest_length", 1024}};
  const uint64_t padded = component(instant(answer(body), "generate"), "kv_cache");
  body["data"]["mean_length"] = 64;
  EXPECT_EQ(component(instant(answer(body), "generate"), "kv_cache"), padded);
}

TEST(Tasks, FullFineTuningHoldsASecondModelAndAdaptersDoNot) {
  const Json full = answer(request("dpo", {}, nullptr, false));
  EXPECT_EQ(component(instant(full, "forward"), "frozen_models"),
            component(instant(full, "load"), "weights"));
  const Json adapters = answer(request("dpo"));
  EXPECT_EQ(component(instant(adapters, "forward"), "frozen_models"), 0u);
  const Json copied = answer(request("grpo", {}, {{"reference_model", "adapter_copy"}}));
  EXPECT_EQ(component(instant(copied, "forward"), "frozen_models"),
            component(instant(copied, "forward"), "adapters"));
}

// huggingface/trl v0.14.0 trl/trainer/grpo_trainer.py compute_loss repeats each prompt num_generations times; from
// 0.15 on a batch counts completions.
TEST(Tasks, AllCompletionsOfAPromptGoThroughTogetherInTrl014) {
  Json prompts = request("grpo", {{"per_device_train_batch_size", 1}}, {{"num_generations", 8}});
  prompts["versions"] = {{"trl", "0.14"}};
  Json completions = request("grpo", {{"per_device_train_batch_size", 8}}, {{"num_generations", 8}});
  completions["versions"] = {{"trl", "0.15"}};
  const Json together = answer(prompts), counted = answer(completions);
  const auto backward = [](const Json& report) {
    return at(instant(report, "backward"), "/allocated").get<double>();
  };
  // The inputs differ: the loader gives prompts.
  EXPECT_NEAR(backward(together), backward(counted), 0.001 * backward(counted));
}

TEST(Tasks, BeforeTrl017EachMicroBatchWritesItsOwnCompletions) {
  Json body = request("grpo", {{"gradient_accumulation_steps", 4}, {"per_device_train_batch_size", 8}});
  const auto written = [&](const char* release, int batches) {
    body["versions"] = {{"trl", release}};
    body["rl"]["steps_per_generation"] = batches;
    return at(instant(answer(body), "generate"), "/allocated").get<double>();
  };
  const double one = written("0.16", 1), all = written("0.17", 4);
  body["rl"].erase("steps_per_generation");
  body["versions"] = {{"trl", "0.16"}};
  EXPECT_EQ(at(instant(answer(body), "generate"), "/allocated").get<double>(), one);
  body["versions"] = {{"trl", "0.17"}};
  EXPECT_EQ(at(instant(answer(body), "generate"), "/allocated").get<double>(), all);
  EXPECT_LT(one, all);
}

TEST(Tasks, GrpoNeedsNoReferenceAtBetaZero) {
  EXPECT_TRUE(instant(answer(request("grpo")), "score").is_null());
  EXPECT_FALSE(instant(answer(request("grpo", {}, {{"beta", 0.04}})), "score").is_null());
}

TEST(Tasks, AColocatedEngineTakesItsShareUnlessItSleeps) {
  Json body = request("grpo", {}, {{"use_vllm", true}, {"vllm_gpu_memory_utilization", 0.5}});
  body["hardware"] = {{"gpu", "a100-sxm-80"}};
  const Json awake = answer(body);
  const uint64_t share = component(instant(awake, "backward"), "engine");
  EXPECT_NEAR(static_cast<double>(share) / 1073741824.0, 39.6, 0.4);  // half of an 80 GB card
  body["rl"]["vllm_enable_sleep_mode"] = true;
  const Json asleep = answer(body);
  EXPECT_EQ(component(instant(asleep, "backward"), "engine"), 0u);
  EXPECT_EQ(component(instant(asleep, "generate"), "engine"), share);
  body["rl"]["vllm_mode"] = "server";
  EXPECT_EQ(component(instant(answer(body), "generate"), "engine"), 0u);
}

// unsloth 2026.10.9: the engine and the trainer read the same weights; standby sets the share by the card,
// 0.8 x 0.95 for a T4. Unsloth's own GRPO notebooks of 8B run there.
TEST(Tasks, UnslothsEngineSharesTheWeightsAndItsStandbyKnowsTheCard) {
  Json body = {{"model", "llama-3.1-8b"},
               {"stack", "unsloth"},
               {"task", "grpo"},
               {"hardware", {{"gpu", "t4"}}},
               {"peft", {{"r", 32}}},
               {"quantization", {{"load_in_4bit", true}}},
               {"training", {{"fp16", true}, {"gradient_checkpointing", true}}},
               {"rl",
                {{"use_vllm", true},
                 {"vllm_gpu_memory_utilization", 0.6},
                 {"num_generations", 6},
                 {"max_prompt_length", 256},
                 {"max_completion_length", 768}}}};
  const Json awake = answer(body);
  const auto of = [](const Json& report, const char* id, const char* part) {
    return static_cast<double>(component(instant(report, id), part)) / 1073741824.0;
  };
  const double weights = of(awake, "backward", "weights");
  EXPECT_NEAR(of(awake, "backward", "engine") + weights, 0.6 * 14.74, 0.02);
  body["rl"]["vllm_enable_sleep_mode"] = true;
  body["rl"]["vllm_gpu_memory_utilization"] = 0.9;
  const Json asleep = answer(body);
  EXPECT_EQ(of(asleep, "backward", "engine"), 0);
  EXPECT_NEAR(of(asleep, "generate", "engine") + weights, 0.8 * 0.95 * 14.74, 0.02);
  EXPECT_NE(asleep.at("/gpu/verdict"_json_pointer), "no");
  body["versions"]["unsloth"] = "2025.9";
  EXPECT_NEAR(of(answer(body), "generate", "engine") + weights, 0.9 * 14.74, 0.02);
}

// unsloth_zoo/rl_replacements.py: log-probabilities are made of one sequence after another, whatever the batch.
TEST(Tasks, UnslothsGrpoNeverMakesTheLogitsOfAllCompletions) {
  Json body = {{"model", "qwen3-4b"},
               {"stack", "unsloth"},
               {"task", "grpo"},
               {"peft", {{"r", 32}}},
               {"training", {{"fp16", true}, {"per_device_train_batch_size", 4}}},
               {"rl", {{"num_generations", 4}, {"max_prompt_length", 256}, {"max_completion_length", 1792}}}};
  const double logit = 1792.0 * 151936;
  const Json four = answer(body);
  EXPECT_LT(static_cast<double>(component(instant(four, "forward"), "logits")), 11 * logit);
  body["training"]["per_device_train_batch_size"] = 8;
  body["rl"]["num_generations"] = 8;
  const Json eight = answer(body);
  EXPECT_LT(static_cast<double>(component(instant(eight, "forward"), "logits")), 11 * logit);
}

// accelerate/accelerator.py native_amp is off under DeepSpeed, and FSDP gathers in 16 bits: beside such weights
// nothing is left to cast.
TEST(Tasks, ScoringCastsNoWeightsThatARankHoldsIn16Bits) {
  for (const char* strategy : {"zero2", "zero3", "fsdp", "fsdp2"}) {
    Json body = request("grpo", {{"bf16", true}}, {{"beta", 0.04}}, false);
    body["model_args"]["dtype"] = "float32";
    body["parallel"] = {{"num_gpus", 4}, {"strategy", strategy}};
    const Json report = answer(body);
    EXPECT_EQ(component(instant(report, "score"), "autocast"), 0u) << strategy;
  }
}

TEST(Tasks, PpoTrainsAValueNetworkBesideThePolicy) {
  const Json report = answer(request("ppo", {}, nullptr, false));
  const double weights = gib(answer(request("sft", {}, nullptr, false)), "/memory/instants/0/allocated");
  const Json forward = instant(report, "forward");
  EXPECT_NEAR(static_cast<double>(component(forward, "weights")) / 1073741824.0, 2 * weights,
              1.1);  // no second head
  EXPECT_NEAR(static_cast<double>(component(forward, "frozen_models")) / 1073741824.0, 2 * weights, 0.1);
}

TEST(Tasks, PpoHoldsGradientsThatExistAlreadyOnce) {
  const Json report = answer(request("ppo", {{"gradient_accumulation_steps", 4}}, nullptr, false));
  const uint64_t trained = component(instant(report, "optimizer_step"), "gradients");
  EXPECT_EQ(component(instant(report, "forward"), "gradients"), trained);
  EXPECT_EQ(component(instant(report, "backward"), "gradients"), trained);
}

TEST(Tasks, KeysAndValuesOfAllLayersArePublishedFigures) {
  // Half a MiB a token for Llama-2-7B, 320 KiB for Llama-3-70B, 128 KiB for Mistral-7B, in 16 bits.
  const struct {
    const char* model;
    double kibibytes;
  } rows[] = {{"llama-2-7b-hf", 512}, {"meta-llama-3-70b", 320}, {"mistral-7b-v0.3", 128}};
  for (const auto& row : rows) {
    Json body = request("sft", {{"max_length", 1024}, {"bf16", false}}, nullptr, false);
    body["model"] = row.model;
    body["model_args"]["use_cache"] = true;
    body["training"]["eval_strategy"] = "epoch";
    body["training"]["per_device_eval_batch_size"] = 1;
    const Json evaluation = instant(answer(body), "eval");
    EXPECT_EQ(static_cast<double>(component(evaluation, "kv_cache")), 1024 * row.kibibytes * 1024)
        << row.model;
  }
}

// bitsandbytes' linears give back the type they are given (nn/modules.py Linear4bit.forward), so after
// prepare_model_for_kbit_training() has put the norms into fp32, keys and values are in fp32 as well,
// autocast or not. Two published runs, evaluated in batches of 8 x 2048 tokens, show it: Llama-2-7B with 32
// heads of keys held 42.27 GiB, Mistral-7B with 8, and with more adapters, 24.72
// (github.com/DrishtiShrrrma/mixtral-8x7b-vs-mistral-vs-llama2-english-to-hinglish-translation).
TEST(Tasks, EvaluationKeepsKeysAndValuesInTheTypeOfTheirLinears) {
  Json body = request("sft", {{"per_device_train_batch_size", 2}, {"max_length", 2048}}, nullptr, true);
  body["model"] = "NousResearch/Llama-2-7b-hf";
  body["model_args"] = {
      {"dtype", "float16"}, {"use_cache", true}, {"attn_implementation", "flash_attention_2"}};
  body["training"].merge_patch(
      Json{{"fp16", true}, {"bf16", false}, {"eval_strategy", "epoch"}, {"per_device_eval_batch_size", 8}});
  const auto keys = [](const Json& asked) {
    return static_cast<double>(component(instant(answer(asked), "eval"), "kv_cache"));
  };
  const double half = 32.0 * 2 * 4096 * 8 * 2048 * 2;
  EXPECT_EQ(keys(body), half);
  body["quantization"] = {{"load_in_4bit", true}, {"prepare_for_kbit_training", true}};
  EXPECT_EQ(keys(body), 2 * half);
  const Json evaluation = instant(answer(body), "eval");
  for (const Json& part : evaluation.at("components")) {
    if (part.at("id") != "kv_cache") continue;
    EXPECT_NE(part.at("formula").get<std::string>().find("8 x 2,048 tokens"), std::string::npos) << part;
  }
}

TEST(Tasks, LengthsOfPromptAndCompletionMustAddUp) {
  const Json report = answer(
      request("grpo", {{"max_length", 1000}}, {{"max_prompt_length", 512}, {"max_completion_length", 256}}));
  EXPECT_EQ(at(report, "/errors/0/code"), "conflict");
  EXPECT_EQ(at(report, "/errors/0/pointer"), "/training/max_length");
}

TEST(Tasks, ARunOfOneStepMeetsNoStatesInItsForward) {
  const Json report = answer(request("sft", {{"max_steps", 1}}));
  EXPECT_EQ(component(instant(report, "backward"), "optimizer"), 0u);
  EXPECT_GT(component(instant(report, "optimizer_step_first"), "optimizer"), 0u);
}

// 16 evaluation batches of 8 x 1,024 tokens in fp32: huggingface/transformers trainer.py evaluation_loop
// keeps all of them on the GPU unless eval_accumulation_steps says otherwise.
TEST(Evaluation, CollectsTheLogitsOfTheWholeSetUnlessTold) {
  Json body = request("sft", {{"max_length", 1024}, {"eval_strategy", "epoch"}, {"compute_metrics", true}});
  body["data"] = {{"eval_samples", 128}};
  const double one = 8.0 * 1024 * 152064 * 4;
  const Json all = answer(body);
  EXPECT_EQ(at(all, "/memory/peak/instant"), "eval");
  EXPECT_NEAR(static_cast<double>(component(instant(all, "eval"), "logits")), 2 * 16 * one, one / 100);
  body["training"]["eval_accumulation_steps"] = 1;
  const Json few = answer(body);
  EXPECT_LT(component(instant(few, "eval"), "logits"), static_cast<uint64_t>(3.6 * one));
  EXPECT_GE(bytes(few, "/memory/host_bytes"), static_cast<uint64_t>(16 * one));
  body["training"]["eval_accumulation_steps"] = nullptr;
  body["training"]["preprocess_logits_for_metrics"] = true;
  const uint64_t without = peak_of_task(request("sft", {{"max_length", 1024}, {"eval_strategy", "epoch"}}));
  EXPECT_LE(peak_of_task(body), without + 128 * 1024 * 8);  // one class a token
  body["training"]["preprocess_logits_for_metrics"] = false;
  body["training"]["prediction_loss_only"] = true;
  EXPECT_EQ(peak_of_task(body), without);
}

TEST(Evaluation, IsNoInstantOfARunThatHasNone) {
  EXPECT_TRUE(instant(answer(request("sft")), "eval").is_null());
  EXPECT_FALSE(instant(answer(request("sft", {{"eval_strategy", "steps"}})), "eval").is_null());
}

TEST(Evaluation, ALargerBatchOrSetNeverNeedsLess) {
  uint64_t before = 0;
  for (const int batch : {1, 2, 8, 32}) {
    const uint64_t now =
        peak_of_task(request("sft", {{"eval_strategy", "epoch"}, {"per_device_eval_batch_size", batch}}));
    EXPECT_GE(now, before) << batch;
    before = now;
  }
  before = 0;
  for (const int samples : {1, 16, 1000}) {
    Json body = request("sft", {{"eval_strategy", "epoch"}, {"compute_metrics", true}});
    body["data"] = {{"eval_samples", samples}};
    EXPECT_GE(peak_of_task(body), before) << samples;
    before = peak_of_task(body);
  }
}

}  // namespace
}  // namespace plimsoll::report
