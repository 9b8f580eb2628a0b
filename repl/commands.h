#pragma once

#include <string>
#include <string_view>

#include "repl/command.h"

// What the commands of the table do, one source for each family.
namespace relay::repl {

// The program and what came of it (commands_program.cpp).
CommandOutcome run_type(Session& session, std::string_view argument);
CommandOutcome run_print(Session& session, std::string_view argument);
CommandOutcome run_show(Session& session, std::string_view argument);
CommandOutcome run_opt(Session& session, std::string_view argument);
CommandOutcome run_analyze(Session& session, std::string_view argument);
CommandOutcome run_grad(Session& session, std::string_view argument);
CommandOutcome run_trace(Session& session, std::string_view argument);

// External compilers (commands_external.cpp).
CommandOutcome run_partition(Session& session, std::string_view argument);
CommandOutcome run_why(Session& session, std::string_view argument);
CommandOutcome run_plugin(Session& session, std::string_view argument);

// Pictures (commands_plot.cpp).
CommandOutcome run_plot(Session& session, std::string_view argument);
CommandOutcome run_graph(Session& session, std::string_view argument);

// Times (commands_time.cpp).
CommandOutcome run_time(Session& session, std::string_view argument);
CommandOutcome run_bench(Session& session, std::string_view argument);
CommandOutcome run_profile(Session& session, std::string_view argument);
CommandOutcome run_seconds(Session& session, std::string_view argument);
CommandOutcome run_tune(Session& session, std::string_view argument);

// What something is (commands_ask.cpp).
CommandOutcome run_doc(Session& session, std::string_view argument);
CommandOutcome run_source(Session& session, std::string_view argument);
CommandOutcome run_explain(Session& session, std::string_view argument);
CommandOutcome run_info(Session& session, std::string_view argument);

// Lists (commands_find.cpp).
CommandOutcome run_ops(Session& session, std::string_view argument);
CommandOutcome run_env(Session& session, std::string_view argument);
CommandOutcome run_apropos(Session& session, std::string_view argument);

// Files (commands_files.cpp).
CommandOutcome run_load(Session& session, std::string_view argument);
CommandOutcome run_reload(Session& session, std::string_view argument);
CommandOutcome run_save(Session& session, std::string_view argument);
CommandOutcome run_edit(Session& session, std::string_view argument);

// When it goes wrong (commands_debug.cpp).
CommandOutcome run_break(Session& session, std::string_view argument);
CommandOutcome run_frame(Session& session, std::string_view argument);
CommandOutcome run_continue(Session& session, std::string_view argument);
CommandOutcome run_abort(Session& session, std::string_view argument);
CommandOutcome run_nanbreak(Session& session, std::string_view argument);
CommandOutcome run_bug(Session& session, std::string_view argument);

// The session (commands_session.cpp, commands_set.cpp).
CommandOutcome run_limit(Session& session, std::string_view argument);
CommandOutcome run_set(Session& session, std::string_view argument);
CommandOutcome run_stats(Session& session, std::string_view argument);
CommandOutcome run_jit(Session& session, std::string_view argument);
CommandOutcome run_forget(Session& session, std::string_view argument);
CommandOutcome run_help(Session& session, std::string_view argument);
CommandOutcome run_quit(Session& session, std::string_view argument);

}  // namespace relay::repl
