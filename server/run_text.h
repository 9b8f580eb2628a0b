#pragma once

#include <string>

#include "server/analysis.h"
#include "server/protocol.h"

namespace relay::server {

// Runs a text, and says what its items give, as evaluation.h has it. A text that could write files
// is not run. Takes about `looking.seconds` at most.
Json run_text(const std::string& path, const std::string& text, const AnalysisOptions& looking);

}  // namespace relay::server
