// What a format says, it also reads: over 1,000 random requests a format, importing an export gives the
// request again, less what the export says it left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/exchange/export.h"
#include "core/exchange/import.h"
#include "core/recipe/fields.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::exchange {
namespace {

using json::Json;

class Requests {
 public:
  explicit Requests(const Format& format) : format_(format) {}

  // A request without contradictions: sections only where they say something, one precision, one
  // quantisation.
  Json next() {
    recipe::Values values;
    values["/model"] = pick({"meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-3B", "mistralai/Mistral-7B-v0.1"});
    if (!format_.stack.empty()) values["/stack"] = std::string(format_.stack);
    const bool peft = coin(), sharded = coin();
    if (peft) values["/peft"] = true;
    const bool packed = peft && coin(), bf16 = coin();
    for (const recipe::Field& field : recipe::field_table()) {
      const std::string pointer(field.pointer);
      if (chance_(random_) > 0.35) continue;
      if (starts(pointer, "/peft/") && (!peft || !is_lora(pointer))) continue;
      if (starts(pointer, "/quantization/") && !packed) continue;
      if (starts(pointer, "/parallel/") && !sharded) continue;
      if (pointer == "/training/fused_lora" && !peft) continue;
      if (starts(pointer, "/training/bf16") && !bf16) continue;
      if (starts(pointer, "/training/fp16") && bf16) continue;
      if (starts(pointer, "/versions/") || starts(pointer, "/schema") || pointer == "/stack") continue;
      if (starts(pointer, "/locks") || starts(pointer, "/want")) continue;
      if (Json value = value_of(field); !value.is_null()) values[pointer] = std::move(value);
    }
    if (packed) {
      values.erase("/quantization/load_in_8bit");
      values.erase("/quantization/quant_method");
      values["/quantization/load_in_4bit"] = true;
    }
    if (values.count("/task") == 0 || values["/task"] != "grpo") values.erase("/rl/num_generations");
    if (values.count("/task") != 0 && values["/task"] == "sft") values.erase("/task");
    // A loss kernel, or Liger's switches for it; a strategy before its details.
    if (values.count("/training/loss_kernel") != 0) values.erase("/rl/loss_type");
    const auto strategy = values.find("/parallel/strategy");
    const std::string word = strategy == values.end() ? "" : strategy->second.get<std::string>();
    const bool fsdp = starts(word, "fsdp"), zero = starts(word, "zero");
    for (auto field = values.begin(); field != values.end();) {
      const bool alone = (starts(field->first, "/parallel/fsdp_config") && !fsdp) ||
                         (starts(field->first, "/parallel/zero_optimization") && !zero);
      field = alone ? values.erase(field) : std::next(field);
    }
    return nest(values);
  }

 private:
  static bool starts(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
  }
  static bool is_lora(std::string_view pointer) {
    for (const char* name : {"r", "lora_alpha", "target_modules", "exclude_modules", "lora_dropout",
                             "use_dora", "use_rslora", "bias", "lora_bias", "modules_to_save"}) {
      if (pointer == std::string("/peft/") + name) return true;
    }
    return false;
  }
  bool coin() { return chance_(random_) < 0.5; }
  Json pick(const std::vector<Json>& from) {
    return from[std::uniform_int_distribution<size_t>(0, from.size() - 1)(random_)];
  }
  Json value_of(const recipe::Field& field) {
    using recipe::FieldType;
    switch (field.type) {
      case FieldType::count: {
        const double high = std::min(field.high, 4096.0);
        return static_cast<uint64_t>(std::uniform_real_distribution<double>(field.low, high)(random_));
      }
      case FieldType::number: {
        if (field.high <= 1) return pick({0.05, 0.5, 0.125, 1e-05});
        return pick({1.0, 2.0, 16.0, 0.5});
      }
      case FieldType::flag:
        return coin();
      case FieldType::word:
      case FieldType::optimizer: {
        std::vector<Json> words;
        const std::string all = recipe::words_of(field);
        for (size_t at = 0; at <= all.size();) {
          const size_t comma = std::min(all.find(", ", at), all.size());
          words.emplace_back(all.substr(at, comma - at));
          at = comma + 2;
        }
        return pick(words);
      }
      case FieldType::texts_or_text:
        return pick(
            {"all-linear", Json::array({"q_proj", "v_proj"}), Json::array({"q_proj"}),
             Json::array({"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"})});
      case FieldType::texts:
        return pick({Json::array({"embed_tokens", "lm_head"}), Json::array({"lm_head"})});
      case FieldType::text:
        if (field.pointer == "/model_args/device_map") return "auto";
        if (field.pointer == "/hardware/gpu") return "a10g";
        if (field.pointer == "/hardware/PYTORCH_CUDA_ALLOC_CONF") return "expandable_segments:True";
        if (field.pointer == "/rl/loss_type") return "sigmoid";
        if (field.pointer == "/training/optim_args") return "rank=64, update_proj_gap=100";
        return nullptr;
      case FieldType::text_map:
        return Json{{"0", "14GB"}, {"cpu", "50GB"}};
    }
    return nullptr;
  }

  const Format& format_;
  std::mt19937 random_{20261121};
  std::uniform_real_distribution<double> chance_{0, 1};
};

Import read_again(const std::string& text) {
#ifndef __EMSCRIPTEN__
  return import_document(cli::read_document(text), text);
#else
  return import_document(read_text(text), text);
#endif
}

bool below(std::string_view pointer, const std::vector<std::string>& any) {
  return std::any_of(any.begin(), any.end(), [pointer](const std::string& left) { return pointer == left; });
}

// As wasm the same code takes several times as long.
#ifdef __EMSCRIPTEN__
constexpr int requests_of_a_format = 250;
#else
constexpr int requests_of_a_format = 1000;
#endif

class RoundTrip : public testing::TestWithParam<const Format*> {};

TEST_P(RoundTrip, AnExportIsReadBackAsTheRequestLessWhatItLeftOut) {
  const Format& format = *GetParam();
#ifdef __EMSCRIPTEN__
  if (format.written == Language::yaml) return;  // the page has the parser
#endif
  Requests requests(format);
  size_t said = 0, left = 0;
  for (int i = 0; i < requests_of_a_format; ++i) {
    json::Errors errors;
    const Json asked = requests.next();
    const recipe::Given given = recipe::read_given(asked, errors);
    ASSERT_TRUE(errors.empty()) << asked.dump(1) << errors[0].pointer;
    const Export written = export_as(format, given);
    const Import import = read_again(written.text);
    ASSERT_TRUE(import.errors.empty()) << import.errors[0].message << "\n" << written.text;
    ASSERT_EQ(import.format->id, format.id) << written.text;
    const recipe::Given again =
        recipe::read_given(import.request.contains("model") ? import.request : Json{{"model", "-"}}, errors);
    recipe::Values read = recipe::read_given(import.request, errors).values;
    for (const auto& [pointer, value] : given.values) {
      if (recipe::find_field(pointer) == nullptr && pointer != "/peft") continue;
      if (below(pointer, written.left_out)) {
        ++left;
        read.erase(pointer);
        continue;
      }
      ++said;
      const auto found = read.find(pointer);
      ASSERT_NE(found, read.end()) << pointer << " is gone\n" << asked.dump(1) << "\n" << written.text;
      EXPECT_EQ(found->second, value) << pointer << "\n" << asked.dump(1) << "\n" << written.text;
      if (found->second != value) return;
      read.erase(found);
    }
    for (const auto& [pointer, value] : read) {
      if (recipe::find_field(pointer) == nullptr && pointer != "/peft") continue;
      if (pointer == "/stack") continue;
      // A file that cannot say how many GPUs there are is read as having as many as share one sequence.
      const auto group = import.request.value("parallel", Json::object()).value("sequence_parallel_size", 0U);
      if (pointer == "/parallel/num_gpus" && value == group) continue;
      FAIL() << pointer << " came from nowhere\n" << asked.dump(1) << "\n" << written.text;
    }
    if (!below("/model", written.left_out)) {
      EXPECT_EQ(again.model_id, given.model_id) << written.text;
    }
  }
  RecordProperty("said", static_cast<int>(said));
  RecordProperty("left_out", static_cast<int>(left));
  EXPECT_GT(said, static_cast<size_t>(requests_of_a_format));
}

std::vector<const Format*> written_formats() {
  std::vector<const Format*> all;
  for (const Format* format : formats()) {
    if (format->written != Language::none && format->written != Language::link) all.push_back(format);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Exchange, RoundTrip, testing::ValuesIn(written_formats()),
                         [](const testing::TestParamInfo<const Format*>& info) {
                           std::string name;
                           for (const char c : info.param->id) name += c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace plimsoll::exchange
