#include "core/question/least.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/recipe/stacks.h"

namespace plimsoll::question {

namespace {

// How a value that was taken is told of; what has no row is as everybody has it.
struct TakenWords {
  std::string_view pointer, before;
  bool valued = false;  ///< the value stands behind it
  std::string_view behind = {};
};
constexpr TakenWords taken_rows[] = {
    {"/training/max_length", "", true, " tokens"},
    {"/training/per_device_train_batch_size", "a micro-batch of ", true},
    {"/training/gradient_checkpointing", "gradient checkpointing"},
    {"/task",
     "a head with a score for each class (an embedding model, too, makes no logits; of pairs count both texts)"},
    {"/model_args/dtype", "weights loaded in bfloat16 (TRL takes float32 unless told)"}};

recipe::StackTraits named_traits(const json::Json& request) {
  const auto stack = request.find("stack");
  const bool named = stack != request.end() && stack->is_string();
  return named ? recipe::stack_traits(stack->get_ref<const std::string&>()) : recipe::StackTraits{};
}

bool is_on_several(const Way& way) {
  const json::Json::json_pointer at("/parallel/num_gpus");
  return way.request.contains(at) && way.request.at(at) != json::Json(1);
}

}  // namespace

std::string taken_words(const SaidRequest& said, const std::vector<Way>& ways) {
  const Way& way = ways.front();
  std::vector<run::Choice> taken = way.taken;
  // Where nobody says a length, it is the trainer's own.
  if (said.leaves_open("/training/max_length")) taken.push_back({"/training/max_length", way.length, ""});
  std::string out;
  const auto add = [&out](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  for (const TakenWords& row : taken_rows) {
    const auto one = std::find_if(taken.begin(), taken.end(),
                                  [&](const run::Choice& each) { return each.pointer == row.pointer; });
    if (one != taken.end())
      add(std::string(row.before) + (row.valued ? json::write(one->value) : "") + std::string(row.behind));
  }
  if (way.wide) add("weights loaded in float32");
  if (std::any_of(ways.begin(), ways.end(), [](const Way& one) { return one.narrow; }))
    add("weights in 16 bits alone where all are trained" +
        std::string(std::any_of(ways.begin(), ways.end(),
                                [](const Way& one) { return one.narrow && is_on_several(one); })
                        ? " and each card holds a whole copy"
                        : "") +
        " (in float32 they and their states are twice as large)");
  if (said.values.count("/rl/vllm_mode") != 0)
    add("vLLM on " + std::string(said.shares_the_card() ? "the same card" : "cards of its own"));
  return out.empty() ? "" : " Not said, and taken here: " + out + ".";
}

void take_the_least(Way& way, const run::Catalog& catalog) {
  constexpr const char* dtype_at = "/model_args/dtype";
  json::Json& request = way.request;
  // Who names Axolotl in a sentence has not said that nothing else is set.
  json::Json unnamed = request;
  unnamed.erase("stack");
  way.taken = run::usual_choices(unnamed, catalog);
  std::erase_if(way.taken, [&](const run::Choice& one) {
    return one.pointer == "/training/per_device_train_batch_size" ||
           (one.pointer == "/stack" && request.contains("stack"));
  });
  const auto takes = [&](std::string_view pointer) {
    return std::any_of(way.taken.begin(), way.taken.end(),
                       [pointer](const run::Choice& one) { return one.pointer == pointer; });
  };
  const bool of_trl = takes("/stack") || named_traits(request).trl_checkpoint_dtype;
  if (of_trl && takes("/training/bf16") && !request.contains("quantization") &&
      !request.contains(json::Json::json_pointer(dtype_at)))
    way.taken.push_back({dtype_at, "bfloat16", "most runs say so; TRL loads float32 unless told"});
  if (constexpr const char* batch_at = "/training/per_device_train_batch_size";
      !request.contains(json::Json::json_pointer(batch_at)))
    way.taken.push_back({batch_at, 1, "not said; so it needs least"});
  for (const run::Choice& one : way.taken) request[json::Json::json_pointer(one.pointer)] = one.value;
}

}  // namespace plimsoll::question
