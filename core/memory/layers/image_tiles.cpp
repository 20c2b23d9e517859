#include "core/memory/layers/image_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plimsoll::memory {

namespace {

using model::TileGrid;
using Cut = model::ImageTokens::Cut;

struct Pixels {
  double width = 0, height = 0;
  double area() const { return width * height; }
};

double count(const TileGrid& grid) { return static_cast<double>(grid.rows * grid.columns); }

// All grids of `least` to `most` tiles, small ones first, narrow ones first.
std::vector<TileGrid> grids(uint64_t least, uint64_t most) {
  std::vector<TileGrid> all;
  for (uint64_t tiles = std::max<uint64_t>(least, 1); tiles <= most; ++tiles) {
    for (uint64_t columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns == 0) all.push_back({tiles / columns, columns});
    }
  }
  return all;
}

// Of grids of the same shape the larger one, until it has twice the image's pixels.
TileGrid closest_ratio(const model::ImageTokens& image, Pixels pixels, uint64_t most) {
  const auto tile = static_cast<double>(image.default_size);
  TileGrid best;
  double nearest = std::numeric_limits<double>::infinity();
  for (const TileGrid& grid : grids(std::min(image.least_tiles, most), most)) {
    const double ratio = static_cast<double>(grid.columns) / static_cast<double>(grid.rows);
    const double off = std::fabs(pixels.width / pixels.height - ratio);
    const bool filled = pixels.area() > 0.5 * tile * tile * count(grid);
    if (off < nearest || (off == nearest && filled)) best = grid;
    nearest = std::min(nearest, off);
  }
  return best;
}

// Most of the image's own pixels, then the least area that they leave empty.
TileGrid best_listed(const model::ImageTokens& image, Pixels pixels, uint64_t at_most) {
  const auto tile = static_cast<double>(image.default_size);
  TileGrid best;
  double most = 0, least_wasted = std::numeric_limits<double>::infinity();
  for (const TileGrid& grid : image.grids) {
    if (grid.rows * grid.columns > at_most) continue;
    const double width = tile * static_cast<double>(grid.columns),
                 height = tile * static_cast<double>(grid.rows);
    const double scale = std::min(width / pixels.width, height / pixels.height);
    const double scaled = std::floor(pixels.width * scale) * std::floor(pixels.height * scale);
    const double effective = std::min(scaled, pixels.area()), wasted = width * height - effective;
    if (effective < most || (effective == most && wasted >= least_wasted)) continue;
    most = effective;
    least_wasted = wasted;
    best = grid;
  }
  return best;
}

// The smallest enlargement that a grid allows, else the smallest reduction; of these the grid with fewest tiles.
TileGrid canvas(const model::ImageTokens& image, Pixels pixels, uint64_t most) {
  const auto tile = static_cast<double>(image.default_size);
  TileGrid best;
  double chosen = 0;
  for (const TileGrid& grid : grids(1, most)) {
    const double scale = std::min(tile * static_cast<double>(grid.columns) / pixels.width,
                                  tile * static_cast<double>(grid.rows) / pixels.height);
    const bool better = scale >= 1 ? chosen < 1 || scale < chosen : chosen < 1 && scale > chosen;
    if (!better) continue;
    chosen = scale;
    best = grid;
  }
  return best;
}

TileGrid by_longest_side(const model::ImageTokens& image, Pixels pixels, uint64_t tiles) {
  const auto along = std::min(image.most_tiles, static_cast<uint64_t>(std::sqrt(static_cast<double>(tiles))));
  const auto tile = static_cast<double>(image.default_size), most = static_cast<double>(along);
  const double longer = std::max(pixels.width, pixels.height),
               shorter = std::min(pixels.width, pixels.height);
  const double across = std::max(1.0, std::ceil(std::floor(most * tile * shorter / longer) / tile));
  const auto few = static_cast<uint64_t>(across);
  return pixels.width >= pixels.height ? TileGrid{few, along} : TileGrid{along, few};
}

// As many tiles as the image has tiles of area, one fewer or one more; of these the nearest to its shape.
TileGrid sliced(const model::ImageTokens& image, Pixels pixels, uint64_t most) {
  const auto tile = static_cast<double>(image.default_size);
  const double wanted = std::min(std::ceil(pixels.area() / (tile * tile)), static_cast<double>(most));
  TileGrid best;
  if (wanted <= 1) return best;
  double nearest = std::numeric_limits<double>::infinity();
  const auto about = static_cast<uint64_t>(wanted);
  for (const TileGrid& grid : grids(std::max<uint64_t>(about - 1, 2), std::min(about + 1, most))) {
    const double ratio = static_cast<double>(grid.columns) / static_cast<double>(grid.rows);
    const double off = std::fabs(std::log(pixels.width / pixels.height) - std::log(ratio));
    if (off < nearest) best = grid;
    nearest = std::min(nearest, off);
  }
  return best;
}

// LLaVA-NeXT: the rows of patches that the image covers, each with a newline behind it, after the whole image.
double unpadded_tokens(const model::ImageTokens& image, const TileGrid& grid, Pixels pixels) {
  const double side = std::floor(static_cast<double>(image.default_size) / static_cast<double>(image.patch));
  double rows = side * static_cast<double>(grid.rows), columns = side * static_cast<double>(grid.columns);
  if (pixels.width / pixels.height > columns / rows) {
    rows -= 2 * std::floor((rows - std::floor(pixels.height * columns / pixels.width + 1e-7)) / 2);
  } else {
    columns -= 2 * std::floor((columns - std::floor(pixels.width * rows / pixels.height + 1e-7)) / 2);
  }
  return rows * columns + rows;
}

// LFM2-VL: patches of a whole image, brought between a quarter of whole_tokens and these.
double whole_tokens(const model::ImageTokens& image, Pixels pixels) {
  const auto unit = static_cast<double>(image.patch * image.merge),
             most = static_cast<double>(image.whole_tokens);
  const auto cells = [unit](double side) { return std::max(1.0, std::nearbyint(side / unit)); };
  const double tokens = cells(pixels.width) * cells(pixels.height);
  const double own = std::sqrt(pixels.area()) / unit;
  if (tokens > most) {
    const double scale = std::sqrt(most) / own;
    return std::max(1.0, std::floor(pixels.width * scale / unit)) *
           std::max(1.0, std::floor(pixels.height * scale / unit));
  }
  if (tokens >= most / 4) return tokens;
  const double scale = std::sqrt(most / 4) / own;
  return std::ceil(pixels.width * scale / unit) * std::ceil(pixels.height * scale / unit);
}

bool is_left_whole(const model::ImageTokens& image, Pixels pixels) {
  const auto unit = static_cast<double>(image.patch * image.merge);
  const auto cells = [unit](double side) { return std::max(1.0, std::nearbyint(side / unit)); };
  return cells(pixels.width) * cells(pixels.height) <= 2 * static_cast<double>(image.whole_tokens);
}

}  // namespace

Tiles tiles_of(const model::ImageTokens& image, const recipe::Vision& vision) {
  const auto width = static_cast<double>(std::max<uint64_t>(vision.image_size, 1));
  const Pixels pixels = {width, vision.image_height > 0 ? static_cast<double>(vision.image_height) : width};
  const uint64_t most = vision.max_tiles;
  const auto each = static_cast<double>(image.tokens);
  const double overview = image.whole_tokens > 0 ? whole_tokens(image, pixels) : each;
  if (image.cut == Cut::never || most == 1) return {1, 1, overview};
  if (image.cut == Cut::padded || image.cut == Cut::joined) {
    const auto tiles = static_cast<double>(most == 0 ? image.most_tiles : most);
    return {tiles, image.cut == Cut::joined ? 1 : tiles, tiles * each};
  }
  if (image.cut == Cut::listed) {
    const TileGrid grid = best_listed(image, pixels, most == 0 ? UINT64_MAX : most);
    const double tiles = count(grid) + 1;
    return {tiles, tiles, each + unpadded_tokens(image, grid, pixels)};
  }
  if (image.whole_tokens > 0 && is_left_whole(image, pixels)) return {1, 1, overview};
  const bool by_side = image.cut == Cut::longest_side;
  const uint64_t published = by_side ? image.most_tiles * image.most_tiles : image.most_tiles;
  const uint64_t allowed = most == 0 ? published : most;
  const TileGrid grid = image.cut == Cut::canvas   ? canvas(image, pixels, allowed)
                        : by_side                  ? by_longest_side(image, pixels, allowed)
                        : image.cut == Cut::sliced ? sliced(image, pixels, allowed)
                                                   : closest_ratio(image, pixels, allowed);
  if (count(grid) <= 1) return {1, 1, each};
  return {count(grid) + 1, count(grid) + 1, count(grid) * each + overview};
}

}  // namespace plimsoll::memory
