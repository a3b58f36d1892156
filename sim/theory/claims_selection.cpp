#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> selection_claims() {
  return {};
}

}  // namespace gih
