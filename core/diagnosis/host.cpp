#include "core/diagnosis/host.h"

#include <algorithm>
#include <optional>

#include "core/diagnosis/signs.h"
#include "core/diagnosis/size.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

// Each data worker is a process with its own libraries and prefetched batches, some GiB in all; beyond as many
// they are more than most machines have cores for one card.
constexpr double many_workers = 16;

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool begins_with_ram(std::string_view text) {
  skip_blanks(text);
  for (const std::string_view word : {"of ", "system ", "cpu ", "host ", "main "}) {
    if (text.substr(0, word.size()) == word) text.remove_prefix(word.size());
    skip_blanks(text);
  }
  for (const std::string_view word : {"arbeitsspeicher", "hauptspeicher", "内存"}) {
    if (text.substr(0, word.size()) == word) return true;
  }
  return text.substr(0, 3) == "ram" && (text.size() == 3 || !ascii::is_word(text[3]));
}

// "RAM: 64 GB", and neither "VRAM" nor "GPU RAM".
bool ends_with_ram(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" :=\t") + 1);
  if (text.size() < 3 || text.substr(text.size() - 3) != "ram") return false;
  text.remove_suffix(3);
  if (!text.empty() && ascii::is_word(text.back())) return false;
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return text.size() < 3 ||
         (text.substr(text.size() - 3) != "gpu" && !ascii::is_digit(text.back()) && text.back() != 'b');
}

std::optional<CaseShown> of(std::string_view id, std::string words) {
  return CaseShown{find_case(id), std::move(words), 0, false, true};
}

std::string there_is(double ram) {
  return ram > 0 ? ", and the machine has " + size_text(ram) + "." : " of RAM.";
}

// ZeRO's fp32 copy and two moments, its gradients in 2 to 4 bytes, its 16-bit parameters.
std::optional<CaseShown> offloaded(const Facts& f, double ram, bool said) {
  if (!f.offload || f.parameters == 0 || !f.quantization.empty()) return std::nullopt;
  const bool full = f.method == Method::full;
  const double least = (full ? 16 : 2) * f.parameters, most = (full ? 18 : 2) * f.parameters;
  if (!said && (ram == 0 || most < ram)) return std::nullopt;
  return of("offload", "What is offloaded takes " + std::string(full ? "16 to 18" : "2") +
                           " bytes a parameter, " + size_text(least) +
                           (full ? " to " + size_text(most) : "") + there_is(ram));
}

std::optional<CaseShown> loaded(const Facts& f, double ram) {
  if (f.weights16 == 0 || ram == 0 || !f.quantization.empty()) return std::nullopt;
  const std::string weights = "The weights take " + size_text(f.weights16) + " in 16 bits";
  if (f.weights16 > ram) return of("weights_beyond_ram", weights + there_is(ram));
  const double cards = f.gpus.value_or(1);
  if (cards < 2 || cards * f.weights16 <= ram) return std::nullopt;
  return of("every_rank_loads", weights + ", " + size_text(cards * f.weights16) +
                                    " in each of the processes of " +
                                    std::to_string(static_cast<int>(cards)) + " cards" + there_is(ram));
}

std::optional<CaseShown> worked(double workers) {
  if (workers < many_workers) return std::nullopt;
  return of("loader_workers",
            std::to_string(static_cast<int>(workers)) + " data workers are started for each process.");
}

}  // namespace

double ram_said(std::string_view folded) {
  double most = 0;
  for (const Size& size : sizes_in(folded, 400)) {
    if (size.bytes < gibibyte) continue;
    if (begins_with_ram(folded.substr(size.end)) || ends_with_ram(folded.substr(0, size.begin)))
      most = std::max(most, size.bytes);
  }
  return most;
}

double workers_said(std::string_view folded) {
  constexpr std::string_view key = "num_workers";
  double most = 0;
  for (std::size_t at = folded.find(key); at != std::string_view::npos; at = folded.find(key, at + 1)) {
    // Of tokenising, which is over when a step runs.
    if (folded.substr(0, at).ends_with("preprocessing_")) continue;
    std::string_view behind = folded.substr(at + key.size(), 12);
    behind.remove_prefix(std::min(behind.find_first_not_of(" =:\"'"), behind.size()));
    double count = 0;
    for (std::size_t i = 0; i < behind.size() && ascii::is_digit(behind[i]) && i < 4; ++i)
      count = count * 10 + (behind[i] - '0');
    most = std::max(most, count);
  }
  return most;
}

void read_host(TextReading& r) {
  if (r.message() == nullptr || r.message()->family->kind != MessageKind::host) return;
  const Facts& f = r.facts;
  const auto remove = [&r](std::string_view id) {
    const auto end = std::remove_if(r.cases.begin(), r.cases.end(),
                                    [id](const CaseShown& one) { return one.what->id == id; });
    const bool found = end != r.cases.end();
    r.cases.erase(end, r.cases.end());
    return found;
  };
  if (f.gpus && *f.gpus == 1) remove("every_rank_loads");  // one process loads once
  const std::string_view folded = r.text.folded_lines;
  const double ram = ram_said(folded);
  const bool other = std::any_of(r.cases.begin(), r.cases.end(), [](const CaseShown& one) {
    return one.what->cause == "host_ram" && one.what->id != "offload" && one.what->id != "every_rank_loads";
  });
  if (other) return;  // what the text says outright is not computed
  const bool said = std::any_of(r.cases.begin(), r.cases.end(),
                                [](const CaseShown& one) { return one.what->id == "offload"; });
  std::optional<CaseShown> shown = offloaded(f, ram, said);
  if (!shown) shown = loaded(f, ram);
  if (!shown && r.cases.empty()) shown = worked(workers_said(folded));
  if (!shown) return;
  remove(shown->what->id);
  r.cases.insert(r.cases.begin(), std::move(*shown));
}

}  // namespace plimsoll::diagnosis
