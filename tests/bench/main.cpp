// How long each answer takes, and how many plain reports that is.
//
//     ./dev bench                                      // all
//     ./dev bench --benchmark_filter=plans             // Google Benchmark's own options
//     ./dev bench --page                               // the page instead (tests/web/speed.bench.ts)
//
// Each row is one text in and one text out, as a page or a script asks for it: reading the request and
// writing the answer are in the time. The last column is the ratio to the report of the same request in the
// same run, so that two machines, or two builds, can be compared; where a row has no request of its own, to
// that of the first case. Of what nobody would call a configuration ("hostile/") each should stay below
// 1,000.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/exchange/parts.h"
#include "core/report/advice.h"
#include "core/report/diagnose.h"
#include "core/report/exchange.h"
#include "core/report/patch.h"
#include "core/report/report.h"
#include "core/run/preset_files.h"
#include "tests/core/hostile_texts.h"

namespace plimsoll::report {
namespace {

using json::Json;

// Every answer is that of a fresh process.
const run::Catalog& presets() {
  static const run::Catalog catalog = [] {
    run::Catalog read = run::read_catalog(plimsoll::preset_files());
    read.played = nullptr;
    return read;
  }();
  return catalog;
}

struct Request {
  std::string name;
  Json body;
};

// The five documented cases, and three requests whose plans have more to choose from.
std::vector<Request> requests() {
  std::vector<Request> all;
  for (const Json& scenario : presets().scenarios) {
    const auto id = scenario.at("id").get<std::string>();
    if (id.size() > 7 && id.compare(id.size() - 7, 7, "-before") == 0)
      all.push_back({id, scenario.at("request")});
  }
  const Json eight = {{"per_device_train_batch_size", 8}, {"gradient_accumulation_steps", 4}};
  Json full = {{"model", "llama-3.1-8b"}, {"training", eight}, {"hardware", {{"gpu", "a100-sxm-80"}}}};
  full["training"]["max_length"] = 4096;
  full["training"]["bf16"] = true;
  full["model_args"] = {{"dtype", "float32"}, {"attn_implementation", "eager"}};
  all.push_back({"full-8b", full});
  Json experts = {{"model", "qwen3-30b-a3b"}, {"training", eight}, {"hardware", {{"gpu", "rtx-4090"}}}};
  experts["peft"] = {{"r", 32}, {"target_modules", "all-linear"}};
  all.push_back({"experts-30b", experts});
  Json seeing = {
      {"model", "qwen2.5-vl-7b-instruct"}, {"training", eight}, {"hardware", {{"gpu", "rtx-4090"}}}};
  seeing["peft"] = {{"r", 64}, {"target_modules", "all-linear"}};
  seeing["vision"] = {{"images_per_sample", 4}, {"image_size", 1120}};
  seeing["training"]["eval_strategy"] = "steps";
  seeing["training"]["compute_metrics"] = true;
  all.push_back({"vision-7b", seeing});
  return all;
}

std::string wanting(Json request, std::initializer_list<const char*> parts) {
  Json list = Json::array();
  for (const char* part : parts) list.push_back(part);
  request["want"] = list;
  return json::write(request);
}

template <typename Answer>
void add(const std::string& name, Answer answer) {
  benchmark::RegisterBenchmark(name.c_str(), [answer](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(answer());
  })->Unit(benchmark::kMicrosecond);
}

const std::string config = R"({"architectures": ["MistralForCausalLM"], "hidden_size": 4096,
  "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
  "rope_theta": 1000000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 32768})";
const std::string arguments = R"(python train.py --model_name_or_path mistralai/Mistral-7B-v0.3
  --per_device_train_batch_size 8 --gradient_accumulation_steps 8 --max_seq_length 2048 --bf16 True
  --use_peft True --lora_r 32 --lora_alpha 64 --gradient_checkpointing False --optim paged_adamw_8bit)";
const std::string message = R"(torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0
  has a total capacity of 21.99 GiB of which 115.38 MiB is free. Including non-PyTorch memory, this process
  has 21.87 GiB memory in use. Of the allocated memory 21.42 GiB is allocated by PyTorch, and 161.45 MiB is
  reserved by PyTorch but unallocated.)";

void register_all() {
  for (const auto& [name, body] : requests()) {
    const std::string plain = wanting(body, {}), plans = wanting(body, {"plans"}),
                      limits = wanting(body, {"limits"}), unrolled = wanting(body, {"timeline"}),
                      allocator = wanting(body, {"allocator"});
    add("report/" + name, [plain] { return report_text(plain, presets()); });
    add("quick/" + name, [plain] { return quick_report_text(plain, presets()); });
    add("plans/" + name, [plans] { return report_text(plans, presets()); });
    add("advise/" + name, [plain] { return advise_text(plain, presets()); });
    add("limits/" + name, [limits] { return report_text(limits, presets()); });
    add("unrolled/" + name, [unrolled] { return report_text(unrolled, presets()); });
    add("allocator/" + name, [allocator] { return report_text(allocator, presets()); });
    add("diagnose/" + name, [plain] { return diagnosis_text(message, plain, "", presets()); });
  }
  const std::string pasted = json::write(Json{{"model", {{"config", Json::parse(config)}}}});
  add("report/pasted-config", [pasted] { return report_text(pasted, presets()); });
  add("import/arguments", [] { return import_text(arguments, "", presets()); });
  add("diagnose/message-alone", [] { return diagnosis_text(message, "", "", presets()); });
  add("presets", [] { return run::read_catalog(plimsoll::preset_files()); });
  for (const exchange::Hostile& input : exchange::hostile_inputs()) {
    const std::string& text = input.text;
    add(std::string("hostile/") + input.what, [&text] {
      return import_text(text, "", presets()).size() +
             patch_text(exchange::read_text(text), text, R"([{"pointer": "/peft/r", "to": 8}])", presets())
                 .size() +
             exchange::settings_parts(text).size() + diagnosis_text(text, "", "", presets()).size();
    });
  }
}

// The table of Google Benchmark, then each answer against the report of the same request.
class WithRatios : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) micro_[run.benchmark_name()] = run.GetAdjustedCPUTime();
    }
    ConsoleReporter::ReportRuns(runs);
  }
  void Finalize() override {
    std::printf("\n%-52s %12s %12s\n", "", "microseconds", "reports");
    const auto first = micro_.lower_bound("report/");
    for (const auto& [name, time] : micro_) {
      const auto own = micro_.find("report" + name.substr(std::min(name.find('/'), name.size())));
      const auto report = own != micro_.end() ? own : first;
      std::printf("%-52s %12.0f", name.c_str(), time);
      if (report != micro_.end() && report->second > 0) std::printf(" %12.1f", time / report->second);
      std::printf("\n");
    }
  }

 private:
  std::map<std::string, double> micro_;
};

}  // namespace
}  // namespace plimsoll::report

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
  plimsoll::report::register_all();
  plimsoll::report::WithRatios reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
