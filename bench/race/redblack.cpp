// The same insertion with unique pointers: nodes are changed where they stand.
#include <algorithm>
#include <memory>
#include <utility>

#include "bench/race/race.h"
enum class Colour { Red, Black };
struct Node;
using Tree = std::unique_ptr<Node>;
struct Node {
  Colour colour;
  Tree left;
  int value;
  Tree right;
};
static bool is_red(const Tree& t) { return t && t->colour == Colour::Red; }
// Red, over two black ones.
static Tree joined(Tree l, Tree root, Tree r) {
  l->colour = r->colour = Colour::Black;
  root->colour = Colour::Red;
  root->left = std::move(l);
  root->right = std::move(r);
  return root;
}
static Tree balance(Tree t) {
  if (t->colour == Colour::Red) return t;
  if (is_red(t->left)) {
    Tree l = std::move(t->left);
    if (is_red(l->left)) {
      Tree first = std::move(l->left);
      t->left = std::move(l->right);
      return joined(std::move(first), std::move(l), std::move(t));
    }
    if (is_red(l->right)) {
      Tree middle = std::move(l->right);
      l->right = std::move(middle->left);
      t->left = std::move(middle->right);
      return joined(std::move(l), std::move(middle), std::move(t));
    }
    t->left = std::move(l);
  }
  if (is_red(t->right)) {
    Tree r = std::move(t->right);
    if (is_red(r->left)) {
      Tree middle = std::move(r->left);
      t->right = std::move(middle->left);
      r->left = std::move(middle->right);
      return joined(std::move(t), std::move(middle), std::move(r));
    }
    if (is_red(r->right)) {
      Tree last = std::move(r->right);
      t->right = std::move(r->left);
      return joined(std::move(t), std::move(r), std::move(last));
    }
    t->right = std::move(r);
  }
  return t;
}
static Tree inserted(Tree t, int k) {
  if (!t) return Tree(new Node{Colour::Red, nullptr, k, nullptr});
  if (k == t->value) return t;
  Tree& child = k < t->value ? t->left : t->right;
  child = inserted(std::move(child), k);
  return balance(std::move(t));
}
static int height(const Node* t) {
  return t == nullptr ? 0 : 1 + std::max(height(t->left.get()), height(t->right.get()));
}
double once() {
  Tree t;
  int k = 1;
  for (int n = hidden(100000); n != 0; --n) {
    t = inserted(std::move(t), k);
    t->colour = Colour::Black;
    k = (k * 1103 + 12345) % 1000003;
  }
  return height(t.get());
}
