// Makes changed bytes look genuine again: computes the checksums of an index file anew, as an attacker would.
#pragma once

#include <cstddef>
#include <vector>

namespace kith::test {

/// Whatever the bytes are: what cannot be found is left alone.
void sign_index(std::vector<std::byte>& bytes);

}  // namespace kith::test
