#pragma once

#include <string>
#include <vector>

#include <xeus/xhistory_manager.hpp>

namespace relay::notebook {

// The cells of this run of the kernel, in order. xeus' own numbers them all alike.
class History final : public xeus::xhistory_manager {
 private:
  using Json = nlohmann::json;
  void configure_impl() override {}
  void store_inputs_impl(int session, int line, const std::string& input,
                         const std::string& output) override;
  Json get_tail_impl(int count, bool is_raw, bool has_output) const override;
  Json get_range_impl(int session, int start, int stop, bool is_raw,
                      bool has_output) const override;
  // `pattern`: `*` is any text, `?` any character.
  Json search_impl(const std::string& pattern, bool is_raw, bool has_output, int count,
                   bool is_unique) const override;
  Json reply(const std::vector<std::size_t>& lines, bool has_output) const;

  std::vector<std::string> inputs_;
};

}  // namespace relay::notebook
