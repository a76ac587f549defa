"""`python -m pipekit doctor`: is this machine ready for the lesson?"""

from __future__ import annotations

import argparse
import json

from pipekit import doctor
from pipekit.cli.streams import spoken
from pipekit.show import say

NOT_READY = 1  # exit code


def main(asked: argparse.Namespace) -> int:
    """Print each finding as soon as it is there; exit code 1 if one is red."""
    lang = spoken(asked)
    found = []
    if not asked.json:
        print(say("doctor_title", lang), flush=True)
    for finding in doctor.examine(lang):
        found.append(finding)
        if not asked.json:
            print("\n".join(finding.lines(lang)), flush=True)
    red = sum(finding.level == "red" for finding in found)
    if asked.json:
        print(json.dumps({"red": red, "findings": [finding.record(lang) for finding in found]}, indent=1))
    else:
        print(say("doctor_ill", lang, count=red) if red else say("doctor_well", lang))
    return NOT_READY if red else 0
