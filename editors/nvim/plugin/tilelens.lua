if vim.g.loaded_tilelens then
  return
end
vim.g.loaded_tilelens = true

local tilelens = require('tilelens')

vim.api.nvim_create_user_command('Tilelens', function(call)
  tilelens.command(call.fargs)
end, {
  nargs = '+',
  desc = 'tilelens: memory map, generated C++, allocated IR, lowered MLIR, planner, target, restart',
  complete = function(_, line)
    return tilelens.complete(line)
  end,
})

-- The lenses and the actions "Show allocated IR" and "Show lowered IR" name commands of the client, not of the server.
vim.lsp.commands['tilelens.showGeneratedCode'] = function(command)
  tilelens.show('cpp', unpack(command.arguments))
end
vim.lsp.commands['tilelens.showAllocatedIr'] = function(command)
  tilelens.show('ir', unpack(command.arguments))
end
vim.lsp.commands['tilelens.showLoweredIr'] = function(command)
  tilelens.show('mlir', unpack(command.arguments))
end
vim.lsp.commands['tilelens.showMemoryMap'] = function(command)
  tilelens.show_map(unpack(command.arguments))
end

tilelens.enable()
