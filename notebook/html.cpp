#include "notebook/html.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "parser/tokens.h"

namespace relay::notebook {

namespace {

using parser::TokenKind;

// In between light and dark: each differs enough from white and from black. Empty: as other text.
std::string_view colour_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Keyword:
      return "#a855c7";
    case TokenKind::Number:
      return "#1f8a9e";
    case TokenKind::String:
      return "#4c8c2b";
    case TokenKind::Comment:
      return "#808080";
    case TokenKind::Name:
    case TokenKind::Operator:
    case TokenKind::Open:
    case TokenKind::Close:
      return "";
  }
  return "";
}

constexpr std::array<std::pair<char, std::string_view>, 5> kEscapes = {
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

std::string coloured(std::string_view text) {
  std::string html;
  std::size_t done = 0;
  for (const parser::Token& token : parser::tokens_of(text)) {
    const std::string_view colour = colour_of(token.kind);
    if (colour.empty()) continue;
    html += escaped(text.substr(done, token.begin - done));
    html += fmt::format("<span style=\"color:{}\">{}</span>", colour,
                        escaped(text.substr(token.begin, token.end - token.begin)));
    done = token.end;
  }
  return html + escaped(text.substr(done));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    std::string_view as;
    for (const auto& [plain, escape] : kEscapes) {
      if (c == plain) as = escape;
    }
    if (as.empty()) {
      html += c;
    } else {
      html += as;
    }
  }
  return html;
}

std::string highlighted(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return fmt::format("<pre style=\"white-space:pre-wrap\">{}</pre>", coloured(text));
}

std::string html_of(const repl::Table& table) {
  constexpr int kIndent = 16;  // pixels
  std::string html = fmt::format("<table style=\"{}\"><thead><tr>", kTable);
  for (const std::string& heading : table.headings)
    html += fmt::format("<th style=\"{}\">{}</th>", kHeadCell, escaped(heading));
  html += "</tr></thead><tbody>";
  for (const repl::Table::Line& line : table.lines) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.headings.size(); ++i) {
      const std::string_view cell = i < line.cells.size() ? std::string_view(line.cells[i]) : "";
      const std::string indent =
          i == 0 && line.depth > 0 ? fmt::format(";padding-left:{}px", kIndent * line.depth) : "";
      html += fmt::format("<td style=\"{}{}\">{}</td>", kTextCell, indent, coloured(cell));
    }
    html += "</tr>";
  }
  return html + "</tbody></table>";
}

}  // namespace relay::notebook
