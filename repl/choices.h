#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/eval.h"
#include "repl/session.h"

namespace relay::repl {

// Choices by name, as options of the command line and `:set` have them.
template <typename Choice>
struct Named {
  std::string_view name;
  Choice choice;
};

inline constexpr std::array kJitModes{Named<interp::JitMode>{"off", interp::JitMode::Off},
                                      Named<interp::JitMode>{"auto", interp::JitMode::Auto},
                                      Named<interp::JitMode>{"always", interp::JitMode::Always}};
inline constexpr std::array kLibraryKernels{Named<LibraryKernels>{"off", LibraryKernels::Off},
                                            Named<LibraryKernels>{"direct", LibraryKernels::Direct},
                                            Named<LibraryKernels>{"auto", LibraryKernels::Auto}};
inline constexpr std::array kPlots{Named<ShownSize::Plots>{"auto", ShownSize::Plots::Auto},
                                   Named<ShownSize::Plots>{"text", ShownSize::Plots::Text},
                                   Named<ShownSize::Plots>{"ascii", ShownSize::Plots::Ascii},
                                   Named<ShownSize::Plots>{"sixel", ShownSize::Plots::Sixel}};

// Nothing if none is called so.
template <typename Choice, std::size_t count>
std::optional<Choice> choice_called(const std::array<Named<Choice>, count>& choices,
                                    std::string_view name) {
  for (const auto& each : choices) {
    if (each.name == name) return each.choice;
  }
  return std::nullopt;
}

template <typename Choice, std::size_t count>
std::string_view name_of(const std::array<Named<Choice>, count>& choices, Choice choice) {
  for (const auto& each : choices) {
    if (each.choice == choice) return each.name;
  }
  return {};
}

template <typename Choice, std::size_t count>
std::vector<std::string> names_of(const std::array<Named<Choice>, count>& choices) {
  std::vector<std::string> names;
  for (const auto& each : choices) names.emplace_back(each.name);
  return names;
}

}  // namespace relay::repl
