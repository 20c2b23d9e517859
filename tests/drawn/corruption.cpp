#include "tests/drawn/corruption.h"

#include "tests/drawn/value.h"

namespace plimsoll::drawn {

namespace {

using recipe::Field;
using recipe::FieldType;

// Values that no field of that type takes.
std::vector<Json> of_other_types(FieldType type) {
  switch (type) {
    case FieldType::count:
    case FieldType::number:
      return {"8", true, Json::array({8}), Json::object()};
    case FieldType::flag:
      return {"true", 1, 0, Json::array({true})};
    case FieldType::word:
    case FieldType::optimizer:
    case FieldType::text:
    case FieldType::version:
      return {7, false, Json::array({"adamw_torch"}), Json::object()};
    case FieldType::texts:
    case FieldType::texts_or_text:
      return {7, true, Json::object(), Json::array({7}), Json::array({"q_proj", nullptr})};
    case FieldType::text_map:
      break;
  }
  return {7, "14GB", Json::array({"14GB"}), Json{{"0", 14}}};
}

void put(Corruption& made, const Field& field, Json value) {
  made.pointer = std::string(field.pointer);
  made.request[Json::json_pointer(made.pointer)] = std::move(value);
}

void spoil_number(Corruption& made, const Field& field, Dice& dice) {
  const bool whole = field.type == FieldType::count;
  switch (dice.draw(whole ? 4 : 2)) {
    case 0:
      made.codes = {"out_of_range"};
      made.what = "too large";
      // Beyond what a double holds exactly, a number can only be written as one with an exponent.
      if (whole && field.high < 9007199254740992.0)
        return put(made, field, static_cast<uint64_t>(field.high) + 1);
      return put(made, field, whole ? Json(1e300) : Json(2 * field.high + 1));
    case 1:
      if (field.low >= 1) {
        made.codes = {"out_of_range"};
        made.what = "too small";
        return put(made, field, whole ? Json(uint64_t{0}) : Json(field.low / 2 - 1));
      }
      made.codes = {"negative", "out_of_range"};
      made.what = "below its range";
      return put(made, field, whole ? Json(-1) : Json(field.low - 1));
    case 2:
      made.codes = {"fractional"};
      made.what = "a fraction";
      return put(made, field, std::max(field.low, 1.0) + 0.5);
    default:
      made.codes = {"fractional", "wrong_type"};
      made.what = "a whole number written as a fraction";
      return put(made, field, std::max(field.low, 1.0));
  }
}

// A field that exists and is not the model, nor the version of the contract.
const Field& any_field(Dice& dice) {
  const auto table = recipe::field_table();
  return table[1 + dice.draw(table.size() - 1)];
}

}  // namespace

std::vector<Json> corruptions(const Field& field) {
  std::vector<Json> values = of_other_types(field.type);
  const auto add = [&values](std::initializer_list<Json> more) {
    values.insert(values.end(), more.begin(), more.end());
  };
  switch (field.type) {
    case FieldType::count:
    case FieldType::number:
      add({-1, 1.5, field.low - 1, 2 * field.high + 1, 1e300});
      if (field.type == FieldType::number) values.erase(values.end() - 4);  // a number
      break;
    case FieldType::word:
    case FieldType::optimizer:
    case FieldType::text:
    case FieldType::version:
      add({" ", "no_such_word", ">=4.46", "4.46.*", "git+https://github.com/huggingface/trl", "main?"});
      // An empty text is one that says nothing.
      if (field.type != FieldType::text) values.emplace_back("");
      break;
    case FieldType::texts:
    case FieldType::texts_or_text:
      add({Json::array({""}), Json::array({"no_such_word"}), "no_such_word", ""});
      break;
    case FieldType::flag:
    case FieldType::text_map:
      break;
  }
  return values;
}

Corruption corrupted(Json request, Dice& dice) {
  Corruption made;
  made.request = std::move(request);
  const Field& field = any_field(dice);
  const bool number = field.type == FieldType::count || field.type == FieldType::number;
  const bool word = field.type == FieldType::word || field.type == FieldType::optimizer ||
                    field.type == FieldType::version || field.pointer == "/want";
  const uint64_t kind = dice.draw(5);
  if (kind == 0) {
    const std::string below(field.pointer.substr(0, field.pointer.rfind('/')));
    made.pointer = below + "/no_such_field";
    made.request[Json::json_pointer(made.pointer)] = 1;
    made.codes = {"unknown_key"};
    made.what = "an unknown key";
  } else if (kind == 1 && dice.one_in(4)) {
    made.pointer = "/model";
    made.request["model"] = dice.one_in(2) ? Json("no-such-model-123") : Json(17);
    made.codes = {"unknown_model", "wrong_type"};
    made.what = "no model";
  } else if (kind <= 2 && number) {
    spoil_number(made, field, dice);
  } else if (kind <= 3 && word) {
    made.codes = {"unknown_value"};
    made.what = "an unknown word";
    put(made, field, field.type == FieldType::texts ? Json::array({"no_such_word"}) : Json("no_such_word"));
  } else {
    made.codes = {"wrong_type", "fractional", "out_of_range"};
    made.what = "another type";
    put(made, field, dice.one_of(of_other_types(field.type)));
  }
  return made;
}

}  // namespace plimsoll::drawn
