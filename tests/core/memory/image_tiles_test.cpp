// Images that processors cut: golden/image_tiles.json holds what those of Transformers make of them
// (tests/measured/image_tiles.py).
#include "core/memory/layers/image_tiles.h"

#include <map>

#include "tests/core/golden.h"
#include "tests/core/model_presets.h"

namespace plimsoll::memory {
namespace {

const std::map<std::string, const char*> presets = {
    {"internvl", "internvl3_5-8b-hf"},  {"llava_next", "llava-v1.6-mistral-7b-hf"},
    {"idefics3", "idefics3-8b-llama3"}, {"llama4", "llama-4-scout-17b-16e-instruct"},
    {"lfm2_vl", "lfm2-vl-1.6b"},        {"minicpmv", "minicpm-v-2_6"},
};

TEST(ImageTiles, AreThoseOfTheProcessors) {
  json::Errors errors;
  const json::Json rows = json::parse(golden_file("image_tiles.json"), errors).value_or(json::Json::array());
  EXPECT_EQ(rows.size(), 54u);
  for (const json::Json& row : rows) {
    const model::Architecture network = model::network(presets.at(row.at("model_type").get<std::string>()));
    EXPECT_EQ(network.image.default_size, row.at("tile").get<uint64_t>()) << row;
    const Tiles tiles =
        tiles_of(network.image, {.image_size = row.at("width"), .image_height = row.at("height")});
    EXPECT_EQ(tiles.images, row.at("images").get<double>()) << row;
    EXPECT_EQ(tiles.text_tokens, row.at("tokens").get<double>()) << row;
  }
}

TEST(ImageTiles, OfAProcessorThatIsToldNotToCutAreOne) {
  for (const auto& [model_type, preset] : presets) {
    const Tiles tiles =
        tiles_of(model::network(preset).image, {.image_size = 1280, .image_height = 720, .max_tiles = 1});
    EXPECT_EQ(tiles.images, 1) << preset;
    EXPECT_LE(tiles.text_tokens, 1000) << preset;
  }
}

// Llama 3.2's processor fills four tiles up whatever the image, and its tower reads them as one sequence.
TEST(ImageTiles, OfLlamaAreAlwaysFour) {
  const Tiles tiles = tiles_of(model::network("llama-3.2-11b-vision-instruct").image,
                               {.image_size = 300, .image_height = 200});
  EXPECT_EQ(tiles.pieces, 4);
  EXPECT_EQ(tiles.images, 1);
  EXPECT_EQ(tiles.text_tokens, 4 * 1601);
}

}  // namespace
}  // namespace plimsoll::memory
