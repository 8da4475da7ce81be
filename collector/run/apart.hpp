#pragma once

/// For a process that was forked and is to hold nothing of its caller.
namespace cozy {

/// Where the one descriptor is that is kept.
inline constexpr int k_kept_descriptor = 3;

/// Leaves one descriptor open, and no other: whoever waits for the end of our caller's pipes must not wait for a
/// process that we have let go. In the places of the standard ones is what nobody can read or write; stdin may stay.
void let_descriptors_go(int kept, bool keep_stdin);

}  // namespace cozy
