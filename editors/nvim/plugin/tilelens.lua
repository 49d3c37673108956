if vim.g.loaded_tilelens then
  return
end
vim.g.loaded_tilelens = true

local tilelens = require('tilelens')

vim.api.nvim_create_user_command('Tilelens', function(call)
  tilelens.command(call.fargs)
end, {
  nargs = '+',
  desc = 'tilelens: generated C++, planner, target, restart',
  complete = function(_, line)
    return tilelens.complete(line)
  end,
})

-- The lens "show generated C++" names a command of the client, not of the server.
vim.lsp.commands['tilelens.showGeneratedCode'] = function(command)
  tilelens.show_generated_code(unpack(command.arguments))
end

tilelens.enable()
