#include "gih/model/parameters.hpp"

#include <fmt/core.h>

#include <cmath>

#include "gih/base/error.hpp"

namespace gih {

bool Parameters::all_finite() const {
  return w.allFinite() && c.allFinite() && std::isfinite(a);
}

void check_model(const ModelSpec& model) {
  if (model.d < 2 || model.d > 65536) {
    throw InputError(fmt::format("vocabulary d = {}: must be 2 to 65536", model.d));
  }
  if (model.M < 1 || model.M > 31) {
    throw InputError(fmt::format("window M = {}: must be 1 to 31", model.M));
  }
  subsets(model.H, model.D, model.rule);
}

void check_parameters(const ModelSpec& model, const Parameters& theta) {
  if (theta.w.rows() != model.H || theta.w.cols() != model.M) {
    throw InputError(fmt::format("w is {} x {}: must be heads x window = {} x {}", theta.w.rows(),
                                 theta.w.cols(), model.H, model.M));
  }
  const auto nS = static_cast<Eigen::Index>(model.subsets().size());
  if (theta.c.size() != nS) {
    throw InputError(fmt::format("c has {} entries: must be {}, one for each subset of {} heads",
                                 theta.c.size(), nS, model.H));
  }
  if (!theta.all_finite()) throw InputError("parameters must be finite");
  if (!(theta.C_D() > 0.0)) {
    throw InputError("c = 0 in every entry: C_D = sum c_S^2 must be above 0");
  }
}

}  // namespace gih
