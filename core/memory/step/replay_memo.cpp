#include "core/memory/step/replay_memo.h"

#include "core/memory/step/pass.h"
#include "core/memory/tape/hash.h"

namespace plimsoll::memory {

namespace {

// Some of what tells layers apart; entries of one hash are compared as a whole.
uint64_t hash_of(const LayerProgram& p, const LayerReplayOptions& options) {
  Hash hash;
  hash.add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p.group)));
  hash.add(p.batch);
  hash.add(p.length);
  uint64_t switches = 0;
  for (const bool on :
       {options.keep_output, options.stop_early, options.accumulating, options.input_needs_grad,
        p.mode.autocast, p.liger_norm, p.liger_mlp, p.keep_kv, p.attention.repeat_kv, p.train_norms}) {
    switches = 2 * switches + (on ? 1 : 0);
  }
  hash.add(switches);
  hash.add(static_cast<uint64_t>(options.walks) * 64 + static_cast<uint64_t>(options.input_size) * 8 +
           static_cast<uint64_t>(p.attention.kernel));
  for (const LinearSpec& linear : p.linears) {
    if (linear.out == 0) continue;
    hash.add(linear.r);
    hash.add(static_cast<uint64_t>(linear.storage) * 64 + static_cast<uint64_t>(linear.size) * 8 +
             static_cast<uint64_t>(linear.adapter_size));
  }
  return hash.value;
}

uint64_t hash_of(const HeadProgram& p) {
  Hash hash;
  hash.add(p.layer.batch);
  hash.add(p.layer.length);
  hash.add(static_cast<uint64_t>(p.kernel.size()) * 16 + static_cast<uint64_t>(p.input_size));
  return hash.value;
}

}  // namespace

const Linears& ReplayMemo::linears(const Parameters& known_parameters, const model::LayerGroup& group,
                                   const model::Stack& stack, const recipe::Recipe& recipe) {
  const auto [found, fresh] = linears_.try_emplace({&known_parameters, &group});
  if (fresh) found->second = specify_all(group, stack, recipe);
  return found->second;
}

const LayerReplay& ReplayMemo::replay(const LayerProgram& program, const LayerReplayOptions& options) {
  std::vector<Entry>& same = entries_[hash_of(program, options)];
  for (const Entry& entry : same) {
    if (entry.options == options && entry.program == program) {
      ++reused;
      return entry.result;
    }
  }
  ++walked;
  same.push_back({program, options, replay_layer(program, options)});
  return same.back().result;
}

const HeadReplay& ReplayMemo::replay(const HeadProgram& program) {
  std::vector<Head>& same = heads_[hash_of(program)];
  for (const Head& head : same) {
    if (head.program == program) return head.result;
  }
  same.push_back({program, replay_head(program)});
  return same.back().result;
}

}  // namespace plimsoll::memory
