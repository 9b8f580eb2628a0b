#include "lang/match_check.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/module.h"

namespace relay::lang {

namespace {

using Row = std::vector<PatternRef>;

// What stands at the head of a pattern: a constructor, a tuple of some width, or anything.
struct Head {
  const Constructor* constructor = nullptr;
  std::size_t width = 0;
  bool is_tuple = false;
};

bool is_open(const PatternRef& pattern) {
  return pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Variable;
}

Head head_of(const Pattern& pattern) {
  return {pattern.constructor, pattern.fields.size(), pattern.kind == PatternKind::Tuple};
}

// The heads that a value of the first column can have; empty if the column tells nothing about its
// type.
std::vector<Head> possible_heads(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Pattern& pattern = *row.front();
    if (is_open(row.front())) continue;
    if (pattern.kind == PatternKind::Tuple) return {head_of(pattern)};
    std::vector<Head> heads;
    for (const Constructor& constructor : pattern.constructor->owner->constructors) {
      heads.push_back({&constructor, constructor.fields.size(), false});
    }
    return heads;
  }
  return {};
}

// The rows that match a value with this head, with the head's fields in place of the first column.
std::vector<Row> specialise_rows(const std::vector<Row>& rows, const Head& head) {
  static const PatternRef kWildcard = wildcard_pattern();
  std::vector<Row> result;
  for (const Row& row : rows) {
    const Pattern& pattern = *row.front();
    Row next;
    if (is_open(row.front())) {
      next.assign(head.width, kWildcard);
    } else if (pattern.constructor == head.constructor) {
      next = pattern.fields;
      next.resize(head.width, kWildcard);
    } else {
      continue;
    }
    next.insert(next.end(), row.begin() + 1, row.end());
    result.push_back(std::move(next));
  }
  return result;
}

std::vector<Row> rest_of_open_rows(const std::vector<Row>& rows) {
  std::vector<Row> result;
  for (const Row& row : rows) {
    if (is_open(row.front())) result.emplace_back(row.begin() + 1, row.end());
  }
  return result;
}

bool mentions(const std::vector<Row>& rows, const Head& head) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return !is_open(row.front()) && row.front()->constructor == head.constructor;
  });
}

// Does one of the rows fit whatever comes? Asked first, as columns that it leaves open would be
// split for nothing: of 24 booleans into millions of cases.
bool fits_all(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return std::all_of(row.begin(), row.end(), is_open); });
}

std::string pattern_text(const Head& head, const std::vector<std::string>& fields) {
  std::string text = head.is_tuple ? "" : head.constructor->name;
  if (fields.empty()) return head.is_tuple ? "()" : text;
  text += "(";
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i ? ", " : "") + fields[i];
  return text + (head.is_tuple && fields.size() == 1 ? ",)" : ")");
}

// The two questions, with what is left of the work that may be done for them.
class Search {
 public:
  // Both are meaningless once this is true.
  bool is_spent() const { return left_ < 0; }

  bool is_useful(const std::vector<Row>& rows, const Row& candidate) {
    if (rows.empty()) return true;
    if (!pay(rows) || fits_all(rows)) return false;
    if (!is_open(candidate.front())) {
      Head head = head_of(*candidate.front());
      if (head.constructor) head.width = head.constructor->fields.size();
      return is_useful(specialise_rows(rows, head), specialise_rows({candidate}, head).front());
    }
    std::vector<Head> heads = possible_heads(rows);
    bool all_mentioned =
        !heads.empty() && std::all_of(heads.begin(), heads.end(),
                                      [&](const Head& head) { return mentions(rows, head); });
    if (!all_mentioned) {
      return is_useful(rest_of_open_rows(rows), Row(candidate.begin() + 1, candidate.end()));
    }
    return std::any_of(heads.begin(), heads.end(), [&](const Head& head) {
      return is_useful(specialise_rows(rows, head), specialise_rows({candidate}, head).front());
    });
  }

  // Vectors of patterns, `width` columns, that no row matches; at most `limit`.
  std::vector<std::vector<std::string>> uncovered(const std::vector<Row>& rows, std::size_t width,
                                                  std::size_t limit) {
    if (rows.empty()) return {std::vector<std::string>(width, "_")};
    if (!pay(rows) || fits_all(rows)) return {};
    std::vector<std::vector<std::string>> result;
    std::vector<Head> heads = possible_heads(rows);
    if (heads.empty()) {
      for (std::vector<std::string>& rest : uncovered(rest_of_open_rows(rows), width - 1, limit)) {
        rest.insert(rest.begin(), "_");
        result.push_back(std::move(rest));
      }
      return result;
    }
    for (const Head& head : heads) {
      if (result.size() >= limit) break;
      auto found =
          uncovered(specialise_rows(rows, head), head.width + width - 1, limit - result.size());
      for (const std::vector<std::string>& columns : found) {
        auto fields_end = columns.begin() + static_cast<std::ptrdiff_t>(head.width);
        std::vector<std::string> row = {pattern_text(head, {columns.begin(), fields_end})};
        row.insert(row.end(), fields_end, columns.end());
        result.push_back(std::move(row));
      }
    }
    return result;
  }

 private:
  static constexpr std::int64_t kMostPatterns = 1'000'000;  // looked at
  // Looks at all of them.
  bool pay(const std::vector<Row>& rows) {
    left_ -= static_cast<std::int64_t>(rows.size() * (rows.front().size() + 1));
    return left_ >= 0;
  }
  std::int64_t left_ = kMostPatterns;
};

}  // namespace

MatchReport check_match(const std::vector<Clause>& clauses) {
  MatchReport report;
  Search search;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    Row row = {clauses[i].pattern};
    if (search.is_useful(rows, row)) {
      rows.push_back(std::move(row));
    } else {
      report.unreachable.push_back(i);
    }
  }
  for (const std::vector<std::string>& missing : search.uncovered(rows, 1, kMostMissing)) {
    report.missing.push_back(missing.front());
  }
  if (search.is_spent()) return {{}, {}, true};
  return report;
}

Diagnostic non_exhaustive(const MatchReport& report, Span match) {
  const bool more = report.missing.size() == kMostMissing;
  return Diagnostic(DiagnosticKind::NonExhaustiveMatch,
                    fmt::format("`match` does not cover `{}`{}", fmt::join(report.missing, "`, `"),
                                more ? ", ..." : ""),
                    match)
      .note("help: add clauses for them, or write `match?`, which fails when nothing fits");
}

Diagnostic unreachable(const Clause& clause) {
  return Diagnostic(DiagnosticKind::UnreachableClause, "no value reaches this clause",
                    clause.pattern->span);
}

Diagnostic too_many_cases(Span match) {
  return Diagnostic(DiagnosticKind::Unsupported,
                    "not supported: a `match` with so many cases that it cannot be told whether it "
                    "covers them all",
                    match)
      .note("help: match on fewer values at once, each in a `match` of its own");
}

}  // namespace relay::lang
