// Each report through the diagnosis: figures, cause, phase, and the verdict where the settings are complete.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/report/catalog.h"
#include "tests/measured/rules.h"
#include "tests/oom/record.h"

namespace plimsoll::oom {

struct Scored {
  Record record;
  std::string request;              ///< what the report's settings make
  std::string refused;              ///< why no verdict could be had, or ""
  std::string wrong_numbers;        ///< "" when all figures are right
  std::vector<std::string> causes;  ///< ids, most likely first
  double confidence = 0;            ///< of the first
  std::string phase;                ///< read from the frame alone; "other" none
  std::string verdict;              ///< fits, tight, no; "" unknown

  bool has_message() const { return !record.text.empty(); }
  /// A message whose cause somebody found.
  bool has_cause() const {
    return has_message() && record.outcome == "oom" && record.category != "unknown" &&
           !record.category.empty();
  }
  std::size_t place() const;  ///< of the true cause among `causes`, from 1; 0 not there
  bool verdict_right() const;
};

std::vector<Scored> score(const std::vector<Record>& records, const std::vector<accuracy::Rule>& rules,
                          const report::Catalog& catalog);

/// Shares of 1, as `./dev oom --json` prints them.
struct Score {
  std::size_t messages = 0, causes = 0;
  double numbers_right = 0, cause_top1 = 0, cause_top3 = 0;
  double phase_right = 0;  ///< of the messages and reports that quote a frame
  struct Verdicts {
    std::size_t records = 0, answered = 0, right = 0, died_but_called_fits = 0;
    double share() const {
      return records == 0 ? 0 : static_cast<double>(right) / static_cast<double>(records);
    }
  };
  Verdicts benchmark, issue;
  std::map<std::string, std::size_t> refusals;
};
Score summarize(const std::vector<Scored>& all);

}  // namespace plimsoll::oom
