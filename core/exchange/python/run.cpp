// Statements, as they run.
#include <algorithm>

#include "core/exchange/languages.h"
#include "core/exchange/python/interpreter.h"

namespace plimsoll::exchange {

namespace python {

namespace {

constexpr size_t most_rounds = 50;

}  // namespace

void Interpreter::run(const Block& program) {
  document_.root = Node();
  document_.root.kind = Node::Kind::map;
  globals_ = objects_.make_scope(nullptr);
  flags_ = objects_.make(Object::Kind::map);
  flags_->flags = true;
  run(program, *globals_);
  what_did_not_run();
  if (flag_members_.empty()) return;
  Node flags;
  flags.kind = Node::Kind::map;
  flags.members = std::move(flag_members_);
  document_.root.members.push_back({"$flags", {}, std::move(flags)});
}

// What conditions left out, as long as nothing trains; the methods that others may call; what nothing calls, which
// is told as such where something else trains. A function that a decorator takes is called by it.
void Interpreter::what_did_not_run() {
  for (size_t i = 0; i < deferred_.size() && !trains_; ++i) run(*deferred_[i].block, *deferred_[i].scope);
  const auto call_alone = [this](Object& function) {
    if (ran_.count(function.statement) != 0) return;
    call_function(Value{{}, &function}, *objects_.make(Object::Kind::map));
  };
  for (size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i]->type == nullptr && !functions_[i]->statement->decorators.empty())
      call_alone(*functions_[i]);
  }
  for (size_t i = 0; i < instances_.size(); ++i) run_methods(*instances_[i]);
  unnamed_runs_ = trains_;
  for (size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i]->type == nullptr) call_alone(*functions_[i]);
  }
  for (size_t i = 0; i < types_.size(); ++i) {
    const bool used = std::any_of(instances_.begin(), instances_.end(),
                                  [&](const Object* one) { return one->type == types_[i]; });
    if (used) continue;
    const Value made = make_instance(Value{{}, types_[i]}, objects_.make(Object::Kind::map), Expression());
    run_methods(*made.object);
  }
}

void Interpreter::run_methods(Object& instance) {
  const std::vector<Entry> entries = instance.type->entries;  // a method may give its class another
  for (const Entry& entry : entries) {
    if (!is(entry.value, Object::Kind::function) || ran_.count(entry.value.object->statement) != 0) continue;
    const auto method = member_of_type(*instance.type, entry.key, Value{{}, &instance});
    if (method && is(*method, Object::Kind::function))
      call_function(*method, *objects_.make(Object::Kind::map));
  }
}

Interpreter::Flow Interpreter::run(const Block& block, Scope& scope) {
  for (size_t i = 0; i < block.size(); ++i) {
    const Flow flow = run(block[i], scope);
    if (flow == Flow::on) continue;
    // "if not ready: return", before anything trains: a run that trains goes on.
    const bool gives_up = flow == Flow::result && !trains_ && i + 1 < block.size() &&
                          block[i].kind != Statement::Kind::result && !frames_.empty() &&
                          !says_something(frames_.back().result);
    if (!gives_up) return flow;
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::run(const Statement& made, Scope& scope) {
  switch (made.kind) {
    case Statement::Kind::expression:
      if (made.value.kind != Expression::Kind::dict || !document_.root.members.empty()) {
        evaluate(made.value, scope);
      } else if (const Value whole = evaluate(made.value, scope); whole.object != nullptr) {
        for (const Entry& entry : whole.object->entries)  // a dict of settings, pasted alone
          document_.root.members.push_back({entry.key, entry.key_span, written(entry.value)});
      }
      return Flow::on;
    case Statement::Kind::assign:
      assignment(made, scope);
      return Flow::on;
    case Statement::Kind::condition:
      return condition(made, scope);
    case Statement::Kind::loop:
      return loop(made, scope);
    case Statement::Kind::repeat:
      (void)evaluate(made.value, scope);
      unsure(made.body, {}, scope);
      return Flow::on;
    case Statement::Kind::with:
      for (size_t i = 0; i < made.arguments.size(); ++i)
        assign(made.targets[i], evaluate(made.arguments[i].value, scope), scope);
      return run(made.body, scope);
    case Statement::Kind::attempt: {
      const size_t before = document_.root.members.size();
      const Flow flow = run(made.body, scope);
      // What handles an error runs where nothing was called that could fail.
      if (document_.root.members.size() == before) unsure({}, made.otherwise, scope);
      return flow;
    }
    case Statement::Kind::function:
    case Statement::Kind::type:
      define(made, scope);
      return Flow::on;
    case Statement::Kind::result:
      return result(made, scope);
    case Statement::Kind::leave:
      return unsure_ > 0 ? Flow::on : made.word == "break" ? Flow::leave : Flow::next;
    case Statement::Kind::import:
      import(made, scope);
      return Flow::on;
    case Statement::Kind::global:
      for (const Expression& target : made.targets) scope.globals.push_back(target.word);
      return Flow::on;
  }
  return Flow::on;
}

// A function or a class. @app.function(gpu="H100:2") says where what it takes runs.
void Interpreter::define(const Statement& made, Scope& scope) {
  for (const Expression& decorator : made.decorators) {
    const Value takes = evaluate(decorator, scope);
    const Value* card = is(takes, Object::Kind::call) ? argument(*takes.object, "gpu") : nullptr;
    if (card != nullptr) cards_[&made] = *card;
  }
  if (made.kind == Statement::Kind::type) {
    scope.names[made.word] = define_type(made, scope);
    return;
  }
  Object* function = objects_.make(Object::Kind::function, made.span);
  function->statement = &made;
  function->scope = &scope;
  if (functions_.size() < most_members) functions_.push_back(function);
  scope.names[made.word] = Value{unknown(made.word, made.span).node, function};
}

// "rank += 8" is the sum of what stands on both sides.
void Interpreter::assignment(const Statement& made, Scope& scope) {
  if (made.value.span.length == 0) return;
  Value value;
  if (made.word.empty()) {
    value = evaluate(made.value, scope);
  } else {
    Expression& sum = parsed_.emplace_back();
    sum.kind = Expression::Kind::operation;
    sum.span = made.value.span;
    sum.word = made.word;
    sum.parts = {made.targets[0], made.value};
    value = evaluate(sum, scope);
  }
  for (const Expression& target : made.targets) assign(target, value, scope);
}

// A block that is known not to run is left out, unless the training is in it and nowhere else.
Interpreter::Flow Interpreter::condition(const Statement& made, Scope& scope) {
  guessed_ = false;
  const Value answer = evaluate(made.value, scope);
  // What is None in the script may be given on its command line.
  const bool unset = is_none(answer) && made.value.kind == Expression::Kind::attribute;
  const auto holds = unset ? std::nullopt : this->holds(made.value, answer);
  const Block& taken = holds.value_or(true) ? made.body : made.otherwise;
  const Block& left = holds.value_or(true) ? made.otherwise : made.body;
  if (!holds || guessed_) {
    unsure(taken, left, scope);
    return Flow::on;
  }
  if (made.trains && !left.empty()) deferred_.push_back({&left, &scope});
  return run(taken, scope);
}

// Both blocks, as either may run: what the likely one sets stands.
void Interpreter::unsure(const Block& likely, const Block& other, Scope& scope) {
  const auto* settled = settled_;
  auto* outer = assigned_;
  std::set<std::pair<const Scope*, std::string>> assigned;
  ++unsure_;
  assigned_ = &assigned;
  run(likely, scope);
  assigned_ = outer;
  settled_ = &assigned;
  run(other, scope);
  settled_ = settled;
  --unsure_;
  if (outer != nullptr) outer->insert(assigned.begin(), assigned.end());
}

// A loop over what is known; where each round trains, its first stands for it.
Interpreter::Flow Interpreter::loop(const Statement& made, Scope& scope) {
  const auto items = items_of(evaluate(made.value, scope));
  Expression targets;
  targets.kind = Expression::Kind::list;
  targets.parts = made.targets;
  const Expression& target = made.targets.size() == 1 ? made.targets[0] : targets;
  if (!items) {
    assign(target, unknown("", {}), scope);
    const Flow flow = run(made.body, scope);
    return flow == Flow::result ? flow : Flow::on;
  }
  const size_t rounds = std::min(items->size(), made.trains ? 1 : most_rounds);
  for (size_t i = 0; i < rounds; ++i) {
    assign(target, (*items)[i], scope);
    const Flow flow = run(made.body, scope);
    if (flow == Flow::result) return flow;
    if (flow == Flow::leave) break;
  }
  return Flow::on;
}

Interpreter::Flow Interpreter::result(const Statement& made, Scope& scope) {
  Value value = evaluate(made.value, scope);
  if (frames_.empty()) return Flow::on;
  Frame& frame = frames_.back();
  if (!frame.has_result || says_something(value)) frame.result = std::move(value);
  frame.has_result = true;
  return unsure_ > 0 ? Flow::on : Flow::result;
}

void Interpreter::import(const Statement& made, Scope& scope) {
  const std::string word = "." + made.word + ".";
  if (word.find(".unsloth.") != std::string::npos)
    document_.root.members.push_back({"$import", made.span, scalar_node("unsloth", "unsloth", true, {})});
  // from trl import SFTTrainer as Trained; optimizers that are called as those of PyTorch are.
  const std::string& module = made.value.word;
  const bool theirs = (module == "transformers" && made.word == "AdamW") || module == "bitsandbytes.optim";
  const std::string name = theirs ? module + "." + made.word : made.word;
  if (made.annotated || theirs)
    scope.names[made.targets.empty() ? made.word : made.targets[0].word] = unknown(name, made.span);
}

// A value that may be given takes no other's place, unless it says something and the other does not.
bool Interpreter::keeps(const Value* old, const Value& value) const {
  return unsure_ > 0 && old != nullptr && says_something(*old) && !says_something(value);
}

void Interpreter::tell(const std::string& name, Span span, const Value& value) {
  const bool plain = value.object == nullptr || is(value, Object::Kind::map) || is(value, Object::Kind::list);
  if (!plain || quiet_ || document_.root.members.size() > most_members) return;
  Node node = written(value);
  if (!node.opaque) document_.root.members.push_back({name, span, std::move(node)});
}

// What is written is paid for: one line may write a thousand parts.
Node Interpreter::written(const Value& value) {
  size_t parts = 0;
  Node node = to_node(value, &parts);
  steps_ += parts;
  return node;
}

void Interpreter::assign(const Expression& target, Value value, Scope& scope) {
  switch (target.kind) {
    case Expression::Kind::name:
      return assign_name(target, std::move(value), scope);
    case Expression::Kind::attribute:
      return assign_attribute(target, value, scope);
    case Expression::Kind::subscript:
      return assign_subscript(target, value, scope);
    case Expression::Kind::list:
      return unpack(target, value, scope);
    default:
      return;
  }
}

void Interpreter::assign_name(const Expression& target, Value value, Scope& scope) {
  const std::string& name = target.word;
  const bool global = std::find(scope.globals.begin(), scope.globals.end(), name) != scope.globals.end();
  Scope& in = global ? *globals_ : scope;
  const auto old = in.names.find(name);
  if (keeps(old == in.names.end() ? nullptr : &old->second, value)) return;
  if (settled_ != nullptr && settled_->count({&in, name}) != 0) return;
  if (assigned_ != nullptr && says_something(value)) assigned_->insert({&in, name});
  tell(name, target.span, value);
  in.names[name] = std::move(value);
}

// training_args.optim = "adafactor", behind training_args = TrainingArguments(...): what the call is given.
void Interpreter::assign_attribute(const Expression& target, const Value& value, Scope& scope) {
  const Value owner = evaluate(target.parts[0], scope);
  const std::string name = dotted(target);
  if (owner.object == nullptr || is(owner, Object::Kind::list)) return tell(name, target.span, value);
  const Entry* old = find(*owner.object, target.word);
  if (keeps(old == nullptr ? nullptr : &old->value, value)) return;
  set(*owner.object, {target.word, target.span, value});
  const size_t member = owner.object->member;
  if (!is(owner, Object::Kind::call)) return;
  if (member == 0) return tell(name, target.span, value);
  auto& given = document_.root.members[member - 1].value.members;
  std::erase_if(given, [&target](const Member& one) { return one.key == target.word; });
  if (given.size() < 500) given.push_back({target.word, target.span, written(value)});
}

// os.environ["NAME"] = "value", kwargs["optim"] = "adafactor"
void Interpreter::assign_subscript(const Expression& target, const Value& value, Scope& scope) {
  const Value owner = evaluate(target.parts[0], scope), key = evaluate(target.parts[1], scope);
  if (!is_known(key)) return;
  const std::string name = dotted(target.parts[0]);
  if (name == "os.environ" || name == "environ") {
    if (document_.root.members.size() < most_members)
      document_.root.members.push_back({"$" + key.node.raw, key.node.span, written(value)});
    return;
  }
  if (!is(owner, Object::Kind::map)) return;
  const Entry* old = find(*owner.object, key.node.raw);
  if (!keeps(old == nullptr ? nullptr : &old->value, value))
    set(*owner.object, {key.node.raw, target.parts[1].span, value});
}

// a, b = f(): each is a part of what the call gives.
void Interpreter::unpack(const Expression& target, const Value& value, Scope& scope) {
  for (size_t i = 0; i < target.parts.size(); ++i) {
    const Expression& part = target.parts[i];
    Value taken = opaque(part);
    if (is(value, Object::Kind::list) && i < value.object->items.size()) taken = value.object->items[i];
    if (is(value, Object::Kind::call)) {
      taken.object = objects_.make(Object::Kind::call, value.object->span);
      taken.object->name = value.object->name;
      // model, optimizer = accelerator.prepare(model, optimizer)
      if (const Value* handed = argument(*value.object, std::to_string(i)))
        taken.object->from = made_by(*handed);
      const std::vector<size_t> whole = made_by(value);
      taken.object->from.insert(taken.object->from.end(), whole.begin(), whole.end());
    }
    assign(part, std::move(taken), scope);
  }
}

}  // namespace python

Document read_python(std::string_view text, const Node* command) {
  Document document;
  document.language = Language::python;
  python::Interpreter(text, document, command).run(python::parse_program(text, python_tokens(text)));
  return document;
}

}  // namespace plimsoll::exchange
