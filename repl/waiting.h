#pragma once

namespace relay::repl {

// While one lives something runs for which a person waits at the terminal. After a second a status
// line says for how long it has, and how long it still takes where that is known. There is one at a
// time.
class Waiting {
 public:
  explicit Waiting(bool has_terminal);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // What runs now takes about so long from here on. 0: nobody knows.
  static void expect(double seconds);
  // Another program has the terminal, or somebody else says how far it is: for the next second and
  // a half nothing is said.
  static void hush();
  // Nothing is said until it is dropped; what runs from then on counts from then.
  class Silence {
   public:
    Silence();
    ~Silence();
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
  };

 private:
  const bool is_on_;
};

}  // namespace relay::repl
