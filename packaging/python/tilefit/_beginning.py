"""Begins the recording that the environment asks for, once it is needed: Triton or torch is imported.

Imported where Python starts: by `tilefit-record.pth` of the wheel where TILEFIT_RECORD is set, and by the sitecustomize below `tilefit record`. Most
processes never import Triton: they pay for nothing more than this file.
"""
import sys


class Beginning:
    """Finds nothing itself."""
    awaited = {"triton", "torch"}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in cls.awaited:
            return None
        cls.awaited = ()
        begin()
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not cls)
        return next((spec for spec in found if spec is not None), None)


def begin():
    try:
        from . import _record
        _record.start_from_environment()
    except Exception as error:
        print("tilefit: nothing is recorded in this process: {}: {}".format(type(error).__name__, error), file=sys.stderr)


sys.meta_path.insert(0, Beginning)
