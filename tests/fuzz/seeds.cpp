// Texts to begin with, for every way: drawn requests, the files that tools make of them, what their failures
// print.
//
//     build/native/plimsoll_seeds build/fuzz/seeds
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/exchange/export.h"
#include "core/report/exchange.h"
#include "core/report/report.h"
#include "tests/drawn/corruption.h"
#include "tests/drawn/request.h"
#include "tests/fuzz/ways.h"

namespace {

using namespace plimsoll;
using json::Json;
namespace files = std::filesystem;

constexpr uint64_t draws = 60;

void write(const files::path& folder, const std::string& name, const std::string& text) {
  files::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << text;
}

// Words of the contract, so that the fuzzer need not guess them letter by letter.
void write_dictionary(const files::path& file) {
  std::ofstream out(file);
  json::Errors errors;
  const auto answer = json::parse(report::fields_text(drawn::presets()), errors);
  for (const Json& field : answer->at("fields")) {
    const auto pointer = field.at("pointer").get<std::string>();
    out << '"' << pointer.substr(pointer.rfind('/') + 1) << "\"\n";
    if (!field.contains("allowed") || !field.at("allowed").is_array()) continue;
    for (const Json& word : field.at("allowed")) {
      if (word.is_string()) out << '"' << word.get<std::string>() << "\"\n";
    }
  }
}

constexpr const char* failure =
    "  File \"/usr/lib/python3/site-packages/transformers/models/llama/modeling_llama.py\", line 176, in "
    "forward\n"
    "    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
    "23.64 GiB of "
    "which 30.81 MiB is free. Including non-PyTorch memory, this process has 23.60 GiB memory in use. Of the "
    "allocated "
    "memory 22.91 GiB is allocated by PyTorch, and 230.16 MiB is reserved by PyTorch but unallocated.\n";

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "plimsoll_seeds FOLDER\n";
    return 2;
  }
  const files::path folder = words[1];
  const std::vector<std::string> formats = fuzz::written_formats();
  for (uint64_t seed = 0; seed < draws; ++seed) {
    const Json request = drawn::drawn_request(seed, {.small = true, .plain = true});
    const std::string text = json::write(request), number = std::to_string(seed);
    Dice dice(seed);
    write(folder / "request", number, text);
    write(folder / "request", number + "-spoiled", json::write(drawn::corrupted(request, dice).request));
    write(folder / "advice", number,
          json::write(drawn::drawn_request(seed, {.gpu = true, .small = true, .plain = true})));
    write(folder / "comparison", number,
          text + '\n' + json::write(drawn::drawn_request(seed + draws, {.small = true})));
    write(folder / "config", number, json::write(drawn::drawn_config(dice, true)));
    write(folder / "diagnosis", number, std::to_string(seed) + '\n' + failure + text);
    for (const std::string& format : formats) {
      const std::string file = fuzz::exported(text, format);
      if (file.empty()) continue;
      for (const char* way : {"import", "patch"}) write(folder / way, format + "-" + number, file);
      write(folder / "parts", format + "-" + number, failure + file);
      write(folder / "diagnosis", format + "-" + number, file + failure);
    }
  }
  write_dictionary(folder / "words.txt");
}
