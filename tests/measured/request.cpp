#include "tests/measured/request.h"

namespace plimsoll::accuracy {

namespace {

using json::Json;

bool has(const Draft& draft, const char* pointer) { return draft.values.count(pointer) != 0; }

void state(Draft& draft, const char* pointer, const std::optional<uint64_t>& value) {
  if (value) draft.values.emplace(pointer, *value);
}

// Without these two a figure says nothing; everything else has a default that the report lists.
void require(Draft& draft, const char* pointer, const char* reason) {
  if (draft.refused.empty() && !has(draft, pointer)) draft.refused = reason;
}

}  // namespace

Draft draft_request(const Record& record, const std::vector<Rule>& rules) {
  Draft draft;
  apply(rules, record, draft);
  draft.values.emplace("/model", record.model);
  state(draft, "/training/per_device_train_batch_size", record.batch);
  state(draft, "/training/max_length", record.length);
  if (record.checkpointing) draft.values.emplace("/training/gradient_checkpointing", *record.checkpointing);
  if (record.gpus > 1) draft.values.emplace("/parallel/num_gpus", record.gpus);
  if (has(draft, "/peft")) {
    state(draft, "/peft/r", record.rank);
    if (!record.targets.empty()) draft.values.emplace("/peft/target_modules", record.targets);
  }
  require(draft, "/training/per_device_train_batch_size", "the source does not state the batch size");
  require(draft, "/training/max_length", "the source does not state the sequence length");
  return draft;
}

Json request_of(const Draft& draft) {
  Json request = Json::object();
  for (const auto& [pointer, value] : draft.values) {
    // "/peft" itself only says that there are adapters; its members, which come after it, may be none.
    request[Json::json_pointer(pointer)] = value;
  }
  request["want"] = {"allocator"};  // reserved and device figures as simulated, not as shares
  return request;
}

}  // namespace plimsoll::accuracy
