"""Python imports this when it starts, if its folder is in PYTHONPATH: commands that tests start have the mutant too."""

from changed_import import use_changed_file

use_changed_file()
