import os
import subprocess
import sys

from tilefit import find_tilefit

if sys.argv[1:2] == ["record"]:
    from tilefit import _run
    sys.exit(_run.main(sys.argv[2:]))
program = find_tilefit()
if sys.platform == "win32":  # where `exec` would return to the shell at once
    sys.exit(subprocess.call([program, *sys.argv[1:]]))
os.execv(program, [program, *sys.argv[1:]])
