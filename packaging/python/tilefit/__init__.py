"""tilefit is a program, not a library: this package says where it is."""
import os
import sys
import sysconfig


def find_tilefit():
    """The path of the program that was installed with this package."""
    name = "tilefit" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else os.name + "_user"
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),  # pip install --user
        os.path.join(os.path.dirname(package), "bin"),  # pip install --target
    ]
    for folder in folders:
        program = os.path.join(folder, name)
        if os.path.isfile(program):
            return program
    raise FileNotFoundError("no {} in {}: install tilefit again".format(name, ", ".join(folders)))
