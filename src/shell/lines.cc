// SPDX-License-Identifier: MIT
#include "src/shell/lines.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <fstream>
#include <utility>

#include "src/commands/line_input.h"
#include "src/shell/output.h"

namespace cellfs::shell {
namespace {

constexpr int kMostHistory = 10'000;

// Empty: nowhere.
std::string HistoryFile() {
  const char* const state = getenv("XDG_STATE_HOME");
  const char* const home = getenv("HOME");
  std::string directory;
  if (state != nullptr && *state == '/') {
    directory = state;
  } else if (home != nullptr && *home == '/') {
    directory = std::string(home) + "/.local/state";
  } else {
    return "";
  }
  directory += "/cellfs";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return error ? "" : directory + "/shell_history";
}

class EditedLines : public Lines {
 public:
  explicit EditedLines(Complete complete)
      : complete_(std::move(complete)),
        editor_(el_init("cellfs", stdin, stdout, stderr)),
        history_(history_init()),
        history_file_(HistoryFile()) {
    setlocale(LC_CTYPE, "");  // what is typed may be any text
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &EditedLines::Prompt);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_SIGNAL, 0);
    el_set(editor_, EL_GETCFN, &EditedLines::ReadCharacter);
    HistEvent event;
    history(history_, &event, H_SETSIZE, kMostHistory);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_ADDFN, "cellfs-complete", "complete a word", &EditedLines::CompleteWord);
    el_set(editor_, EL_BIND, "^I", "cellfs-complete", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);  // ~/.editrc
  }
  ~EditedLines() override {
    HistEvent event;
    if (!history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
    history_end(history_);
    el_end(editor_);
  }
  EditedLines(const EditedLines&) = delete;
  EditedLines& operator=(const EditedLines&) = delete;

  StatusOr<End> Next(const std::string& prompt, std::string* line) override {
    prompt_ = prompt;
    int length = 0;
    errno = 0;
    const char* const typed = el_gets(editor_, &length);
    if (typed == nullptr || length <= 0) {
      if (errno != EINTR) return End::kNoMore;
      std::fputs("^C\n", stdout);
      el_reset(editor_);
      return End::kInterrupt;
    }
    line->assign(typed, static_cast<size_t>(length));
    if (line->ends_with('\n')) line->pop_back();
    HistEvent event;
    if (line->find_first_not_of(" \t") != line->npos)
      history(history_, &event, H_ENTER, line->c_str());
    return End::kLine;
  }

 private:
  static EditedLines* Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<EditedLines*>(data);
  }
  static char* Prompt(EditLine* editor) { return Of(editor)->prompt_.data(); }

  // An interrupt that comes before one waits ends the waiting too.
  static int WaitForInput() {
    sigset_t interrupts;
    sigset_t before;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before);
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const bool is_interrupted = Output::IsInterrupted() || ppoll(&input, 1, nullptr, &before) < 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (is_interrupted) errno = EINTR;
    return is_interrupted ? -1 : 0;
  }
  // The editor's own reads on after an interrupt.
  static int ReadCharacter(EditLine* /*editor*/, wchar_t* character) {
    std::mbstate_t state{};
    for (;;) {
      if (WaitForInput() < 0) return -1;
      char byte = 0;
      const ssize_t count = read(STDIN_FILENO, &byte, 1);
      if (count <= 0) return static_cast<int>(count);
      const size_t length = std::mbrtowc(character, &byte, 1, &state);
      if (length == static_cast<size_t>(-2)) continue;  // the character goes on
      if (length == static_cast<size_t>(-1)) *character = static_cast<unsigned char>(byte);
      return 1;
    }
  }

  static unsigned char CompleteWord(EditLine* editor, int /*key*/) {
    return Of(editor)->CompleteHere();
  }
  // What all that begin so have in common; where that is nothing more, they are listed.
  unsigned char CompleteHere() {
    const LineInfo* const info = el_line(editor_);
    const std::string before(info->buffer, info->cursor);
    const size_t begin = before.find_last_of(" \t,({['\"|;=>.") + 1;
    const std::string word = before.substr(begin);
    const std::vector<std::string> found = complete_(word);
    if (found.empty()) return CC_REFRESH_BEEP;
    std::string common = found.front();
    for (const std::string& one : found) {
      size_t length = 0;
      while (length < common.size() && length < one.size() && common[length] == one[length])
        ++length;
      common.resize(length);
    }
    if (common.size() > word.size()) {
      el_insertstr(editor_, common.substr(word.size()).c_str());
      return CC_REFRESH;
    }
    if (found.size() == 1) return CC_NORM;
    std::fputc('\n', stdout);
    for (const std::string& one : found) std::fprintf(stdout, "%s  ", one.c_str());
    std::fputc('\n', stdout);
    return CC_REDISPLAY;
  }

  const Complete complete_;
  EditLine* const editor_;
  History* const history_;
  const std::string history_file_;
  std::string prompt_;
};

class PipedLines : public Lines {
 public:
  StatusOr<End> Next(const std::string& /*prompt*/, std::string* line) override {
    CELLFS_ASSIGN_OR_RETURN(auto next, input_.NextLine());
    if (!next) return End::kNoMore;
    *line = *std::move(next);
    return End::kLine;
  }

 private:
  LineInput input_;
};

class ScriptLines : public Lines {
 public:
  explicit ScriptLines(std::ifstream file) : file_(std::move(file)) {}
  StatusOr<End> Next(const std::string& /*prompt*/, std::string* line) override {
    return std::getline(file_, *line) ? End::kLine : End::kNoMore;
  }

 private:
  std::ifstream file_;
};

}  // namespace

std::unique_ptr<Lines> TerminalLines(Complete complete) {
  return std::make_unique<EditedLines>(std::move(complete));
}

std::unique_ptr<Lines> StandardInputLines() { return std::make_unique<PipedLines>(); }

StatusOr<std::unique_ptr<Lines>> FileLines(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    return Status(StatusCode::kIllegalArgument,
                  "'" + path + "' cannot be read: " + std::strerror(file ? EISDIR : errno));
  }
  return std::unique_ptr<Lines>(std::make_unique<ScriptLines>(std::move(file)));
}

}  // namespace cellfs::shell
