#include "core/hardware/cloud.h"

#include <map>

namespace plimsoll::hardware {

namespace {

using json::Errors;
using json::Json;

Price read_price(json::Object& object, std::string_view key, Errors& errors) {
  Price price;
  if (!object.has(key)) return price;
  const Json& range = *object.find(key);
  if (!range.is_array() || range.size() != 2) {
    errors.push_back(
        {"wrong_type", object.pointer(key), "A price is a lowest and a highest.", "[low, high]"});
    return price;
  }
  const auto low = json::read_number(range[0], object.pointer(key) + "/0", {0, 10000}, errors);
  const auto high = json::read_number(range[1], object.pointer(key) + "/1", {0, 10000}, errors);
  if (low && high && *low > *high) {
    errors.push_back({"conflict", object.pointer(key), "The lowest price comes first.", "[low, high]"});
  }
  if (low && high) price = {*low, *high, true};
  return price;
}

Offer read_offer(const Json& value, const std::string& pointer,
                 const std::map<std::string, std::string>& known, Errors& errors) {
  json::Object object(value, pointer, errors);
  Offer offer;
  const auto text = [&](std::string_view key) {
    if (!object.has(key) && object.is_object()) {
      errors.push_back({"missing", object.pointer(key), "Every offer states this.", "a string"});
    }
    return object.text(key).value_or("");
  };
  offer.instance = text("instance");
  offer.gpu = text("gpu");
  offer.gpus = object.count("gpus", {1, 1024}).value_or(1);
  offer.region = object.text("region").value_or("");
  offer.on_demand = read_price(object, "on_demand_usd_per_hour", errors);
  offer.spot = read_price(object, "spot_usd_per_hour", errors);
  offer.date = text("date");
  offer.low_confidence = object.text("confidence").value_or("") == "low";
  offer.note = object.text("note").value_or("");
  for (const std::string& key : object.texts("sources").value_or(std::vector<std::string>())) {
    const auto found = known.find(key);
    offer.source += (offer.source.empty() ? "" : "; ") + (found == known.end() ? key : found->second);
  }
  object.no_other_keys();
  if (!offer.on_demand.known && !offer.spot.known) {
    errors.push_back({"missing", pointer, "An offer has a price.", "on_demand_usd_per_hour"});
  }
  if (offer.source.empty()) {
    errors.push_back({"missing", pointer + "/sources", "A price has a source.", "a list of strings"});
  }
  return offer;
}

}  // namespace

std::optional<Cloud> read_cloud(const Json& value, const std::string& file, Errors& errors) {
  Errors found;
  json::Object object(value, "", found);
  Cloud cloud;
  cloud.id = object.text("id").value_or("");
  cloud.name = object.text("name").value_or("");
  object.text("collected");
  std::map<std::string, std::string> sources;
  if (const Json* words = object.find("sources"); words != nullptr && words->is_object()) {
    for (const auto& [key, text] : words->items()) {
      if (auto read = json::read_text(text, "/sources/" + json::escape(key), found)) sources[key] = *read;
    }
  }
  const Json* offers = object.find("offers");
  object.no_other_keys();
  if (offers == nullptr || !offers->is_array() || cloud.id.empty() || cloud.name.empty()) {
    found.push_back({"missing", "", "A cloud has an id, a name and a list of offers.", "id, name, offers"});
  } else {
    for (std::size_t i = 0; i < offers->size(); ++i) {
      cloud.offers.push_back(read_offer((*offers)[i], "/offers/" + std::to_string(i), sources, found));
      cloud.offers.back().provider = cloud.id;
      cloud.offers.back().provider_name = cloud.name;
    }
  }
  if (found.empty()) return cloud;
  for (json::Error& error : found) {
    error.message = file + ": " + error.message;
    errors.push_back(std::move(error));
  }
  return std::nullopt;
}

}  // namespace plimsoll::hardware
