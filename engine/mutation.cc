// SPDX-License-Identifier: MIT
#include "engine/mutation.h"

#include <utility>

namespace cellfs {

const std::string& RowOf(const Mutation& mutation) {
  return std::visit([](const auto& one) -> const std::string& { return one.row; }, mutation);
}

RowMutations RowMutations::Of(Mutation mutation, Durability durability) {
  RowMutations mutations;
  mutations.row = RowOf(mutation);
  mutations.mutations.push_back(std::move(mutation));
  mutations.durability = durability;
  return mutations;
}

}  // namespace cellfs
