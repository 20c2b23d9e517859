// What GPUs cost by the hour, as snapshots with their dates.
//
//     if (auto cloud = hardware::read_cloud(value, "clouds/aws.json", errors)) {
//       cloud->offers[0].instance;                   // "g5.xlarge"
//       cloud->offers[0].on_demand.low;              // 1.006 USD an hour, for the whole instance
//     }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace plimsoll::hardware {

struct Price {  ///< USD an hour; both ends equal where there is one price, high 0 where there is none
  double low = 0, high = 0;
  bool known = false;
};

struct Offer {
  std::string provider;  ///< id of the cloud
  std::string provider_name;
  std::string instance, region;
  std::string gpu;  ///< id of presets/gpus
  uint64_t gpus = 1;
  double host_gib = 0;    ///< the machine's own memory; 0: no source states it
  Price on_demand, spot;  ///< of the whole instance
  std::string date;       ///< of the price: "2026-09-24", "2026-03", "undated"
  bool low_confidence = false;
  std::string note;
  std::string source;        ///< in words, joined by "; "
  double session_hours = 0;  ///< of a notebook service, after which the session ends; 0: a machine that stays

  bool notebook() const { return session_hours > 0; }
  bool dated() const { return date != "undated"; }  ///< a price without a date may be of any year
};

/// Whether the machine holds so much of a run in its own memory, as far as that is known.
inline bool holds(const Offer& offer, double host_bytes) {
  return offer.host_gib == 0 || host_bytes <= offer.host_gib * 1073741824.0;
}

struct Cloud {
  std::string id, name;
  std::vector<Offer> offers;
};

/// Strict: but for notebook services, whose cards are theirs to choose, a price comes from a list of the
/// seller's own (`own` names these sources). Error pointers are those of the file; messages begin with its
/// name.
std::optional<Cloud> read_cloud(const json::Json& value, const std::string& file, json::Errors& errors);

}  // namespace plimsoll::hardware
