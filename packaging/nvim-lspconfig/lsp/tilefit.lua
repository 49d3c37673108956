---@brief
---
--- https://github.com/tilefit/tilefit
---
--- tilefit, a language server for tile kernels: memory plans, overflows and generated code of PyPTO, Triton, TLX, Gluon and TileLang.
---
--- Install it with `pip install tilefit` or `uv tool install tilefit`. It reports nothing in ordinary Python, and works beside a Python server.

---@type vim.lsp.Config
return {
  cmd = { 'tilefit', 'server' },
  filetypes = { 'python' },
  root_markers = { 'tilefit.toml', 'pyproject.toml', '.git' },
}
