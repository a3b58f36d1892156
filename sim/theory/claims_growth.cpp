#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> growth_claims() {
  return {};
}

}  // namespace gih
