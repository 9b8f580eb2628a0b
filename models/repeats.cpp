#include "models/repeats.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/letters.h"
#include "lang/type_print.h"

namespace relay::models {

namespace {

constexpr std::size_t kMostLines = 600;
constexpr std::size_t kLeastRun = 3;   // lines of a function that is worth its name
constexpr std::size_t kLeastGain = 4;  // lines that are saved
constexpr std::int64_t kMostSteps = 20'000'000;

// A line as pieces: text, and the values that stand between them.
struct Pieces {
  std::vector<std::string> texts;     // one more than there are operands
  std::vector<std::string> operands;  // `x`, `w.fc_weight`
  std::string skeleton;               // the texts, joined
  bool is_whole = false;              // has blocks of its own, whose names are not looked at
};

class Search {
 public:
  Search(Block& block, const RepeatContext& context, std::set<std::string>& made)
      : block_(block), context_(context), made_(made) {
    for (const Line& line : block.lines) pieces_.push_back(pieces_of(line.expression));
    for (std::size_t k = 0; k < block.lines.size(); ++k) place_.emplace(block.lines[k].name, k);
    find_last_uses();
  }

  // One function for the runs that save most; false where there are none.
  bool name_one() {
    const std::size_t count = pieces_.size();
    if (count > kMostLines || count < 2 * kLeastRun) return false;
    find_equal_runs();
    std::optional<Found> best;
    for (std::size_t start = 0; start + 2 * kLeastRun <= count; ++start) {
      for (std::size_t length = kLeastRun; length <= longest_[start]; ++length) {
        if (steps_ > kMostSteps) break;
        Found found = runs_from(start, length);
        if (found.starts.size() < 2 || found.gain() < kLeastGain) continue;
        if (!best || is_better(found, *best)) best = std::move(found);
      }
    }
    return best && make(*best);
  }

 private:
  struct Found {
    std::vector<std::size_t> starts;
    std::size_t length = 0;
    std::size_t output = 0;  // the line, from the start, that is used behind the run
    std::size_t common = 0;  // letters that the names of the first run have in common
    std::size_t gain() const { return (starts.size() - 1) * (length - 1); }
  };

  static bool is_better(const Found& a, const Found& b) {
    if (a.gain() != b.gain()) return a.gain() > b.gain();
    return a.common > b.common;
  }

  Pieces pieces_of(const std::string& text) const {
    Pieces pieces;
    // Nor do calls of what has a name already become functions.
    pieces.is_whole =
        text.find('{') != std::string::npos || made_.contains(text.substr(0, text.find('(')));
    std::string rest;
    bool is_string = false;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '"') is_string = !is_string;
      if (is_string || !lang::is_word_byte(text[at]) ||
          (at > 0 && (lang::is_word_byte(text[at - 1]) || text[at - 1] == '.'))) {
        rest += text[at++];
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && lang::is_word_byte(text[end])) ++end;
      if (text.compare(at, 2, "w.") == 0) {
        ++end;
        while (end < text.size() && lang::is_word_byte(text[end])) ++end;
      }
      const std::string word = text.substr(at, end - at);
      if (context_.type_of(word)) {
        pieces.texts.push_back(std::exchange(rest, {}));
        pieces.operands.push_back(word);
      } else {
        rest += word;
      }
      at = end;
    }
    pieces.texts.push_back(rest);
    pieces.skeleton = fmt::format("{}", fmt::join(pieces.texts, "\x01"));
    return pieces;
  }

  void find_last_uses() {
    last_use_.assign(pieces_.size(), 0);
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      if (pieces_[k].is_whole) note_all(block_.lines[k].expression, k);
      for (const std::string& operand : pieces_[k].operands) note_use(operand, k);
    }
    note_all(block_.result, pieces_.size());
  }
  void note_use(const std::string& operand, std::size_t user) {
    const auto found = place_.find(operand);
    if (found != place_.end()) last_use_[found->second] = std::max(last_use_[found->second], user);
  }
  void note_all(const std::string& text, std::size_t user) {
    for (const std::string& operand : pieces_of(text).operands) note_use(operand, user);
  }

  // longest_[i]: of the runs from line i on that come again behind them, without overlap.
  void find_equal_runs() {
    const std::size_t count = pieces_.size();
    longest_.assign(count, 0);
    std::vector<std::size_t> below(count + 1, 0);
    for (std::size_t i = count; i-- > 0;) {
      std::vector<std::size_t> here(count + 1, 0);
      for (std::size_t j = count; j-- > i + 1;) {
        const bool are_equal = !pieces_[i].is_whole && pieces_[i].skeleton == pieces_[j].skeleton;
        here[j] = are_equal ? below[j + 1] + 1 : 0;
        longest_[i] = std::max(longest_[i], std::min(here[j], j - i));
      }
      below = std::move(here);
    }
  }

  // The operands of a run: those that it makes itself by their place, the others by their order.
  std::vector<std::size_t> shape_of(std::size_t start, std::size_t length,
                                    std::vector<std::string>* outside) {
    std::vector<std::size_t> shape;
    std::map<std::string, std::size_t> others;
    for (std::size_t k = start; k < start + length; ++k) {
      for (const std::string& operand : pieces_[k].operands) {
        ++steps_;
        const auto made = place_.find(operand);
        if (made != place_.end() && made->second >= start && made->second < start + length) {
          shape.push_back(made->second - start);
          continue;
        }
        const auto [other, is_new] = others.emplace(operand, others.size());
        if (is_new && outside) outside->push_back(operand);
        shape.push_back(length + other->second);
      }
    }
    return shape;
  }

  // The one line of a run that is used behind it.
  std::optional<std::size_t> output_of(std::size_t start, std::size_t length) const {
    std::optional<std::size_t> output;
    for (std::size_t k = start; k < start + length; ++k) {
      if (last_use_[k] < start + length) continue;
      if (output) return std::nullopt;
      output = k - start;
    }
    return output;
  }

  Found runs_from(std::size_t start, std::size_t length) {
    Found found;
    found.length = length;
    const auto output = output_of(start, length);
    if (!output) return found;
    found.output = *output;
    const auto shape = shape_of(start, length, nullptr);
    for (std::size_t at = start; at + length <= pieces_.size();) {
      if (is_same(start, at, length) && output_of(at, length) == output &&
          shape_of(at, length, nullptr) == shape) {
        found.starts.push_back(at);
        at += length;
      } else {
        ++at;
      }
    }
    found.common = common_letters(start, length);
    return found;
  }
  bool is_same(std::size_t a, std::size_t b, std::size_t length) {
    for (std::size_t k = 0; k < length; ++k) {
      ++steps_;
      if (pieces_[a + k].is_whole || pieces_[a + k].skeleton != pieces_[b + k].skeleton)
        return false;
    }
    return true;
  }
  std::size_t common_letters(std::size_t start, std::size_t length) const {
    const std::string& first = block_.lines[start].name;
    std::size_t common = first.size();
    for (std::size_t k = start; k < start + length; ++k) {
      const std::string& name = block_.lines[k].name;
      std::size_t same = 0;
      while (same < std::min(common, name.size()) && name[same] == first[same]) ++same;
      common = same;
    }
    return common;
  }

  std::string definition(const std::string& name, const Found& found,
                         const std::vector<std::vector<std::string>>& outside) {
    const std::size_t start = found.starts.front();
    std::map<std::string, std::string> parameters;
    std::vector<std::string> list;
    std::set<std::string> dims;
    std::set<std::string> taken;
    for (std::size_t k = start; k < start + found.length; ++k) taken.insert(block_.lines[k].name);
    for (std::size_t k = 0; k < outside.front().size(); ++k) {
      std::string own =
          outside.front()[k].starts_with("w.") ? outside.front()[k].substr(2) : outside.front()[k];
      while (!taken.insert(own).second) own += "_in";
      parameters[outside.front()[k]] = own;
      list.push_back(annotated(own, k, outside, dims));
    }
    Block body;
    for (std::size_t k = start; k < start + found.length; ++k) {
      const Pieces& pieces = pieces_[k];
      std::string text = pieces.texts[0];
      for (std::size_t at = 0; at < pieces.operands.size(); ++at) {
        const auto parameter = parameters.find(pieces.operands[at]);
        text += (parameter == parameters.end() ? pieces.operands[at] : parameter->second) +
                pieces.texts[at + 1];
      }
      body.lines.push_back({block_.lines[k].name, text});
    }
    body.result = block_.lines[start + found.output].name;
    shorten(body);
    const std::string quantified =
        dims.empty() ? std::string() : fmt::format("[{}]", fmt::join(dims, ", "));
    return fmt::format("/// Occurs {} times.\ndef {}{}({}) {}", found.starts.size(), name,
                       quantified, fmt::join(list, ", "), block_text(body));
  }

  // `name: type`, where all runs have the same; else the name.
  std::string annotated(const std::string& own, std::size_t k,
                        const std::vector<std::vector<std::string>>& outside,
                        std::set<std::string>& dims) {
    const lang::Type type = context_.type_of(outside.front()[k]);
    for (const auto& each : outside) {
      if (!lang::equal(type, context_.type_of(each[k]))) return own;
    }
    const auto* tensor = lang::as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank()) return own;
    std::set<std::string> names;
    for (const lang::Dim& dim : tensor->shape.dims()) {
      const auto var = dim.as_variable();
      if (dim.is_constant()) continue;
      if (!var || var->name.find('(') != std::string::npos) return own;
      names.insert(var->name);
    }
    dims.insert(names.begin(), names.end());
    return fmt::format("{}: {}", own, lang::to_string(type));
  }

  bool make(const Found& found) {
    std::vector<std::vector<std::string>> outside(found.starts.size());
    for (std::size_t k = 0; k < found.starts.size(); ++k)
      shape_of(found.starts[k], found.length, &outside[k]);
    const std::string name = context_.names.unique("block", "block");
    if (!context_.define(name, definition(name, found, outside))) return false;
    made_.insert(name);
    std::vector<Line> lines;
    std::size_t run = 0;
    for (std::size_t k = 0; k < block_.lines.size();) {
      if (run == found.starts.size() || k != found.starts[run]) {
        lines.push_back(std::move(block_.lines[k++]));
        continue;
      }
      lines.push_back({block_.lines[k + found.output].name,
                       fmt::format("{}({})", name, fmt::join(outside[run], ", "))});
      k += found.length;
      ++run;
    }
    block_.lines = std::move(lines);
    return true;
  }

  Block& block_;
  const RepeatContext& context_;
  std::set<std::string>& made_;  // names of functions
  std::vector<Pieces> pieces_;
  std::map<std::string, std::size_t> place_;  // of the line that makes a name
  std::vector<std::size_t> last_use_;         // of each line: the line, or the end
  std::vector<std::size_t> longest_;
  std::int64_t steps_ = 0;
};

}  // namespace

void name_repeats(Block& block, const RepeatContext& context) {
  std::set<std::string> made;
  while (Search(block, context, made).name_one()) {
  }
}

}  // namespace relay::models
