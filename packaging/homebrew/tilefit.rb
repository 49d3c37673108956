class Tilefit < Formula
  desc "Language server and command-line checker for tile kernels"
  homepage "https://github.com/tilefit/tilefit"
  url "https://github.com/tilefit/tilefit/archive/refs/tags/v0.1.0.tar.gz"
  # Of that archive, once there is one.
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/tilefit/tilefit.git", branch: "main"

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args(path: "server")
  end

  test do
    (testpath/"kernel.py").write <<~PYTHON
      import pypto.language as pl

      @pl.function(type=pl.FunctionType.InCore)
      def copy(x: pl.Tensor[[256, 512], pl.FP32], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
          tile = pl.load(x, [0, 0], [256, 512])
          return pl.store(tile, [0, 0], out)
    PYTHON
    assert_match "capacity-exceeded", shell_output("#{bin}/tilefit check kernel.py", 1)
  end
end
