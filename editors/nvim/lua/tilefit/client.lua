--- The client, whatever the version of Neovim calls its parts.

local M = {}

local has_methods = vim.fn.has('nvim-0.11') == 1

--- All running tilefit clients, or the ones attached to `buf`.
function M.all(buf)
  local list
  if vim.lsp.get_clients then
    list = vim.lsp.get_clients({ bufnr = buf })
  elseif buf then
    list = vim.lsp.buf_get_clients(buf)
  else
    list = vim.lsp.get_active_clients()
  end
  return vim.tbl_filter(function(client)
    return client.name == 'tilefit' and not M.is_stopped(client)
  end, vim.tbl_values(list))
end

function M.of(buf)
  return M.all(buf)[1]
end

local function call(client, method, ...)
  if has_methods then
    return client[method](client, ...)
  end
  return client[method](...)
end

function M.is_stopped(client)
  return call(client, 'is_stopped')
end

function M.stop(client)
  return call(client, 'stop')
end

function M.notify(client, method, params)
  return call(client, 'notify', method, params)
end

--- Sends a request about `buf`; pending edits of `buf` go first, so the answer is about the text on the screen.
--- `answer(err, result)` is called on the main loop. False when the client cannot be reached.
function M.request(client, method, params, buf, answer)
  return (call(client, 'request', method, params, answer, buf))
end

--- Calls `ask(done)` so that at most one question is open, and asks once more when it was called meanwhile: the last
--- answer is always about the last state.
function M.latest(ask)
  local open, again = false, false
  local function run()
    if open then
      again = true
      return
    end
    open = true
    ask(function()
      open = false
      if again then
        again = false
        run()
      end
    end)
  end
  return run
end

return M
