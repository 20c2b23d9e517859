// The frames of a traceback that say in which phase a run died.
#include <gtest/gtest.h>

#include "core/diagnosis/traceback.h"

namespace plimsoll::diagnosis {
namespace {

struct Framed {
  const char* text;
  Phase phase;
};

TEST(DiagnosisFrames, FramesNameThePhase) {
  const Framed cases[] = {
      {"  File \"modeling_utils.py\", line 1, in _load_state_dict_into_model", Phase::load},
      {"    set_module_tensor_to_device(model, name, device)", Phase::load},
      {"    hidden_states = self.mlp(hidden_states)\n", Phase::forward},
      {"    loss = torch._C._nn.cross_entropy_loss(input, target)", Phase::loss},
      {"    logits = logits.float()", Phase::loss},
      {"  Variable._execution_engine.run_backward(\n  File \"checkpoint.py\", in "
       "CheckpointFunction.backward\n    "
       "hidden_states = self.mlp(hidden_states)",
       Phase::backward},
      {"    state[\"exp_avg\"] = torch.zeros_like(p)", Phase::optimizer},
      {"  File \"adamw.py\", in _multi_tensor_adamw\n    torch._foreach_sqrt(device_exp_avg_sqs)",
       Phase::optimizer},
      {"    all_preds = nested_concat(all_preds, logits)", Phase::eval},
      {"    with FSDP.summon_full_params(model):", Phase::save},
      {"    out = model.generate(**inputs)", Phase::generate},
      {"    model = model.merge_and_unload()", Phase::merge},
      {"nothing of that kind", Phase::unknown},
  };
  for (const Framed& one : cases) EXPECT_EQ(read_frames(clean(one.text)).phase, one.phase) << one.text;
}

TEST(DiagnosisFrames, OfALongLineOfProseOnlyTheQuotedFrameCounts) {
  const Frames frames =
      read_frames(clean("the model could generate and save and merge what it was asked for, I think\n"
                        "  File \"train.py\", line 3, in main\n    loss.backward()\n"
                        "  File \"engine.py\", line 9, in run\n    run_backward(tensors)\n"));
  EXPECT_EQ(frames.phase, Phase::backward);
  EXPECT_EQ(frames.words, "run_backward(tensors)");
}

}  // namespace
}  // namespace plimsoll::diagnosis
