#include "core/memory/sharding/sharding.h"

#include <algorithm>

#include "core/memory/parameters/optimizer_states.h"
#include "core/memory/sharding/low_level_zero.h"
#include "core/memory/sharding/units.h"
#include "core/recipe/implementations.h"

namespace plimsoll::memory {

namespace {

// Without FSDP's rate limiter: the driver's queue takes 1024 launches, a Llama layer's forward is 40 to 62.
constexpr std::size_t unlimited_units = 20;

int type_size(const std::string& dtype, int otherwise) {
  return dtype.empty() ? otherwise : dtype_size(dtype);
}

// Trained tensors in fp32: master weights, or shards that mixed precision has cast.
Parameters in_fp32(Parameters p, bool adapters_only) {
  double trained = 0;
  for (Trained& t : p.trained) {
    t.size = 4;
    trained += 4 * t.elements() * t.count;
  }
  const double grown = trained - p.trained_bytes;
  (adapters_only ? p.adapter_bytes : p.weight_bytes) += grown;
  p.largest_trained *= p.trained_bytes > 0 ? trained / p.trained_bytes : 1;
  p.trained_bytes = trained;
  return p;
}

// Gathered parameters have the compute type of mixed precision; autocast finds nothing left to cast.
recipe::Recipe sixteen_bit(const recipe::Recipe& recipe) {
  recipe::Recipe r = recipe;
  const std::string dtype =
      r.training.fp16 || (!r.training.bf16 && r.model_args.dtype == "float16") ? "float16" : "bfloat16";
  r.model_args.dtype = dtype;
  r.peft.adapter_dtype = dtype;
  r.quantization.upcast = "none";
  r.model_args.keep_in_fp32 = "none";
  r.training.upcast_trainable = false;
  return r;
}

// `growth`: how much larger a tensor is as it is kept than as it is computed with.
Saved saved(const std::vector<WrappedUnit>& units, bool by_unit, double growth) {
  Saved s;
  for (const WrappedUnit& unit : units) {
    const double largest = unit.empty() ? 0 : *std::max_element(unit.begin(), unit.end());
    s.unit = std::max(s.unit, growth * (by_unit ? sum_of(unit) : largest));
    if (&unit != &units.back()) s.layer = std::max(s.layer, growth * largest);
  }
  if (by_unit && !units.empty()) s.root = growth * sum_of(units.back());
  return s;
}

struct States {
  double bytes = 0, paged = 0, temporary = 0;
};
States states_of(const Parameters& p, const std::string& optim) {
  States s;
  s.bytes = optimizer_state_bytes(p, optim, &s.paged);
  s.temporary = optimizer_temporary_bytes(p, optim);
  return s;
}

void whole(const recipe::Recipe& r, const Parameters& p, Sharding& s) {
  const States states = states_of(p, r.training.optim);
  s.weights = p.weight_bytes;
  s.adapters = p.adapter_bytes;
  s.optimizer = states.bytes;
  s.paged = states.paged;
  s.step = states.temporary;
  s.gradients = p.trained_bytes;
  s.accumulated = p.trained_bytes;
  if (s.strategy != Strategy::ddp) return;
  // The reducer's buckets together are a flat copy of all gradients, made when the model is wrapped.
  s.buckets = p.trained_bytes;
  if (r.parallel.gradient_as_bucket_view) {
    s.gradients = s.accumulated = 0;
    s.gradients_exist = true;
  }
}

// What is gathered of the parameters that are sharded, `all` of them, and when. `flat_gradients`: the
// gradient of a unit is one flat tensor.
void gather_units(const Units& view, const recipe::Recipe& r, double all, bool flat_gradients, Sharding& s) {
  const recipe::FsdpConfig& config = r.parallel.fsdp;
  if (!config.auto_wrap || !config.reshard_after_forward) {
    s.root = all;
    return;
  }
  s.root = all - view.layers();
  if (config.own_units != "none") s.root -= view.embedding();
  if (config.own_units == "embedding_and_head" ||
      (config.own_units == "embedding" && view.network.tied_head)) {
    s.head = view.head();
    // Of a quantised head the scales are not sharded.
    if (!view.network.tied_head) s.root = std::max(0.0, s.root - s.head);
    s.head_gradient_share = s.gradient_share;
  }
  // Under reentrant checkpointing the forward runs without a graph, so no unit is marked as needed in the
  // backward, and none is fetched ahead (_runtime_utils.py _register_pre_backward_hooks, _prefetch_handle).
  const bool unmarked =
      r.training.gradient_checkpointing && r.training.use_reentrant && !config.activation_checkpointing;
  const double ahead = config.backward_prefetch == "none" || unmarked ? 0 : 1;
  const double forward_ahead = config.forward_prefetch ? 1 : 0;
  // FSDP2 holds the buffer it gathered into beside the parameters copied out of it.
  s.gathered =
      s.strategy == Strategy::fsdp2
          ? view.gather([](double unit) { return GatheredLayer{2 * unit, 2 * unit, unit, 0, unit, 0, true}; })
          : view.gather([&](double unit) {
              return GatheredLayer{unit * (1 + forward_ahead), unit * (1 + ahead), unit,
                                   flat_gradients ? unit : 0, unit};
            });
}

void fsdp(const model::Architecture& network, const recipe::Recipe& r, const Parameters& p, Sharding& s) {
  const recipe::FsdpConfig& config = r.parallel.fsdp;
  if (r.autocast()) s.computing = sixteen_bit(r);
  const recipe::Recipe& seen = s.computing ? *s.computing : r;
  const Parameters computed = s.computing ? count_parameters(network, seen) : p;
  const Parameters kept = config.upcast_trainable ? in_fp32(p, r.peft.on) : p;
  const States states = states_of(kept, r.training.optim);
  const double n = s.ranks;
  const double shards = (kept.weight_bytes - kept.replicated_bytes) / n;
  s.weights = kept.replicated_bytes + shards;
  s.adapters = kept.adapter_bytes / n;
  s.optimizer = states.bytes / n;
  s.paged = states.paged / n;
  s.step = states.temporary / n;
  s.gradients = kept.trained_bytes / n;
  // Micro-batches before the last mostly run under no_sync(): their gradients are kept whole on every rank.
  // What outlives a step that has one micro-batch is its shards.
  const bool held_back = r.training.gradient_accumulation_steps > 1 && !r.syncs_each_batch();
  s.accumulated = held_back ? computed.trained_bytes : s.gradients;
  s.gradient_share = computed.trained_bytes > 0 ? s.gradients / computed.trained_bytes : 1;
  const int made = parameter_size(seen);
  if (s.strategy == Strategy::fsdp2) {
    s.gradient_copies = static_cast<double>(type_size(config.reduce_dtype, made)) / made;
  } else if (r.full()) {
    s.gradient_copies = 1;  // autograd hands over views; split's backward joins them in one flat tensor
  }
  const Units view{network, seen};
  const double all = computed.weight_bytes - computed.replicated_bytes, layers = view.layers();
  // LitGPT wraps blocks alone: adapters and frozen weights share a flat parameter, whose gradient is whole.
  const bool together =
      r.peft.on && s.strategy == Strategy::fsdp && recipe::implementation_of(r).wraps_blocks_alone;
  gather_units(view, r, all, together, s);
  // A head that is a unit of its own has handed its gradient over by then.
  if (r.full()) s.root_gradients = std::max(0.0, computed.outside_layer_gradients - s.head);
  if (together) {
    s.accumulated = layers;
    s.gradients = layers / n;
    s.gradients_exist = true;
  }
  const std::vector<WrappedUnit> units = wrapped_units(network, seen);
  s.saved =
      saved(units, s.strategy == Strategy::fsdp, kept.weight_bytes / std::max(1.0, computed.weight_bytes));
  s.saved.whole = kept.weight_bytes - kept.buffer_bytes + kept.adapter_bytes;
  s.saved.states = states.bytes + states.paged;
  if (s.strategy == Strategy::fsdp && config.auto_wrap) s.wrapped = units;
  if (s.strategy == Strategy::fsdp && !config.limit_all_gathers) s.units_ahead = unlimited_units;
  s.keeps_boundaries = !together && s.strategy == Strategy::fsdp && keeps_boundaries(r);
  if (config.offload_params) {
    s.host = (shards + s.adapters + s.optimizer + s.gradients + s.paged) * n;
    s.weights = kept.replicated_bytes;
    s.adapters = s.optimizer = s.paged = s.step = s.gradients = 0;
    s.gradient_share = 0;
    if (r.syncs_each_batch()) s.accumulated = 0;
    if (s.head_gradient_share < 1) s.head_gradient_share = 0;
  }
}

// bf16.enabled and fp16.enabled cast the whole module, and accelerate leaves out autocast then
// (accelerate/accelerator.py native_amp; deepspeed/runtime/engine.py _configure_distributed_model).
recipe::Recipe under_deepspeed(const recipe::Recipe& r) {
  recipe::Recipe seen = r;
  if (r.autocast() || r.model_args.dtype != "float32") seen = sixteen_bit(r);
  seen.training.bf16 = seen.training.fp16 = false;
  return seen;
}

// A bucket has one type, that of the widest parameter among those it may take.
double bucket_element(const Parameters& seen) {
  return seen.trained_bytes > 2 * static_cast<double>(seen.trainable) ? 4 : 2;
}

double bucket_bytes(const model::Architecture& network, const recipe::Recipe& r, double size) {
  const auto hidden = static_cast<double>(network.stacks.front().hidden);
  const auto asked = static_cast<double>(r.parallel.zero.reduce_bucket_size);
  return (asked > 0 ? asked : hidden * hidden) * size;
}

void zero_1_and_2(const model::Architecture& network, const recipe::Recipe& r, Sharding& s) {
  const recipe::ZeroConfig& config = r.parallel.zero;
  const Parameters seen = count_parameters(network, *s.computing);
  const Parameters master = in_fp32(seen, r.peft.on);
  const States states = states_of(master, r.training.optim);
  const double n = s.ranks, made = seen.trained_bytes, fp32 = master.trained_bytes;
  const double size = bucket_element(seen);
  s.weights = seen.weight_bytes;
  s.adapters = seen.adapter_bytes;
  if (config.library == "colossalai") {
    return low_level_zero(network, r,
                          {made, fp32, states.bytes, states.paged, states.temporary, seen.largest_trained,
                           parameter_size(*s.computing)},
                          s);
  }
  s.flat = true;
  const double bucket = config.contiguous_gradients ? bucket_bytes(network, r, size) : 0;
  s.backward_buckets = bucket * (config.overlap_comm ? 2 : 1);
  if (s.strategy == Strategy::zero2) {
    s.gradients_exist = true;
    s.accumulated = made / n;
  } else {
    s.accumulated = made;
  }
  if (config.offload_optimizer != "none") {
    s.backward_buckets += seen.largest_trained;  // temp_grad_buffer_for_gpu_offload
    s.host = fp32 + states.bytes + states.paged + fp32;
    if (s.strategy == Strategy::zero2) s.accumulated = 0;
    s.gradients = s.strategy == Strategy::zero1 ? made : 0;
    return;
  }
  s.optimizer = (fp32 + states.bytes) / n;
  s.paged = states.paged / n;
  s.gradients = s.reduced = made / n;  // grads_in_partition
  // step(): the partition flattened, then in fp32; after that the 16-bit gradients are gone.
  s.step = std::max(made / n + fp32 / n, (fp32 + states.temporary - made) / n);
}

// Stage 0 in bf16: master weights and states in partitions, and every rank adds up gradients of all
// parameters in fp32 as they are made (deepspeed/runtime/bf16_optimizer.py BF16_Optimizer,
// immediate_grad_update). In fp32 it is as DDP.
void without_zero(const model::Architecture& network, const recipe::Recipe& r, Sharding& s) {
  const Parameters seen = count_parameters(network, *s.computing);
  const Parameters master = in_fp32(seen, r.peft.on);
  const States states = states_of(master, r.training.optim);
  s.weights = seen.weight_bytes;
  s.adapters = seen.adapter_bytes;
  s.optimizer = (master.trained_bytes + states.bytes) / s.ranks;
  s.paged = states.paged / s.ranks;
  s.step = states.temporary / s.ranks;
  s.resident_gradients = master.trained_bytes;
  s.gradients_exist = true;
}

void zero_3(const model::Architecture& network, const recipe::Recipe& r, Sharding& s) {
  const recipe::ZeroConfig& config = r.parallel.zero;
  const Parameters seen = count_parameters(network, *s.computing);
  const Parameters master = in_fp32(seen, r.peft.on);
  const States states = states_of(master, r.training.optim);
  const double n = s.ranks, made = seen.trained_bytes, fp32 = master.trained_bytes;
  const double size = bucket_element(seen);
  const double partition = (seen.weight_bytes - seen.replicated_bytes) / n;
  // A group holds whole parameters, so one at least.
  const double grouped = std::max(4 * static_cast<double>(config.sub_group_size) * n, master.largest_trained);
  const double sub_group = std::min(1.0, grouped / std::max(1.0, fp32));
  s.weights = seen.replicated_bytes + partition;
  s.adapters = seen.adapter_bytes / n;
  const double bucket = bucket_bytes(network, r, size);
  s.buckets = config.contiguous_gradients ? bucket : 0;
  s.flat = true;
  s.gradients_exist = true;
  s.resident_gradients = made / n;  // grad_partitions_flat_buffer
  s.optimizer = (fp32 + states.bytes) / n;
  s.paged = states.paged / n;
  s.step = (fp32 + states.temporary) / n * sub_group;
  if (config.offload_optimizer != "none") {
    s.host += fp32 + states.bytes + states.paged + fp32 + made;
    s.optimizer = s.paged = s.step = s.resident_gradients = 0;
  }
  if (config.offload_param != "none") {
    s.host += (partition + s.adapters) * n;
    s.weights = seen.replicated_bytes;
    s.adapters = 0;
  }
  // A layer's recomputation and backward follow each other within the reuse distance, so its parameters stay
  // gathered through both; the next ones are fetched ahead by the bucket, within the limit.
  s.saved = saved(wrapped_units(network, *s.computing), false, 1);
  s.saved.whole = seen.weight_bytes - seen.buffer_bytes + seen.adapter_bytes;
  s.saved.states = fp32 + states.bytes + states.paged;
  const Units view{network, *s.computing};
  const double limit = static_cast<double>(config.stage3_max_live_parameters) * 2;
  const double ahead = static_cast<double>(config.stage3_prefetch_bucket_size) * 2;
  // A full bucket, or a larger gradient alone, is joined (coalesced_collectives.py reduce_scatter_coalesced).
  const double joined = std::min(made, std::max(bucket, r.full() ? s.saved.layer : 0));
  s.joined = std::min(made, std::max(bucket, seen.largest_trained));
  s.gathered = view.gather([&](double layer) {
    const double gathered = std::max(std::min(layer + ahead, limit), std::min(layer, limit));
    return GatheredLayer{gathered, gathered, std::min(layer, limit), 0, std::min(layer, limit), joined};
  });
  s.head = view.head();
}

}  // namespace

bool keeps_boundaries(const recipe::Recipe& r) {
  return strategy_of(r) == Strategy::fsdp && r.peft.on && r.training.gradient_checkpointing &&
         r.training.use_reentrant && !r.parallel.fsdp.activation_checkpointing &&
         recipe::version_at_least(r.versions.torch, "2.1");
}

Sharding shard(const model::Architecture& network, const recipe::Recipe& r, const Parameters& p) {
  Sharding s;
  s.strategy = strategy_of(r);
  s.ranks = s.on() ? static_cast<double>(std::max<uint64_t>(1, r.parallel.num_gpus)) : 1;
  // One process needs no buckets: DDP on one GPU is not wrapped.
  if (s.strategy == Strategy::ddp && s.ranks <= 1) s.strategy = Strategy::none;
  if (is_plain(s.strategy)) {
    whole(r, p, s);
  } else if (is_fsdp(s.strategy)) {
    fsdp(network, r, p, s);
  } else {
    s.computing = under_deepspeed(r);
    if (s.strategy == Strategy::zero0) {
      without_zero(network, r, s);
    } else {
      s.strategy == Strategy::zero3 ? zero_3(network, r, s) : zero_1_and_2(network, r, s);
    }
  }
  return s;
}

}  // namespace plimsoll::memory
