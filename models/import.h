#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "models/graph.h"
#include "models/program.h"

namespace relay::models {

// What is asked for.
struct Request {
  std::string path;
  std::string params;  // `--params`: a file with the weights; empty: none
  // `--shape x=1,n,224`: of an input, instead of what the file says.
  std::map<std::string, std::vector<Extent>> shapes;
};

// A format that models come in.
struct Format {
  std::string_view name;  // for people: "ONNX"
  // By the first bytes of the file, at most 4096.
  bool (*recognises)(std::string_view head);
  // The program that the file describes. Fails with diagnostics that have no place in a text and
  // name the node: FileError, BadData, and Unsupported for all that is not supported, at once.
  lang::Result<Program> (*import)(const Request& request);
};

// The formats that are known, in the order in which they are tried; the last takes all.
const std::vector<Format>& formats();

// Reads the head of the file, and has the format import it.
lang::Result<Program> import_model(const Request& request);

}  // namespace relay::models
