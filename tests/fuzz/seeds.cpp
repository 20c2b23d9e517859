// Texts to begin with, for every way: drawn requests, the files that tools make of them, what their failures
// print; and what people and tools have written, from the folder of the tests.
//
//     build/fuzz/plimsoll_seeds build/fuzz/seeds tests
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

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

// What scripts, commands, YAML and messages are made of, as libFuzzer writes words: \x0A is the end of a line.
constexpr const char* syntax[] = {R"(def f():\x0A    )",
                                  R"(class A:\x0A    )",
                                  "return ",
                                  "lambda x: ",
                                  "import ",
                                  "from ",
                                  " as ",
                                  "for x in ",
                                  "if ",
                                  "elif ",
                                  "else:",
                                  "with ",
                                  "try:",
                                  "except",
                                  "global ",
                                  "@",
                                  "*",
                                  "**",
                                  "**{",
                                  "f'{",
                                  "'''",
                                  "[x for x in ",
                                  "range(",
                                  "dict(",
                                  ".get(",
                                  ".format(",
                                  "os.environ[",
                                  "add_argument(",
                                  "parse_args()",
                                  ".from_pretrained(",
                                  "get_peft_model(",
                                  "LoraConfig(",
                                  "TrainingArguments(",
                                  "SFTConfig(",
                                  "Trainer(",
                                  ".train()",
                                  "$(",
                                  "${",
                                  "${x:-",
                                  "${x%",
                                  "${x/",
                                  "$((",
                                  "$@",
                                  "`",
                                  R"(<<EOF\x0A)",
                                  R"(\x0AEOF\x0A)",
                                  "&& ",
                                  "|| ",
                                  R"(; do\x0A)",
                                  R"(done\x0A)",
                                  R"(then\x0A)",
                                  R"(fi\x0A)",
                                  "export ",
                                  "x=(",
                                  "--x=",
                                  R"( \x5C\x0A)",
                                  "accelerate launch ",
                                  "torchrun ",
                                  "&a ",
                                  "*a",
                                  "<<: *a",
                                  R"(: |\x0A  )",
                                  R"(: >-\x0A  )",
                                  "? ",
                                  "- ",
                                  R"(---\x0A)",
                                  "!!str ",
                                  "# ",
                                  "~",
                                  ": {",
                                  ": [",
                                  "GiB",
                                  " MiB free",
                                  "Tried to allocate ",
                                  "out of memory",
                                  "batch size ",
                                  "24GB",
                                  "4090",
                                  "7B",
                                  "4 x ",
                                  " per GPU"};

// And words of the contract, so that the fuzzer need not guess them letter by letter.
void write_dictionary(const files::path& file) {
  std::ofstream out(file);
  for (const char* words : syntax) out << '"' << words << "\"\n";
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

// Longer ones cost more executions than they open ways.
constexpr std::size_t longest = 16 * 1024;

std::string read(const files::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<files::path> files_below(const files::path& folder, const char* extension) {
  std::vector<files::path> found;
  for (const auto& entry : files::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> lines_of(const files::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

// Behind the tab of a line, in which \n stands for a line end.
std::string behind_tab(const std::string& line) {
  std::string text = line.substr(line.find('\t') + 1);
  for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at))
    text.replace(at, 2, "\n");
  return text;
}

std::optional<Json> json_of(const std::string& text) {
  json::Errors errors;
  return json::parse(text, errors);
}

// A value a line: what YAML takes for the same.
std::string as_yaml(const Json& config) {
  std::string text = "# as published\n";
  for (const auto& [key, value] : config.items()) text += key + ": " + json::write(value) + '\n';
  return text;
}

std::string as_notebook(const std::string& script) {
  Json lines = Json::array();
  for (std::size_t at = 0; at < script.size();) {
    const std::size_t end = std::min(script.find('\n', at), script.size() - 1) + 1;
    lines.push_back(script.substr(at, end - at));
    at = end;
  }
  const Json title = {{"cell_type", "markdown"}, {"metadata", Json::object()}, {"source", {"# A run"}}};
  const Json code = {{"cell_type", "code"},
                     {"execution_count", nullptr},
                     {"metadata", Json::object()},
                     {"outputs", Json::array()},
                     {"source", lines}};
  return json::write(
      {{"cells", {title, code}}, {"metadata", Json::object()}, {"nbformat", 4}, {"nbformat_minor", 5}});
}

class Known {
 public:
  explicit Known(files::path seeds) : seeds_(std::move(seeds)) {}

  void add(std::initializer_list<const char*> ways, const std::string& text) {
    if (text.empty() || text.size() > longest) return;
    for (const char* way : ways) write(seeds_ / way, "known-" + std::to_string(count_), text);
    ++count_;
  }

 private:
  files::path seeds_;
  std::size_t count_ = 0;
};

// Of what stacks and threads have given, one in so many: libFuzzer runs every seed before it changes one.
constexpr std::size_t one_in = 6;

void write_configurations(const files::path& tests, Known& known) {
  std::size_t place = 0;
  for (const files::path& file : files_below(tests / "stacks", ".json")) {
    const auto golden = json_of(read(file));
    if (!golden || !golden->is_object() || place++ % one_in != 0) continue;
    if (golden->contains("text"))
      known.add({"import", "patch", "parts"}, golden->at("text").get<std::string>());
    if (!golden->contains("config") || !golden->at("config").is_object()) continue;
    known.add({"import", "patch"}, json::write(golden->at("config")));
    known.add({"import", "patch", "parts"}, as_yaml(golden->at("config")));
  }
  for (const files::path& file : files_below(tests / "stacks", ".py")) {
    if (file.parent_path().filename() != "scripts") continue;
    const std::string script = read(file);
    known.add({"import", "patch", "parts"}, script);
    known.add({"import", "patch"}, as_notebook(script));
  }
}

void write_messages(const files::path& tests, Known& known) {
  std::size_t place = 0;
  for (const files::path& file : files_below(tests / "oom", ".json")) {
    const auto records = json_of(read(file));
    if (!records || !records->is_array()) continue;
    for (const Json& record : *records) {
      if (place++ % one_in == 0)
        known.add({"diagnosis", "message", "parts"}, record.at("error_text").get<std::string>());
    }
  }
}

void write_pastes(const files::path& tests, Known& known) {
  for (const std::string& line : lines_of(tests / "cli/bad_requests.tsv"))
    known.add({"request", "advice"}, behind_tab(line));
  for (const std::string& line : lines_of(tests / "cli/bad_configurations.tsv"))
    known.add({"import", "patch"}, behind_tab(line));
  for (const std::string& line : lines_of(tests / "cli/bad_pastes.tsv"))
    known.add({"diagnosis", "message", "parts"}, behind_tab(line));
  for (const std::string& line : lines_of(tests / "links/broken.tsv"))
    known.add({"import"}, behind_tab(line));
  for (const std::string& line : lines_of(tests / "links/v1.jsonl")) {
    const auto kept = json_of(line);
    known.add({"import"}, kept->at("link").get<std::string>());
    known.add({"request", "advice"}, json::write(kept->at("request")));
  }
  const auto everyday = json_of(read(tests / "core/golden/everyday_pastes.json"));
  for (const Json& paste : *everyday)
    known.add({"import", "patch", "parts", "diagnosis", "message"}, paste.at("text").get<std::string>());
}

// A file is called after its way (tests/fuzz/found/README.md).
void write_found(const files::path& found, const files::path& seeds) {
  for (const auto& entry : files::directory_iterator(found)) {
    const std::string name = entry.path().filename().string(), way = name.substr(0, name.find('-'));
    if (fuzz::find_way(way) != nullptr) write(seeds / way, "found-" + name, read(entry.path()));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "plimsoll_seeds FOLDER TESTS\n";
    return 2;
  }
  const files::path folder = words[1], tests = words[2];
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
      write(folder / "message", format + "-" + number, file + failure);
      if (seed % one_in == 0) write(folder / "diagnosis", format + "-" + number, file + failure);
    }
  }
  Known known(folder);
  write_configurations(tests, known);
  write_messages(tests, known);
  write_pastes(tests, known);
  write_found(tests / "fuzz/found", folder);
  write_dictionary(folder / "words.txt");
}
