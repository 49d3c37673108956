---@brief
---
--- tilefit: memory plans and generated C++ of tile kernels.
---
--- Neovim 0.11 reads this file for `vim.lsp.enable('tilefit')`, and `vim.lsp.config('tilefit', {...})` is merged over it.
--- Older versions load it through `require('tilefit').enable()`.

local tilefit = require('tilefit')

return {
  cmd = { tilefit.server(), 'server' },
  filetypes = { 'python' },
  root_markers = { 'tilefit.toml', 'pyproject.toml', '.git' },
  settings = { tilefit = tilefit.settings() },
  -- The server follows every keystroke; Neovim would hold edits back for 150 ms.
  flags = { debounce_text_changes = 0 },
  handlers = {
    ['tilefit/memoryMapChanged'] = function(...)
      require('tilefit.map').on_changed(...)
    end,
  },
  on_attach = function()
    require('tilefit.map').refresh() -- after a restart nobody watches the open maps
  end,
  before_init = function(params, config)
    params.initializationOptions = config.settings.tilefit
  end,
}
