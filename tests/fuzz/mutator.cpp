// Beside libFuzzer's own changes of bytes: a value of a JSON text replaced, doubled or dropped, or under another
// key, so that what is read stays JSON and the change reaches the rooms behind the reader.
#include <cstring>

#include "core/json/json.h"
#include "tests/drawn/dice.h"

extern "C" std::size_t LLVMFuzzerMutate(uint8_t* data, std::size_t size, std::size_t most);

namespace {

using plimsoll::Dice;
using plimsoll::json::Json;

// Values at the edges of what a size, a share, a flag or a word can be.
const Json& edge(Dice& dice) {
  static const Json edges[] = {0,
                               1,
                               2,
                               3,
                               7,
                               64,
                               255,
                               65536,
                               1e9,
                               9007199254740991,
                               1e300,
                               -1,
                               0.5,
                               1e-9,
                               -0.0,
                               true,
                               false,
                               nullptr,
                               "",
                               "auto",
                               "*",
                               "float",
                               "all",
                               "none",
                               Json::array(),
                               Json::object(),
                               Json::array({0}),
                               Json::array({1, 2})};
  return edges[dice.draw(std::size(edges))];
}

void change(Json& value, Dice& dice) {
  if (value.is_number_integer() && dice.one_in(2)) {
    const auto number = value.get<int64_t>();
    const int64_t near[] = {number + 1, number - 1, number / 2, -number, number % 1'000'000 * 1024};
    value = near[dice.draw(std::size(near))];
  } else {
    value = edge(dice);
  }
}

// Keys at the edges of what a name can be: of no letter, a place, a path, a flag, a variable.
std::string edge_key(Dice& dice) {
  constexpr const char* edges[] = {"",  "0",  "99", ".", "a.b", "-", "--x",
                                   "$", "$x", "/",  "~", "[]",  " ", "\n"};
  return edges[dice.draw(std::size(edges))];
}

// A walk down to some value, which is changed, or dropped from what holds it.
void change_below(Json& value, Dice& dice) {
  if (!value.is_structured() || value.empty() || dice.one_in(12)) return change(value, dice);
  auto member = value.begin();
  std::advance(member, static_cast<std::ptrdiff_t>(dice.draw(value.size())));
  if (dice.one_in(8)) {
    value.erase(member);
  } else if (value.is_array() && dice.one_in(8)) {
    const Json copy = *member;
    value.push_back(copy);
  } else if (value.is_object() && dice.one_in(16)) {
    Json moved = std::move(*member);
    value.erase(member);
    value[edge_key(dice)] = std::move(moved);
  } else {
    change_below(*member, dice);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Dice dice(seed);
  if (dice.one_in(3)) return LLVMFuzzerMutate(data, size, most);
  plimsoll::json::Errors errors;
  auto value = plimsoll::json::parse(std::string(data, data + size), errors);
  if (!value) return LLVMFuzzerMutate(data, size, most);
  for (uint64_t changes = 1 + dice.draw(3); changes > 0; --changes) change_below(*value, dice);
  const std::string text = plimsoll::json::write(*value);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
