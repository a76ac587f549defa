#!/bin/sh
# What a double click opens on a Mac; start.sh does it.
exec sh "$(dirname "$0")/start.sh" "$@"
