#!/bin/sh
# Opens pipekit's control room with the first Python 3.10 or newer that there is.
cd "$(dirname "$0")" || exit 1

check='import sys; sys.exit(sys.version_info < (3, 10))'
for python in python3 python python3.14 python3.13 python3.12 python3.11 python3.10; do
    # A python3 that only offers to install one cannot run a line of Python, and is passed over.
    if "$python" -c "$check" >/dev/null 2>&1; then
        "$python" start.py "$@"
        status=$?
        break
    fi
done

if [ -z "$status" ]; then
    cat pipekit/launcher/no-python.txt
    status=1
fi
# Opened by a double click, the window would take the reason with it.
if [ "$status" -ne 0 ] && [ -t 0 ]; then
    printf '\n[Enter] '
    read -r _
fi
exit "$status"
