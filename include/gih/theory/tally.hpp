#pragma once
// What a check of a claim found: how many comparisons, the one with the least slack, a verdict.

#include <cstddef>
#include <string>

namespace gih {

enum class Verdict { pass, fail, undecided, skipped };

/// "PASS", "FAIL", "UNDECIDED", "SKIPPED".
std::string verdict_name(Verdict verdict);

class Tally {
 public:
  /// Rounding allowed in an exact comparison, relative where the right side exceeds 1.
  static constexpr double rounding = 1e-10;
  /// Standard errors that a sampled inequality must be clear of; identities get one more.
  static constexpr double clear = 3.0;

  /// left = right, both exact.
  void equal(double left, double right);
  /// left <= right, both exact.
  void at_most(double left, double right);
  /// left = right, the difference known with this standard error.
  void equal(double left, double right, double error);
  /// left <= right, the difference known with this standard error.
  void at_most(double left, double right, double error);
  /// A condition that is simply true or false.
  void require(bool holds);
  /// Says why nothing could be checked here.
  void skip(const std::string& why) { why_ = why; }

  std::size_t checked() const { return checked_; }
  double left() const { return left_; }    ///< of the comparison with the least slack
  double right() const { return right_; }  ///< of the comparison with the least slack
  /// Least slack: right - left for inequalities, minus |left - right| for identities; 0 unless
  /// something was checked.
  double slack() const { return checked_ > 0 ? slack_ : 0.0; }
  /// Largest left / right of the inequalities with a positive right side: near 0 a check is weak,
  /// near 1 it is sharp. 0 for identities.
  double ratio() const { return ratio_; }
  /// Skipped when a reason was given and nothing was checked; fail when nothing was checked at all.
  Verdict verdict() const;
  const std::string& why() const { return why_; }

 private:
  void compare(double left, double right, double slack, Verdict verdict);

  std::size_t checked_ = 0;
  double left_ = 0.0, right_ = 0.0, slack_ = 0.0, ratio_ = 0.0;
  Verdict worst_ = Verdict::pass;
  std::string why_;
};

}  // namespace gih
