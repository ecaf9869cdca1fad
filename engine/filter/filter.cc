// SPDX-License-Identifier: MIT
#include "engine/filter.h"

#include "engine/filter_parameters.h"

namespace cellfs {

FilterParameters Filter::Parameters() const { return {}; }

}  // namespace cellfs
