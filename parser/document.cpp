#include "parser/document.h"

#include "lang/utf8.h"

namespace relay::parser {

DocumentNode* DocumentMaker::make(DocumentKind kind, std::string_view text) {
  DocumentNode& node = nodes_.emplace_back();
  node.kind = kind;
  node.text = text;
  return &node;
}

Document DocumentMaker::text(std::string_view text) {
  DocumentNode* node = make(DocumentKind::Text, text);
  node->width = lang::code_points(text.substr(0, text.find('\n')));
  return node;
}

Document DocumentMaker::suffix(std::string_view text) {
  DocumentNode* node = make(DocumentKind::Suffix, text);
  node->breaks = true;
  return node;
}

Document DocumentMaker::beside(std::string_view text) {
  DocumentNode* node = make(DocumentKind::Beside, text);
  node->width = 1 + lang::code_points(text);
  return node;
}

Document DocumentMaker::if_broken(std::string_view text) {
  return make(DocumentKind::IfBroken, text);
}

Document DocumentMaker::nest(Document inner) {
  DocumentNode* node = make(DocumentKind::Nest, {});
  node->breaks = inner->breaks;
  node->width = inner->width;
  node->parts = {inner};
  return node;
}

Document DocumentMaker::group(Document inner) {
  DocumentNode* node = make(DocumentKind::Group, {});
  node->breaks = inner->breaks;
  node->width = inner->width;
  node->parts = {inner};
  return node;
}

Document DocumentMaker::concat(std::vector<Document> parts) {
  DocumentNode* node = make(DocumentKind::Concat, {});
  for (const Document part : parts) {
    node->breaks |= part->breaks;
    node->width += part->width;
  }
  node->parts = std::move(parts);
  return node;
}

namespace {

constexpr std::size_t kStep = 2;
constexpr std::size_t kBeforeComment = 2;

class Layout {
 public:
  explicit Layout(std::size_t width) : width_(width) {}

  std::string run(Document document) {
    work_.push_back({document, 0, false});
    while (!work_.empty()) {
      const Part part = work_.back();
      work_.pop_back();
      place(part);
    }
    flush_suffixes(0);
    return std::move(out_);
  }

 private:
  struct Part {
    Document document;
    std::size_t indent;
    bool flat;
  };

  void place(const Part& part) {
    const DocumentNode& node = *part.document;
    switch (node.kind) {
      case DocumentKind::Text:
        write(node.text);
        break;
      case DocumentKind::Line:
        if (part.flat) {
          write(" ");
        } else {
          break_line(part.indent, 1);
        }
        break;
      case DocumentKind::SoftLine:
        if (!part.flat) break_line(part.indent, 1);
        break;
      case DocumentKind::HardLine:
        break_line(part.indent, node.count);
        break;
      case DocumentKind::Suffix:
        suffixes_.push_back(node.text);
        break;
      case DocumentKind::Beside:
        if (part.flat) {
          write(" ");
          write(node.text);
        } else {
          suffixes_.push_back(node.text);
        }
        break;
      case DocumentKind::IfBroken:
        if (!part.flat) write(node.text);
        break;
      case DocumentKind::Nest:
        work_.push_back({node.parts[0], part.indent + kStep, part.flat});
        break;
      case DocumentKind::Group:
        work_.push_back({node.parts[0], part.indent, part.flat || fits(node)});
        break;
      case DocumentKind::Concat:
        for (auto it = node.parts.rbegin(); it != node.parts.rend(); ++it)
          work_.push_back({*it, part.indent, part.flat});
        break;
    }
  }

  // Does the group fit flat, with what follows it up to where a line may break next?
  bool fits(const DocumentNode& group) {
    if (group.breaks || column() + group.width > width_) return false;
    std::size_t left = width_ - column() - group.width;
    scan_.clear();
    std::size_t rest = work_.size();
    while (true) {
      if (scan_.empty()) {
        if (rest == 0) return true;
        scan_.push_back(work_[--rest].document);
      }
      const DocumentNode& node = *scan_.back();
      scan_.pop_back();
      switch (node.kind) {
        case DocumentKind::Text:
          if (node.width > left) return false;
          left -= node.width;
          if (node.text.find('\n') != std::string_view::npos) return true;
          break;
        case DocumentKind::Line:
        case DocumentKind::SoftLine:
        case DocumentKind::HardLine:
          return true;
        case DocumentKind::Suffix:
        case DocumentKind::Beside:
        case DocumentKind::IfBroken:
          break;
        case DocumentKind::Nest:
        case DocumentKind::Group:
        case DocumentKind::Concat:
          for (auto it = node.parts.rbegin(); it != node.parts.rend(); ++it) scan_.push_back(*it);
          break;
      }
    }
  }

  // Spaces wait until something follows them on their line.
  std::size_t column() const { return column_ + spaces_; }

  void write(std::string_view text) {
    const std::size_t last = text.find_last_not_of(' ');
    if (last == std::string_view::npos) {
      spaces_ += text.size();
      return;
    }
    out_.append(spaces_, ' ');
    out_ += text.substr(0, last + 1);
    if (const std::size_t newline = text.rfind('\n'); newline != std::string_view::npos) {
      column_ = lang::code_points(text.substr(newline + 1, last - newline));
    } else {
      column_ += spaces_ + lang::code_points(text.substr(0, last + 1));
    }
    spaces_ = text.size() - last - 1;
  }

  void break_line(std::size_t indent, int count) {
    flush_suffixes(indent);
    out_.append(static_cast<std::size_t>(count), '\n');
    column_ = 0;
    spaces_ = indent;
  }

  // A second comment that waits for the same line end goes to a line of its own.
  void flush_suffixes(std::size_t indent) {
    for (std::size_t i = 0; i < suffixes_.size(); ++i) {
      if (i > 0) {
        out_ += '\n';
        column_ = 0;
        spaces_ = indent;
      } else if (column_ > 0) {
        spaces_ = kBeforeComment;
      }
      write(suffixes_[i]);
    }
    suffixes_.clear();
  }

  std::size_t width_;
  std::string out_;
  std::size_t column_ = 0;  // code points on this line
  std::size_t spaces_ = 0;  // wanted behind them
  std::vector<Part> work_;
  std::vector<Document> scan_;
  std::vector<std::string_view> suffixes_;
};

}  // namespace

std::string render(Document document, std::size_t width) { return Layout(width).run(document); }

}  // namespace relay::parser
