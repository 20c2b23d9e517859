#include "core/hardware/cloud.h"

#include <map>
#include <set>

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

struct Sources {
  std::map<std::string, std::string> words;  ///< by their keys
  std::set<std::string> own;                 ///< the seller's
};

Offer read_offer(const Json& value, const std::string& pointer, const Sources& known, Errors& errors) {
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
  offer.host_gib = object.number("host_gib", {1, 65536}).value_or(0);
  offer.region = object.text("region").value_or("");
  offer.on_demand = read_price(object, "on_demand_usd_per_hour", errors);
  offer.spot = read_price(object, "spot_usd_per_hour", errors);
  offer.date = text("date");
  offer.low_confidence = object.text("confidence").value_or("") == "low";
  offer.note = object.text("note").value_or("");
  bool own = false;
  for (const std::string& key : object.texts("sources").value_or(std::vector<std::string>())) {
    const auto found = known.words.find(key);
    offer.source += (offer.source.empty() ? "" : "; ") + (found == known.words.end() ? key : found->second);
    own = own || known.own.count(key) != 0;
  }
  object.no_other_keys();
  if (!offer.on_demand.known && !offer.spot.known) {
    errors.push_back({"missing", pointer, "An offer has a price.", "on_demand_usd_per_hour"});
  }
  if (!own && !known.own.empty()) {
    errors.push_back({"conflict", pointer + "/sources", "A price comes from a list of the seller's own.",
                      "a source that `own` names"});
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
  Sources sources;
  if (const Json* words = object.find("sources"); words != nullptr && words->is_object()) {
    for (const auto& [key, text] : words->items()) {
      if (auto read = json::read_text(text, "/sources/" + json::escape(key), found))
        sources.words[key] = *read;
    }
  }
  for (std::string& key : object.texts("own").value_or(std::vector<std::string>())) {
    sources.own.insert(std::move(key));
  }
  double session_hours = 0;
  if (const Json* notebook = object.find("notebook"); notebook != nullptr) {
    json::Object service(*notebook, "/notebook", found);
    session_hours = service.number("session_hours", {1, 1000}).value_or(0);
    service.text("source");
    service.no_other_keys();
  }
  if (sources.own.empty() && session_hours == 0) {
    found.push_back({"missing", "/own", "A cloud names the sources that are the seller's own.", "own"});
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
      cloud.offers.back().session_hours = session_hours;
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
