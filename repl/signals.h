#pragma once

namespace relay::repl {

// The signals of the program, taken by a thread of its own (sigwait). No other thread runs a
// handler for them: a library may have its stack pointer anywhere, as oneDNN has it in the heap
// while it multiplies, and a handler's frame would be written there.
//
//   SIGINT            what it does, its Meaning says
//   SIGWINCH, SIGCONT  wait at waiting() for whoever reads keys
//   SIGTERM, SIGHUP, SIGQUIT  end the program as they would without us, but for what is put in
//   order
class Signals {
 public:
  // To be called once, before there is another thread: those started later do not get the signals.
  static void start();

  enum class Meaning {
    Stop,  // asks what runs to stop; pressed three times without an answer it ends the program
    Last,  // asks what runs to stop, with which the program ends; without an answer it does so soon
    End,   // ends the program: it waits for input, and has nothing to stop
    Key,   // waits at waiting(), as a key that has been pressed
  };
  // What SIGINT means while this lives; Last when none does.
  class During {
   public:
    explicit During(Meaning meaning);
    ~During();
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    Meaning before_;
  };

  // A descriptor that can be read while a signal waits; and that signal, or 0 when none does.
  static int waiting();
  static int take();

  // Puts in order what must not be left behind (the terminal, files half written), and ends the
  // program by the signal, for those who ask what ended it.
  [[noreturn]] static void end_by(int signal);
};

}  // namespace relay::repl
