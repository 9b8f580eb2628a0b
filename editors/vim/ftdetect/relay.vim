autocmd BufRead,BufNewFile *.relay setfiletype relay
