// Each report through the diagnosis: figures, cause, phase, and the verdict where the settings are complete.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/run/catalog.h"
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
  std::string asked;                ///< id of the question, or ""
  std::string answered;             ///< the choice that the person takes, or ""
  std::string after;                ///< first cause once it is answered; as before where nothing is asked
  std::string phase;                ///< read from the frame alone; "other" none
  std::string verdict;              ///< fits, tight, no; "" unknown
  std::string narrower;             ///< id of the case of the first cause
  std::string said_wrong;           ///< of a question: fields that were misread; "" none
  std::string answered_verdict;     ///< of a question: of the first way that is priced
  bool is_question() const { return record.outcome == "question"; }

  bool has_message() const { return !record.text.empty(); }
  /// A message whose cause somebody found.
  bool has_cause() const {
    return has_message() && record.outcome == "oom" && record.category != "unknown" &&
           !record.category.empty();
  }
  bool confidently_wrong() const { return has_cause() && confidence > 0.7 && place() != 1; }
  std::size_t place() const;  ///< of the true cause among `causes`, from 1; 0 not there
  bool verdict_right() const;
};

std::vector<Scored> score(const std::vector<Record>& records, const std::vector<accuracy::Rule>& rules,
                          const run::Catalog& catalog);

/// Shares of 1, as `./dev oom --json` prints them.
struct Score {
  std::size_t messages = 0, causes = 0;
  double numbers_right = 0, cause_top1 = 0, cause_top3 = 0;
  double confidently_wrong = 0, asked_top1 = 0;
  std::size_t asked = 0;  ///< messages that a question is asked of
  struct Bin {
    std::size_t stated = 0, right = 0;
    double confidence = 0;  ///< sum
  };
  std::array<Bin, 6> calibration;          ///< below 0.3, 0.5, 0.7, 0.8, 0.9, and above
  std::size_t cases = 0, cases_right = 0;  ///< reports of a case of a cause, and those where it is named
  std::size_t questions = 0, questions_read = 0, verdicts_asked = 0, verdicts_said = 0;
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
