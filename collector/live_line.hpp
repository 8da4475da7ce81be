#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "collector/report/output_file.hpp"
#include "collector/run/live_board.hpp"

namespace cozy {

/// What the live line says, in printable ASCII: the parts that fit into the width, the others counted. Pure.
std::string live_text(std::int64_t elapsed_ns, std::int64_t now_ns, const std::optional<LiveNumbers>& numbers,
                      std::size_t width);

/// One line on the terminal that stderr is, in the row below the cursor, which it leaves where it is: what others write
/// there goes on undisturbed, and the line is taken away as soon as somebody has written. Not a byte is written where
/// stderr is no terminal, where TERM is not set or "dumb", and while this process group is not in the foreground.
/// Nothing here waits.
class LiveLine {
 public:
  LiveLine();

  [[nodiscard]] bool has_terminal() const { return terminal_.open(); }
  /// Becomes readable when somebody has written to the terminal since the line was shown.
  [[nodiscard]] int written_fd() const { return written_.number(); }
  /// How many columns there are to fill; 0 where no line is to be shown now.
  [[nodiscard]] std::size_t width() const;
  void show(const std::string& text);
  void clear();

 private:
  bool in_foreground() const;
  void write(const std::string& bytes) const;
  void stop_listening();

  Descriptor terminal_;
  Descriptor written_;
  int listening_ = -1;
  bool dim_ = true;
  bool shown_ = false;
};

}  // namespace cozy
