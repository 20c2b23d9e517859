#include "tests/measured/request.h"

namespace plimsoll::accuracy {

namespace {

using json::Json;

bool has(const Draft& draft, const char* pointer) { return draft.values.count(pointer) != 0; }

// Copies of a checkpoint that others publish keep its name or add what was done to it; neither changes a
// shape.
const char* const suffixes[] = {"-unsloth-bnb-4bit",
                                "-bnb-4bit",
                                "-bnb-nf4-bf16",
                                "-GPTQ-Int4",
                                "-GPTQ-Int8",
                                "-AWQ",
                                "-BF16",
                                "-Instruct",
                                "-instruct",
                                "-Chat",
                                "-chat",
                                "-Base",
                                "-base",
                                "-it",
                                "-hf",
                                "-HF"};

// The name as the record has it, its last part, and that without what copies add; the first that the presets
// know.
Json find_model(const std::string& name, const report::Catalog& catalog) {
  std::string shorter = name;
  while (true) {
    if (catalog.find_model(shorter) != nullptr) return shorter;
    const std::string last = shorter.substr(shorter.rfind('/') + 1);
    if (catalog.find_model(last) != nullptr) return last;
    bool cut = false;
    for (const std::string suffix : suffixes) {
      if (shorter.size() <= suffix.size()) continue;
      if (shorter.compare(shorter.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
      shorter.resize(shorter.size() - suffix.size());
      cut = true;
      break;
    }
    if (!cut) return name;
  }
}

void state(Draft& draft, const char* pointer, const std::optional<uint64_t>& value) {
  if (value) draft.values.emplace(pointer, *value);
}

// Without these two a figure says nothing; everything else has a default that the report lists.
void require(Draft& draft, const char* pointer, const char* reason) {
  if (draft.refused.empty() && !has(draft, pointer)) draft.refused = reason;
}

}  // namespace

Draft draft_request(const Record& record, const std::vector<Rule>& rules, const report::Catalog& catalog) {
  Draft draft;
  apply(rules, record, draft);
  draft.values.emplace("/model", find_model(record.model, catalog));
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
  return request;
}

}  // namespace plimsoll::accuracy
