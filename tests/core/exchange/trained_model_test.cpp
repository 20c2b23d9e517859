// Which model a script trains: what its trainer is given, whatever else the script loads before or beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json/at.h"
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::at;
using json::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* judge =
    "judge = AutoModelForCausalLM.from_pretrained('gpt2', num_labels=1, dtype=torch.float16)\n";
constexpr const char* policy = "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n";

Import trained_by(const std::string& lines) { return import_any(std::string(judge) + policy + lines); }

TEST(ExchangeTrainedModel, IsTheOneThatTheTrainerIsGiven) {
  for (const char* trainer :
       {"Trainer(model=model, args=TrainingArguments('out'))", "Trainer(model, TrainingArguments('out'))",
        "SFTTrainer(args=SFTConfig('out'), model=model)", "DPOTrainer(model, judge, args=DPOConfig('out'))",
        "KTOTrainer(model, judge, KTOConfig('out'))", "GRPOTrainer(model, judge, GRPOConfig('out'))",
        "RewardTrainer(model=model, args=RewardConfig('out'))",
        "PPOTrainer(PPOConfig('out'), tok, model, judge, judge, rows, judge)",
        "PPOTrainer(config=PPOConfig('out'), policy=model, ref_policy=judge, reward_model=judge)",
        "PPOTrainer(PPOConfig('out'), model, judge, tok, dataset=rows)"}) {
    const Import import = trained_by(std::string("trainer = ") + trainer + "\ntrainer.train()\n");
    EXPECT_EQ(import.model, "Qwen/Qwen3-4B") << trainer;
    EXPECT_FALSE(at(import.request, "model_args").contains("num_labels")) << import.request.dump();
    EXPECT_FALSE(at(import.request, "model_args").contains("dtype")) << import.request.dump();
  }
}

TEST(ExchangeTrainedModel, IsFoundThroughWhatWrapsIt) {
  for (const char* wrapped :
       {"policy = get_peft_model(model, LoraConfig(r=8))", "policy = model.to('cuda')",
        "policy = prepare_model_for_kbit_training(model)",
        "policy, optim = accelerator.prepare(model, optim)", "policy, tok = setup_chat_format(model, tok)",
        "policy = PeftModel.from_pretrained(model, 'out/sft')",
        "policy = AutoModelForCausalLMWithValueHead.from_pretrained(model)",
        "policy = torch.nn.DataParallel(module=model)", "made = {'policy': model}\npolicy = made['policy']",
        "def wrap(one, other):\n    return other, one\n_, policy = wrap(model, judge)",
        "class Kept:\n    def __init__(self, kept):\n        self.kept = kept\npolicy = Kept(model).kept",
        "class Scored(nn.Module):\n    def __init__(self, base):\n        super().__init__()\n"
        "        self.base = base\npolicy = Scored(model)"}) {
    EXPECT_EQ(trained_by(std::string(wrapped) + "\nSFTTrainer(model=policy, args=SFTConfig('out')).train()\n")
                  .model,
              "Qwen/Qwen3-4B")
        << wrapped;
  }
}

TEST(ExchangeTrainedModel, MayComeFromAFunctionThatTheTrainerCalls) {
  EXPECT_EQ(import_any(std::string(judge) +
                       "def make():\n    return AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
                       "Trainer(model_init=make, args=TrainingArguments('out')).train()\n")
                .model,
            "Qwen/Qwen3-4B");
}

TEST(ExchangeTrainedModel, MayBeGivenToATrainerOfTheScriptsOwn) {
  for (const char* own : {"class Own(Trainer):\n    def compute_loss(self):\n        pass\n",
                          "class Own(Trainer):\n    def __init__(self, *args, **kwargs):\n"
                          "        super().__init__(*args, **kwargs)\n"}) {
    EXPECT_EQ(trained_by(std::string(own) + "Own(model, args=TrainingArguments('out')).train()\n").model,
              "Qwen/Qwen3-4B")
        << own;
  }
}

TEST(ExchangeTrainedModel, IsTheNameThatTheTrainerIsGiven) {
  for (const char* trainer : {"SFTTrainer('Qwen/Qwen3-8B', args=SFTConfig('out'))",
                              "name = 'Qwen/Qwen3-8B'\nSFTTrainer(model=name, args=SFTConfig('out'))"}) {
    EXPECT_EQ(trained_by(std::string(trainer) + "\n").model, "Qwen/Qwen3-8B") << trainer;
  }
}

TEST(ExchangeTrainedModel, IsNoneOfThoseBesideItWhereNothingSaysIt) {
  const Import import = import_any(
      "critic = AutoModelForSequenceClassification.from_pretrained('gpt2')\n"
      "PPOTrainer(args=PPOConfig('out'), model=load(), reward_model=critic, value_model=critic)\n");
  EXPECT_EQ(import.model, "");
}

TEST(ExchangeTrainedModel, IsThatOfTheOptimizerInALoopOfItsOwn) {
  EXPECT_EQ(trained_by("optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)\n"
                       "for batch in loader:\n    loss = model(**batch).loss\n    loss.backward()\n")
                .model,
            "Qwen/Qwen3-4B");
}

// Quantisation, preparation, casts and adapters of another model are not this one's.
TEST(ExchangeTrainedModel, HasWhatItIsGivenItself) {
  const Import import = import_any(
      "small = BitsAndBytesConfig(load_in_8bit=True)\n"
      "reward = AutoModelForSequenceClassification.from_pretrained('gpt2', quantization_config=small)\n"
      "reward = get_peft_model(prepare_model_for_kbit_training(reward), LoraConfig(r=4))\n"
      "bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4')\n"
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', quantization_config=bnb)\n"
      "trainer = GRPOTrainer(model=model, reward_funcs=reward, args=GRPOConfig('out'), "
      "peft_config=LoraConfig(r=64))\n");
  EXPECT_EQ(at(at(import.request, "quantization"), "load_in_4bit"), Json(true));
  EXPECT_FALSE(at(import.request, "quantization").contains("load_in_8bit")) << import.request.dump();
  EXPECT_FALSE(at(import.request, "quantization").contains("prepare_for_kbit_training"))
      << import.request.dump();
  EXPECT_EQ(at(at(import.request, "peft"), "r"), Json(64));
}

TEST(ExchangeTrainedModel, HasNothingOfTheTrainerOfAnEarlierStage) {
  const Import import = import_any(
      "model = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
      "first = Trainer(model=model, args=TrainingArguments('out', per_device_train_batch_size=32))\nfirst.train()\n"
      "last = DPOTrainer(model=model, args=DPOConfig('out', gradient_accumulation_steps=2))\nlast.train()\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(at(import.request, "training"), "gradient_accumulation_steps"), Json(2));
  EXPECT_FALSE(at(import.request, "training").contains("per_device_train_batch_size"))
      << import.request.dump();
}

TEST(ExchangeTrainedModel, IsToldApartFromWhatStandsBesideIt) {
  EXPECT_THAT(
      trained_by("GRPOTrainer(model=model, reward_funcs=[judge, is_short], args=GRPOConfig('out'))\n").notes,
      ElementsAre(HasSubstr("gpt2 (reward_funcs): its memory is not counted")));
  EXPECT_THAT(trained_by("PPOTrainer(args=PPOConfig('out'), model=model, value_model=judge)\n").notes,
              ElementsAre(HasSubstr("gpt2 (value_model): it is counted as large as the model")));
  const Import reference = trained_by("DPOTrainer(model, judge, args=DPOConfig('out'))\n");
  EXPECT_THAT(reference.notes,
              ElementsAre(HasSubstr("gpt2 (ref_model): it is counted as large as the model")));
  EXPECT_EQ(at(at(reference.request, "rl"), "reference_model"), Json("copy"));
  EXPECT_THAT(
      import_any(std::string(policy) + "copied = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B')\n"
                                       "DPOTrainer(model, copied, args=DPOConfig('out'))\n")
          .notes,
      IsEmpty());
}

// A name without a letter was taken for a place without a digit, and the place for a number.
TEST(ExchangeTrainedModel, IsNotGivenByAnArgumentWhoseNameIsEmpty) {
  const Import import =
      trained_by("SFTTrainer(args=SFTConfig('out'), **{'': judge, 'model': model}).train()\n");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
}

TEST(ExchangeTrainedModel, OfADistillationIsNotReplayed) {
  for (const char* name : {"GKD", "MiniLLM", "GOLD", "Distillation", "SDFT"}) {
    const std::string trainer(name);
    const Import import = trained_by(trainer + "Trainer(model=model, teacher_model=judge, args=" + trainer +
                                     "Config('out')).train()\n");
    ASSERT_EQ(import.errors.size(), 1U) << name;
    EXPECT_EQ(import.errors[0].code, "unsupported");
    EXPECT_THAT(import.errors[0].message, HasSubstr("distillation"));
  }
  const Import own =
      trained_by("Distiller = OwnTrainer(model=model, teacher_model=judge, args=TrainingArguments('o'))\n");
  EXPECT_EQ(own.model, "Qwen/Qwen3-4B");
  EXPECT_THAT(own.notes, ElementsAre(HasSubstr("gpt2 (teacher_model): its memory is not counted")));
}

TEST(ExchangeTrainedModel, IsTrainedByTheArgumentsThatItsTrainerIsGivenWhateverTheirClass) {
  const Import import = trained_by(
      "args = PairwiseConfig('out', per_device_train_batch_size=2)\n"
      "PairwiseTrainer(model=model, args=args, reward_funcs=judge)\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(at(import.request, "training"), "per_device_train_batch_size"), Json(2));
}

// huggingface/trl v1.9.0 trl/experimental/ppo/ppo_trainer.py: max_new_tokens is args.response_length.
TEST(ExchangeTrainedModel, WritesAsMuchAsPposResponseLength) {
  const Import import = trained_by(
      "PPOTrainer(args=PPOConfig('out', response_length=512, num_ppo_epochs=4), model=model, processing_class=tok)\n");
  EXPECT_EQ(at(at(import.request, "rl"), "max_completion_length"), Json(512));
  for (const Finding& found : import.findings) EXPECT_NE(found.use, Use::unknown) << found.path;
}

}  // namespace
}  // namespace plimsoll::exchange
