if vim.g.loaded_tilefit then
  return
end
vim.g.loaded_tilefit = true

local tilefit = require('tilefit')

vim.api.nvim_create_user_command('Tilefit', function(call)
  tilefit.command(call.fargs)
end, {
  nargs = '+',
  desc = 'tilefit: memory map, generated C++, allocated IR, lowered MLIR, confirmation, planner, target, restart',
  complete = function(_, line)
    return tilefit.complete(line)
  end,
})

-- The lenses and the actions "Show allocated IR" and "Show lowered IR" name commands of the client, not of the server.
vim.lsp.commands['tilefit.showGeneratedCode'] = function(command)
  tilefit.show('cpp', unpack(command.arguments))
end
vim.lsp.commands['tilefit.showAllocatedIr'] = function(command)
  tilefit.show('ir', unpack(command.arguments))
end
vim.lsp.commands['tilefit.showLoweredIr'] = function(command)
  tilefit.show('mlir', unpack(command.arguments))
end
vim.lsp.commands['tilefit.showMemoryMap'] = function(command)
  tilefit.show_map(unpack(command.arguments))
end

tilefit.enable()
