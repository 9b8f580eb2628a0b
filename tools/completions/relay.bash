# What bash offers behind `relay`.

_relay() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" options i
  # `--jit=a` comes as three words.
  if [[ $word == = ]]; then word=""; before=${COMP_WORDS[COMP_CWORD - 1]}; fi
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      build | build_external | check | export | fmt | grad | import | kernel | lsp | opt | tune) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  COMPREPLY=()
  case $before in
    --jit) options="off auto always" ;;
    --kernels) options="off direct auto" ;;
    --color) options="auto always never" ;;
    --error-format) options="text json" ;;
    --mode) options="grad value_and_grad vjp jvp hvp hessian jacobian" ;;
    -I | --path | --root)
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      return
      ;;
    --explain | --threads | --max-memory | --max-time | -e | -f | --function | -g | --gradient | -p | --passes | --analyze) return ;;
  esac
  if [[ -n ${options-} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  options="-h --help --color --error-format -I --path --no-files --root --max-memory --max-time"
  case $command in
    check) ;;
    fmt) options+=" -w --write --check --strict --light" ;;
    grad) options+=" -f --function --mode --strict" ;;
    tune) options+=" -f --function --time" ;;
    build_external) options+=" --compiler --plugin" ;;
    opt) options+=" --plugin -p --passes --bind --entry --rewrite -O --level --print-after --diff --analyze --analyses --time --list" ;;
    build) options+=" -f --function -g --gradient -o --output --size" ;;
    export) options+=" -f --function -o --output" ;;
    import) options="-h --help --color --error-format -o --output --shape --params" ;;
    lsp) options="--help -I --stdio" ;;
    kernel)
      options="-h --help"
      [[ " ${COMP_WORDS[*]} " != *"install "* ]] || options+=" --user --prefix"
      ;;
    *) options+=" --plugin -e -i --interactive --no-init --jit --kernels --threads --explain --perf --profile --stats --strict --version" ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  if [[ $command == kernel && $COMP_CWORD == 2 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "install uninstall run" -- "$word")
    return
  fi
  # Folders are on the way to files.
  local files='!*.relay'
  [[ $command != import ]] || files='!*.@(onnx|json|params)'
  mapfile -t COMPREPLY < <(shopt -s extglob; compgen -f -X "$files" -- "$word"; compgen -d -S / -- "$word")
  if [[ -z $command && $COMP_CWORD == 1 ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "build build_external check export fmt grad import kernel lsp opt tune" -- "$word")
  fi
  [[ ${COMPREPLY[0]-} != */ ]] || compopt -o nospace 2>/dev/null
}
complete -F _relay relay
