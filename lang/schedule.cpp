#include "lang/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace relay::lang {

namespace {

struct WordRow {
  std::string_view word;
  std::string_view form;
};
constexpr std::array kWords = {
    WordRow{"split", "split INDEX SIZE"},
    WordRow{"tile", "tile INDEX INDEX SIZE SIZE"},
    WordRow{"reorder", "reorder INDEX INDEX ..."},
    WordRow{"fuse", "fuse INDEX INDEX"},
    WordRow{"vectorize", "vectorize INDEX"},
    WordRow{"unroll", "unroll INDEX"},
    WordRow{"parallel", "parallel INDEX"},
    WordRow{"cache", "cache TENSOR"},
    WordRow{"inline", "inline TENSOR"},
    WordRow{"compute_at", "compute_at TENSOR INDEX"},
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(separators, at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(separators, begin), text.size());
    words.emplace_back(text.substr(begin, at - begin));
  }
  return words;
}

}  // namespace

std::optional<std::int64_t> ScheduleArg::number() const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string to_string(const ScheduleSteps& steps) {
  std::string text;
  for (const ScheduleStep& step : steps) {
    if (!text.empty()) text += "; ";
    text += step.word;
    for (const ScheduleArg& arg : step.args) text += " " + arg.text;
  }
  return text;
}

ScheduleSteps read_schedule(std::string_view text) {
  ScheduleSteps steps;
  for (const std::string& part : words_of(text, ";")) {
    std::vector<std::string> words = words_of(part, " \t\r\n");
    if (words.empty()) continue;
    ScheduleStep step{std::move(words.front()), {}, {}};
    for (std::size_t i = 1; i < words.size(); ++i) step.args.push_back({std::move(words[i]), {}});
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string to_string(const NamedSchedule& schedule) {
  return fmt::format("({}) {}", fmt::join(schedule.params, ", "), to_string(schedule.steps));
}

std::optional<NamedSchedule> read_named_schedule(std::string_view text) {
  text = trimmed(text);
  const std::size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos) return std::nullopt;
  return NamedSchedule{words_of(text.substr(1, close - 1), ", "),
                       read_schedule(text.substr(close + 1))};
}

ScheduleSteps expand(const NamedSchedule& schedule, const ScheduleStep& call) {
  const auto replaced = [&](const std::string& text) {
    for (std::size_t i = 0; i < schedule.params.size() && i < call.args.size(); ++i) {
      const std::string& param = schedule.params[i];
      if (text == param) return call.args[i].text;
      if (text.starts_with(param + "_")) return call.args[i].text + text.substr(param.size());
    }
    return text;
  };
  ScheduleSteps steps;
  for (const ScheduleStep& step : schedule.steps) {
    ScheduleStep& made = steps.emplace_back(ScheduleStep{step.word, {}, call.span});
    for (const ScheduleArg& arg : step.args) made.args.push_back({replaced(arg.text), call.span});
  }
  return steps;
}

std::vector<std::string> schedule_words() {
  std::vector<std::string> words;
  for (const WordRow& row : kWords) words.emplace_back(row.word);
  return words;
}

std::string_view step_form(std::string_view word) {
  for (const WordRow& row : kWords) {
    if (row.word == word) return row.form;
  }
  return {};
}

}  // namespace relay::lang
