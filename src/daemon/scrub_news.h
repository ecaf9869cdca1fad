// SPDX-License-Identifier: MIT
//
// ScrubNews: what a scrub has found since somebody asked last, in lines for the log.
#ifndef CELLFS_SRC_DAEMON_SCRUB_NEWS_H_
#define CELLFS_SRC_DAEMON_SCRUB_NEWS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "engine/admin.h"

namespace cellfs {

// One thread.
class ScrubNews {
 public:
  // Ends before that are no news; what was found before is, for whoever mounts.
  explicit ScrubNews(const ScrubStatistics& before) : ended_(before.ended) {}

  // A line for each finding, and one where a scrub has ended with findings.
  std::vector<std::string> Of(const ScrubStatistics& now) {
    std::vector<std::string> lines;
    for (const std::string& damage : now.damage)
      if (std::find(told_.begin(), told_.end(), damage) == told_.end())
        lines.push_back("scrub: " + damage);
    told_ = now.damage;
    if (now.ended != ended_ && !now.damage.empty())
      lines.push_back("scrub: ended; " + std::to_string(now.damage.size()) +
                      (now.damage.size() == 1 ? " thing is" : " things are") +
                      " damaged, as 'cellfs status --health' lists");
    ended_ = now.ended;
    return lines;
  }

 private:
  std::vector<std::string> told_;  // a bounded number, as a scrub keeps no more
  Timestamp ended_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_SCRUB_NEWS_H_
