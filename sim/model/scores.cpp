#include "gih/model/scores.hpp"

#include "gih/model/feature_scores.hpp"
#include "gih/model/pair_scores.hpp"

namespace gih {

std::unique_ptr<Scores> make_scores(const ModelSpec& model) {
  if (model.is_simplified()) return std::make_unique<PairScores>(model);
  return std::make_unique<FeatureScores>(model);
}

}  // namespace gih
