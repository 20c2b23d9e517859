// The frames of a traceback that say in which phase a run died.
#include <gtest/gtest.h>

#include <string>

#include "core/diagnosis/traceback.h"

namespace plimsoll::diagnosis {
namespace {

struct Framed {
  const char* text;
  FailurePhase phase;
};

TEST(DiagnosisFrames, FramesNameThePhase) {
  const Framed cases[] = {
      {"  File \"modeling_utils.py\", line 1, in _load_state_dict_into_model", FailurePhase::load},
      {"    set_module_tensor_to_device(model, name, device)", FailurePhase::load},
      {"    hidden_states = self.mlp(hidden_states)\n", FailurePhase::forward},
      {"    loss = torch._C._nn.cross_entropy_loss(input, target)", FailurePhase::loss},
      {"    logits = logits.float()", FailurePhase::loss},
      {"  Variable._execution_engine.run_backward(\n  File \"checkpoint.py\", in "
       "CheckpointFunction.backward\n    "
       "hidden_states = self.mlp(hidden_states)",
       FailurePhase::backward},
      {"    state[\"exp_avg\"] = torch.zeros_like(p)", FailurePhase::optimizer},
      {"  File \"adamw.py\", in _multi_tensor_adamw\n    torch._foreach_sqrt(device_exp_avg_sqs)",
       FailurePhase::optimizer},
      {"    all_preds = nested_concat(all_preds, logits)", FailurePhase::eval},
      {"    with FSDP.summon_full_params(model):", FailurePhase::save},
      {"    out = model.generate(**inputs)", FailurePhase::generate},
      {"    model = model.merge_and_unload()", FailurePhase::merge},
      {"nothing of that kind", FailurePhase::unknown},
  };
  for (const Framed& one : cases) EXPECT_EQ(read_frames(clean(one.text)).phase, one.phase) << one.text;
}

TEST(DiagnosisFrames, AParameterThatIsPassedOnResumesNothing) {
  const Frames passed =
      read_frames(clean("  File \"finetune.py\", line 198, in main\n"
                        "    trainer.train(resume_from_checkpoint=args.resume)\n"
                        "  File \"engine.py\", line 2110, in _take_model_step\n"
                        "    self.optimizer.step()"));
  EXPECT_EQ(passed.phase, FailurePhase::optimizer);
  EXPECT_FALSE(passed.shows("resume"));
  EXPECT_TRUE(read_frames(clean("  File \"finetune.py\", line 9, in resume_training\n"
                                "    model.load(path)"))
                  .shows("resume"));
}

TEST(DiagnosisFrames, OfALongLineOfProseOnlyTheQuotedFrameCounts) {
  const Frames frames =
      read_frames(clean("the model could generate and save and merge what it was asked for, I think\n"
                        "  File \"train.py\", line 3, in main\n    loss.backward()\n"
                        "  File \"engine.py\", line 9, in run\n    run_backward(tensors)\n"));
  EXPECT_EQ(frames.phase, FailurePhase::backward);
  EXPECT_EQ(frames.words, "run_backward(tensors)");
}

TEST(DiagnosisFrames, ALineBelowTheMessageThatSetsNumbersIsTheScriptAndNoFrame) {
  const std::string message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB.\n";
  const std::string script = "model = AutoModel.from_pretrained('unsloth/Qwen3-14B', max_seq_length=2048)\n";
  EXPECT_EQ(read_frames(clean(message + script)).phase, FailurePhase::unknown);
  EXPECT_EQ(
      read_frames(clean(message + "model = AutoModel.from_pretrained(path, device_map='cuda')\n")).phase,
      FailurePhase::load);
  EXPECT_EQ(read_frames(clean(message + "  File \"a.py\", line 3, in main\n" + script)).phase,
            FailurePhase::load);
}

// What works out log-probabilities calls the model first, and a layer of it has no logits.
TEST(DiagnosisFrames, ALayerInsideALossIsWhereItDied) {
  const std::string loss =
      "Traceback (most recent call last):\n"
      "  File \"trl/trainer/dpo_trainer.py\", line 9, in compute_loss\n"
      "    logps = self._get_per_token_logps(model, ids)\n";
  const std::string layer =
      "  File \"unsloth/kernels/fast_lora.py\", line 85, in forward\n"
      "    e = matmul_lora(X, gateW, gateW_quant, gateA, gateB, gateS)\n";
  const std::string inner =
      "  File \"torch/nn/functional.py\", line 3029, in cross_entropy\n"
      "    return torch._C._nn.cross_entropy_loss(input, target)\n";
  const std::string error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 448.00 MiB.\n";
  EXPECT_EQ(read_frames(clean(loss + error)).phase, FailurePhase::loss);
  const Frames frames = read_frames(clean(loss + layer + error));
  EXPECT_EQ(frames.phase, FailurePhase::forward);
  EXPECT_FALSE(frames.shows("logits"));
  EXPECT_EQ(read_frames(clean(layer + inner + error)).phase, FailurePhase::loss);
}

TEST(DiagnosisFrames, TheInnermostFrameOfAPhaseIsTheOneThatIsShown) {
  const Frames frames = read_frames(clean(
      "  File \"accelerate/accelerator.py\", line 2196, in backward\n    loss.backward(**kwargs)\n"
      "  File \"torch/autograd/graph.py\", line 823, in _engine_run_backward\n"
      "    return Variable._execution_engine.run_backward(\n"
      "  File \"unsloth/kernels/fast_lora.py\", line 120, in backward\n    DW = matmul_lora(dY, downW)\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 448.00 MiB.\n"));
  EXPECT_EQ(frames.phase, FailurePhase::backward);
  EXPECT_EQ(frames.words, "File \"unsloth/kernels/fast_lora.py\", line 120, in backward");
}

// pytorch torch/distributed/fsdp/_state_dict_utils.py and tensor/_api.py, deepspeed runtime/engine.py and
// utils/zero_to_fp32.py, accelerate utils/fsdp_utils.py, unsloth save.py
TEST(DiagnosisFrames, WhatGathersACheckpointIsASave) {
  for (const char* frame :
       {"_state_dict_utils.py\", line 300, in _full_post_state_dict_hook",
        "_api.py\", line 600, in full_tensor", "engine.py\", line 3500, in save_16bit_model",
        "zero_to_fp32.py\", line 10, in merge", "modeling_utils.py\", line 3500, in save_pretrained",
        "fsdp_utils.py\", line 90, in save_fsdp_model", "state_dict.py\", line 300, in get_model_state_dict",
        "save.py\", line 5, in unsloth_save_model",
        "engine.py\", line 3400, in _zero3_consolidated_16bit_state_dict"}) {
    const std::string text =
        "Traceback (most recent call last):\n  File \"train.py\", line 1, in <module>\n  File \"" +
        std::string(frame) + "\nCUDA out of memory. Tried to allocate 2.00 GiB.";
    EXPECT_EQ(read_frames(clean(text)).phase, FailurePhase::save) << frame;
  }
}

}  // namespace
}  // namespace plimsoll::diagnosis
