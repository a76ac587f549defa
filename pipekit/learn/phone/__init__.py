"""One file for phones and pads: the lesson's numbers to look up, games, three questions; no network, no lab."""
