#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz.hpp"

// What libFuzzer calls. CMake names the target: COZY_FUZZ_TARGET its function, or COZY_FUZZ_PROBE a line of
// probes/registry.def.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
#ifdef COZY_FUZZ_PROBE
  static const cozy::Probe& k_probe = *cozy::find_probe(COZY_FUZZ_PROBE);
  cozy::fuzz::probe_text(k_probe, bytes);
#else
  cozy::fuzz::COZY_FUZZ_TARGET(bytes);
#endif
  return 0;
}
