// Scripts are followed as Python runs them (core/exchange/python): what reaches a trainer, whichever way it goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exchange/import.h"
#include "core/json/at.h"
#include "tests/core/exchange/any_text.h"

namespace plimsoll::exchange {
namespace {

using json::at;
using json::Json;

const std::string imports = "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n";

Json training_of(const std::string& text) { return import_any(imports + text).request["training"]; }

std::vector<std::string> asked_of(const Import& import) {
  std::vector<std::string> asked;
  for (const run::Missing& one : import.missing) asked.push_back(one.pointer);
  return asked;
}

TEST(FollowedScripts, AFunctionRunsWithWhatItIsGivenByWayOfAnother) {
  const Json training = training_of(
      "def arguments(batch, steps=1):\n    return TrainingArguments(output_dir='out', per_device_train_batch_size=batch,\n"
      "        gradient_accumulation_steps=steps)\n"
      "def train(size, **rest):\n    args = arguments(size // 2, **rest)\n"
      "    Trainer(model=model, args=args).train()\n"
      "def main():\n    train(16, steps=4)\n"
      "if __name__ == '__main__':\n    main()\n");
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(8));
  EXPECT_EQ(at(training, "gradient_accumulation_steps"), Json(4));
}

TEST(FollowedScripts, AnInstanceKeepsWhatItsMethodsSet) {
  const Import import = import_any(
      imports +
      "class Base:\n    rank = 4\n    def __init__(self, name):\n        self.name = name\n"
      "class Run(Base):\n    def __init__(self, name, rank=32):\n        super().__init__(name)\n"
      "        self.rank = rank\n"
      "    @property\n    def alpha(self):\n        return self.rank * 2\n"
      "    def start(self):\n        model = AutoModelForCausalLM.from_pretrained(self.name)\n"
      "        config = LoraConfig(r=self.rank, lora_alpha=self.alpha)\n"
      "        Trainer(model=get_peft_model(model, config), args=TrainingArguments(output_dir='out')).train()\n"
      "Run('Qwen/Qwen3-4B').start()\n");
  EXPECT_EQ(import.model, "Qwen/Qwen3-4B");
  EXPECT_EQ(at(import.request["peft"], "r"), Json(32));
  EXPECT_EQ(at(import.request["peft"], "lora_alpha"), Json(64));
}

TEST(FollowedScripts, ADictIsSharedByWhoeverHoldsIt) {
  const Json training = training_of(
      "def lower(settings):\n    settings['per_device_train_batch_size'] = 2\n"
      "kwargs = {'per_device_train_batch_size': 8, **{'optim': 'adafactor'}}\nlower(kwargs)\n"
      "Trainer(model=model, args=TrainingArguments(output_dir='out', **kwargs)).train()\n");
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(2));
  EXPECT_EQ(at(training, "optim"), Json("adafactor"));
}

TEST(FollowedScripts, AnInstanceIsADictOfItsAttributes) {
  for (const char* as_dict :
       {"vars(cfg)", "asdict(cfg)", "cfg.__dict__", "cfg.model_dump()", "dict(vars(cfg))"}) {
    const Json training = training_of(
        std::string(
            "@dataclass\nclass Config:\n    per_device_train_batch_size: int = 3\n    optim: str = 'adafactor'\n"
            "cfg = Config(optim='sgd')\nTrainer(model=model, args=TrainingArguments(output_dir='out', **") +
        as_dict + ")).train()\n");
    EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(3)) << as_dict;
    EXPECT_EQ(at(training, "optim"), Json("sgd")) << as_dict;
  }
}

TEST(FollowedScripts, FlagsReachAFunctionThatALambdaCalls) {
  const Json training = training_of(
      "parser = argparse.ArgumentParser()\nparser.add_argument('--max_seq_length', type=int, default=384)\n"
      "def main():\n    args = parser.parse_args()\n"
      "    def rows(batch, size):\n        return tokenizer(batch['text'], truncation=True, max_length=size)\n"
      "    data = raw['train'].map(lambda batch: rows(batch, args.max_seq_length))\n"
      "    Trainer(model=model, args=TrainingArguments(output_dir='out'), train_dataset=data).train()\nmain()\n");
  EXPECT_EQ(at(training, "max_length"), Json(384));
}

TEST(FollowedScripts, AnEarlyReturnBeforeAnythingTrainsIsPassedOver) {
  const Json training = training_of(
      "def main():\n    if not os.path.exists('data.json'):\n        print('run prepare.py')\n        return 1\n"
      "    Trainer(model=model, args=TrainingArguments(output_dir='out', per_device_train_batch_size=4)).train()\nmain()\n");
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(4));
}

TEST(FollowedScripts, OfTwoNamesGivenTogetherEachGetsItsOwn) {
  const Import import = import_any(
      imports +
      "def load(name):\n    return AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)\n"
      "NAMES = {'small': 'gpt2', 'large': 'gpt2-xl'}\nbatch, key = 2, 'large'\ntokenizer, model = load(NAMES[key])\n"
      "Trainer(model=model, args=TrainingArguments(output_dir='out', per_device_train_batch_size=batch)).train()\n");
  EXPECT_EQ(import.model, "gpt2-xl");
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(2));
}

TEST(FollowedScripts, ASwitchThatIsOffLeavesOutWhatItGuards) {
  const Import import = import_any(
      imports +
      "@dataclass\nclass Arguments:\n    lora: bool = False\n    name: str = 'gpt2'\n"
      "@dataclass\nclass Own(transformers.TrainingArguments):\n    optim: str = field(default='adafactor')\n"
      "args, training_args = HfArgumentParser((Arguments, Own)).parse_args_into_dataclasses()\n"
      "model = AutoModelForCausalLM.from_pretrained(args.name)\n"
      "if args.lora:\n    model = get_peft_model(model, LoraConfig(r=64))\n"
      "Trainer(model=model, args=training_args).train()\n");
  EXPECT_EQ(import.model, "gpt2");
  EXPECT_FALSE(at(import.request, "peft").is_object()) << import.request.dump();
  EXPECT_EQ(at(import.request["training"], "optim"), Json("adafactor"));
}

TEST(FollowedScripts, SettingsOfAFileThatIsNotHereAreAskedFor) {
  const Import import = import_any(
      imports +
      "cfg = yaml.safe_load(open(sys.argv[1]))\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\n"
      "Trainer(model=model, args=TrainingArguments(**cfg['train'])).train()\n");
  EXPECT_THAT(asked_of(import), testing::IsSupersetOf({"/training/per_device_train_batch_size",
                                                       "/training/gradient_accumulation_steps"}));
}

TEST(FollowedScripts, ModulesThatAFunctionComputesAreAllLinearOrAskedFor) {
  const auto import = [](const std::string& function) {
    return import_any(
        imports + "model = AutoModelForCausalLM.from_pretrained('gpt2')\n" + function +
        "config = LoraConfig(r=8, target_modules=names(model))\n"
        "Trainer(model=get_peft_model(model, config), args=TrainingArguments(output_dir='out')).train()\n");
  };
  const Import linear = import(
      "def names(model):\n    found = set()\n    for name, module in model.named_modules():\n"
      "        if isinstance(module, torch.nn.Linear):\n            found.add(name)\n    return list(found)\n");
  EXPECT_EQ(at(linear.request["peft"], "target_modules"), Json("all-linear"));
  EXPECT_THAT(asked_of(linear), testing::IsEmpty());
  EXPECT_THAT(asked_of(import("")), testing::ElementsAre("/peft/target_modules"));
}

// transformers Trainer._inner_training_loop turns checkpointing on, and never off.
TEST(FollowedScripts, CheckpointingThatTheModelTurnedOnStays) {
  const Json training = training_of(
      "model = AutoModelForCausalLM.from_pretrained('gpt2')\nmodel.gradient_checkpointing_enable()\n"
      "Trainer(model=model, args=TrainingArguments(output_dir='out', gradient_checkpointing=False)).train()\n");
  EXPECT_EQ(at(training, "gradient_checkpointing"), Json(true));
}

TEST(FollowedScripts, ACastAfterLoadingIsTheTypeOfTheWeights) {
  for (const char* cast : {".half()", ".to(torch.float16)", ".to(dtype=torch.float16)"}) {
    const Import import =
        import_any(imports + "model = AutoModelForCausalLM.from_pretrained('gpt2')" + cast +
                   "\nTrainer(model=model, args=TrainingArguments(output_dir='out')).train()\n");
    EXPECT_EQ(at(import.request["model_args"], "dtype"), Json("float16")) << cast;
  }
}

TEST(FollowedScripts, AReferenceOfItsOwnIsACopy) {
  const auto reference = [](const std::string& argument) {
    const Import import = import_any(
        "model = AutoModelForCausalLM.from_pretrained('gpt2')\nother = AutoModelForCausalLM.from_pretrained('gpt2')\n"
        "DPOTrainer(model=model, args=DPOConfig(output_dir='out'), " +
        argument + ").train()\n");
    return at(at(import.request, "rl"), "reference_model");
  };
  EXPECT_EQ(reference("ref_model=other"), Json("copy"));
  EXPECT_TRUE(reference("ref_model=None").is_null());
}

TEST(FollowedScripts, ALoopOfItsOwnIsOneThoughItsModelStandsElsewhere) {
  const Import import = import_any(
      "from transformers import T5TokenizerFast\nfrom helpers import load_model, load_data\n"
      "parser.add_argument('--batch_size', type=int, default=16)\nargs = parser.parse_args()\n"
      "model, train = load_model(args), load_data(args.batch_size)\n"
      "for batch in train:\n    loss = model(**batch).loss\n    loss.backward()\n    optimizer.step()\n"
      "    optimizer.zero_grad()\n");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(at(import.request["training"], "per_device_train_batch_size"), Json(16));
}

TEST(FollowedScripts, AFlagThatChoosesAmongModelsIsNamed) {
  const Import import = import_any(
      imports +
      "parser.add_argument('--size', default='large')\nargs = parser.parse_args()\n"
      "model = AutoModelForCausalLM.from_pretrained({'small': 'gpt2', 'large': 'gpt2-xl'}[args.size])\n"
      "Trainer(model=model, args=TrainingArguments(output_dir='out')).train()\n");
  EXPECT_EQ(import.model, "gpt2-xl");
  EXPECT_THAT(import.notes, testing::Contains(testing::HasSubstr("read as their defaults: size")));
}

TEST(FollowedScripts, AStarSpreadsAListInAnother) {
  const Import import = import_any(
      imports +
      "attention = ['q_proj', 'v_proj']\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')\n"
      "config = LoraConfig(r=8, target_modules=[*attention, 'up_proj'] + [f'{n}_proj' for n in ('down',)])\n"
      "Trainer(model=get_peft_model(model, config), args=TrainingArguments(output_dir='out')).train()\n");
  EXPECT_EQ(at(import.request["peft"], "target_modules"),
            Json::array({"q_proj", "v_proj", "up_proj", "down_proj"}));
}

TEST(FollowedScripts, AFunctionThatCallsItselfEnds) {
  const Json training = training_of(
      "def walk(tree):\n    for part in tree:\n        walk(part)\n        walk(tree)\n    return walk(tree)\n"
      "walk(anything)\nx = lambda y: x(y)\nx(1)\na = [1]\nfor i in range(40):\n    a = a + a\n"
      "Trainer(model=model, args=TrainingArguments(output_dir='out', per_device_train_batch_size=4)).train()\n");
  EXPECT_EQ(at(training, "per_device_train_batch_size"), Json(4));
}

// Each is a short text: a key that is no number of an argument, ways that double from class to class, many
// parameters, a list that is written again and again.
TEST(FollowedScripts, WhatIsMeantToHurtEnds) {
  std::string doubled = "class C0:\n    x = 1\n";
  for (int i = 1; i < 60; ++i) {
    const std::string below = "C" + std::to_string(i - 1);
    doubled += "class C" + std::to_string(i) + "(" + below + ", " + below + "):\n    pass\n";
  }
  std::string many = "def f(", again = "big = [", lines;
  for (int i = 0; i < 8000; ++i) many += "a" + std::to_string(i) + ", ";
  for (int i = 0; i < 900; ++i) again += "1, ";
  for (int i = 0; i < 3000; ++i) lines += "args.k" + std::to_string(i) + " = big\nos.environ['v'] = big\n";
  const std::string trains =
      "\nTrainer(model=model, args=TrainingArguments(output_dir='out', per_device_train_batch_size=4)).train()\n";
  std::string chain = "x = a", sum = "y = 1", nested = "z = ";
  for (int i = 0; i < 8000; ++i) {
    chain += ".b()[0]";
    sum += " + 1";
  }
  for (int i = 0; i < 150; ++i) nested += "f(";
  nested += std::string(150, ')');
  for (const std::string& text :
       {chain, sum, nested,
        std::string(
            "@dataclass\nclass A:\n    x: int = 1\nA(**{'': 1})\nA(**{'99999999999999999999999': 1})"),
        std::string("class A:\n    def __init__(self, a: A, b: A):\n        self.a = A(a, b)\nA()"),
        doubled + "C59().nothing", many + "**rest):\n    pass\nf(1, 2, z=3)\nf()"}) {
    EXPECT_EQ(at(training_of(text + trains), "per_device_train_batch_size"), Json(4)) << text.substr(0, 60);
  }
  EXPECT_LT(
      read_any("args = TrainingArguments(output_dir='out')\n" + again + "]\n" + lines).root.members.size(),
      500u);
}

TEST(FollowedScripts, PythonIsToldByItsImportsWhateverDataItHolds) {
  std::string pairs = "from transformers import Trainer, TrainingArguments\npairs = [\n";
  for (int i = 0; i < 30; ++i) pairs += "    {\"en\": \"I love coffee\", \"fr\": \"J'aime\"},\n";
  const Import import = import_any(
      pairs + "]\nTrainer(model=model, args=TrainingArguments(output_dir='out', max_steps=7)).train()\n");
  EXPECT_TRUE(import.errors.empty());
  EXPECT_EQ(at(import.request["training"], "max_steps"), Json(7));
}

}  // namespace
}  // namespace plimsoll::exchange
