#include "collector/run/apart.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace cozy {

void let_descriptors_go(int kept, bool keep_stdin) {
  ::dup2(kept, k_kept_descriptor);
  const int nothing = ::open("/", O_PATH);  // there is always a root
  const int first = keep_stdin ? STDIN_FILENO + 1 : STDIN_FILENO;
  for (int standard = first; standard < k_kept_descriptor; ++standard) ::dup2(nothing, standard);
  ::close_range(k_kept_descriptor + 1, ~0U, 0);
}

}  // namespace cozy
