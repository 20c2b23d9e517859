#include "core/memory/step/step.h"

#include <algorithm>
#include <cmath>

#include "core/memory/step/head_program.h"
#include "core/memory/step/packed_rows.h"
#include "core/memory/step/peak_sink.h"
#include "core/memory/step/projector.h"
#include "core/memory/step/replay_memo.h"
#include "core/model/model_types.h"
#include "core/recipe/implementations.h"
#include "core/recipe/loss_kernels.h"
#include "core/recipe/stacks.h"

namespace plimsoll::memory {

double prompt_tokens(const recipe::Recipe& r) {
  const Tuner* tuner = find_tuner(r.peft);
  const bool prompt = tuner != nullptr && tuner->place == TunerPlace::prompt;
  return prompt ? static_cast<double>(r.peft.tuner.num_virtual_tokens) : 0;
}

namespace {

using model::Part;

bool has_adapter(const Plan& plan, const model::Stack& stack) {
  for (const model::LayerGroup& group : stack.groups) {
    for (const model::Linear& linear : group.linears) {
      if (is_target(linear, stack, plan.recipe)) return true;
    }
  }
  return stack.part == Part::projector &&
         std::any_of(stack.linears.begin(), stack.linears.end(),
                     [&](const model::Linear& linear) { return is_target(linear, stack, plan.recipe); });
}

// An embedding that is trained, or has an adapter.
bool trains_table(const model::Stack& stack, const recipe::Recipe& r) {
  return std::any_of(stack.tables.begin(), stack.tables.end(), [&](const model::Table& table) {
    return is_table_target(table, r) || is_saved_in_full(table.path, r) || trains_tokens(table, stack, r);
  });
}

// Prefix tuning puts trained keys and values before those of the layers that speak: a cache is handed to the
// decoder where there is one (PEFT src/peft/peft_model.py get_prompt).
double prefix_tokens(const Plan& plan, const model::Stack& stack) {
  const Tuner* tuner = find_tuner(plan.recipe.peft);
  if (tuner == nullptr || tuner->place != TunerPlace::prefix || !is_language(stack)) return 0;
  const std::vector<model::Stack>& all = plan.network.stacks;
  const bool answered = stack.part == Part::encoder && std::any_of(all.begin(), all.end(), [](const auto& s) {
                          return s.part == Part::decoder;
                        });
  return answered ? 0 : static_cast<double>(plan.recipe.peft.tuner.num_virtual_tokens);
}

// Rows with padding, or an image among the tokens of a model whose mask says what belongs to it.
bool builds_mask(const Plan& plan, const model::Stack& stack) {
  const bool images = plan.images.text_tokens > 0 && stack.part == Part::text && !stack.groups.empty() &&
                      stack.groups.front().images_in_mask;
  return plan.recipe.training.padded_batches || has_packed_mask(plan.recipe, plan.network) ||
         (images && recipe::implementation_of(plan.recipe).transformers);
}

bool reads_sound(const model::Architecture& network) {
  return std::any_of(network.stacks.begin(), network.stacks.end(),
                     [](const model::Stack& stack) { return stack.frames > 0; });
}

PassSettings settings_for(const Plan& plan, const model::Stack& stack) {
  const recipe::Recipe& r = plan.recipe;
  PassSettings s;
  s.stack = &stack;
  s.recipe = &r;
  s.model_type = plan.network.model_type;
  s.compute_capability = plan.machine.compute_capability;
  ReplayMemo* memo = plan.machine.memo;
  s.memo = memo != nullptr && memo->knows(plan.network) ? memo : nullptr;
  const bool in_its_own_types = plan.sharding == nullptr || !plan.sharding->computing;
  s.known_parameters = in_its_own_types ? plan.machine.known_parameters : nullptr;
  s.batch = plan.rows;
  s.length = stack.frames > 0 ? static_cast<double>(stack.frames) : r.row_length() + prompt_tokens(r);
  s.prefix = prefix_tokens(plan, stack);
  // Autocast runs the norm behind the embedding in fp32, and leaves its result so.
  s.input_size = stack.embedding_norm && r.autocast() ? 4 : table_size(r, stack);
  if (flattens(r) && stack.part == Part::text) {
    s.length *= s.batch;
    s.batch = 1;
  }
  s.checkpointing = r.training.gradient_checkpointing;
  // Padding is that of the rows that the encoder reads, and sound has none: nobody gives the decoder a mask of its
  // own (transformers data/data_collator.py DataCollatorForSeq2Seq).
  const bool decodes = stack.part == Part::decoder, mask = builds_mask(plan, stack);
  s.mask = mask && !decodes;
  s.varlen = runs_varlen(r, plan.network) && stack.part == Part::text;
  s.cross_mask = mask && decodes && !reads_sound(plan.network);
  s.trained = r.full() && !is_frozen(stack, r);
  s.keep_kv = r.model_args.use_cache && stack.part != Part::encoder;
  // A frozen embedding's output needs no gradient unless a hook says so (enable_input_require_grads, which
  // checkpointing brings): the first layer keeps nothing for what lies before its first adapter.
  const bool frozen_table = stack.tables.empty() ? !stack.norms.empty() && stack.norms.front().frozen
                                                 : !stack.tables.front().trained;
  const bool frozen_below = !stack.groups.empty() && stack.groups.front().frozen && frozen_table;
  // Under a frozen language model what reads images may still learn.
  s.input_needs_grad = (r.full() && !frozen_below) || s.checkpointing || trains_table(stack, r) ||
                       (stack.part != Part::vision && prompt_tokens(r) > 0);
  s.sharding = plan.sharding;
  if (plan.sharding != nullptr && !plan.sharding->gathered.empty()) {
    s.gathered = &plan.sharding->gathered[static_cast<std::size_t>(&stack - plan.network.stacks.data())];
  }
  return s;
}

// The hook makes embedded tokens a leaf of the graph, which holds them until the backward is over. Most
// models hand that very tensor to their first layer; Granite, and Gemma before Transformers 5, scale it in
// between, and images are scattered into a copy of it.
double embedded_leaf(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  const model::Stack& text = plan.network.stacks.front();
  const bool leaf = r.peft.on && r.training.gradient_checkpointing && !trains_table(text, r) &&
                    recipe::implementation_of(r).transformers && !text.groups.empty();
  const bool scaled = model::model_type(plan.network.model_type).scales_embedding &&
                      !recipe::version_at_least(r.versions.transformers, "5");
  if (!leaf || !(scaled || text.groups.front().scaled_branches || plan.images.text_tokens > 0)) return 0;
  return plan.rows * r.row_length() * static_cast<double>(text.hidden) * table_size(r, text);
}

// A frozen tower joins autograd only when something makes its input require a gradient: an adapter inside it,
// or that hook, under checkpointing.
PassSettings tower_settings(const Plan& plan, const model::Stack& stack) {
  PassSettings s = settings_for(plan, stack);
  const recipe::Recipe& r = plan.recipe;
  s.batch = s.batch * plan.images.towers;
  s.length = std::max(1.0, plan.images.tower_tokens);
  s.mask = false;
  s.keep_kv = false;
  s.trained = r.full() && !is_frozen(stack, r);
  const model::ModelType& type = model::model_type(plan.network.model_type);
  const bool hook = r.peft.on && s.checkpointing && recipe::version_at_least(r.versions.transformers, "5") &&
                    !type.tower_without_hook;
  s.recorded = s.trained || has_adapter(plan, stack) || hook;
  s.input_needs_grad = s.input_needs_grad && (s.trained || hook);
  // A reentrant checkpoint none of whose inputs needs a gradient builds no graph, whatever is trained in it.
  const bool blind = s.checkpointing && r.training.use_reentrant && !s.input_needs_grad;
  if (blind && !stack.groups.empty()) s.recorded = false;
  s.keep_hidden_states = type.tower_keeps_hidden_states;
  return s;
}

// How much a stack of `length` reads by cross-attention: an image, sound, or a text as long as its own.
double cross_length(const Plan& plan, double length) {
  if (plan.images.cross_tokens > 0) return plan.images.cross_tokens;
  for (const model::Stack& stack : plan.network.stacks) {
    if (stack.frames > 0) return static_cast<double>(stack.frames);
  }
  return length;
}

// Autocast's casts of what is trained between a tower and the text, which it keeps until the forward ends.
double projector_casts(const model::Stack& stack, const recipe::Recipe& r) {
  double bytes = 0;
  if (!r.autocast() || stack.part != Part::projector || !stack.groups.empty()) return 0;
  for (const model::Linear& linear : stack.linears) {
    const LinearSpec spec = specify(linear, stack, r);
    if (spec.trainable && spec.size == 4) bytes += spec.in * spec.out * static_cast<double>(linear.count) * 2;
  }
  return bytes;
}

// Stacks in the order of the forward pass: what the others read comes first.
std::vector<const model::Stack*> forward_order(const model::Architecture& network) {
  std::vector<const model::Stack*> order;
  for (Part part : {Part::audio, Part::vision, Part::projector, Part::encoder, Part::decoder, Part::text}) {
    for (const model::Stack& stack : network.stacks) {
      if (stack.part == part) order.push_back(&stack);
    }
  }
  return order;
}

}  // namespace

bool gradients_pass(const Plan& plan) {
  return plan.recipe.gradients_leave_at_once() ||
         (plan.sharding != nullptr && plan.sharding->gradients_exist);
}
// A tied one's gradient waits for that of the embedding, the last one, before it is used up.
bool head_gradients_pass(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  if (copies_head(plan.network, r)) return true;
  return gradients_pass(plan) && (plan.sharding != nullptr || !r.full() || !shares_head(plan.network, r));
}

const Snapshot& higher(const Snapshot& a, const Snapshot& b) { return b.total() > a.total() ? b : a; }

Parameters parameters_of(const model::Architecture& network, const recipe::Recipe& recipe,
                         const Machine& machine) {
  const bool known =
      machine.known_parameters != nullptr && machine.memo != nullptr && machine.memo->knows(network);
  return known ? *machine.known_parameters : count_parameters(network, recipe);
}

Plan make_plan(const model::Architecture& network, const recipe::Recipe& recipe, const Machine& machine,
               const Parameters& parameters) {
  return {network,
          recipe,
          machine,
          parameters,
          image_load(network, recipe),
          nullptr,
          &recipe::task_of(recipe),
          recipe::rows_of_batch(recipe)};
}

Plan with_recipe(const Plan& plan, const recipe::Recipe& recipe) {
  return {plan.network, recipe,        plan.machine, plan.parameters,
          plan.images,  plan.sharding, plan.task,    plan.rows};
}

Plan on_rank(const Plan& plan, const recipe::Recipe& computing, const Sharding& rank) {
  Plan here = with_recipe(plan, computing);
  here.sharding = rank.on() ? &rank : nullptr;
  return here;
}

double batch_bytes(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  // Trainer.get_batch_samples (4.46 on) puts all micro-batches of a step on the device at once.
  const double batches = recipe::version_at_least(r.versions.transformers, "4.46")
                             ? static_cast<double>(r.training.gradient_accumulation_steps)
                             : 1;
  // One of them holds the longest sample; rows that are not padded are as long as theirs.
  const bool lengths_known = r.joined_samples() && r.data.mean_length > 0;
  const double others = lengths_known ? std::min(r.row_length(), r.data.mean_length) : r.row_length();
  const double ids = 3 * 8 * (r.row_length() + (batches - 1) * others) / batches;
  double sound = 0;
  for (const model::Stack& stack : plan.network.stacks)
    sound += 4 * static_cast<double>(stack.frames * stack.frame_features);
  return (ids + sound + plan.images.pixel_bytes) * plan.rows * batches;
}

double input_bytes(const Plan& plan) {
  const recipe::Recipe& r = plan.recipe;
  const double batch = flattens(r) || r.joined_samples() ? 1 : plan.rows;
  const double length = r.row_length() * plan.rows / batch;
  const model::Stack& text = plan.network.stacks.front();
  const int size = table_size(r, text);
  double mask = 0;
  if (r.model_args.attn_implementation == "eager") {
    mask = batch * length * length * size;
  } else if (builds_mask(plan, text) && r.model_args.attn_implementation == "sdpa") {
    mask = batch * length * length * (recipe::version_at_least(r.versions.transformers, "5") ? 1 : size);
  } else if (r.model_args.attn_implementation == "flex_attention") {
    const double blocks = std::ceil(length / 128);  // BlockMask: four lists of blocks
    mask = 4 * 4 * batch * blocks * blocks;
  }
  const double head = text.groups.empty() ? 0 : static_cast<double>(text.groups.front().head_dim);
  return batch_bytes(plan) + mask + 2 * length * head * size;
}

// What one stack makes of trained parameters, another goes backward through to reach them: image features
// among the embedded tokens, what cross-attention reads, a projector behind a tower.
void join_graph(PassSettings& s, const std::vector<Stage>& before, bool images_by_cross_attention) {
  const bool awake =
      std::any_of(before.begin(), before.end(), [](const Stage& stage) { return stage.output_needs_grad; });
  const Part part = s.stack->part;
  if (part == Part::vision || part == Part::audio) return;
  if (part == Part::decoder || (part == Part::text && images_by_cross_attention)) {
    s.cross_needs_grad = awake;
    return;
  }
  if (part == Part::projector) {
    s.recorded = s.recorded || awake;
    s.cross_needs_grad = awake;
  }
  s.input_needs_grad = s.input_needs_grad || awake;
}

NetworkRun replay_network(const Plan& plan, bool traced) {
  NetworkRun network;
  const ImageLoad& images = plan.images;
  network.embedded_leaf = embedded_leaf(plan);
  PassSettings settings;
  for (const model::Stack* stack : forward_order(plan.network)) {
    const bool tower = model::is_tower(*stack),
               projects = stack->groups.empty() && stack->part == Part::projector;
    if (tower && (images.tower_tokens == 0 || (stack->groups.empty() && !projects))) continue;
    settings = tower ? tower_settings(plan, *stack) : settings_for(plan, *stack);
    settings.cross_length = cross_length(plan, settings.length);
    settings.traced = traced;
    join_graph(settings, network.stages, images.cross_tokens > 0);
    network.stages.push_back(projects ? projected(plan, settings) : replay_stack(settings));
  }
  HeadProgram program = make_head(plan, settings, network.stages.back());
  network.head_passes = program.accumulating;
  if (traced) program.trace = &network.head_trace;
  network.head = settings.memo != nullptr && !traced ? settings.memo->replay(program) : replay_head(program);
  return network;
}

Snapshot replay_without_grad(const Plan& plan, double rows, double length, const Asked& asked) {
  const StepProgram nothing;
  const Sharding alone;
  PeakSink peaks({});
  Composer composer(peaks, nothing, alone);
  PassSettings last;
  Stage stage;
  double casts = 0;
  for (const model::Stack* stack : forward_order(plan.network)) {
    const bool tower = model::is_tower(*stack);
    if (tower && !asked.decodes && !asked.reference && plan.images.tower_tokens > 0)
      casts += projector_casts(*stack, plan.recipe);
    if (tower && (asked.decodes || plan.images.tower_tokens == 0 || stack->groups.empty())) continue;
    last = tower ? tower_settings(plan, *stack) : settings_for(plan, *stack);
    last.batch *= rows / plan.rows;
    if (!tower && stack->frames == 0) last.length += length - plan.recipe.row_length();
    if (asked.decodes) last.length = length;
    last.cross_length = cross_length(plan, last.length);
    last.recorded = false;
    last.keep_kv = asked.keys && (stack->part == Part::text || stack->part == Part::decoder);
    last.keep_hidden_states = last.keep_hidden_states || (asked.hidden_states && !tower);
    last.keeps_casts = !asked.reference;
    last.adapters_off = asked.reference && plan.recipe.rl.reference_model == "adapter_off";
    stage = replay_stack(last);
    composer.without_graph(stage);
  }
  HeadProgram head = make_head(plan, last, stage);
  // The labels of a loss that scores nothing else are counted by make_head.
  if (asked.scored > 0 || !recipe::loss_kernel(head.kernel).labels_alone) head.scoring.tokens = asked.scored;
  head.scoring.entropy = false;
  Snapshot end = replay_head_without_grad(head);
  if (asked.hidden_states) {
    double layers = 1;
    for (const model::LayerGroup& group : last.stack->groups) layers += static_cast<double>(group.layers);
    end[Component::transient] += layers * stage.output_bytes;
  }
  end[Component::autocast] += casts;
  peaks.raise(end);
  return peaks.highest(Phase::forward);
}

double cache_bytes(const Plan& plan, double rows) {
  double bytes = 0;
  for (const model::Stack* stack : forward_order(plan.network)) {
    if (stack->part != Part::text && stack->part != Part::decoder) continue;
    PassSettings s = settings_for(plan, *stack);
    s.batch = rows;
    s.length += plan.recipe.longest_sample() - plan.recipe.row_length();  // whole sequences, padded
    s.cross_length = cross_length(plan, s.length);
    s.recorded = false;
    s.keep_kv = true;
    bytes += replay_stack(s).kv_bytes;
  }
  return bytes;
}

// Embeddings come last: their dense gradient meets that of a tied head. Where some of its rows are trained, it is
// as large, and those rows are taken from it.
Snapshot embedding_gradient(const Plan& plan) {
  double largest = 0;
  if (!plan.recipe.full()) {
    const model::Stack& text = plan.network.stacks.front();
    for (const model::Table& table : text.tables) {
      if (!trains_tokens(table, text, plan.recipe)) continue;
      largest =
          static_cast<double>(table.rows) * static_cast<double>(table.width) * table_size(plan.recipe, text);
    }
    return only(Component::transient, largest);
  }
  for (const model::Stack& stack : plan.network.stacks) {
    if (is_frozen(stack, plan.recipe)) continue;
    for (const model::Table& table : stack.tables) {
      if (!table.trained) continue;
      const double bytes =
          static_cast<double>(table.rows) * static_cast<double>(table.width) * table_size(plan.recipe, stack);
      largest = std::max(largest, bytes);
    }
  }
  const bool meets_another = shares_head(plan.network, plan.recipe) || plan.recipe.gradients_add_up();
  return only(Component::transient, meets_another ? largest : 0);
}

}  // namespace plimsoll::memory
