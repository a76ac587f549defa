"""Where things lie: one folder holds everything, and whoever deletes it has deleted everything."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

COPIES = {"zh": "我的课堂", "en": "my-class"}
LANGUAGES = tuple(COPIES)


@dataclass(frozen=True)
class Places:
    """The folders and files of one pipekit folder."""

    root: Path

    @property
    def venv(self) -> Path:
        """The virtual environment that everything runs in."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The virtual environment's Python."""
        return self.venv / "Scripts" / "python.exe" if os.name == "nt" else self.venv / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """Names what `.venv` was made from, once it is complete."""
        return self.venv / "pipekit-stamp"

    @property
    def unfinished(self) -> Path:
        """Lies there from the beginning of an installation to its end, so that a break-off is noticed."""
        return self.venv / "pipekit-unfinished"

    @property
    def wheels(self) -> Path:
        """Packages brought on a USB stick; where this folder is, no network is asked."""
        return self.root / "wheels"

    @property
    def lab(self) -> Path:
        """JupyterLab's own settings, state and logs, apart from the user's Jupyter; made when asked for."""
        folder = self.root / ".lab"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    @property
    def state(self) -> Path:
        """Where the running lab can be reached."""
        return self.lab / "running.json"

    @property
    def lock(self) -> Path:
        """Held by the one start that is preparing or opening."""
        return self.lab / "start.lock"

    @property
    def server_log(self) -> Path:
        """What JupyterLab and its kernels say."""
        return self.lab / "server.log"

    @property
    def pip_log(self) -> Path:
        """What pip says."""
        return self.lab / "pip.log"

    def committed(self, language: str) -> list[Path]:
        """The notebooks that come with pipekit in a language, by name."""
        return sorted((self.root / "notebooks" / language).glob("*.ipynb"))

    def copy_of(self, committed: Path) -> Path:
        """Where the learner's copy of a notebook that comes with pipekit lies."""
        return self.root / COPIES[committed.parent.name] / committed.name

    def in_venv(self) -> bool:
        """Whether this very Python is the virtual environment's."""
        return Path(sys.prefix).resolve() == self.venv.resolve()
