// Debian's packages hold no compiled Boost.Process v2: this is its one translation unit.
#include <boost/process/v2/src.hpp>
