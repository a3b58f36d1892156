#include "gih/theory/tally.hpp"

#include <algorithm>
#include <cmath>

namespace gih {

namespace {

/// Rounding allowed beside a right side; none beside an infinite one.
double allowance(double right) {
  return std::isfinite(right) ? Tally::rounding * std::max(1.0, std::abs(right)) : 0.0;
}

}  // namespace

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::undecided:
      return "UNDECIDED";
    case Verdict::skipped:
      break;
  }
  return "SKIPPED";
}

void Tally::compare(double left, double right, double slack, Verdict verdict) {
  // A slack that is not a number is the worst of all.
  if (checked_ == 0 || std::isnan(slack) || slack < slack_) {
    left_ = left;
    right_ = right;
    slack_ = slack;
  }
  ++checked_;
  const auto rank = [](Verdict v) {
    return v == Verdict::fail ? 2 : v == Verdict::undecided ? 1 : 0;
  };
  if (rank(verdict) > rank(worst_)) worst_ = verdict;
}

void Tally::equal(double left, double right) {
  const double apart = std::abs(left - right);
  const bool holds = apart <= allowance(right);
  compare(left, right, 0.0 - apart, holds ? Verdict::pass : Verdict::fail);
}

void Tally::at_most(double left, double right) {
  const double slack = left == right ? 0.0 : right - left;  // also when both are infinite
  const bool holds = slack >= -allowance(right);
  if (right > 0.0 && std::isfinite(right)) ratio_ = std::max(ratio_, left / right);
  compare(left, right, slack, holds ? Verdict::pass : Verdict::fail);
}

void Tally::equal(double left, double right, double error) {
  const double apart = std::abs(left - right);
  compare(left, right, 0.0 - apart, apart <= (clear + 1.0) * error ? Verdict::pass : Verdict::fail);
}

void Tally::at_most(double left, double right, double error) {
  const double slack = right - left;
  Verdict verdict = Verdict::undecided;
  if (slack >= clear * error) {  // equality too, where there is no error
    verdict = Verdict::pass;
  } else if (!(slack > -clear * error)) {
    verdict = Verdict::fail;
  }
  if (right > 0.0 && std::isfinite(right)) ratio_ = std::max(ratio_, left / right);
  compare(left, right, slack, verdict);
}

void Tally::require(bool holds) {
  compare(holds ? 0.0 : 1.0, 0.0, holds ? 0.0 : -1.0, holds ? Verdict::pass : Verdict::fail);
}

Verdict Tally::verdict() const {
  if (checked_ > 0) return worst_;
  return why_.empty() ? Verdict::fail : Verdict::skipped;
}

}  // namespace gih
