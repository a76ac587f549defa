@echo off
rem Opens pipekit's control room with the newest Python there is. Batch files keep to ASCII: cmd reads them byte by byte.
setlocal EnableExtensions DisableDelayedExpansion
chcp 65001 >nul
cd /d "%~dp0"
if not exist start.py goto not_unpacked
set "PYTHONUTF8=1"
set "CHECK=import sys; sys.exit(sys.version_info < (3, 10))"

rem Each is asked to run a line of Python: the Microsoft Store's stand-in for python.exe cannot, and is passed over.
py -3 -c "%CHECK%" >nul 2>nul
if not errorlevel 1 goto with_py
python -c "%CHECK%" >nul 2>nul
if not errorlevel 1 goto with_python
python3 -c "%CHECK%" >nul 2>nul
if not errorlevel 1 goto with_python3
goto no_python

:with_py
py -3 start.py %*
goto end

:with_python
python start.py %*
goto end

:with_python3
python3 start.py %*
goto end

:not_unpacked
echo pipekit: start.py is not here. Unpack the whole ZIP first (right click, Extract All), then open start.bat there.
pause
exit /b 1

:no_python
type pipekit\launcher\no-python.txt
pause
exit /b 1

:end
if not errorlevel 1 exit /b 0
pause
exit /b 1
