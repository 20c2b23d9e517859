// vLLM's start: its share of the card must be free, and what the share leaves after the weights must hold the cache
// of one longest sequence. Source: vllm-project/vllm vllm/v1/worker/gpu_worker.py, vllm/v1/core/kv_cache_utils.py
#include "core/diagnosis/families.h"

namespace plimsoll::diagnosis {

namespace {

constexpr std::string_view markers[] = {"that can be stored in kv cache",
                                        "no available memory for the cache blocks",
                                        "kv cache is needed, which is larger than"};
constexpr std::string_view share_markers[] = {"is less than desired gpu memory utilization"};

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

const Family vllm_share_family = {
    .id = "vllm_share",
    .kind = MessageKind::startup,
    .what =
        "When vLLM started, less of the card was free than the share that gpu_memory_utilization asks for.",
    .markers = share_markers,
    .row = 24};

}  // namespace plimsoll::diagnosis
