// SageMaker: hyperparameters of an estimator or of a training job, and the instance that it runs on.
#include "core/exchange/formats.h"
#include "core/exchange/formats/transformers.h"

namespace plimsoll::exchange {

namespace {

using json::Json;

// One GPU of each family; docs.aws.amazon.com/ec2/latest/instancetypes/ac.html.
struct InstanceFamily {
  std::string_view prefix, gpu;
};
constexpr InstanceFamily families[] = {
    {"ml.g4dn.", "t4"},         {"ml.g5.", "a10g"},          {"ml.g6e.", "l40s"},
    {"ml.g6.", "l4"},           {"ml.p3.", "v100-sxm2-16"},  {"ml.p3dn.", "v100-sxm2-32"},
    {"ml.p4d.", "a100-sxm-40"}, {"ml.p4de.", "a100-sxm-80"}, {"ml.p5.", "h100-sxm"},
    {"ml.p5e.", "h200-sxm"},    {"ml.p5en.", "h200-sxm"},    {"ml.p6-b200.", "b200-sxm"},
};
// Sizes with more than one.
struct InstanceSize {
  std::string_view size;
  uint64_t gpus;
};
constexpr InstanceSize sizes[] = {{"g5.12x", 4},   {"g5.24x", 4},   {"g5.48x", 8},     {"g4dn.12x", 4},
                                  {"g6.12x", 4},   {"g6.24x", 4},   {"g6.48x", 8},     {"g6e.12x", 4},
                                  {"g6e.24x", 4},  {"g6e.48x", 8},  {"p3.8x", 4},      {"p3.16x", 8},
                                  {"p3dn.24x", 8}, {"p4d.24x", 8},  {"p4de.24x", 8},   {"p5.48x", 8},
                                  {"p5e.48x", 8},  {"p5en.48x", 8}, {"p6-b200.48x", 8}};

void read_instance(Reading& reading, const Leaf& leaf) {
  const std::string word = reading.word(leaf.path);
  for (const InstanceFamily& row : families) {
    if (word.rfind(row.prefix, 0) == 0) reading.set("/hardware/gpu", std::string(row.gpu), &leaf);
  }
  if (!reading.has("/hardware/gpu"))
    return reading.mark(leaf, Use::unsupported, "the GPU of this instance is not known");
  for (const InstanceSize& row : sizes) {
    if (word.find(row.size) != std::string::npos) reading.values["/parallel/num_gpus"] = row.gpus;
  }
}

constexpr Row sagemaker_rows[] = {{"instance_type", "/hardware/gpu", "", read_instance},
                                  {"InstanceType", "/hardware/gpu", "", read_instance},
                                  {"transformers_version", "/versions/transformers", ""},
                                  {"pytorch_version", "/versions/torch", ""}};
constexpr std::string_view sagemaker_irrelevant =
    "entry_point source_dir instance_count role py_version base_job_name volume_size max_run max_wait "
    "use_spot_instances image_uri output_path checkpoint_* environment* distribution* disable_profiler "
    "keep_alive_period_in_seconds metric_definitions* hyperparameters.train_* "
    "hyperparameters.sagemaker_* sagemaker_* InstanceCount VolumeSizeInGB git_config* hyperparameters.lr "
    "hyperparameters.merge_* hyperparameters.hf_token hyperparameters.epochs_notes tags*";
constexpr Table sagemaker_table{sagemaker_rows, sagemaker_irrelevant, "", ""};
constexpr Section sagemaker_sections[] = {
    {"hyperparameters", &trl_model_table},
    {"hyperparameters", &training_table},
    {"hyperparameters", &model_table},
    {"hyperparameters", &quantization_table},
    {"hyperparameters", &short_table},
    {"", &sagemaker_table},
    {"sagemaker.hyperparameters", &trl_model_table},
    {"sagemaker.hyperparameters", &training_table},
    {"sagemaker.hyperparameters", &model_table},
    {"sagemaker.hyperparameters", &quantization_table},
    {"sagemaker.hyperparameters", &short_table},
    {"sagemaker", &sagemaker_table},
};

}  // namespace

const Format sagemaker{
    .id = "sagemaker",
    .name = "SageMaker hyperparameters",
    .stack = "hf",
    .written = Language::json,
    .in_python = true,
    .sections = sagemaker_sections,
    .marks = "!hyperparameters !sagemaker instance_type entry_point",
    .finish = finish_flat,
    .write =
        [](Writing& out, const std::string& pointer, const Json& value) {
          if (pointer == "/peft") {
            out.put("hyperparameters.use_peft", true, pointer);
            return true;
          }
          return write_training(out, "hyperparameters", pointer, value);
        },
};

}  // namespace plimsoll::exchange
