---@brief
---
--- tilelens: memory plans and generated C++ of tile kernels.
---
--- Neovim 0.11 reads this file for `vim.lsp.enable('tilelens')`, and `vim.lsp.config('tilelens', {...})` is merged over it.
--- Older versions load it through `require('tilelens').enable()`.

local tilelens = require('tilelens')

return {
  cmd = { tilelens.server(), 'server' },
  filetypes = { 'python' },
  root_markers = { 'tilelens.toml', 'pyproject.toml', '.git' },
  settings = { tilelens = tilelens.settings() },
  -- The server follows every keystroke; Neovim would hold edits back for 150 ms.
  flags = { debounce_text_changes = 0 },
  handlers = {
    ['tilelens/memoryMapChanged'] = function(...)
      require('tilelens.map').on_changed(...)
    end,
  },
  on_attach = function()
    require('tilelens.map').refresh() -- after a restart nobody watches the open maps
  end,
  before_init = function(params, config)
    params.initializationOptions = config.settings.tilelens
  end,
}
