// Predicted against measured, and what many of such pairs amount to.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/measured/request.h"

namespace plimsoll::accuracy {

struct Comparison {
  Kind kind = Kind::unstated;
  double measured = 0, predicted = 0;
  double low = 0,
         high = 0;  ///< the band, without the evidence of the run's own source; high 0: there is none
  double error() const { return predicted / measured - 1; }
  bool within() const { return low <= measured && measured <= high; }
};

/// One record, its request, and how the report compares.
struct Run {
  Record record;
  json::Json request;
  std::string refused;  ///< why there is no report, or ""
  std::string stack, instant;
  std::string verdict;  ///< on the record's GPU: fits, tight, no, or "" when the GPU is not known
  std::vector<Comparison> comparisons;  ///< one for each reading, the record's own first

  const Comparison* comparison(Kind kind) const;
  bool expressed() const { return refused.empty(); }
  /// Fits and tight both say that the estimate fits.
  bool verdict_right() const { return !verdict.empty() && (verdict == "no") == record.died; }
  bool died_but_called_fits() const { return record.died && verdict == "fits"; }
};

/// Scores every record of a file; `errors` says what is wrong with the file as a whole.
std::vector<Run> score_file(const json::Json& rows, const std::vector<Rule>& rules,
                            const run::Catalog& catalog, json::Errors& errors);

struct Summary {
  std::size_t runs = 0, expressed = 0;
  std::size_t verdicts = 0, verdicts_right = 0, died_but_called_fits = 0;
  std::vector<double> errors;               ///< signed, of the readings that count here
  std::size_t banded = 0, within_band = 0;  ///< of these readings
  std::map<std::string, std::vector<double>>
      groups;  ///< the same by series, model and method: grids are correlated

  void add(const Run& run);
  void add_error(const Run& run, const Comparison& comparison);
};

/// Of |error|. 0 when there is none. The 95th percentile is the smallest value that 95 % do not exceed.
double median(std::vector<double> values);
double percentile95(std::vector<double> values);

struct Score {
  Summary overall;           ///< all runs; errors of allocated peaks of tier A with exact length
  std::size_t eligible = 0;  ///< how many of those there are, expressed or not
  std::map<std::string, Summary> sources, tiers;  ///< errors of each record's own reading
  std::map<std::string, Summary> kinds, stacks;   ///< each reading of a kind; stacks: as overall
  std::vector<std::pair<std::string, std::size_t>>
      reasons;  ///< why runs are not expressed, most frequent first
};
Score summarize(const std::vector<Run>& runs);

}  // namespace plimsoll::accuracy
