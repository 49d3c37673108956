--- The memory map of a kernel in a split: the server draws it in characters, after every edit.

local client = require('tilefit.client')

local M = {}

local api = vim.api

--- Loaded late: it loads this module.
local function tilefit()
  return require('tilefit')
end

local namespace = api.nvim_create_namespace('tilefit.map')

--- source buffer -> { buf, anchor, trial, maps, boxes }
---   anchor: mark on a line of the kernel, which edits above move along
---   trial: planner and target that are looked at instead of the settings
---   maps: as the server sent them
---   scale: `own` or `one`, of the memories
---   boxes: line of the map (0-based) -> list of { first, last (bytes), is_label, tiles, details (lines of text) }
---   float: window with what there is to the box under the cursor
local views = {}

--- What the server calls the parts of a line, and the highlight that each has unless the colour scheme or the user says otherwise.
local highlights = {
  title = { 'TilefitMapTitle', 'Title' },
  overTitle = { 'TilefitMapOver', 'DiagnosticError' },
  line = { 'TilefitMapLine', 'LineNr' },
  copy = { 'TilefitMapCopy', 'Special' },
  address = { 'TilefitMapAddress', 'LineNr' },
  over = { 'TilefitMapOver', 'DiagnosticError' },
  waste = { 'TilefitMapWaste', 'Comment' },
  reserved = { 'TilefitMapWaste', 'Comment' },
  free = { 'TilefitMapFree', 'NonText' },
  capacity = { 'TilefitMapOver', 'DiagnosticError' },
  peak = { 'TilefitMapPeak', 'WarningMsg' },
}

--- Above the colours of the buffers, which have the default.
local here_priority = 5000

--- Colours of buffers, by turns: for the blocks, and behind the names in them.
local colours = {
  { '#5b9bd5', 74 },
  { '#4fae78', 72 },
  { '#c9a227', 178 },
  { '#a06cc9', 134 },
  { '#3aa6b0', 37 },
  { '#8ab34a', 107 },
}

local function define_highlights()
  for _, pair in pairs(highlights) do
    api.nvim_set_hl(0, pair[1], { default = true, link = pair[2] })
  end
  for index, colour in ipairs(colours) do
    local block, label = ('TilefitMapTile%d'):format(index - 1), ('TilefitMapLabel%d'):format(index - 1)
    highlights[('tile%d'):format(index - 1)] = { block }
    highlights[('label%d'):format(index - 1)] = { label }
    api.nvim_set_hl(0, block, { default = true, fg = colour[1], ctermfg = colour[2] })
    api.nvim_set_hl(0, label, { default = true, fg = '#000000', ctermfg = 16, bg = colour[1], ctermbg = colour[2] })
  end
  -- Blocks hide their background: what stands out is another colour of the blocks.
  local here, on_here = '#ffffff', '#000000'
  if vim.o.background == 'light' then
    here, on_here = on_here, here
  end
  local cterm, on_cterm = here == '#ffffff' and 231 or 16, here == '#ffffff' and 16 or 231
  api.nvim_set_hl(0, 'TilefitMapHere', { default = true, fg = here, ctermfg = cterm })
  api.nvim_set_hl(0, 'TilefitMapHereLabel', { default = true, bold = true, fg = on_here, ctermfg = on_cterm, bg = here, ctermbg = cterm })
end

local function set_lines(buf, lines)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
end

--- The boxes of a map, in the order in which the server numbers them.
local function boxes_of(map)
  local boxes = {}
  for _, space in ipairs(map.spaces) do
    for _, buffer in ipairs(space.buffers) do
      vim.list_extend(boxes, buffer.boxes)
    end
  end
  return boxes
end

local function width_of(buf)
  local win = vim.fn.bufwinid(buf)
  return win == -1 and 80 or api.nvim_win_get_width(win)
end

local function params_of(source, with_position)
  local params = { textDocument = { uri = vim.uri_from_bufnr(source) } }
  local view = views[source]
  if with_position and view then
    local line = api.nvim_buf_get_extmark_by_id(source, namespace, view.anchor, {})[1] or 0
    local text = api.nvim_buf_get_lines(source, line, line + 1, false)[1] or ''
    -- Indentation is ASCII: its length is the same in every position encoding.
    params.position = { line = line, character = #text:match('^%s*') }
    params.planner, params.target = view.trial.planner, view.trial.target
    params.picture = { kind = 'text', width = math.max(width_of(view.buf) - 1, 40), scale = view.scale }
  end
  return params
end

local function watch(source, with_position)
  local server = client.of(source)
  if server then
    client.notify(server, 'tilefit/watchMemoryMap', params_of(source, with_position))
  end
end

--- Whether the tile under the cursor of the source is in a box: by its name where it is alive, else by what the line defines.
local function is_here(tiles, line, word)
  local named, defined = false, false
  for _, tile in ipairs(tiles) do
    named = named or (tile.name == word and tile.firstLine <= line + 1 and line + 1 <= tile.lastLine)
    defined = defined or tile.range.start.line == line
  end
  return named, defined
end

--- Marks the boxes of the tile under the cursor of the source.
local function mark_cursor(source)
  local view = views[source]
  api.nvim_buf_clear_namespace(view.buf, view.here, 0, -1)
  local line, word = vim.fn.line('.') - 1, vim.fn.expand('<cword>')
  local by_name, by_line = {}, {}
  for row, spans in pairs(view.boxes) do
    for _, span in ipairs(spans) do
      local named, defined = is_here(span.tiles, line, word)
      table.insert(named and by_name or defined and by_line or {}, { row, span })
    end
  end
  for _, found in ipairs(#by_name > 0 and by_name or by_line) do
    local row, span = found[1], found[2]
    api.nvim_buf_set_extmark(view.buf, view.here, row, span.first, {
      end_col = span.last,
      hl_group = span.is_label and 'TilefitMapHereLabel' or 'TilefitMapHere',
      priority = here_priority,
    })
  end
end

--- What is tried, and the use of each memory before and after.
local function trial_lines(trial, changes)
  local names = {}
  for _, key in ipairs({ 'planner', 'target' }) do
    if trial[key] then
      table.insert(names, key .. ' ' .. trial[key])
    end
  end
  if #names == 0 then
    return {}
  end
  local lines = { ('trial: %s (s: apply, x: discard)'):format(table.concat(names, ', ')) }
  for _, change in ipairs(changes or {}) do
    table.insert(lines, '  ' .. change)
  end
  table.insert(lines, '')
  return lines
end

local function draw(source, answer)
  local view = views[source]
  local lines, marks = trial_lines(view.trial, answer.changes), {}
  view.maps, view.boxes = answer.maps, {}
  for index, map in ipairs(answer.maps) do
    if index > 1 then
      table.insert(lines, '')
    end
    local first, boxes = #lines, boxes_of(map)
    vim.list_extend(lines, map.text.lines)
    for _, mark in ipairs(map.text.marks) do
      local row = first + mark.line
      table.insert(marks, { row = row, mark = mark })
      if mark.box then
        view.boxes[row] = view.boxes[row] or {}
        table.insert(view.boxes[row], {
          first = mark.start,
          last = mark['end'],
          is_label = mark.kind:match('^label') ~= nil,
          tiles = boxes[mark.box + 1].tiles,
          details = map.text.boxes[mark.box + 1],
        })
      end
    end
  end
  if #answer.maps == 0 then
    lines = { 'tilefit: there is no kernel in this file' }
  end
  set_lines(view.buf, lines)
  api.nvim_buf_clear_namespace(view.buf, namespace, 0, -1)
  for _, each in ipairs(marks) do
    local group = highlights[each.mark.kind]
    if group then
      api.nvim_buf_set_extmark(view.buf, namespace, each.row, each.mark.start, { end_col = each.mark['end'], hl_group = group[1] })
    end
  end
  if api.nvim_get_current_buf() == source then
    mark_cursor(source)
  end
end

--- The server has drawn a map anew.
function M.on_changed(_, answer)
  local source = vim.uri_to_bufnr(answer.uri)
  if views[source] and api.nvim_buf_is_loaded(views[source].buf) then
    draw(source, answer)
  end
end

--- The box under the cursor of the map.
local function box_here(view)
  local position = api.nvim_win_get_cursor(0)
  for _, span in ipairs(view.boxes[position[1] - 1] or {}) do
    if span.first <= position[2] and position[2] < span.last then
      return span
    end
  end
end

local function jump(source)
  local box = box_here(views[source])
  if not box then
    return
  end
  local win = vim.fn.bufwinid(source)
  if win == -1 then
    vim.cmd('leftabove vertical sbuffer ' .. source)
    win = api.nvim_get_current_win()
  end
  api.nvim_set_current_win(win)
  local start = box.tiles[1].range.start
  local text = api.nvim_buf_get_lines(source, start.line, start.line + 1, false)[1] or ''
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(win, { start.line + 1, math.min(start.character, #text) })
end

local function hide_details(view)
  if view.float and api.nvim_win_is_valid(view.float) then
    api.nvim_win_close(view.float, true)
  end
  view.float = nil
end

--- Tells in words what is under the cursor of the map, beside it.
local function show_details(source)
  local view = views[source]
  hide_details(view)
  local box = box_here(view)
  if not box then
    return
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, box.details)
  local width = 1
  for _, line in ipairs(box.details) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width, math.max(vim.o.columns - 4, 20))
  local height = 0
  for _, line in ipairs(box.details) do
    height = height + math.max(math.ceil(vim.fn.strdisplaywidth(line) / width), 1)
  end
  view.float = api.nvim_open_win(buf, false, {
    relative = 'cursor',
    row = 1,
    col = 1,
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    focusable = false,
    noautocmd = true,
  })
  vim.wo[view.float].wrap = true
  api.nvim_buf_set_extmark(buf, namespace, 0, 0, { end_col = #box.details[1], hl_group = 'TilefitMapTitle' })
end

local function contain(maps, line)
  for _, map in ipairs(maps) do
    if map.range.start.line <= line and line <= map.range['end'].line then
      return true
    end
  end
  return false
end

--- In another kernel of the source, the map goes there.
local function follow(source)
  local view = views[source]
  local line = vim.fn.line('.') - 1
  if contain(view.maps, line) then
    mark_cursor(source)
    return
  end
  local server = client.of(source)
  if not server then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(source) }, position = { line = line, character = 0 } }
  local text = api.nvim_buf_get_lines(source, line, line + 1, false)[1] or ''
  params.position.character = #text:match('^%s*')
  client.request(server, 'tilefit/memoryMap', params, source, function(err, result)
    if not err and result and result ~= vim.NIL and contain(result.maps, line) and views[source] == view then
      view.anchor = api.nvim_buf_set_extmark(source, namespace, line, 0, { id = view.anchor })
      watch(source, true)
    end
  end)
end

--- Looks at the next planner or target; behind the last one at what is set.
local function try_next(source, key)
  local view = views[source]
  local names = tilefit().choices[key]
  local at = 0
  for index, name in ipairs(names) do
    at = name == view.trial[key] and index or at
  end
  view.trial[key] = names[at + 1]
  watch(source, true)
end

--- Makes what is tried the setting of this session, or leaves it.
local function end_trial(source, set)
  local view = views[source]
  local trial = view.trial
  view.trial = {}
  for key, value in pairs(set and trial or {}) do
    tilefit().set(key, value)
  end
  watch(source, true)
end

local function open(source)
  local buf = api.nvim_create_buf(false, true)
  local name = vim.fn.fnamemodify(api.nvim_buf_get_name(source), ':t:r')
  api.nvim_buf_set_name(buf, ('tilefit://%d/%s.map'):format(source, name))
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local view = { buf = buf, trial = {}, scale = 'own', maps = {}, boxes = {}, here = api.nvim_create_namespace('tilefit.map.here') }
  views[source] = view

  local group = api.nvim_create_augroup('tilefit.map.' .. source, {})
  local function on(event, watched, callback)
    api.nvim_create_autocmd(event, { group = group, buffer = watched, callback = callback })
  end
  on('CursorMoved', source, function()
    follow(source)
  end)
  on('CursorMovedI', source, function()
    follow(source)
  end)
  on('CursorMoved', buf, function()
    show_details(source)
  end)
  on({ 'BufLeave', 'WinLeave' }, buf, function()
    hide_details(view)
  end)
  on('BufWipeout', buf, function()
    hide_details(view)
    watch(source, false)
    api.nvim_del_augroup_by_id(group)
    views[source] = nil
    if api.nvim_buf_is_loaded(source) then
      api.nvim_buf_clear_namespace(source, namespace, 0, -1)
    end
  end)
  api.nvim_create_autocmd(vim.fn.exists('##WinResized') == 1 and { 'WinResized', 'VimResized' } or 'VimResized', {
    group = group,
    callback = function()
      watch(source, true)
    end,
  })
  api.nvim_buf_attach(source, false, {
    on_detach = vim.schedule_wrap(function()
      if views[source] == view then
        api.nvim_buf_delete(buf, { force = true })
      end
    end),
  })

  local from = api.nvim_get_current_win()
  vim.cmd('rightbelow vertical sbuffer ' .. buf)
  vim.wo.wrap = false
  vim.wo.number = false
  vim.wo.relativenumber = false
  vim.wo.list = false
  vim.wo.spell = false
  vim.bo[buf].filetype = 'tilefit-map'
  local function map(key, run)
    api.nvim_buf_set_keymap(buf, 'n', key, '', { callback = run, noremap = true, nowait = true, silent = true })
  end
  map('<CR>', function()
    jump(source)
  end)
  map('<2-LeftMouse>', function()
    jump(source)
  end)
  map('p', function()
    try_next(source, 'planner')
  end)
  map('t', function()
    try_next(source, 'target')
  end)
  map('s', function()
    end_trial(source, true)
  end)
  map('x', function()
    end_trial(source, false)
  end)
  map('o', function()
    view.scale = view.scale == 'own' and 'one' or 'own'
    watch(source, true)
  end)
  map('q', function()
    vim.cmd('close')
  end)
  api.nvim_set_current_win(from)
end

--- Shows the memory map of the kernel around `line` (0-based) of the buffer `source` beside it.
function M.show(source, line)
  if not client.of(source) then
    vim.notify('tilefit: no server is attached to this buffer', vim.log.levels.WARN)
    return
  end
  define_highlights()
  if not views[source] then
    open(source)
  end
  local view = views[source]
  line = math.min(line, api.nvim_buf_line_count(source) - 1)
  view.anchor = api.nvim_buf_set_extmark(source, namespace, line, 0, { id = view.anchor })
  watch(source, true)
end

--- Asks for every open map again: another server runs.
function M.refresh()
  for source in pairs(views) do
    watch(source, true)
  end
end

return M
