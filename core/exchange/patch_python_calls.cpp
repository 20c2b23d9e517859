// Calls added to Python source: what a plan needs and the script does not make yet. A quantised base is given
// to from_pretrained, adapters are put on the model below it; trainers take such a model as it is.
#include <algorithm>

#include "core/exchange/export.h"
#include "core/exchange/patch_sites.h"
#include "core/json/ascii.h"

namespace plimsoll::exchange {

namespace {

using ascii::is_word;

using json::Json;

// "model" of "    model = AutoModelForCausalLM.from_pretrained("; "" when it is assigned to nothing plain.
std::string_view assigned_name(std::string_view text, size_t bracket) {
  const size_t first = line_start(text, bracket) + indentation(text, bracket).size();
  size_t end = first;
  while (end < bracket && is_word(text[end])) ++end;
  size_t equals = end;
  while (equals < bracket && text[equals] == ' ') ++equals;
  const bool plain = end > first && equals + 1 < bracket && text[equals] == '=' && text[equals + 1] != '=';
  return plain ? text.substr(first, end - first) : std::string_view();
}

// "model" of "    model, tokenizer = FastLanguageModel.from_pretrained("; "" when nothing is assigned.
std::string_view first_of_assigned(std::string_view text, size_t bracket) {
  const size_t first = line_start(text, bracket) + indentation(text, bracket).size();
  size_t end = first;
  while (end < bracket && is_word(text[end])) ++end;
  size_t equals = end;
  while (equals < bracket && (is_word(text[equals]) || text[equals] == ',' || text[equals] == ' ')) ++equals;
  const bool assigned = end > first && equals + 1 < bracket && text[equals] == '=' && text[equals + 1] != '=';
  return assigned ? text.substr(first, end - first) : std::string_view();
}

// Where imports stand: the first of them, else `otherwise`.
size_t import_line(std::string_view text, size_t otherwise) {
  for (size_t at = 0; at < otherwise && at < text.size(); at = line_end(text, at) + 1) {
    const std::string_view line = text.substr(at, 7);
    if (line.substr(0, 5) == "from " || line == "import ") return at;
  }
  return otherwise;
}

bool mentions(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end >= text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

std::string call(const std::string& margin, std::string_view head, const Json& arguments,
                 const std::string& newline) {
  std::string out = margin;
  out += head;
  out += "(" + newline;
  for (const auto& [key, value] : arguments.items()) {
    out += margin + "    " + key + "=";
    out += literal(Language::python, key, value) + "," + newline;
  }
  out += margin + ")" + newline;
  return out;
}

// As readers are used to: r before lora_alpha.
Json in_order(const Json& arguments, const std::string& section, const Format& format) {
  std::vector<std::pair<size_t, std::string>> keys;
  for (const auto& [key, value] : arguments.items())
    keys.emplace_back(order_of(format, section + "." + key), key);
  std::sort(keys.begin(), keys.end());
  Json out = Json::object();
  for (const auto& [order, key] : keys) out[key] = arguments[key];
  return out;
}

const Member* last_argument(const Node& section) {
  const Member* last = nullptr;
  for (const Member& member : section.members) {
    const Span key = member.key_span, all = section.span;
    if (key.length > 0 && key.at > all.at && key.at < all.at + all.length) last = &member;
  }
  return last;
}

// Unsloth's classes put adapters on the model they have loaded: FastLanguageModel.get_peft_model(model,
// r=16).
bool write_unsloth_calls(const Site& site, const PatchContext& context, const Node& model,
                         std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  Json peft = Json::object();
  for (const auto& [key, value] : site.added.items()) {
    if (key == "$adapter") continue;  // said by the call
    if (key != "peft" || !value.is_object()) return false;
    peft = in_order(value, key, context.format);
  }
  if (peft.contains("use_dora")) return false;  // an argument that Unsloth does not take
  constexpr std::string_view loader = ".from_pretrained";
  const size_t bracket = model.span.at;
  const std::string name(first_of_assigned(text, bracket));
  if (name.empty() || bracket < loader.size() ||
      text.substr(bracket - loader.size(), loader.size()) != loader)
    return false;
  const size_t end = bracket - loader.size();
  size_t begin = end;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin == end) return false;
  // Loaded to be trained in full, the model would take no adapters; and without that word it would be loaded
  // in 4 bits.
  const bool says_bits = std::any_of(model.members.begin(), model.members.end(),
                                     [](const Member& member) { return member.key == "load_in_4bit"; });
  for (const Member& member : model.members) {
    const size_t at = member.value.span.at;
    if (member.key != "full_finetuning" || member.value.value != Json(true) || member.value.span.length == 0)
      continue;
    const bool own_line = text.substr(bracket, at - bracket).find('\n') != std::string_view::npos;
    const std::string gap =
        own_line ? context.newline + std::string(indentation(text, at)) : std::string(" ");
    edits.push_back({at, member.value.span.length,
                     says_bits ? std::string("False") : "False," + gap + "load_in_4bit = False"});
  }
  const std::string margin(indentation(text, bracket));
  std::string head = name + " = ";
  head += text.substr(begin, end - begin);
  head += ".get_peft_model";
  std::string below = call(margin, head, peft, context.newline);
  const std::string opening = "(" + context.newline;
  below.insert(below.find(opening) + opening.size(), margin + "    " + name + "," + context.newline);
  const size_t line = line_end(text, bracket + model.span.length);
  if (line == text.size()) {
    edits.push_back({line, 0, context.newline + below});
  } else {
    edits.push_back({line + 1, 0, below});
  }
  return true;
}

}  // namespace

bool write_python_calls(const Site& site, const PatchContext& context, std::vector<Edit>& edits) {
  const std::string_view text = context.text;
  const Node* model = context.root.find("model");
  if (model == nullptr || model->span.length < 2) return false;
  if (context.root.find("$unsloth") != nullptr) return write_unsloth_calls(site, context, *model, edits);
  Json quantization = Json::object(), peft = Json::object();
  bool prepare = false;
  for (const auto& [key, value] : site.added.items()) {
    if (key == "$adapter") continue;  // said by the call
    if (!value.is_object() || (key != "quantization" && key != "peft")) return false;
    (key == "peft" ? peft : quantization) = in_order(value, key, context.format);
  }
  if (const auto said = quantization.find("prepare_for_kbit_training"); said != quantization.end()) {
    if (*said != Json(true)) return false;
    prepare = true;
    quantization.erase(said);
  }
  const size_t bracket = model->span.at, line = line_start(text, bracket);
  const std::string margin(indentation(text, bracket));
  const std::string name(assigned_name(text, bracket));
  std::vector<std::string> from_peft;
  std::string imports, above, below;
  if (!quantization.empty()) {
    const Member* beside = last_argument(*model);
    if (beside == nullptr) return false;
    above = call(margin, "bnb_config = BitsAndBytesConfig", quantization, context.newline);
    add_python_argument(*beside, "quantization_config=bnb_config", context, edits);
    if (!mentions(text, "BitsAndBytesConfig"))
      imports += "from transformers import BitsAndBytesConfig" + context.newline;
  }
  if (prepare) {
    if (name.empty()) return false;
    below += margin + name + " = prepare_model_for_kbit_training(" + name + ")" + context.newline;
    from_peft.emplace_back("prepare_model_for_kbit_training");
  }
  if (!peft.empty() || site.added.contains("$adapter")) {
    if (name.empty()) return false;
    below += call(margin, "peft_config = LoraConfig", peft, context.newline);
    below += margin + name + " = get_peft_model(" + name + ", peft_config)" + context.newline;
    from_peft.insert(from_peft.begin(), {"LoraConfig", "get_peft_model"});
  }
  std::string names;
  for (const std::string& one : from_peft) {
    if (!mentions(text, one)) names += (names.empty() ? "" : ", ") + one;
  }
  if (!names.empty()) imports += "from peft import " + names + context.newline;
  const bool torch = above.find("torch.") != std::string::npos;
  if (torch && !mentions(text, "torch")) imports += "import torch" + context.newline;
  if (!imports.empty()) edits.push_back({import_line(text, line), 0, imports});
  if (!above.empty()) edits.push_back({line, 0, above});
  if (below.empty()) return true;
  const size_t end = line_end(text, model->span.at + model->span.length);
  if (end == text.size()) {
    edits.push_back({end, 0, context.newline + below});
  } else {
    edits.push_back({end + 1, 0, below});
  }
  return true;
}

}  // namespace plimsoll::exchange
