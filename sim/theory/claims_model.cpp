#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> model_claims() {
  return {};
}

}  // namespace gih
