#include "claims_groups.hpp"

namespace gih {

std::vector<Claim> information_claims() {
  return {};
}

}  // namespace gih
