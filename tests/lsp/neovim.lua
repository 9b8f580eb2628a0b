-- What somebody does in Neovim: opens a file, looks at what is wrong, mends it, asks, renames, formats.
-- Prints what Neovim then shows. Needs `vim.g.relay_path`.
vim.opt.runtimepath:prepend(vim.fn.getcwd() .. "/editors/vim")
vim.cmd("filetype plugin indent on | syntax on")
vim.cmd("edit tests/lsp/files/client.relay")

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end
local function wait(is_there)
  assert(vim.wait(60000, is_there, 20), "nothing came")
end
local function say(text)
  io.stdout:write(text .. "\n")
end
local function ask(method, line, column)
  vim.api.nvim_win_set_cursor(0, { line, column })
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  params.context = { includeDeclaration = true }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 60000)) do
    return answer.result
  end
end

wait(function() return #vim.diagnostic.get(0) == 1 end)
say("wrong: " .. vim.diagnostic.get(0)[1].message)
vim.api.nvim_buf_set_text(0, 3, 8, 3, 11, { "f" })
wait(function() return #vim.diagnostic.get(0) == 0 end)
say("right")
say(ask("textDocument/hover", 4, 8).contents.value)
say("defined in line " .. ask("textDocument/definition", 5, 2).range.start.line + 1)
say(#ask("textDocument/references", 3, 4) .. " references")
say(ask("textDocument/completion", 5, 3).items[1].label)
vim.api.nvim_win_set_cursor(0, { 3, 4 })
vim.lsp.buf.rename("twice")
wait(function() return lines()[3]:find("twice") and lines()[4]:find("twice") end)
if vim.lsp.buf.format then
  vim.lsp.buf.format({ timeout_ms = 60000 })
else
  vim.lsp.buf.formatting_sync(nil, 60000)
end
say(table.concat(lines(), "\n"))
say("colours: " .. vim.fn.synIDattr(vim.fn.synID(3, 1, 1), "name"))
vim.cmd("qall!")
