// vLLM's start: what gpu_memory_utilization leaves after the weights must hold the cache of one longest
// sequence. Source: vllm-project/vllm vllm/worker/worker.py, vllm/v1/core/kv_cache_utils.py
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {
    "that can be stored in kv cache", "no available memory for the cache blocks",
    "kv cache is needed, which is larger than", "is less than desired gpu memory utilization"};

constexpr Clause clauses[] = {{&Numbers::tried, "", "kv cache is needed"},
                              {&Numbers::free, "available kv cache memory (", ""}};

}  // namespace

const Family vllm_family = {
    .id = "vllm",
    .kind = MessageKind::startup,
    .what =
        "vLLM's share of the card, minus weights and a trial run, cannot hold the keys and values "
        "of one sequence of the maximum length.",
    .markers = markers,
    .clauses = clauses,
    .row = 24};

}  // namespace plimsoll::diagnosis
