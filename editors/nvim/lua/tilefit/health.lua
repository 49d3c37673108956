local tilefit = require('tilefit')
local client = require('tilefit.client')

local M = {}

-- Neovim 0.10 named these; before, they were report_ok and so on, in another module before 0.8.
local old = vim.health and vim.health.report_ok and vim.health or (not vim.health and require('health'))
local report = (vim.health and vim.health.ok and vim.health)
  or { start = old.report_start, ok = old.report_ok, warn = old.report_warn, error = old.report_error, info = old.report_info }

local function check_editor()
  if vim.fn.has('nvim-0.11') == 1 then
    report.ok('Neovim 0.11 or newer')
  elseif vim.fn.has('nvim-0.10') == 1 then
    report.ok('Neovim 0.10: everything works; 0.11 also reads vim.lsp.config("tilefit", ...)')
  else
    report.warn('Neovim before 0.10: diagnostics, hover and commands only', { 'use Neovim 0.10 for inlay hints' })
  end
end

local function check_server()
  local path = tilefit.server()
  if vim.fn.executable(path) == 0 then
    report.error(
      ('no server: "%s" is not executable'):format(path),
      { 'cargo xtask install --nvim', 'or set vim.g.tilefit = { server = { path = "..." } }' }
    )
    return
  end
  local version = vim.fn.system({ path, '--version' })
  if vim.v.shell_error ~= 0 or not version:match('^tilefit ') then
    report.error(('"%s --version" is not tilefit: it answers %s'):format(path, vim.trim(version)))
    return
  end
  report.ok(('%s (%s)'):format(vim.trim(version), vim.fn.exepath(path)))
end

local function check_clients()
  local running = client.all()
  if #running == 0 then
    report.info('no server is running; open a Python file to start one')
  end
  for _, lsp_client in ipairs(running) do
    report.ok(('serving %s'):format(lsp_client.config.root_dir or 'single files'))
  end
  for _, name in ipairs({ 'target', 'planner' }) do
    report.info(('%s: %s'):format(name, tilefit.settings()[name] or tilefit.unset(name)))
  end
end

function M.check()
  report.start('tilefit')
  check_editor()
  check_server()
  check_clients()
end

return M
