#include "ad/tape.h"

#include <algorithm>

#include "lang/visit.h"

namespace relay::ad {

using lang::VariableRef;

namespace {

bool saves(const TapeStep& step, const VariableRef& variable) {
  return variable && std::find(step.saved.begin(), step.saved.end(), variable) != step.saved.end();
}

// How many values less the steps save.
int gain_of(const VariableRef& param, std::size_t number, const std::vector<TapeStep>& steps) {
  int gain = 0;
  for (const TapeStep& step : steps) {
    if (saves(step, step.next[number])) ++gain;
    if (!saves(step, param)) --gain;
  }
  return gain;
}

}  // namespace

std::vector<Carried> carry_states(const std::vector<VariableRef>& params,
                                  std::vector<TapeStep>& steps) {
  std::vector<Carried> carried;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (gain_of(params[i], i, steps) <= 0) continue;
    carried.push_back({params[i], lang::make_variable(params[i]->name, params[i]->type)});
    for (TapeStep& step : steps) {
      if (saves(step, step.next[i])) {
        step.code = lang::substitute(step.code,
                                     {{step.next[i].get(), lang::make_var(carried.back().after)}});
        step.saved.erase(std::find(step.saved.begin(), step.saved.end(), step.next[i]));
      }
      if (!saves(step, params[i])) step.saved.push_back(params[i]);
    }
  }
  return carried;
}

}  // namespace relay::ad
