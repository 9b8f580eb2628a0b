#pragma once

#include <cstdint>
#include <functional>

namespace relay::interp {

// Has so many threads do pieces 0 to count - 1 of work, each the next one that is left, by
// `piece(thread, number)`, which gives false where it has been told to stop. Throws Failure then.
void deal(int threads, std::int64_t count, const std::function<bool(int, std::int64_t)>& piece);

}  // namespace relay::interp
