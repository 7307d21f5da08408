"""Import one file with other contents than it has on disk, in this process and in those that it starts."""

from __future__ import annotations

import json
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

VARIABLE = "RWK_MUTANT"  # names a file with the path of the changed file and its contents


class ChangedLoader(SourceFileLoader):
    """Loads the file of a module with other contents."""

    contents = ""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed file; compiled files on disk are not looked at."""
        return compile(self.contents, self.path, "exec", dont_inherit=True)


class ChangedFinder(MetaPathFinder):
    """Finds the module whose file is changed."""

    def __init__(self, file: str, contents: str) -> None:
        self.file, self.contents = str(Path(file).resolve()), contents

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The module's usual place, with a loader of the changed contents."""
        if not fullname.startswith("rwk."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or str(Path(spec.origin).resolve()) != self.file:
            return None
        loader = ChangedLoader(fullname, spec.origin)
        loader.contents = self.contents
        spec.loader = loader
        return spec


def use_changed_file() -> None:
    """Import the file that the environment names with its changed contents, from now on."""
    named = os.environ.get(VARIABLE)
    if named:
        change = json.loads(Path(named).read_text(encoding="utf-8"))
        sys.meta_path.insert(0, ChangedFinder(change["file"], change["source"]))
