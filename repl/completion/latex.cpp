#include "repl/completion/latex.h"

#include <algorithm>
#include <array>
#include <string>

#include "lang/letters.h"

namespace relay::repl::completion {

namespace {

struct Character {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kCharacters = {
    Character{"alpha", "α"},     Character{"beta", "β"},       Character{"gamma", "γ"},
    Character{"delta", "δ"},     Character{"epsilon", "ϵ"},    Character{"varepsilon", "ε"},
    Character{"zeta", "ζ"},      Character{"eta", "η"},        Character{"theta", "θ"},
    Character{"vartheta", "ϑ"},  Character{"iota", "ι"},       Character{"kappa", "κ"},
    Character{"lambda", "λ"},    Character{"mu", "μ"},         Character{"nu", "ν"},
    Character{"xi", "ξ"},        Character{"omicron", "ο"},    Character{"pi", "π"},
    Character{"rho", "ρ"},       Character{"varrho", "ϱ"},     Character{"sigma", "σ"},
    Character{"varsigma", "ς"},  Character{"tau", "τ"},        Character{"upsilon", "υ"},
    Character{"phi", "ϕ"},       Character{"varphi", "φ"},     Character{"chi", "χ"},
    Character{"psi", "ψ"},       Character{"omega", "ω"},      Character{"Gamma", "Γ"},
    Character{"Delta", "Δ"},     Character{"Theta", "Θ"},      Character{"Lambda", "Λ"},
    Character{"Xi", "Ξ"},        Character{"Pi", "Π"},         Character{"Sigma", "Σ"},
    Character{"Upsilon", "Υ"},   Character{"Phi", "Φ"},        Character{"Psi", "Ψ"},
    Character{"Omega", "Ω"},     Character{"partial", "∂"},    Character{"nabla", "∇"},
    Character{"sum", "∑"},       Character{"prod", "∏"},       Character{"int", "∫"},
    Character{"infty", "∞"},     Character{"in", "∈"},         Character{"notin", "∉"},
    Character{"le", "≤"},        Character{"leq", "≤"},        Character{"ge", "≥"},
    Character{"geq", "≥"},       Character{"ne", "≠"},         Character{"neq", "≠"},
    Character{"approx", "≈"},    Character{"equiv", "≡"},      Character{"times", "×"},
    Character{"cdot", "⋅"},      Character{"div", "÷"},        Character{"pm", "±"},
    Character{"sqrt", "√"},      Character{"to", "→"},         Character{"rightarrow", "→"},
    Character{"leftarrow", "←"}, Character{"Rightarrow", "⇒"}, Character{"mapsto", "↦"},
    Character{"forall", "∀"},    Character{"exists", "∃"},     Character{"otimes", "⊗"},
    Character{"oplus", "⊕"},     Character{"odot", "⊙"},       Character{"circ", "∘"},
    Character{"ell", "ℓ"},       Character{"hbar", "ℏ"},       Character{"dots", "…"},
    Character{"degree", "°"},
};

}  // namespace

std::optional<LatexPlace> latex_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && lang::is_ascii_letter(text[begin - 1])) --begin;
  if (begin == 0 || begin == text.size() || text[begin - 1] != '\\') return std::nullopt;
  const std::string_view typed = text.substr(begin);
  LatexPlace place{begin - 1};
  for (const Character& each : kCharacters) {
    if (!each.name.starts_with(typed)) continue;
    Name name{std::string(each.text), Group::Word, "\\" + std::string(each.name)};
    name.fits = each.name == typed;
    place.names.push_back(std::move(name));
  }
  if (place.names.empty()) return std::nullopt;
  std::stable_sort(place.names.begin(), place.names.end(),
                   [](const Name& a, const Name& b) { return a.fits && !b.fits; });
  return place;
}

}  // namespace relay::repl::completion
