-- Starts `relay lsp` for a text in Relay; Neovim only. `vim.g.relay_path` says where `relay` is,
-- `vim.g.relay_lsp = false` leaves it out, and `vim.g.relay_search_path` lists folders of imports.
if vim.g.relay_lsp == false then
  return
end

local program = vim.g.relay_path or "relay"
if vim.fn.executable(program) == 0 then
  return
end

local command = { program, "lsp" }
for _, folder in ipairs(vim.g.relay_search_path or {}) do
  vim.list_extend(command, { "-I", folder })
end

local buffer = vim.api.nvim_get_current_buf()
local file = vim.api.nvim_buf_get_name(buffer)
local config = { name = "relay", cmd = command, root_dir = vim.fn.fnamemodify(file, ":p:h") }
if vim.lsp.start then
  vim.lsp.start(config)
  return
end

-- Before Neovim 0.8: one server for all texts.
if not vim.g.relay_client then
  vim.g.relay_client = vim.lsp.start_client(config)
end
vim.lsp.buf_attach_client(buffer, vim.g.relay_client)
