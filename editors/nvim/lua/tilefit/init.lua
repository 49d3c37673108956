local client = require('tilefit.client')

local M = {}

--- What `:Tilefit <name>` accepts.
M.choices = {
  target = { 'ascend910b', 'ascend950' },
  planner = { 'auto', 'sequential', 'packed', 'dsa-rp' },
}

local current

local function warn(message)
  vim.notify('tilefit: ' .. message, vim.log.levels.WARN)
end

--- The settings that the server gets: `vim.g.tilefit`, then what `:Tilefit` changed in this session. Defaults stay out
--- of it: they would hide what `tilefit.toml` says.
function M.settings()
  if not current then
    current = vim.tbl_deep_extend('force', vim.empty_dict(), vim.g.tilefit or {})
    current.server = nil -- where the binary is found is no business of the server
  end
  return current
end

local defaults = { target = 'ascend910b', planner = 'auto' }

--- In words, what is in force for `target` or `planner` where it is not set here.
function M.unset(name)
  for _, file in ipairs({ 'tilefit.toml', 'pyproject.toml' }) do
    local found = vim.fn.findfile(file, '.;')
    if found ~= '' then
      return ('as in %s, else %s'):format(vim.fn.fnamemodify(found, ':~:.'), defaults[name])
    end
  end
  return ('%s (default; no tilefit.toml found)'):format(defaults[name])
end

--- The server binary: `vim.g.tilefit.server.path`, then PATH, then where `cargo xtask install` puts it.
function M.server()
  local configured = vim.tbl_get(vim.g.tilefit or {}, 'server', 'path')
  if configured then
    return vim.fn.expand(configured)
  end
  local cargo = vim.fn.expand('~/.cargo/bin/tilefit')
  if vim.fn.executable('tilefit') == 0 and vim.fn.executable(cargo) == 1 then
    return cargo
  end
  return 'tilefit'
end

local function refresh_lenses(buf)
  local lsp_client = client.of(buf)
  if not lsp_client then
    return function() end
  end
  return client.latest(function(done)
    local params = { textDocument = { uri = vim.uri_from_bufnr(buf) } }
    local sent = client.request(lsp_client, 'textDocument/codeLens', params, buf, function(err, result, ctx)
      vim.lsp.codelens.on_codelens(err, result, ctx)
      done()
    end)
    if not sent then
      done()
    end
  end)
end

--- buffer -> function that asks for its lenses again
local lenses = {}

local function show_lenses(buf)
  if vim.lsp.codelens.enable then -- 0.12 keeps them fresh by itself
    vim.lsp.codelens.enable(true, { bufnr = buf })
    return
  end
  local first = not lenses[buf]
  lenses[buf] = refresh_lenses(buf)
  lenses[buf]()
  if not first then
    return
  end
  local function on_edit()
    vim.schedule(lenses[buf])
  end
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = on_edit,
    on_reload = on_edit,
    on_detach = function()
      lenses[buf] = nil
    end,
  })
end

local function on_attach(buf)
  local settings = M.settings()
  if vim.lsp.inlay_hint and vim.tbl_get(settings, 'inlayHints', 'enable') ~= false then
    vim.lsp.inlay_hint.enable(true, { bufnr = buf })
  end
  if vim.tbl_get(settings, 'codeLens', 'enable') ~= false then
    show_lenses(buf)
  end
end

local function root_of(buf, markers)
  local start = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':p:h')
  for _, marker in ipairs(markers) do
    local dir = start
    while true do
      if vim.loop.fs_stat(dir .. '/' .. marker) then
        return dir
      end
      local parent = vim.fn.fnamemodify(dir, ':h')
      if parent == dir then
        break
      end
      dir = parent
    end
  end
  return start
end

--- root -> client id; Neovim 0.7 does not list a client that is still being initialized.
local ids = {}

--- Starts a client for `buf`, or joins the one that serves its root. Only for Neovim before 0.11.
local function start(buf)
  local config = dofile(vim.api.nvim_get_runtime_file('lsp/tilefit.lua', false)[1])
  config.name = 'tilefit'
  config.root_dir = root_of(buf, config.root_markers)
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buf })
    return
  end
  local running = ids[config.root_dir] and vim.lsp.get_client_by_id(ids[config.root_dir])
  if not running or client.is_stopped(running) then
    ids[config.root_dir] = vim.lsp.start_client(config)
  end
  vim.lsp.buf_attach_client(buf, ids[config.root_dir])
end

--- Serves every Python buffer from now on.
function M.enable()
  local group = vim.api.nvim_create_augroup('tilefit', {})
  if vim.fn.executable(M.server()) == 0 then
    vim.api.nvim_create_autocmd('FileType', {
      group = group,
      pattern = 'python',
      once = true,
      callback = function()
        warn(('no server: "%s" is not executable. See :checkhealth tilefit'):format(M.server()))
      end,
    })
    return
  end
  if vim.fn.exists('##LspAttach') == 1 then
    vim.api.nvim_create_autocmd('LspAttach', {
      group = group,
      callback = function(event)
        if vim.lsp.get_client_by_id(event.data.client_id).name == 'tilefit' then
          on_attach(event.buf)
        end
      end,
    })
  end
  if vim.lsp.enable then
    vim.lsp.enable('tilefit')
    return
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'python',
    callback = function(event)
      if vim.bo[event.buf].buftype == '' then
        start(event.buf)
      end
    end,
  })
end

--- Changes one setting for this session and shows every result again.
function M.set(name, value)
  if not vim.tbl_contains(M.choices[name], value) then
    warn(('%s is one of %s, not "%s"'):format(name, table.concat(M.choices[name], ', '), value))
    return
  end
  M.settings()[name] = value
  for _, running in ipairs(client.all()) do
    local settings = running.settings or running.config.settings
    settings.tilefit = vim.tbl_deep_extend('force', settings.tilefit or {}, { [name] = value })
    client.notify(running, 'workspace/didChangeConfiguration', { settings = settings })
  end
  for _, refresh in pairs(lenses) do
    refresh()
  end
  require('tilefit.codegen').refresh()
end

--- Stops every client, and starts it again for the buffers it served once it is gone.
function M.restart()
  for _, running in ipairs(client.all()) do
    local config = running.config
    local buffers = vim.tbl_filter(function(buf)
      return vim.api.nvim_buf_is_loaded(buf) and vim.lsp.buf_is_attached(buf, running.id)
    end, vim.api.nvim_list_bufs())
    client.stop(running)
    local timer = vim.loop.new_timer()
    timer:start(20, 20, function()
      if not client.is_stopped(running) or timer:is_closing() then
        return
      end
      timer:close()
      vim.schedule(function()
        for _, buf in ipairs(buffers) do
          if vim.lsp.start then
            vim.lsp.start(config, { bufnr = buf })
          else
            start(buf)
          end
        end
      end)
    end)
  end
end

--- Opens a product ('cpp', 'ir' or 'mlir') of the kernel at `position` (as LSP has it) of the document `uri` beside it.
function M.show(product, uri, position)
  require('tilefit.codegen').show(vim.uri_to_bufnr(uri), position.line, product)
end

--- Opens the memory map of the kernel at `position` of the document `uri` beside it.
function M.show_map(uri, position)
  require('tilefit.map').show(vim.uri_to_bufnr(uri), position.line)
end

local function show_here(product)
  return function()
    require('tilefit.codegen').show(vim.api.nvim_get_current_buf(), vim.fn.line('.') - 1, product)
  end
end

--- Has the server ask the compiler that is installed about the file, as it is on disk. The server says how it went.
local function confirm()
  local buf = vim.api.nvim_get_current_buf()
  local lsp_client = client.of(buf)
  if not lsp_client then
    warn('no server for this buffer')
    return
  end
  vim.cmd('update')
  local position = { line = vim.fn.line('.') - 1, character = 0 }
  local params = { command = 'tilefit.confirm', arguments = { vim.uri_from_bufnr(buf), position } }
  client.request(lsp_client, 'workspace/executeCommand', params, buf, function() end)
end

local subcommands = {
  confirm = confirm,
  codegen = show_here('cpp'),
  map = function()
    require('tilefit.map').show(vim.api.nvim_get_current_buf(), vim.fn.line('.') - 1)
  end,
  ir = show_here('ir'),
  mlir = show_here('mlir'),
  restart = M.restart,
}
for name in pairs(M.choices) do
  subcommands[name] = function(value)
    if value then
      M.set(name, value)
    else
      vim.notify(('tilefit: the %s is %s'):format(name, M.settings()[name] or M.unset(name)))
    end
  end
end

function M.command(args)
  local run = subcommands[args[1]]
  if not run then
    warn(('unknown command "%s": %s'):format(args[1], table.concat(M.complete('Tilefit '), ', ')))
    return
  end
  run(args[2])
end

--- Completions of a half-typed command line.
function M.complete(line)
  local words = vim.split(line, '%s+')
  local candidates = vim.tbl_keys(subcommands)
  if #words > 2 then
    candidates = M.choices[words[#words - 1]] or {}
  end
  table.sort(candidates)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, words[#words])
  end, candidates)
end

return M
