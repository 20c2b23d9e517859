// plimsoll_oom [--json | --each] [--against=SCORE] FILE
//
// Reads published out-of-memory reports and prints how many the diagnosis reads and explains rightly. With
// --against it fails when the score is worse than the one that file states.
#include <cstdio>
#include <optional>
#include <string>

#include "core/run/preset_files.h"
#include "tests/oom/score.h"
#include "tests/scoring.h"

namespace plimsoll {
std::span<const PresetFile> oom_rules();  // written by the build
std::span<const PresetFile> oom_cards();
}  // namespace plimsoll

namespace plimsoll::oom {
namespace {

using scoring::good;
using scoring::holds;
using scoring::read_file;
using scoring::refuse;
using scoring::worse;

json::Json object(const Score& s) {
  return json::Json{{"messages", s.messages},
                    {"numbers_right", s.numbers_right},
                    {"cause_top1", s.cause_top1},
                    {"cause_top3", s.cause_top3},
                    {"verdict_right_benchmark", s.benchmark.share()},
                    {"verdict_right_issue", s.issue.share()},
                    {"confidently_wrong", s.confidently_wrong},
                    {"asked_top1", s.asked_top1},
                    {"asked", s.asked},
                    {"phase_right", s.phase_right},
                    {"cases", s.cases},
                    {"cases_right", s.cases_right},
                    {"questions", s.questions},
                    {"questions_read", s.questions_read},
                    {"causes", s.causes},
                    {"verdicts_benchmark",
                     {{"records", s.benchmark.records},
                      {"answered", s.benchmark.answered},
                      {"right", s.benchmark.right},
                      {"died_but_called_fits", s.benchmark.died_but_called_fits}}},
                    {"verdicts_issue",
                     {{"records", s.issue.records},
                      {"answered", s.issue.answered},
                      {"right", s.issue.right},
                      {"died_but_called_fits", s.issue.died_but_called_fits}}}};
}

void print_table(const Score& s) {
  std::printf("messages                    %4zu\n", s.messages);
  std::printf("all figures read right      %6.1f %%\n", 100 * s.numbers_right);
  std::printf("cause named first           %6.1f %%  of %zu with a known cause\n", 100 * s.cause_top1,
              s.causes);
  std::printf("cause among the first three %6.1f %%\n", 100 * s.cause_top3);
  std::printf("  with its question answered %6.1f %%  %zu asked\n", 100 * s.asked_top1, s.asked);
  std::printf("wrong and above 70 %% sure   %6.1f %%\n", 100 * s.confidently_wrong);
  for (const Score::Bin& bin : s.calibration) {
    if (bin.stated == 0) continue;
    const auto stated = static_cast<double>(bin.stated);
    std::printf("  stated %5.1f %% on average   %6.1f %%  right of %zu\n", 100 * bin.confidence / stated,
                100 * static_cast<double>(bin.right) / stated, bin.stated);
  }
  if (s.cases > 0)
    std::printf("its case named as well      %6.1f %%  of %zu\n",
                100.0 * static_cast<double>(s.cases_right) / static_cast<double>(s.cases), s.cases);
  if (s.questions > 0)
    std::printf("questions read right        %6.1f %%  of %zu; verdict %zu of %zu\n",
                100.0 * static_cast<double>(s.questions_read) / static_cast<double>(s.questions), s.questions,
                s.verdicts_said, s.verdicts_asked);
  std::printf("phase read from the frame   %6.1f %%\n", 100 * s.phase_right);
  const auto verdicts = [](const char* name, const Score::Verdicts& v) {
    std::printf("verdicts, %-12s      %6.1f %%  right; %zu of %zu answered, %zu died but called fits\n", name,
                100 * v.share(), v.answered, v.records, v.died_but_called_fits);
  };
  verdicts("benchmarks", s.benchmark);
  verdicts("issues", s.issue);
  for (const auto& [why, count] : s.refusals) std::printf("  %4zu not answered: %s\n", count, why.c_str());
}

void print_each(const std::vector<Scored>& all) {
  for (const Scored& one : all) {
    if (one.is_question()) {
      std::printf("%s question %-26s %s verdict %s, %s expected\n", one.said_wrong.empty() ? "+" : "x",
                  one.record.id.c_str(), one.said_wrong.c_str(), one.answered_verdict.c_str(),
                  one.record.expected.c_str());
      continue;
    }
    if (one.has_message()) {
      std::string causes;
      for (std::size_t i = 0; i < one.causes.size() && i < 4; ++i) causes += " " + one.causes[i];
      std::printf(
          "%s %zu %-26s %-28s %.2f%s %s%s\n",
          !one.has_cause()   ? "-"
          : one.place() == 1 ? "+"
                             : "x",
          one.place(), one.record.id.c_str(), one.record.category.c_str(), one.confidence, causes.c_str(),
          (one.wrong_numbers + (one.narrower.empty() ? "" : " (" + one.narrower + ")")).c_str(),
          one.asked.empty() ? "" : (" ? " + one.asked + "=" + one.answered + " -> " + one.after).c_str());
    }
    if (one.record.complete) {
      std::printf("%s verdict %-26s %-9s %-5s %-6s %s\n",
                  one.verdict.empty()   ? "?"
                  : one.verdict_right() ? "+"
                                        : "x",
                  one.record.id.c_str(), one.record.kind.c_str(), one.record.outcome.c_str(),
                  one.verdict.c_str(), one.refused.c_str());
    }
    if (!one.record.frame.empty() && one.record.phase != "other" && one.phase != one.record.phase) {
      std::printf("x phase %-26s %s read as %s: %s\n", one.record.id.c_str(), one.record.phase.c_str(),
                  one.phase.c_str(), one.record.frame.c_str());
    }
  }
}

int hold_against(const std::string& path, const Score& score) {
  json::Errors errors;
  const auto tree = read_file(path, errors);
  if (!tree) return refuse(path, errors);
  json::Object limits(*tree, "", errors);
  limits.text("about");
  struct Limit {
    const char* key;
    double reached;
  };
  bool held = true;
  for (const Limit& limit :
       {Limit{"messages", static_cast<double>(score.messages)}, Limit{"numbers_right", score.numbers_right},
        Limit{"cause_top1", score.cause_top1}, Limit{"cause_top3", score.cause_top3},
        Limit{"phase_right", score.phase_right}, Limit{"verdict_right_issue", score.issue.share()}}) {
    const auto least = limits.number(limit.key);
    if (least) held = holds(limit.key, *least - 1e-9, limit.reached, true) && held;
  }
  limits.no_other_keys();
  if (!errors.empty()) return refuse(path, errors);
  return held ? good : worse;
}

int run(const scoring::Options& options) {
  const run::Catalog catalog = run::read_catalog(preset_files());
  json::Errors errors = catalog.errors;
  std::vector<accuracy::Rule> rules = accuracy::read_rules(oom_rules(), errors);
  for (accuracy::Rule& rule : accuracy::read_rules(oom_cards(), errors)) rules.push_back(std::move(rule));
  if (!errors.empty()) return refuse("presets and rules", errors);
  const auto rows = read_file(options.file, errors);
  if (!rows) return refuse(options.file, errors);
  const std::vector<Record> records = read_records(*rows, errors);
  if (!errors.empty()) return refuse(options.file, errors);
  const std::vector<Scored> all = score(records, rules, catalog);
  const Score total = summarize(all);
  if (options.has("--each")) {
    print_each(all);
  } else if (options.has("--json")) {
    std::printf("%s\n", json::write(object(total), true).c_str());
  } else {
    print_table(total);
  }
  return options.against.empty() ? static_cast<int>(good) : hold_against(options.against, total);
}

}  // namespace
}  // namespace plimsoll::oom

int main(int argc, char** argv) {
  const auto options = plimsoll::scoring::read_options(argc, argv, {"--json", "--each"});
  if (!options) {
    std::fputs("plimsoll_oom [--json | --each] [--against=SCORE] FILE\n", stderr);
    return plimsoll::scoring::bad_input;
  }
  return plimsoll::oom::run(*options);
}
