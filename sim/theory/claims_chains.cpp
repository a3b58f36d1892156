#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> chain_claims() {
  return {};
}

}  // namespace gih
