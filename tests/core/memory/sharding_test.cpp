// Several GPUs. Golden figures are published ones: bytes that training on A100 cards printed
// (foundation-model-stack/fms-acceleration scripts/benchmarks/refs/a100_80gb.csv and a100_80gb_liger.csv),
// and the model states that DeepSpeed's estimators print (deepspeed.readthedocs.io, Memory Requirements).
#include "core/memory/sharding/sharding.h"

#include <cmath>

#include "tests/core/report_answers.h"

namespace plimsoll::report {
namespace {

// The benchmark's common part: Trainer with TRL, packed to 4,096 tokens, FlashAttention 2, reentrant.
Json benchmark(const std::string& model, uint64_t gpus, uint64_t batch) {
  return {{"model", model},
          {"stack", "trl"},
          {"versions",
           {{"transformers", "4.48.1"},
            {"trl", "0.13.0"},
            {"peft", "0.13.2"},
            {"torch", "2.4.1"},
            {"bitsandbytes", "0.43.3"}}},
          {"hardware", {{"gpu", "a100-sxm-80"}}},
          {"model_args", {{"dtype", "bfloat16"}, {"attn_implementation", "flash_attention_2"}}},
          {"parallel", {{"num_gpus", gpus}, {"strategy", "fsdp"}}},
          {"training",
           {{"per_device_train_batch_size", batch},
            {"max_length", 4096},
            {"packing", true},
            {"gradient_checkpointing", true},
            {"optim", "adamw_torch"},
            {"loss_kernel", "stock"}}}};
}
Json with_adapters(const Json& request) {
  return merged(
      request,
      {{"peft",
        {{"r", 16}, {"lora_dropout", 0.1}, {"target_modules", {"q_proj", "k_proj", "v_proj", "o_proj"}}}}});
}
Json in_four_bits(const Json& request) {
  return merged(
      with_adapters(request),
      {{"quantization",
        {{"load_in_4bit", true}, {"bnb_4bit_quant_type", "nf4"}, {"bnb_4bit_use_double_quant", true}}},
       {"training", {{"bf16", true}}}});
}

double held(const Json& report, const char* id, std::initializer_list<const char*> components) {
  double sum = 0;
  for (const char* c : components) sum += static_cast<double>(component(instant(report, id), c));
  return sum;
}

TEST(Fsdp, FullTrainingIn16BitsPeaksAtTenBytesAParameterOverTheGpus) {
  const Json report = answer(benchmark("mistral-7b-v0.1", 2, 4));
  EXPECT_EQ(at(report, "/memory/peak/instant"), "optimizer_step");
  expect_within(peak(report), 36226136576.0, 0.0001);
  // What stays when the run ends: parameters, gradients and states, and the two workspaces.
  expect_within(held(report, "optimizer_step", {"weights", "gradients", "optimizer", "workspace"}),
                28984396288.0, 0.0001);
}

// accelerate's GradientAccumulationPlugin: the Trainer asks it until 4.46.1 and from 5.2 on. torchtune's recipes
// never hold a reduction back.
TEST(Fsdp, GradientsOfEarlierMicroBatchesAreWholeUnlessEachIsReduced) {
  Json request = benchmark("mistral-7b-v0.1", 4, 1);
  request["training"]["gradient_accumulation_steps"] = 8;
  const auto gradients = [](const Json& request) { return held(answer(request), "forward", {"gradients"}); };
  const double parameters = 7241732096.0;
  expect_within(gradients(request), 2 * parameters, 0.001);
  request["parallel"]["sync_each_batch"] = true;
  expect_within(gradients(request), 2 * parameters, 0.001);
  EXPECT_TRUE(has_note(answer(request), "sync_each_batch_ignored"));
  for (const char* release : {"4.46.1", "5.2"}) {
    request["versions"]["transformers"] = release;
    SCOPED_TRACE(release);
    expect_within(gradients(request), 2 * parameters / 4, 0.001);
    EXPECT_FALSE(has_note(answer(request), "sync_each_batch_ignored"));
  }
  request["parallel"].erase("sync_each_batch");
  request["parallel"]["strategy"] = "fsdp2";
  request["stack"] = "torchtune";
  SCOPED_TRACE("torchtune");
  expect_within(gradients(request), 2 * parameters / 4, 0.001);
}

// torchtune training/_distributed.py shard_model: custom_sharded_layers of its 8B and 70B files.
TEST(Fsdp, AnEmbeddingAndAHeadOfTheirOwnAreGatheredWhileTheyWork) {
  Json request = benchmark("llama-3.1-8b", 4, 1);
  request["parallel"]["strategy"] = "fsdp2";
  request["stack"] = "torchtune";
  const auto gathered = [&](const char* id) {
    return static_cast<double>(component(instant(answer(request), id), "gathered"));
  };
  const double table = 128256.0 * 4096 * 2;
  const double loss = gathered("loss"), backward = gathered("backward");
  request["parallel"]["fsdp_config"]["own_units"] = "embedding_and_head";
  EXPECT_NEAR(loss - gathered("loss"), table, 1e6);
  EXPECT_NEAR(backward - gathered("backward"), 2 * table, 1e6);
  request["parallel"]["fsdp_config"]["own_units"] = "embedding";
  EXPECT_NEAR(backward - gathered("backward"), table, 1e6);
}

TEST(Fsdp, MixedPrecisionKeepsFp32Shards) {
  Json request = benchmark("mistral-7b-v0.1", 2, 8);
  request["training"]["bf16"] = true;
  const Json report = answer(request);
  expect_within(peak(report), 72435247104.0, 0.0001);
  expect_within(held(report, "optimizer_step", {"weights", "gradients", "optimizer", "workspace"}),
                57951766528.0, 0.0001);
}

TEST(Fsdp, AdaptersOverAFrozenBaseKeepEveryBoundaryAndItsGradient) {
  const Json report = answer(with_adapters(benchmark("mistral-7b-v0.1", 2, 4)));
  EXPECT_EQ(at(report, "/memory/peak/instant"), "backward");
  expect_within(peak(report), 21959827968.0, 0.0005);
  // 32 boundaries and 30 gradients of them; the one that comes in is counted with the layer.
  EXPECT_EQ(component(instant(report, "backward"), "boundaries"), 62ull * 4 * 4096 * 4096 * 2);
}

TEST(Fsdp, FourBitBasesSharePackedWeightsAndRepeatTheirScales) {
  expect_within(peak(answer(in_four_bits(benchmark("mistral-7b-v0.1", 2, 2)))), 9424594432.0, 0.0005);
  expect_within(peak(answer(in_four_bits(benchmark("mistral-7b-v0.1", 2, 4)))), 15970067968.0, 0.0005);
  const Json seventy = answer(in_four_bits(benchmark("llama-2-70b", 2, 2)));
  expect_within(peak(seventy), 46685287936.0, 0.0005);
  expect_within(
      held(seventy, "optimizer_step", {"weights", "adapters", "gradients", "optimizer", "workspace"}),
      19266743808.0, 0.0005);
}

// What its own stream has gathered in a layer is still cached when the head runs.
TEST(Fsdp, TheLossFindsTheLayersThatWereGatheredStillReserved) {
  const Json report = answer(with_adapters(benchmark("mistral-7b-v0.1", 2, 1)));
  const auto slack = [&](const char* id) {
    return static_cast<double>(component(instant(report, id), "allocator_slack"));
  };
  const double layer = 218112000.0 * 2;  // parameters of one in bfloat16
  EXPECT_GT(slack("loss"), 3 * layer);
  EXPECT_GT(slack("backward"), 2 * layer);
}

TEST(Fsdp, WithoutReentranceTheBoundariesGo) {
  Json request = with_adapters(benchmark("mistral-7b-v0.1", 2, 4));
  const double kept = peak(answer(request));
  request["training"]["gradient_checkpointing_kwargs"] = {{"use_reentrant", false}};
  EXPECT_LT(peak(answer(request)), kept - 1e9);
}

// Full training of T5-3B, 2,851,598,336 parameters, on one machine with eight GPUs: DeepSpeed's documentation
// prints 6.09GB a GPU for ZeRO-3 and 0.79GB with the optimizer in RAM, of which 0.12GB are the largest layer.
Json t5(const std::string& strategy, const Json& zero) {
  return {{"model", "t5-3b"},
          {"model_args", {{"dtype", "float32"}}},
          {"training", {{"bf16", true}, {"max_length", 128}, {"optim", "adamw_torch_fused"}}},
          {"parallel", {{"num_gpus", 8}, {"strategy", strategy}, {"zero_optimization", zero}}}};
}

TEST(Zero, ModelStatesOfStage3AreThoseThatDeepSpeedPrints) {
  const Json report = answer(t5("zero3", Json::object()));
  const double parameters = static_cast<double>(bytes(report, "/model/parameters"));
  EXPECT_EQ(parameters, 2851598336.0);
  // Its sum takes 4 bytes of fp32 gradients and leaves out the 16-bit ones.
  const double states = held(report, "optimizer_step", {"weights", "optimizer"}) + 4 * parameters / 8;
  EXPECT_NEAR(states / gibibyte + 0.12, 6.09, 0.01);
  const Json in_ram = answer(t5("zero3", {{"offload_optimizer", {{"device", "cpu"}}}}));
  EXPECT_NEAR(held(in_ram, "optimizer_step", {"weights", "optimizer"}) / gibibyte + 0.12, 0.79, 0.01);
}

TEST(Zero, ModelStatesOfStage2AreTwoBytesAndEighteenOverTheGpus) {
  const Json report = answer(t5("zero2", Json::object()));
  const double parameters = static_cast<double>(bytes(report, "/model/parameters"));
  const double states =
      held(report, "optimizer_step", {"weights", "optimizer", "gradients"}) + 4 * parameters / 8;
  EXPECT_NEAR(states, 2 * parameters + 18 * parameters / 8, 1e6);
  const Json in_ram = answer(t5("zero2", {{"offload_optimizer", {{"device", "cpu"}}}}));
  EXPECT_NEAR(held(in_ram, "optimizer_step", {"weights", "optimizer", "gradients"}), 2 * parameters, 1e6);
  // Master weights, two states and fp32 gradients of all partitions lie in the machine's RAM.
  EXPECT_GT(static_cast<double>(bytes(in_ram, "/memory/host_bytes")), 16 * parameters);
}

// DeepSpeed casts the module after from_pretrained has made it.
TEST(Zero, AMatrixIsPackedFromTheTypeThatIsLoaded) {
  const auto packed_beside = [](const char* dtype) {
    const Json report = answer({{"model", "mistral-7b-v0.3"},
                                {"model_args", {{"dtype", dtype}}},
                                {"quantization", {{"load_in_8bit", true}}},
                                {"peft", {{"r", 8}}},
                                {"training", {{"bf16", true}, {"max_length", 128}}},
                                {"parallel", {{"num_gpus", 2}, {"strategy", "zero2"}}}});
    return static_cast<double>(component(instant(report, "load"), "transient"));
  };
  EXPECT_EQ(packed_beside("float32") - packed_beside("bfloat16"), 2.0 * 4096 * 14336);
}

TEST(Zero, BucketsAreThoseOfTheConfiguration) {
  const auto buckets = [](const Json& zero) {
    return static_cast<double>(component(instant(answer(t5("zero2", zero)), "loss"), "buckets"));
  };
  const double once = buckets({{"reduce_bucket_size", 200000000}});
  EXPECT_EQ(buckets({{"reduce_bucket_size", 200000000}, {"overlap_comm", true}}) - once, 4e8);
  EXPECT_EQ(buckets({{"reduce_bucket_size", 300000000}}) - once, 2e8);
}

TEST(Ddp, BucketsAreAFlatCopyOfTheGradients) {
  const Json request = {{"model", "gpt2"},
                        {"model_args", {{"dtype", "float32"}}},
                        {"parallel", {{"num_gpus", 2}, {"strategy", "ddp"}}}};
  const Json report = answer(request);
  EXPECT_EQ(component(instant(report, "forward"), "buckets"), 4 * bytes(report, "/model/parameters"));
  const Json views = answer(merged(request, {{"parallel", {{"gradient_as_bucket_view", true}}}}));
  EXPECT_LT(bytes(instant(views, "optimizer_step"), "/allocated"),
            bytes(instant(report, "optimizer_step"), "/allocated"));
}

// ms-swift's benchmark of December 2023 trained Qwen-14B in bfloat16 on two A100 that device_map had spread
// it over: 60.42 and 72.31 GiB reserved at 512 tokens, both at the optimizer's step.
TEST(DeviceMap, LayersAreSpreadAsAccelerateDoes) {
  const Json config = {{"model_type", "qwen"},         {"hidden_size", 5120},
                       {"num_hidden_layers", 40},      {"num_attention_heads", 40},
                       {"intermediate_size", 27392},   {"vocab_size", 152064},
                       {"kv_channels", 128},           {"no_bias", true},
                       {"tie_word_embeddings", false}, {"seq_length", 8192}};
  const Json report =
      answer({{"model", {{"name", "Qwen-14B"}, {"config", config}}},
              {"versions", {{"transformers", "4.36"}, {"torch", "2.1"}}},
              {"model_args",
               {{"dtype", "bfloat16"}, {"device_map", "auto"}, {"attn_implementation", "flash_attention_2"}}},
              {"parallel", {{"num_gpus", 2}}},
              {"training",
               {{"per_device_train_batch_size", 1},
                {"max_length", 512},
                {"bf16", true},
                {"gradient_checkpointing", true},
                {"gradient_accumulation_steps", 16},
                {"optim", "adamw_torch"}}}});
  EXPECT_EQ(at(report, "/memory/peak/instant"), "optimizer_step");
  expect_within(gib(report, "/memory/spread/0"), 60.42, 0.015);
  expect_within(gib(report, "/memory/spread/1"), 72.31, 0.015);
  EXPECT_TRUE(has_note(report, "layers_are_spread"));
  EXPECT_EQ(bytes(report, "/memory/effective_batch"), 16u);  // one process, whatever the GPUs
}

TEST(SeveralGpus, TheEffectiveBatchCountsThem) {
  const Json report =
      answer({{"model", "gpt2"},
              {"training", {{"per_device_train_batch_size", 4}, {"gradient_accumulation_steps", 2}}},
              {"parallel", {{"num_gpus", 8}, {"strategy", "zero2"}}}});
  EXPECT_EQ(bytes(report, "/memory/effective_batch"), 64u);
}

TEST(SeveralGpus, OneGpuIsAsItWas) {
  for (const char* model : {"gpt2", "mistral-7b-v0.3", "qwen2.5-vl-3b-instruct"}) {
    const Json alone = {{"model", model}, {"peft", {{"r", 8}, {"target_modules", "all-linear"}}}};
    const Json said = merged(alone, {{"parallel", {{"num_gpus", 1}, {"strategy", "none"}}}});
    EXPECT_EQ(json::write(at(answer(alone), "/memory")), json::write(at(answer(said), "/memory"))) << model;
  }
}

const char* const strategies[] = {"ddp", "fsdp", "fsdp2", "zero1", "zero2", "zero3"};
const Json methods[] = {
    {{"training", {{"bf16", true}}}, {"model_args", {{"dtype", "float32"}}}},
    {{"model_args", {{"dtype", "bfloat16"}}}},
    {{"training", {{"bf16", true}}}, {"peft", {{"r", 16}, {"target_modules", "all-linear"}}}},
    {{"quantization", {{"load_in_4bit", true}}},
     {"training", {{"bf16", true}, {"gradient_checkpointing", true}}},
     {"peft", {{"r", 64}, {"target_modules", "all-linear"}}}}};
const char* const sharded_models[] = {"llama-3.2-1b", "qwen2.5-7b", "gemma-2-2b", "mixtral-8x7b-v0.1"};

TEST(SeveralGpus, MoreOfThemNeverNeedMoreEach) {
  for (const char* model : sharded_models) {
    for (const Json& method : methods) {
      for (const char* strategy : strategies) {
        double fewer = INFINITY;
        for (const int gpus : {2, 3, 4, 8, 64}) {
          const Json request =
              merged(method, {{"model", model}, {"parallel", {{"num_gpus", gpus}, {"strategy", strategy}}}});
          const double now = peak(answer(request));
          EXPECT_LE(now, fewer) << json::write(request);
          fewer = now;
        }
      }
    }
  }
}

TEST(SeveralGpus, EachStageOfZeroHoldsNoMoreThanTheOneBefore) {
  for (const char* model : sharded_models) {
    for (const Json& method : {methods[0], methods[2]}) {
      double before = INFINITY;
      for (const char* strategy : {"ddp", "zero1", "zero2", "zero3"}) {
        const Json request =
            merged(method, {{"model", model}, {"parallel", {{"num_gpus", 4}, {"strategy", strategy}}}});
        const double now =
            held(answer(request), "optimizer_step", {"weights", "adapters", "optimizer", "gradients"});
        EXPECT_LE(now, before) << json::write(request);
        before = now;
      }
    }
  }
}

TEST(SeveralGpus, OffloadingNeverNeedsMoreOnTheGpu) {
  for (const char* model : sharded_models) {
    const Json base = merged(methods[0], {{"model", model}, {"parallel", {{"num_gpus", 4}}}});
    const auto of = [&base](const char* strategy, const Json& settings) {
      return answer(merged(merged(base, {{"parallel", {{"strategy", strategy}}}}), {{"parallel", settings}}));
    };
    const Json cpu = {{"device", "cpu"}};
    const Json none = Json::object();
    for (const char* stage : {"zero2", "zero3"}) {
      const Json kept = of(stage, none);
      const Json moved = of(stage, {{"zero_optimization", {{"offload_optimizer", cpu}}}});
      EXPECT_LT(peak(moved), peak(kept));
      EXPECT_GT(bytes(moved, "/memory/host_bytes"), bytes(kept, "/memory/host_bytes"));
    }
    EXPECT_LT(peak(of("fsdp", {{"fsdp_config", {{"offload_params", true}}}})), peak(of("fsdp", none)));
  }
}

// A unit that is gathered for a checkpoint may hold more of the card than the highest instant of a step: what the
// run holds is the most that any instant does.
TEST(Fsdp, NoInstantHoldsMoreThanTheRun) {
  for (const uint64_t rank : {64, 512, 1024}) {
    Json body = merged(benchmark("llama-3.2-3b", 4, 2),
                       {{"parallel", {{"fsdp_config", {{"state_dict_type", "SHARDED_STATE_DICT"}}}}},
                        {"training", {{"bf16", true}, {"max_length", 142}}}});
    body["peft"] = {
        {"r", rank}, {"target_modules", {"gate_proj", "o_proj"}}, {"modules_to_save", {"embed_tokens"}}};
    const Json report = answer(body);
    const double run = report.at("memory").at("peak").at("reserved").get<double>();
    for (const Json& each : report.at("memory").at("instants"))
      EXPECT_LE(each.at("reserved").get<double>(), 1.001 * run) << each.at("id") << " at rank " << rank;
  }
}

}  // namespace
}  // namespace plimsoll::report
