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

--- Three tiles of 64 KiB live together in 184 KiB, until COLS gets smaller.
local example = vim.env.TILEFIT_EXAMPLE

local client = require('tilefit.client')
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
    if api.nvim_buf_get_name(buf):match('^tilefit://') then
      return buf, win
    end
  end
end

--- The lines that the view marks, 0-based.
local function marked(buf)
  local lines = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, api.nvim_create_namespace('tilefit.codegen'), 0, -1, {})) do
    table.insert(lines, mark[2])
  end
  return lines
end

local function text_of_lines(buf, lines)
  return table.concat(vim.tbl_map(function(line)
    return api.nvim_buf_get_lines(buf, line, line + 1, false)[1]
  end, lines), '\n')
end

local function float_text()
  for _, win in ipairs(api.nvim_list_wins()) do
    if api.nvim_win_get_config(win).relative ~= '' then
      return text_of(api.nvim_win_get_buf(win))
    end
  end
end

local function hover_at(buf, text)
  local line, column = line_with(buf, text)
  local result = request(buf, 'textDocument/hover', {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = line, character = column },
  })
  return result and vim.inspect(result.contents) or ''
end

--- The lens for the generated C++ that is shown on the line with `text`, or on a decorator right above it.
local function lens_above(buf, text)
  local line = line_with(buf, text)
  for _, lens in ipairs(vim.lsp.codelens.get(buf)) do
    local offers = lens.command and lens.command.command == 'tilefit.showGeneratedCode'
    if offers and (lens.range.start.line == line or lens.range.start.line == line - 1) then
      return lens
    end
  end
end

local function map_buffer()
  for _, win in ipairs(api.nvim_list_wins()) do
    local buf = api.nvim_win_get_buf(win)
    if api.nvim_buf_get_name(buf):match('%.map$') then
      return buf, win
    end
  end
end

local function map_text()
  local buf = map_buffer()
  return buf and text_of(buf) or ''
end

--- Whether `text` is highlighted with `group` somewhere in the map, and nothing else hides that.
local function is_highlighted(group, text)
  local buf = map_buffer()
  local function highest(row, column)
    local found = 0
    for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, api.nvim_create_namespace('tilefit.map'), { row, 0 }, { row, -1 }, { details = true })) do
      if mark[3] <= column and column < mark[4].end_col then
        found = math.max(found, mark[4].priority)
      end
    end
    return found
  end
  for name, namespace in pairs(api.nvim_get_namespaces()) do
    for _, mark in ipairs(name:match('^tilefit%.map') and api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true }) or {}) do
      local line = api.nvim_buf_get_lines(buf, mark[2], mark[2] + 1, false)[1]
      local is_seen = mark[4].priority >= highest(mark[2], mark[3])
      if is_seen and mark[4].hl_group == group and line:sub(mark[3] + 1, mark[4].end_col):find(text, 1, true) then
        return true
      end
    end
  end
  return false
end

local function put_cursor(buf, text)
  local line, column = line_with(buf, text)
  api.nvim_win_set_cursor(vim.fn.bufwinid(buf), { line + 1, column })
  vim.cmd('doautocmd CursorMoved')
end

--- The source fits, with tiles of 48 KiB.
local function map_session(source)
  put_cursor(source, 'import') -- the nearest kernel is meant
  vim.cmd('Tilefit map')
  ok(eventually(function()
    return map_text():match('Vec 144 KiB of 184 KiB') ~= nil
  end), ':Tilefit map opens the memory map', map_text())
  ok(api.nvim_get_current_buf() == source, 'the cursor stays in the source')
  ok(not vim.bo[map_buffer()].modifiable, 'the map is read-only')
  ok(is_highlighted('TilefitMapLabel0', 'value'), 'tiles have colours', map_text())

  edit(source, '64, 192', '64, 256')
  ok(eventually(function()
    return map_text():match('192 KiB of 184 KiB, 8 KiB over') ~= nil
  end), 'the map follows an edit', map_text())
  ok(is_highlighted('TilefitMapOver', '▒'), 'what is over is red', map_text())

  put_cursor(source, 'squashed = pl.exp')
  ok(is_highlighted('TilefitMapHereLabel', 'squash'), 'the tile under the cursor is marked', map_text())
  put_cursor(source, 'gate = pl.load')
  ok(is_highlighted('TilefitMapHereLabel', 'gate') and not is_highlighted('TilefitMapHereLabel', 'squash'), 'the mark follows the cursor')

  local buf, win = map_buffer()
  api.nvim_set_current_win(win)
  local line, column = line_with(buf, 'mixed')
  api.nvim_win_set_cursor(win, { line + 1, column })
  api.nvim_feedkeys(api.nvim_replace_termcodes('<CR>', true, false, true), 'x', false)
  local there = api.nvim_get_current_line()
  ok(api.nvim_get_current_buf() == source and there:match('^%s*mixed = ') ~= nil, '<CR> goes to the source', there)

  api.nvim_buf_set_lines(source, 0, 0, false, { '# above' })
  edit(source, '64, 256', '64, 192')
  ok(eventually(function()
    return map_text():match('Vec 144 KiB of 184 KiB') ~= nil
  end), 'the map follows edits above its kernel', map_text())

  api.nvim_set_current_win(win)
  api.nvim_feedkeys('t', 'x', false)
  ok(eventually(function()
    return map_text():match('Vec 144 KiB of 184 KiB, as before') ~= nil
  end), 't tries a target', map_text())
  api.nvim_feedkeys('t', 'x', false)
  ok(eventually(function()
    return map_text():match('trying target ascend950.*Vec 144 KiB of 184 KiB → 144 KiB of 240 KiB') ~= nil
  end), 'and the next one, with the use of memory before and after', map_text())
  ok(require('tilefit').settings().target == nil, 'nothing is set by that')
  api.nvim_feedkeys('x', 'x', false)
  ok(eventually(function()
    return not map_text():match('trying') and map_text():match('of 184 KiB') ~= nil
  end), 'x leaves it', map_text())
  for _ = 1, 3 do
    api.nvim_feedkeys('p', 'x', false)
  end
  ok(eventually(function()
    return map_text():match('trying planner packed') ~= nil
  end), 'p tries planners', map_text())
  api.nvim_feedkeys('s', 'x', false)
  ok(eventually(function()
    return not map_text():match('trying') and map_text():match('ascend910b, packed') ~= nil
  end) and require('tilefit').settings().planner == 'packed', 's sets it', map_text())
  require('tilefit').set('planner', 'auto')
  api.nvim_feedkeys('q', 'x', false)
  ok(map_buffer() == nil, 'q closes the map')
  api.nvim_set_current_win(vim.fn.bufwinid(source))
end

--- An interpreter that is none: it answers every question, and takes its time.
local python = [[
#!/usr/bin/env python3
import json, sys, time
def say(answer):
    print(json.dumps(answer), flush=True)
say({"hello": 1, "packages": {}})
for line in sys.stdin:
    asked = json.loads(line)
    if "cancel" in asked:
        continue
    time.sleep(0.3)
    say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 0, "buffers": []})
]]

local tuned = [[
import triton
import triton.language as tl


# tilefit: x=fp16 y=fp16 arch=sm_90
@triton.autotune([triton.Config({"N": n}) for n in (32, 64, 128, 256, 512, 1024, 2048, 4096)], key=[])
@triton.jit
def copy(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at))
]]

local function write(path, text)
  vim.fn.writefile(vim.split(text, '\n'), path)
  return path
end

--- The compiler is asked about all configurations of a kernel, and the editor shows how far that is.
local function confirmation(back)
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, 'p')
  local interpreter = write(folder .. '/python', python)
  vim.fn.setfperm(interpreter, 'rwxr-xr-x')
  local settings = require('tilefit').settings()
  settings.confirm, settings.python = 'command', interpreter
  vim.cmd('Tilefit restart')
  vim.cmd('edit ' .. write(folder .. '/tuned.py', tuned))
  local buf = api.nvim_get_current_buf()
  local old = client.of(back)
  ok(eventually(function()
    local running = client.of(buf)
    return running and running ~= old and hover_at(buf, 'copy(x'):match('copy') ~= nil
  end), 'the server has what the user allows')
  local words = {}
  if vim.fn.has('nvim-0.10') == 1 then
    api.nvim_create_autocmd('LspProgress', {
      callback = function(event)
        local value = event.data.params.value
        local word = { begin = value.title, report = value.message }
        table.insert(words, word[value.kind] or value.kind)
      end,
    })
  end
  vim.cmd('Tilefit confirm')
  ok(eventually(function()
    return hover_at(buf, 'copy(x'):match('confirmed by triton 3.9.0') ~= nil
  end), ':Tilefit confirm asks the compiler', hover_at(buf, 'copy(x'))
  if vim.fn.has('nvim-0.10') == 1 then
    ok(eventually(function()
      return words[#words] == 'end'
    end), 'its progress ends', words)
    ok(words[1] == 'tilefit: confirming tuned.py', 'it has a name', words)
    ok(vim.tbl_contains(words, '6 of 8 configurations'), 'and says how far it is', words)
  else
    skip('progress', 'Neovim 0.10')
  end
  vim.cmd('buffer ' .. back)
end

local function session()
  vim.o.columns = 120 -- half of it has room for the names of tiles in a map
  vim.cmd('edit ' .. vim.fn.fnameescape(example))
  local source = api.nvim_get_current_buf()

  ok(eventually(function()
    return client.of(source) ~= nil
  end), 'the server is attached')
  ok(eventually(function()
    return #errors(source) > 0
  end), 'the overflow is reported', vim.diagnostic.get(source))
  assert(failed == 0, 'there is nothing to go on with')

  local overflow = errors(source)[1]
  ok(overflow.source == 'tilefit' and overflow.code ~= nil, 'the diagnostic names its source and code', overflow)
  ok(overflow.message:match('188416') or overflow.message:match('184 KiB'), 'it names the capacity', overflow.message)
  local lsp = overflow.user_data and overflow.user_data.lsp or {}
  ok(#(lsp.relatedInformation or {}) >= 3, 'it names what is live at the peak', lsp)

  local hover = hover_at(source, 'value = pl.load')
  ok(hover:match('0x') and (hover:match('65536') or hover:match('64 KiB')), 'hover tells address and bytes', hover)
  local line, column = line_with(source, 'value = pl.load')
  api.nvim_win_set_cursor(0, { line + 1, column })
  vim.lsp.buf.hover()
  ok(eventually(function()
    return float_text() ~= nil
  end) and float_text():match('0x'), 'hover opens a window', float_text())
  -- Neovim has no tables, shows the backslash of an escape, and hides the brackets of what may be a link.
  local shown = float_text() or ''
  ok(not shown:match('\n|') and not shown:match('\\%['), 'hover has columns instead of the pipes of a table', shown)
  if vim.fn.has('nvim-0.11') == 1 then
    local bare = shown:gsub('```.-```', ''):gsub('`[^`]*`', '')
    ok(not bare:match('%['), 'brackets in a hover are in code, where they stay', shown)
  else
    skip('brackets in a hover are in code', 'Neovim 0.11 shows Markdown with its tree')
  end

  edit(source, '64, 256', '64, 192')
  ok(eventually(function()
    return #errors(source) == 0
  end), 'a smaller number clears the error', errors(source))
  hover = hover_at(source, 'value = pl.load')
  ok(hover:match('49152') or hover:match('48 KiB'), 'hover tells the new size', hover)

  if vim.lsp.inlay_hint then
    ok(eventually(function()
      return vim.inspect(vim.lsp.inlay_hint.get({ bufnr = source })):match('48 KiB') ~= nil
    end), 'inlay hints show the new size', vim.lsp.inlay_hint.get({ bufnr = source }))
  else
    skip('inlay hints show the new size', 'Neovim 0.10')
  end

  local has_lenses = vim.fn.exists('##LspAttach') == 1
  if has_lenses then
    ok(eventually(function()
      return lens_above(source, 'def gate') ~= nil
    end), 'a code lens offers the generated C++', vim.lsp.codelens.get(source))
  else
    skip('a code lens offers the generated C++', 'Neovim 0.8')
  end

  map_session(source)

  vim.cmd('Tilefit ir')
  ok(eventually(function()
    local buf = generated_buffer()
    return buf and text_of(buf):match('tile%.alloc') ~= nil
  end), ':Tilefit ir opens the allocated IR', generated_buffer() and text_of(generated_buffer()))

  local program = generated_buffer()
  line, column = line_with(source, 'out = pl.store')
  api.nvim_win_set_cursor(0, { line + 1, column })
  vim.cmd('doautocmd CursorMoved')
  ok(text_of_lines(program, marked(program)):match('tile%.store'), 'lines of the statement are marked in it', marked(program))

  vim.cmd('Tilefit codegen')
  ok(eventually(function()
    local buf = generated_buffer()
    return buf and text_of(buf):match('TLOAD') ~= nil
  end), ':Tilefit codegen opens the C++', generated_buffer() and text_of(generated_buffer()))
  local generated, window = generated_buffer()
  ok(api.nvim_get_current_buf() == source, 'the cursor stays in the source')
  ok(not vim.bo[generated].modifiable and vim.bo[generated].filetype == 'cpp', 'the view is read-only C++')

  edit(source, 'pl.exp(gate)', 'pl.sqrt(gate)')
  ok(eventually(function()
    return text_of(generated):match('TSQRT') ~= nil and not text_of(generated):match('TEXP')
  end), 'the C++ follows an edit', text_of(generated))

  api.nvim_buf_set_lines(source, 0, 0, false, { '# one', '# two', '# three' })
  edit(source, 'pl.sqrt(gate)', 'pl.abs(gate)')
  ok(eventually(function()
    return text_of(generated):match('TABS') ~= nil
  end), 'the C++ follows edits above its kernel', text_of(generated))

  local gaps = function()
    return vim.diagnostic.get(source, { namespace = api.nvim_create_namespace('tilefit.codegen.gaps') })
  end
  ok(#gaps() == 0, 'the C++ lacks nothing', gaps())
  line, column = line_with(source, 'out = pl.store')
  local spare = (' '):rep(column) .. 'spare = pl.tile.full([32, 32], dtype=pl.FP8E4M3FN, value=0.0)'
  api.nvim_buf_set_lines(source, line, line, false, { spare })
  ok(eventually(function()
    return #gaps() > 0 and gaps()[1].lnum == line and gaps()[1].code == 'no-instruction'
  end), 'what has no C++ is told in the source while the view is open', gaps())
  api.nvim_buf_set_lines(source, line, line + 1, false, {})
  ok(eventually(function()
    return #gaps() == 0
  end), 'and no longer when it is gone', gaps())

  line, column = line_with(source, 'out = pl.store')
  api.nvim_win_set_cursor(0, { line + 1, column })
  vim.cmd('doautocmd CursorMoved')
  local cursor = api.nvim_win_get_cursor(window)[1]
  local shown = api.nvim_buf_get_lines(generated, cursor - 1, cursor, false)[1]
  ok(#marked(generated) > 0 and text_of_lines(generated, marked(generated)):match('TSTORE'), 'lines of the statement are marked', shown)
  ok(vim.tbl_contains(marked(generated), cursor - 1), 'the view scrolls to them', shown)

  local back = api.nvim_get_current_win()
  api.nvim_set_current_win(window)
  line = line_with(generated, 'TLOAD(')
  api.nvim_win_set_cursor(window, { line + 1, 0 })
  vim.cmd('doautocmd CursorMoved')
  cursor = api.nvim_win_get_cursor(back)[1]
  shown = api.nvim_buf_get_lines(source, cursor - 1, cursor, false)[1]
  ok(shown:match('pl%.load') ~= nil, 'the source scrolls to the statement of an instruction', shown)
  ok(vim.tbl_contains(marked(source), cursor - 1), 'and it is marked there', marked(source))
  api.nvim_set_current_win(back)

  vim.cmd('Tilefit planner sequential')
  ok(eventually(function()
    return hover_at(source, 'value = pl.load'):match('sequential') ~= nil
  end), ':Tilefit planner reaches the server', hover_at(source, 'value = pl.load'))

  api.nvim_win_close(window, true)
  ok(generated_buffer() == nil, 'the view closes')
  if has_lenses then
    ok(eventually(function()
      return lens_above(source, 'def gate') ~= nil
    end), 'the lens has moved with its kernel', vim.lsp.codelens.get(source))
    local command = lens_above(source, 'def gate').command
    vim.lsp.commands[command.command](command)
    ok(eventually(function()
      local buf = generated_buffer()
      return buf and text_of(buf):match('TLOAD') ~= nil
    end), 'the lens opens it again')
  else
    skip('the lens opens it again', 'Neovim 0.8')
  end

  for _, win in ipairs(api.nvim_list_wins()) do
    if win ~= api.nvim_get_current_win() then
      api.nvim_win_close(win, true)
    end
  end
  put_cursor(source, 'import') -- the nearest kernel is meant
  vim.cmd('Tilefit map')
  ok(eventually(function()
    return map_text():match('Vec 144 KiB') ~= nil
  end), 'the map opens again')
  local old = client.of(source).id
  vim.cmd('Tilefit restart')
  ok(eventually(function()
    local running = client.of(source)
    return running and running.id ~= old
  end), ':Tilefit restart starts another server')
  edit(source, '64, 192', '64, 256')
  ok(eventually(function()
    return #errors(source) > 0
  end), 'diagnostics arrive from it', vim.diagnostic.get(source))
  ok(eventually(function()
    return map_text():match('8 KiB over') ~= nil
  end), 'maps arrive from it', map_text())

  confirmation(source)

  vim.cmd('checkhealth tilefit')
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
