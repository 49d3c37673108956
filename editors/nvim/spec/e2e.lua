--- Drives the plugin and a real server through one session of editing.
---
---   cargo xtask test neovim
---
--- Prints TAP, exits 0 when every check holds. Runs on Neovim 0.7 and newer; what a version lacks is skipped by name.

local failed, count = 0, 0

local function ok(condition, name, detail)
  count = count + 1
  if not condition then
    failed = failed + 1
  end
  io.stdout:write(('%s %d - %s\n'):format(condition and 'ok' or 'not ok', count, name))
  if not condition and detail then
    io.stdout:write('  # ' .. vim.inspect(detail):gsub('\n', '\n  # ') .. '\n')
  end
end

local function skip(name, reason)
  count = count + 1
  io.stdout:write(('ok %d - %s # SKIP %s\n'):format(count, name, reason))
end

local function eventually(condition)
  return vim.wait(20000, condition, 20)
end

--- Two tiles of 256 KiB live together in a vector memory of 192 KiB.
local overflow = [==[
import pypto.language as pl


@pl.program
class Overflow:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[256, 256], pl.FP32],
        b: pl.Tensor[[256, 256], pl.FP32],
        out: pl.Out[pl.Tensor[[256, 256], pl.FP32]],
    ) -> pl.Tensor[[256, 256], pl.FP32]:
        size = 1
        x = pl.load(a, [0, 0], [256, 256])
        y = pl.load(b, [0, 0], [256, 256])
        z = pl.add(x, y)
        out = pl.store(z, [0, 0], out)
        return out
]==]

vim.g.tilelens = { server = { path = vim.env.TILELENS_SERVER } }
vim.cmd('runtime plugin/tilelens.lua')

local client = require('tilelens.client')
local api = vim.api

local function line_with(buf, text)
  for index, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      return index - 1, column - 1
    end
  end
  error('no line with ' .. text)
end

local function edit(buf, from, to)
  local line, column = line_with(buf, from)
  api.nvim_buf_set_text(buf, line, column, line, column + #from, { to })
end

local function errors(buf)
  return vim.diagnostic.get(buf, { severity = vim.diagnostic.severity.ERROR })
end

local function request(buf, method, params)
  local answers = vim.lsp.buf_request_sync(buf, method, params, 10000) or {}
  for _, answer in pairs(answers) do
    return answer.result, answer.err or answer.error
  end
end

local function text_of(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

local function generated_buffer()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    if api.nvim_buf_get_name(buf):match('^tilelens://') then
      return buf, win
    end
  end
end

local function float_text()
  for _, win in ipairs(api.nvim_list_wins()) do
    if api.nvim_win_get_config(win).relative ~= '' then
      return text_of(api.nvim_win_get_buf(win))
    end
  end
end

local function session()
  local path = vim.fn.tempname() .. '/overflow.py'
  vim.fn.mkdir(vim.fn.fnamemodify(path, ':h'), 'p')
  vim.fn.writefile(vim.split(overflow, '\n', { plain = true }), path)
  vim.cmd('filetype on')
  vim.cmd('edit ' .. path)
  local source = api.nvim_get_current_buf()
  vim.bo[source].filetype = 'python'

  ok(eventually(function()
    return client.of(source) ~= nil
  end), 'the server is attached')

  ok(eventually(function()
    return #errors(source) > 0
  end), 'the overflow is reported', vim.diagnostic.get(source))
  local first = errors(source)[1] or {}
  ok(first.source == 'tilelens' and first.code ~= nil, 'the diagnostic names its source and code', first)
  ok(tostring(first.message):match('196608'), 'the message names the capacity', first.message)

  local line, column = line_with(source, 'x = pl.load')
  local hover = request(source, 'textDocument/hover', {
    textDocument = { uri = vim.uri_from_bufnr(source) },
    position = { line = line, character = column },
  })
  local value = hover and (hover.contents.value or vim.inspect(hover.contents)) or ''
  ok(value:match('0x') and value:match('262144'), 'hover tells address and bytes', hover)

  api.nvim_win_set_cursor(0, { line + 1, column })
  vim.lsp.buf.hover()
  ok(eventually(function()
    return float_text() ~= nil
  end) and float_text():match('0x'), 'hover opens a window', float_text())

  for _, name in ipairs({ 'x = pl.load(a, [0, 0], [256, 256])', 'y = pl.load(b, [0, 0], [256, 256])' }) do
    edit(source, name, (name:gsub('%[256, 256%]', '[64, 256]')))
  end
  ok(eventually(function()
    return #errors(source) == 0
  end), 'smaller tiles clear the error', errors(source))

  if vim.lsp.inlay_hint then
    ok(eventually(function()
      local hints = vim.lsp.inlay_hint.get({ bufnr = source })
      return #hints > 0 and vim.inspect(hints):match('0x') ~= nil
    end), 'inlay hints show addresses', vim.lsp.inlay_hint.get({ bufnr = source }))
  else
    skip('inlay hints show addresses', 'Neovim 0.10')
  end

  local lens
  if vim.fn.exists('##LspAttach') == 1 then
    ok(eventually(function()
      lens = vim.tbl_filter(function(candidate)
        return candidate.command and candidate.command.command == 'tilelens.showGeneratedCode'
      end, vim.lsp.codelens.get(source))[1]
      return lens ~= nil
    end), 'a code lens offers the generated C++', vim.lsp.codelens.get(source))
  else
    skip('a code lens offers the generated C++', 'Neovim 0.8')
  end

  api.nvim_win_set_cursor(0, { line + 1, column })
  vim.cmd('Tilelens codegen')
  ok(eventually(function()
    local buf = generated_buffer()
    return buf and text_of(buf):match('TLOAD') ~= nil
  end), ':Tilelens codegen opens the C++', generated_buffer() and text_of(generated_buffer()))
  local generated, window = generated_buffer()
  ok(api.nvim_get_current_buf() == source, 'the cursor stays in the source')
  ok(not vim.bo[generated].modifiable and vim.bo[generated].filetype == 'cpp', 'the view is read-only C++')

  local before = text_of(generated)
  edit(source, 'z = pl.add(x, y)', 'z = pl.mul(x, y)')
  ok(eventually(function()
    return text_of(generated):match('TMUL') ~= nil
  end), 'the C++ follows an edit', before)

  api.nvim_buf_set_lines(source, 0, 0, false, { '# one', '# two', '# three' })
  edit(source, 'pl.mul(x, y)', 'pl.sub(x, y)')
  ok(eventually(function()
    return text_of(generated):match('TSUB') ~= nil
  end), 'the C++ follows edits above its kernel', text_of(generated))

  local store = line_with(source, 'pl.store')
  api.nvim_win_set_cursor(0, { store + 1, 8 })
  vim.cmd('doautocmd CursorMoved')
  local cursor = api.nvim_win_get_cursor(window)[1]
  local shown = api.nvim_buf_get_lines(generated, cursor - 1, cursor, false)[1]
  ok(shown:match('TSTORE'), 'the view scrolls to the lines of the statement under the cursor', shown)

  vim.cmd('Tilelens planner sequential')
  ok(eventually(function()
    local result = request(source, 'textDocument/hover', {
      textDocument = { uri = vim.uri_from_bufnr(source) },
      position = { line = (line_with(source, 'x = pl.load')), character = 8 },
    })
    return result and vim.inspect(result.contents):match('sequential') ~= nil
  end), ':Tilelens planner reaches the server')

  api.nvim_win_close(window, true)
  ok(eventually(function()
    return generated_buffer() == nil
  end), 'closing the view is fine')
  if lens then
    vim.lsp.commands[lens.command.command](lens.command)
    ok(eventually(function()
      local buf = generated_buffer()
      return buf and text_of(buf):match('TLOAD') ~= nil
    end), 'the lens opens the view again')
  else
    skip('the lens opens the view again', 'Neovim 0.8')
  end

  local old = client.of(source).id
  vim.cmd('Tilelens restart')
  ok(eventually(function()
    local running = client.of(source)
    return running and running.id ~= old
  end), ':Tilelens restart starts another server')
  edit(source, 'x = pl.load(a, [0, 0], [64, 256])', 'x = pl.load(a, [0, 0], [1024, 256])')
  ok(eventually(function()
    return #errors(source) > 0
  end), 'diagnostics arrive from it', vim.diagnostic.get(source))

  vim.cmd('checkhealth tilelens')
  local health = text_of(api.nvim_get_current_buf())
  ok(health:match('serving') and not health:match('ERROR'), 'checkhealth finds the server', health)

  for _, running in ipairs(client.all()) do
    client.stop(running)
  end
  ok(eventually(function()
    return #client.all() == 0
  end), 'the server stops when asked to')
end

-- A session that hangs fails rather than holding up whoever waits for it.
vim.defer_fn(function()
  io.stdout:write('Bail out! the session takes longer than three minutes\n')
  vim.cmd('cquit 3')
end, 180000)

local fine, trace = xpcall(session, debug.traceback)
if not fine then
  ok(false, 'the session runs to its end', trace)
end
io.stdout:write(('1..%d\n'):format(count))
vim.cmd(failed == 0 and 'qall!' or 'cquit 1')
