#include "notebook/requests.h"

#include <atomic>

#include "lang/stop.h"

namespace relay::notebook {

namespace {
std::atomic<bool> is_under_way{false};
}

// One that came in between the two lines of interrupt() is forgotten here.
Request::Request() {
  lang::clear_stop();
  is_under_way.store(true);
}

Request::~Request() {
  is_under_way.store(false);
  lang::clear_stop();
}

void Request::interrupt() {
  if (is_under_way.load()) lang::request_stop(lang::Stop::Interrupted);
}

}  // namespace relay::notebook
