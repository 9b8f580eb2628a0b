# What fish offers behind `relay`.

set -l commands check fmt grad opt
set -l none "not __fish_seen_subcommand_from $commands"

complete -c relay -n "__fish_use_subcommand" -a check -d "print every definition with its type"
complete -c relay -n "__fish_use_subcommand" -a fmt -d "lay out a file anew"
complete -c relay -n "__fish_use_subcommand" -a grad -d "print the derivative of a function"
complete -c relay -n "__fish_use_subcommand" -a opt -d "print a file after named passes"

complete -c relay -s h -l help -d "print a short help"
complete -c relay -l color -x -a "auto always never" -d "colour errors"
complete -c relay -l max-memory -x -d "the memory that a run may take"
complete -c relay -l max-time -x -d "the time that a run may take"
complete -c relay -l error-format -x -a "text json" -d "how errors are written"
complete -c relay -l no-files -d "the program opens no files"
complete -c relay -l root -x -a "(__fish_complete_directories)" -d "the only folder whose files it opens"
complete -c relay -s I -l path -x -a "(__fish_complete_directories)" -d "a folder where imports are looked for"

complete -c relay -n "$none" -s e -x -d "evaluate this text instead of a file"
complete -c relay -n "$none" -l jit -x -a "off auto always" -d "when to compile kernels"
complete -c relay -n "$none" -l kernels -x -a "off direct auto" -d "kernels for products and convolutions"
complete -c relay -n "$none" -l threads -x -d "threads for kernels"
complete -c relay -n "$none" -l explain -x -d "what a kind of error means"
complete -c relay -n "$none" -l perf -d "give native code names, for perf and gdb"
complete -c relay -n "$none" -l profile -d "say at the end which lines took the time"
complete -c relay -n "$none" -l stats -d "say at the end what was compiled and run"
complete -c relay -n "$none" -l strict -d "read the text of -e as strict Relay"
complete -c relay -n "$none" -l version -d "print the versions"

complete -c relay -n "__fish_seen_subcommand_from fmt" -s w -l write -d "rewrite the files"
complete -c relay -n "__fish_seen_subcommand_from fmt" -l check -d "only name the files that are not formatted"
complete -c relay -n "__fish_seen_subcommand_from fmt" -l strict -d "in strict Relay"
complete -c relay -n "__fish_seen_subcommand_from fmt" -l light -d "in the light notation"
complete -c relay -n "__fish_seen_subcommand_from grad" -s f -l function -x -d "the name of the function"
complete -c relay -n "__fish_seen_subcommand_from grad" -l mode -x -a "grad value_and_grad vjp jvp hvp hessian jacobian" -d "the form of the derivative"
complete -c relay -n "__fish_seen_subcommand_from grad" -l strict -d "print strict Relay"
complete -c relay -n "__fish_seen_subcommand_from opt" -s p -l passes -x -d "the passes in order"
complete -c relay -n "__fish_seen_subcommand_from opt" -l list -d "print the passes and their options"
