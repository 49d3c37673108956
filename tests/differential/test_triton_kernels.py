"""The generator by itself: `python3 -m unittest discover tests/differential`."""
import os, random, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import judge, triton_kernels
from plain import cells


class Kernels(unittest.TestCase):
    def test_each_kind_is_python_and_has_questions(self):
        for kind in {**triton_kernels.KINDS, **triton_kernels.OLDER}:
            asked = 0
            for number in range(12):
                r = random.Random(f"test/{kind.__name__}/{number}")
                draft = kind(r)
                compile(draft.source(), kind.__name__, "exec")
                asked += cells.cell(r, draft) is not None
            self.assertGreater(asked, 0, kind.__name__)

    def test_the_same_seed_gives_the_same_kernel(self):
        text = lambda: [triton_kernels.kernel("s", n)[0].source() for n in range(20)]
        self.assertEqual(text(), text())


class Verdicts(unittest.TestCase):
    CASE = dict(error=None, shared=100, limit=1000, tmem_columns=0)

    def said(self, low, high, status="exact", diagnostics=(), **case):
        plan = dict(status=status, diagnostics=list(diagnostics), spaces=dict(smem=dict(low=low, high=high, capacity=1000)))
        return judge.verdicts({**self.CASE, **case}, plan)

    def test_exact_and_wrong(self):
        self.assertEqual(self.said(100, 100), ["exact"])
        self.assertEqual(self.said(90, 90), ["EXACT-WRONG"])
        self.assertEqual(self.said(110, 200), ["BOUND-WRONG"])
        self.assertEqual(self.said(0, 200), ["inside"])
        self.assertEqual(self.said(0, None), ["no-bound"])

    def test_capacity(self):
        error = [dict(severity="error")]
        self.assertEqual(self.said(100, 100, diagnostics=error), ["exact", "FALSE-ERROR"])
        self.assertEqual(self.said(500, 900, shared=2000), ["BOUND-WRONG", "FALSE-FITS"])
        self.assertEqual(self.said(100, 100, limit=2000), ["exact", "CAPACITY"])

    def test_refusals(self):
        self.assertEqual(self.said(100, 100, error="no"), ["REFUSED-FITS"])
        self.assertEqual(self.said(100, 200, status="bounded", error="no"), ["refused-ok"])


if __name__ == "__main__":
    unittest.main()
