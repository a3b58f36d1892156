#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> mixing_claims() {
  return {};
}

}  // namespace gih
