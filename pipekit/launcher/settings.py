"""JupyterLab's settings for a class, in a folder of our own: the user's Jupyter is neither read nor changed."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from .copies import write_whole
from .places import Places

FOLDERS = {  # what Jupyter and IPython call their folders: the folder under .lab
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}
NOT_INHERITED = ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "JUPYTER_NO_CONFIG", "JUPYTERLAB_DIR")
LOCALES = {"zh": "zh_CN", "en": "default"}
LANGUAGE_PACK = "jupyterlab_language_pack_zh_CN"
ONCE: dict[str, dict[str, Any]] = {  # written the first time only: what a learner changes later stays
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # A page that is opened again while the kernel works may speak to a closed page's subshell, and is never heard.
    "apputils-extension/kernels-settings": {"commsOverSubshells": "disabled"},
    "docmanager-extension/plugin": {"autosave": True, "autosaveInterval": 30},
}


def lab_environment(places: Places, token: str) -> dict[str, str]:
    """What JupyterLab and its kernels find in their environment."""
    ours = {name: str(places.lab / folder) for name, folder in FOLDERS.items()}
    rest = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    more = {
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_PATH": f"{places.venv.name}/etc/jupyter",  # seen from the root, as in lab.app_folders
        "PIPEKIT_STARTED": "1",
        "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1",
    }
    return {**rest, **ours, **more}


def write_settings(places: Places, language: str) -> None:
    """No news, no asking for updates, saving by itself; the interface in the language asked for, if it has that."""
    settings = places.lab / FOLDERS["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab"
    for name, values in ONCE.items():
        path = setting(settings, name)
        if not path.exists():
            put_setting(path, values)
    if importlib.util.find_spec(LANGUAGE_PACK) is not None:
        put_setting(setting(settings, "translation-extension/plugin"), {"locale": LOCALES[language]})


def setting(settings: Path, name: str) -> Path:
    """Where JupyterLab looks for a plugin's settings."""
    return settings / f"{name}.jupyterlab-settings"


def put_setting(path: Path, values: dict[str, Any]) -> None:
    """Write one plugin's settings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(values, indent=2))
