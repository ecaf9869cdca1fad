// SPDX-License-Identifier: MIT
//
// The part of the filter language that names one filter with its arguments:
//
//   simple   := Name [ ' ' ] '(' [ argument { ',' argument } ] ')'
//   argument := "'" bytes "'" (a quote in it is doubled) | number | true | false | < <= = != >= >
//
// Names of filters are HBase's; true and false have no case.
#ifndef CELLFS_ENGINE_FILTER_SIMPLE_FILTER_H_
#define CELLFS_ENGINE_FILTER_SIMPLE_FILTER_H_

#include <cstddef>
#include <string_view>

#include "engine/filters.h"

namespace cellfs {

// Of such an expression, to its end. kIllegalArgument.
FilterOr ReadSimpleFilter(std::string_view text);

// Whether the quote there ends or begins an argument; else it is the first of two.
bool IsQuoteAlone(std::string_view text, size_t quote);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_SIMPLE_FILTER_H_
