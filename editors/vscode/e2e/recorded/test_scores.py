import sys
import types
import pytest

# Of a package that is installed where the tests run.
tuning = types.ModuleType("tuning")
tuning.tiles = lambda depth: {"ROWS": 128, "COLUMNS": 128, "DEPTH": min(depth, 64), "num_warps": 8}
sys.modules["tuning"] = tuning
from scores import score


class Pointer:
    def __init__(self, dtype):
        self.dtype = dtype

    def data_ptr(self):
        return 0


@pytest.mark.parametrize("depth", [64, 128])
def test_score(depth):
    score(Pointer("fp16"), Pointer("fp16"), Pointer("fp32"), depth)
