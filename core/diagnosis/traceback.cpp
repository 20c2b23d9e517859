#include "core/diagnosis/traceback.h"

#include <algorithm>

#include "core/diagnosis/traceback_frames.h"
#include "core/diagnosis/words.h"
#include "core/json/ascii.h"

namespace plimsoll::diagnosis {

namespace {

using ascii::is_word;

constexpr std::size_t longest_traceback = 256U << 10U;

constexpr std::string_view phases[] = {"other",     "load", "forward", "loss",     "backward",
                                       "optimizer", "eval", "save",    "generate", "merge"};

// "resume_from_checkpoint: null", "use_vllm=False": a setting that is off is no frame.
bool is_switched_off(std::string_view folded, std::size_t at) {
  while (at < folded.size() && is_word(folded[at])) ++at;
  while (at < folded.size() && (folded[at] == '"' || folded[at] == '\'' || folded[at] == ' ')) ++at;
  if (at >= folded.size() || (folded[at] != ':' && folded[at] != '=')) return false;
  ++at;
  while (at < folded.size() && folded[at] == ' ') ++at;
  const std::string_view value = folded.substr(at, 5);
  return value.substr(0, 4) == "null" || value.substr(0, 4) == "none" || value == "false" ||
         value.substr(0, 1) == "\n" || value.empty();
}

// "Loading checkpoint shards: 100%" says that loading is over; "lm_head.weight" is a parameter's name.
bool is_done_or_a_name(std::string_view folded, const FrameWords& frame, std::size_t at) {
  const std::string_view behind = folded.substr(std::min(at + frame.words.size(), folded.size()), 12);
  if (frame.words == "loading checkpoint shards") return behind.substr(0, 6) == ": 100%";
  const bool quoted = at > 0 && (folded[at - 1] == '"' || folded[at - 1] == '\'') && !behind.empty() &&
                      behind.front() == folded[at - 1];
  return frame.words == "lm_head" && (quoted || behind.substr(0, 7) == ".weight");
}

// "merge_lora(path)" and "loss.backward" are code; "the rollout stage" is prose.
bool is_code(std::string_view folded, std::size_t end) {
  while (end < folded.size() && is_word(folded[end])) ++end;
  return end < folded.size() && std::string_view("(.=[").find(folded[end]) != std::string_view::npos &&
         (end + 1 >= folded.size() || folded[end] != '.' || is_word(folded[end + 1]));
}

// Lines that a traceback consists of, in the forms of Python, rich and IPython, and of pybind's "At:".
bool names_a_place(std::string_view line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.substr(0, 5) == "[rank") line.remove_prefix(std::min(line.find(':') + 1, line.size()));
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line.substr(0, 6) == "file \"" || line.substr(0, 6) == "file ~" || line.substr(0, 6) == "file /" ||
         line.substr(0, 3) == "-->" || line.substr(0, 4) == "--->" ||
         (line.substr(0, 3) == "-> " && line.size() > 3 && line[3] >= '0' && line[3] <= '9') ||
         line.find("\xE2\x9D\xB1") != std::string_view::npos ||  // the arrow of rich
         line.find(".py in ") != std::string_view::npos ||
         (line.find(".py:") != std::string_view::npos && line.find(" in ") != std::string_view::npos) ||
         (line.find(".py(") != std::string_view::npos && line.find("): ") != std::string_view::npos);
}

// Where a text holds a traceback or a script, only the traceback says where it died.
class Places {
 public:
  explicit Places(std::string_view folded) : folded_(folded) {
    bool named = false;
    std::size_t above = 0;
    for (std::size_t at = 0; at < folded.size();) {
      const std::size_t end = std::min(folded.find('\n', at), folded.size());
      const std::string_view line = folded.substr(at, end - at);
      const bool names = names_a_place(line);
      // The line above the message is the code that failed, also where the frames above it were cut off.
      const bool fails = line.find("out of memory") != std::string_view::npos && at > 0;
      if (fails && (quoted_.empty() || quoted_.back() < above)) quoted_.push_back(above);
      if (names || named) quoted_.push_back(at);  // the place, and the line of code below it
      above = at;
      count_ += names ? 1 : 0;
      script_ = script_ || line.substr(0, 7) == "import " || line.substr(0, 5) == "from ";
      named = names;
      at = end + 1;
    }
  }
  bool counts(std::size_t at) const { return (count_ < 2 && !script_) || is_quoted(at); }
  // A long line of words that is no part of the traceback.
  bool is_prose_beside_a_frame(std::size_t at) const {
    constexpr long least_words = 9;
    if (count_ == 0 || is_quoted(at)) return false;
    const std::size_t before = at == 0 ? std::string_view::npos : folded_.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line =
        folded_.substr(begin, std::min(folded_.find('\n', at), folded_.size()) - begin);
    return std::count(line.begin(), line.end(), ' ') + 1 >= least_words;
  }
  bool is_quoted(std::size_t at) const {
    const std::size_t before = at == 0 ? std::string_view::npos : folded_.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return std::binary_search(quoted_.begin(), quoted_.end(), begin);
  }

 private:
  std::string_view folded_;
  std::vector<std::size_t> quoted_;
  std::size_t count_ = 0;
  bool script_ = false;
};

// Words of a message itself are no frame: "out of memory ... see documentation for memory management".
std::string line_around(const Text& text, std::size_t at) {
  const std::size_t before = text.lines.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.lines.find('\n', at), text.lines.size());
  std::size_t first = begin;
  while (first < end && text.lines[first] == ' ') ++first;
  return first_bytes(std::string_view(text.lines).substr(first, end - first), 160);
}

}  // namespace

std::string_view name(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }

Phase phase_named(std::string_view wanted) {
  const auto* found = std::find(std::begin(phases), std::end(phases), wanted);
  return found == std::end(phases) ? Phase::unknown : static_cast<Phase>(found - std::begin(phases));
}

bool Frames::shows(std::string_view sign) const {
  return std::find(signs.begin(), signs.end(), sign) != signs.end();
}

Frames read_frames(const Text& text) {
  std::vector<std::string_view> words;
  const std::span<const FrameWords> frames = frame_words();
  for (const FrameWords& frame : frames) words.push_back(frame.words);
  const std::size_t from =
      text.folded_lines.size() > longest_traceback ? text.folded_lines.size() - longest_traceback : 0;
  Frames out;
  uint8_t best = 0;
  bool best_is_code = false;
  const std::string_view folded = std::string_view(text.folded_lines).substr(from);
  const Places places(folded);
  for (const Place& found : find_words(folded, words, 1000)) {
    const FrameWords& frame = frames[found.word];
    const bool code = frame.words.find(' ') == std::string_view::npos;
    if ((code && !places.counts(found.at)) || is_done_or_a_name(folded, frame, found.at)) continue;
    // "resume" is no part of "presume"; "backward" is one of "_backward_hook".
    if (found.at > 0 && is_word(frame.words.front()) && folded[found.at - 1] >= 'a' &&
        folded[found.at - 1] <= 'z') {
      continue;
    }
    if (is_switched_off(folded, found.at) || in_setting(folded, found.at)) continue;
    if (!frame.sign.empty() && !out.shows(frame.sign)) out.signs.emplace_back(frame.sign);
    // Of one quoted frame and prose about other moments, the frame says where it died.
    const bool code_here =
        !places.is_prose_beside_a_frame(found.at) || is_code(folded, found.at + frame.words.size());
    const bool wins = code_here == best_is_code ? frame.rank >= best
                      : code_here               ? frame.rank >= 2 || frame.rank >= best
                                                : best < 2 && frame.rank > best;
    if (!wins) continue;
    best = frame.rank;
    best_is_code = code_here;
    out.phase = frame.phase;
    out.words = line_around(text, from + found.at);
  }
  return out;
}

}  // namespace plimsoll::diagnosis
