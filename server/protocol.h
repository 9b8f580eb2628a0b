#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

// What the Language Server Protocol (3.17) and JSON-RPC 2.0 fix by number or by word.
namespace relay::server {

using Json = nlohmann::json;

enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ServerNotInitialized = -32002,
  RequestFailed = -32803,
  ContentModified = -32801,
  RequestCancelled = -32800,
};

// What a request is answered with in place of a result.
class RequestError : public std::runtime_error {
 public:
  RequestError(ErrorCode code, const std::string& message)
      : std::runtime_error(message), code(code) {}
  const ErrorCode code;
};

// A member of a request's parameters; throws RequestError(InvalidParams) where it is not there or
// of another type.
const Json& member(const Json& object, const char* name);
std::string string_member(const Json& object, const char* name);
// The same, from 0 on; numbers beyond what a text can have are the largest.
std::size_t count_member(const Json& object, const char* name);

}  // namespace relay::server
