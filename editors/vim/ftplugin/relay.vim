" Settings for Relay, for Vim and Neovim.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:///,://,s1:/*,mb:*,ex:*/
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal shiftwidth=2 softtabstop=2 expandtab textwidth=100
setlocal cindent cinkeys-=0# cinoptions=(2s,m1,J1
setlocal suffixesadd=.relay
setlocal include=^\\s*import
if executable("relay")
  setlocal formatprg=relay\ fmt\ -
  setlocal makeprg=relay\ check\ %:S
  setlocal errorformat=%Eerror[%m,%Wwarning[%m,%C\ -->\ %f:%l:%c,%-G%.%#
endif

let b:undo_ftplugin = "setlocal comments< commentstring< formatoptions< shiftwidth< softtabstop<"
      \ . " expandtab< textwidth< cindent< cinkeys< cinoptions< suffixesadd< include< formatprg<"
      \ . " makeprg< errorformat<"
