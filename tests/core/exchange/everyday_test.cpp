// What people paste every day: scripts with a command line of their own, classes of settings, launchers. Each
// was written, with the request that its author meant, before any was read.
#include <gtest/gtest.h>

#include "core/report/exchange.h"
#include "tests/core/golden.h"
#include "tests/core/report_answers.h"
#ifndef __EMSCRIPTEN__
#include "core/cli/yaml.h"
#endif

namespace plimsoll::report {
namespace {

using exchange::Import;

exchange::Document document_of(const std::string& text) {
#ifdef __EMSCRIPTEN__
  return exchange::read_text(text);
#else
  return cli::read_document(text);
#endif
}

Import read_paste(const std::string& text) { return import_known(document_of(text), text, presets()); }

Json said(const Import& import, const std::string& pointer) {
  const Json::json_pointer where(pointer);
  return import.request.contains(where) ? import.request[where] : Json();
}

bool is_missing(const Import& import, const std::string& pointer) {
  return std::any_of(import.missing.begin(), import.missing.end(),
                     [&](const auto& missing) { return missing.pointer == pointer; });
}

void expect_as_meant(const Json& paste, const Import& import) {
  for (const auto& [pointer, value] : paste.at("expect").items()) {
    EXPECT_EQ(said(import, pointer), value) << pointer;
  }
  for (const Json& pointer : paste.value("missing", Json::array()))
    EXPECT_TRUE(is_missing(import, pointer.get<std::string>())) << pointer;
  for (const Json& pointer : paste.value("absent", Json::array()))
    EXPECT_EQ(said(import, pointer.get<std::string>()), Json()) << pointer;
}

TEST(Everyday, PastesSayWhatTheirAuthorsMeant) {
  const Json pastes = Json::parse(golden_file("everyday_pastes.json"));
  ASSERT_EQ(pastes.size(), 30U);
  for (const Json& paste : pastes) {
    SCOPED_TRACE(paste.at("name").get<std::string>());
    const std::string text = paste.at("text");
#ifdef __EMSCRIPTEN__
    if (exchange::language_of(text) == exchange::Language::yaml) continue;  // parsed outside the core
#endif
    expect_as_meant(paste, read_paste(text));
  }
}

TEST(Everyday, DefaultsOfAScriptsFlagsAreSaidToBeThat) {
  const Import import = read_paste(
      "parser.add_argument('--batch-size', type=int, default=4)\n"
      "parser.add_argument('--wandb', default='off')\n"
      "args = parser.parse_args()\n"
      "print(args.wandb)\n"
      "t = TrainingArguments('out', per_device_train_batch_size=args.batch_size)\n");
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(4));
  ASSERT_EQ(import.notes.size(), 1U);
  EXPECT_NE(import.notes.front().find("batch_size"), std::string::npos);
  EXPECT_EQ(import.notes.front().find("wandb"), std::string::npos);
}

TEST(Everyday, OfTwoTrainersInAScriptTheLastIsRead) {
  const Import import = read_paste(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "a = SFTConfig(output_dir='a', per_device_train_batch_size=4, num_train_epochs=2)\n"
      "SFTTrainer(model=model, args=a).train()\n"
      "b = GRPOConfig(output_dir='b', per_device_train_batch_size=8, num_generations=8, max_steps=300)\n"
      "GRPOTrainer(model=model, args=b).train()\n");
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(8));
  EXPECT_EQ(said(import, "/training/max_steps"), Json(300));
  EXPECT_EQ(said(import, "/rl/num_generations"), Json(8));
  EXPECT_EQ(said(import, "/data/epochs"), Json());
}

TEST(Everyday, ABlockIsLeftOutWhenItsFlagIsKnownToBeOffAndNoTrainingIsInIt) {
  const std::string script =
      "parser.add_argument('--four_bit', action='store_true')\n"
      "parser.add_argument('--train', action='store_true')\n"
      "args = parser.parse_args()\n"
      "if args.four_bit:\n"
      "    bnb = BitsAndBytesConfig(load_in_4bit=True)\n"
      "if args.train:\n"
      "    t = TrainingArguments('out', per_device_train_batch_size=2)\n";
  const Import import = read_paste(script);
  EXPECT_EQ(said(import, "/quantization/load_in_4bit"), Json());
  EXPECT_EQ(said(import, "/training/per_device_train_batch_size"), Json(2));
}

TEST(Everyday, AModelThatNoneStandsForIsMissing) {
  const Import import = read_paste(
      "parser.add_argument('--model', default=None)\n"
      "args = parser.parse_args()\n"
      "if args.model:\n"
      "    model = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.float16)\n"
      "t = TrainingArguments('out', per_device_train_batch_size=2)\n");
  EXPECT_TRUE(is_missing(import, "/model"));
  EXPECT_EQ(said(import, "/model_args/dtype"), Json("float16"));
}

}  // namespace
}  // namespace plimsoll::report
