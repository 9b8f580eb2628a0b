" Colours for Relay.
if exists("b:current_syntax")
  finish
endif

syntax keyword relayKeyword let fn def if else type match extern free_var ref ref_read ref_write
syntax keyword relayKeyword for import with as schedule
" `sum k < n { … }` is index notation, `sum(x)` a call.
syntax match relayKeyword "\<\(sum\|prod\|max\|min\|argmax\|argmin\|dot\|any\|all\|scatter\)\>\ze \+\h"
syntax match relayType "\<\(Tensor\|bool\|bfloat16\|u\=int\d\+\|float\d\+\)\>"
syntax keyword relayConstant True False inf nan pi
syntax match relayNumber "\<\d\+\(\.\d\+\)\=\([eE][+-]\=\d\+\)\=\(bf16\|[fiu]\d*\)\=\>"
syntax match relayLocal "%[[:alnum:]_]\+"
syntax match relayGlobal "@[[:alpha:]_][[:alnum:]_.]*"
syntax match relayFunction "\(\<def\s\+\)\@<=[%@]\=[[:alpha:]_][[:alnum:]_.]*"
syntax match relayVersion "^#\[[^]]*\]"
syntax match relayOperator "|>\|->\|=>\|:=\|[=!<>]=\|[-+*<>=!]\|&&\|||"
syntax match relayEscape contained "\\."
syntax region relayString start=+"+ end=+"+ contains=relayEscape
syntax keyword relayExpect contained expect
syntax match relayComment "//.*$" contains=relayExpect,@Spell
syntax match relayDoc "///.*$" contains=@Spell
syntax region relayComment start="/\*" end="\*/" contains=relayComment,@Spell

highlight default link relayKeyword Keyword
highlight default link relayType Type
highlight default link relayConstant Constant
highlight default link relayNumber Number
highlight default link relayLocal Identifier
highlight default link relayGlobal Function
highlight default link relayFunction Function
highlight default link relayVersion PreProc
highlight default link relayOperator Operator
highlight default link relayString String
highlight default link relayEscape SpecialChar
highlight default link relayComment Comment
highlight default link relayExpect Todo
highlight default link relayDoc SpecialComment

let b:current_syntax = "relay"
