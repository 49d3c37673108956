--- What the server makes of a kernel, C++ or IR, in a split that follows its source: same text version, same lines in sight.

local client = require('tilefit.client')

local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace('tilefit.codegen')
--- What the C++ lacks; said in the source while its view is open.
local gaps_namespace = api.nvim_create_namespace('tilefit.codegen.gaps')

--- What a view can show.
local products = {
  cpp = { method = 'tilefit/generatedCode', extension = 'cpp', filetype = 'cpp', comment = '//' },
  ir = { method = 'tilefit/allocatedIr', extension = 'ir.py', filetype = 'python', comment = '#' },
  mlir = { method = 'tilefit/loweredIr', extension = 'mlir', filetype = 'mlir', comment = '//' },
}

--- source buffer -> { product, buf, anchor, map, refresh }
---   anchor: mark on the line that was asked about, so that edits above keep the view on its kernel
---   map: list of { generated = line, first = line, last = line }, all 0-based
local views = {}

--- Replaces the lines that differ, so that the window keeps its place.
local function set_text(buf, text)
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  local new = vim.split(text:gsub('\n$', ''), '\n', { plain = true })
  local head = 0
  while head < #old and head < #new and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < #old - head and tail < #new - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, head, #old - tail, false, vim.list_slice(new, head + 1, #new - tail))
  vim.bo[buf].modifiable = false
end

local function anchor_position(source)
  local line = api.nvim_buf_get_extmark_by_id(source, namespace, views[source].anchor, {})[1] or 0
  local text = api.nvim_buf_get_lines(source, line, line + 1, false)[1] or ''
  -- Indentation is ASCII: its length is the same in every position encoding.
  return { line = line, character = #text:match('^%s*') }
end

--- Byte column of a position of the server's.
local function column(source, position, encoding)
  local line = api.nvim_buf_get_lines(source, position.line, position.line + 1, false)[1] or ''
  if encoding == 'utf-8' then
    return math.min(position.character, #line)
  end
  local ok, byte = pcall(vim.str_byteindex, line, position.character, encoding == 'utf-16')
  return ok and byte or #line
end

local function set_gaps(source, gaps, encoding)
  vim.diagnostic.set(gaps_namespace, source, vim.tbl_map(function(gap)
    local first, last = gap.range.start, gap.range['end']
    return {
      lnum = first.line,
      col = column(source, first, encoding),
      end_lnum = last.line,
      end_col = column(source, last, encoding),
      severity = vim.diagnostic.severity.HINT,
      source = 'tilefit C++',
      code = gap.code,
      message = gap.message,
    }
  end, gaps))
end

local function ask(source, done)
  local view = views[source]
  local server = client.of(source)
  if not view or not server then
    return done()
  end
  local position = anchor_position(source)
  local params = { textDocument = { uri = vim.uri_from_bufnr(source) }, position = position }
  local sent = client.request(server, view.product.method, params, source, function(err, result)
    if views[source] == view and api.nvim_buf_is_loaded(view.buf) then
      local name = vim.fn.fnamemodify(api.nvim_buf_get_name(source), ':t')
      set_gaps(source, type(result) == 'table' and result.gaps or {}, server.offset_encoding)
      if err then
        set_text(view.buf, view.product.comment .. ' tilefit: ' .. err.message:gsub('\n', ' '))
        view.map = {}
      elseif not result or result == vim.NIL then
        set_text(view.buf, ('%s tilefit: there is no kernel in %s'):format(view.product.comment, name))
        view.map = {}
      else
        set_text(view.buf, result.text)
        view.map = vim.tbl_map(function(entry)
          local range = entry.range
          return { generated = entry.generatedLine, first = range.start.line, last = range['end'].line }
        end, result.map or {})
      end
    end
    done()
  end)
  if not sent then
    done()
  end
end

--- The narrowest entries of `map` that `covers` accepts: a statement rather than the kernel around it.
local function matches(map, covers)
  local narrowest, found = math.huge, {}
  for _, entry in ipairs(map) do
    local width = entry.last - entry.first
    if covers(entry) and width <= narrowest then
      if width < narrowest then
        narrowest, found = width, {}
      end
      table.insert(found, entry)
    end
  end
  return found
end

local function highlight(buf, first, last)
  for line = first, math.min(last, api.nvim_buf_line_count(buf) - 1) do
    api.nvim_buf_set_extmark(buf, namespace, line, 0, { line_hl_group = 'TilefitMatch' })
  end
end

local function clear(source)
  local view = views[source]
  api.nvim_buf_clear_namespace(view.buf, namespace, 0, -1)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(source, namespace, 0, -1, {})) do
    if mark[1] ~= view.anchor then
      api.nvim_buf_del_extmark(source, namespace, mark[1])
    end
  end
end

local function reveal(buf, line)
  local win = vim.fn.bufwinid(buf)
  if win == -1 or line >= api.nvim_buf_line_count(buf) then
    return
  end
  local out_of_sight = line + 1 < vim.fn.line('w0', win) or line + 1 > vim.fn.line('w$', win)
  api.nvim_win_set_cursor(win, { line + 1, 0 })
  if out_of_sight then
    api.nvim_win_call(win, function()
      vim.cmd('normal! zz')
    end)
  end
end

--- Marks the lines that belong together in both windows and scrolls the one without the cursor.
local function sync(source)
  local view = views[source]
  if not view then
    return
  end
  clear(source)
  local here = api.nvim_get_current_buf()
  local line = vim.fn.line('.') - 1
  local found = matches(view.map, function(entry)
    if here == view.buf then
      return entry.generated == line
    end
    return entry.first <= line and line <= entry.last
  end)
  for _, entry in ipairs(found) do
    highlight(view.buf, entry.generated, entry.generated)
    highlight(source, entry.first, entry.last)
  end
  if not found[1] then
    return
  end
  if here == view.buf then
    reveal(source, found[1].first)
  elseif here == source then
    reveal(view.buf, found[#found].generated) -- a tile is declared at the top; what the statement does comes last
  end
end

local function name_of(source, product)
  local name = vim.fn.fnamemodify(api.nvim_buf_get_name(source), ':t:r')
  return ('tilefit://%d/%s.%s'):format(source, name, product.extension)
end

local function open(source, product)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, name_of(source, product))
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local view = { product = product, buf = buf, map = {} }
  views[source] = view

  local group = api.nvim_create_augroup('tilefit.codegen.' .. source, {})
  local function close()
    if views[source] == view then
      views[source] = nil
      api.nvim_del_augroup_by_id(group)
      if api.nvim_buf_is_loaded(source) then
        api.nvim_buf_clear_namespace(source, namespace, 0, -1)
        vim.diagnostic.reset(gaps_namespace, source)
      end
    end
  end
  for _, watched in ipairs({ source, buf }) do
    api.nvim_create_autocmd('CursorMoved', {
      group = group,
      buffer = watched,
      callback = function()
        sync(source)
      end,
    })
  end
  api.nvim_create_autocmd('BufWipeout', { group = group, buffer = buf, callback = close })

  view.refresh = client.latest(function(done)
    ask(source, function()
      if views[source] == view and api.nvim_buf_is_loaded(buf) then
        sync(source)
      end
      done()
    end)
  end)
  local function on_edit()
    if views[source] ~= view then
      return true -- detaches
    end
    vim.schedule(view.refresh)
  end
  api.nvim_buf_attach(source, false, {
    on_lines = on_edit,
    on_reload = on_edit,
    on_detach = vim.schedule_wrap(function()
      if views[source] == view then
        api.nvim_buf_delete(buf, { force = true })
      end
    end),
  })

  local from = api.nvim_get_current_win()
  vim.cmd('rightbelow vertical sbuffer ' .. buf)
  -- After the window is there: plugins that start on FileType see a scratch buffer and stay away.
  vim.bo[buf].filetype = product.filetype
  api.nvim_set_current_win(from)
end

--- Shows a product ('cpp', 'ir' or 'mlir') of the kernel around `line` (0-based) of the buffer `source` beside it.
function M.show(source, line, name)
  local product = products[name]
  if not client.of(source) then
    vim.notify('tilefit: no server is attached to this buffer', vim.log.levels.WARN)
    return
  end
  api.nvim_set_hl(0, 'TilefitMatch', { default = true, link = 'Visual' })
  if views[source] and views[source].product ~= product then
    api.nvim_buf_delete(views[source].buf, { force = true }) -- closes the view
  end
  if not views[source] then
    open(source, product)
  end
  local view = views[source]
  line = math.min(line, api.nvim_buf_line_count(source) - 1)
  view.anchor = api.nvim_buf_set_extmark(source, namespace, line, 0, { id = view.anchor })
  view.refresh()
end

--- Asks again for every open view: a setting changed.
function M.refresh()
  for _, view in pairs(views) do
    view.refresh()
  end
end

return M
