#include "ad/threading.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;

std::vector<Threading::Handing> Threading::calls_in(const Expr& own) {
  std::vector<Handing> handings;
  const auto body = lang::capture([&] { return functions_.prepared(own); });
  const auto* function = body ? as<lang::Function>(*body) : nullptr;
  if (!function) return handings;
  lang::visit_post_order(function->body, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    const auto* global = call ? growing_.known_callee(call->callee) : nullptr;
    if (!global) return;
    Handing handing{global->name, global->type, {}};
    for (const Expr& arg : call->args) {
      const auto* var = as<lang::Var>(arg);
      const auto& params = function->params;
      const auto found =
          var ? std::find(params.begin(), params.end(), var->variable) : params.end();
      handing.from.push_back(found == params.end() ? -1 : found - params.begin());
    }
    handings.push_back(std::move(handing));
  });
  return handings;
}

bool Threading::is_threaded(const std::string& name, const lang::Type& type, std::size_t index) {
  // What cannot be specialised says so where it is differentiated.
  const auto own = lang::capture([&] { return program_.function(name, type); });
  if (!own) return false;
  const std::string key = name + " : " + lang::to_string((*own)->type);
  const auto [mark, is_new] = known_.try_emplace({key, index}, Mark::UnderWay);
  if (!is_new) return mark->second != Mark::No;  // back where the search came from: a recursion
  if (calls_.count(key) == 0) calls_[key] = calls_in(*own);
  const std::vector<Handing> calls = calls_[key];
  bool is_threaded = false;
  for (const Handing& call : calls) {
    for (std::size_t i = 0; i < call.from.size() && !is_threaded; ++i) {
      if (call.from[i] == static_cast<std::ptrdiff_t>(index))
        is_threaded = this->is_threaded(call.name, call.type, i);
    }
  }
  known_[{key, index}] = is_threaded ? Mark::Yes : Mark::No;
  return is_threaded;
}

}  // namespace relay::ad
