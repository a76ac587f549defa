@echo off
rem The same as start.bat, under its Chinese name.
if not exist "%~dp0start.bat" goto not_unpacked
call "%~dp0start.bat" --lang zh %*
exit /b %errorlevel%

:not_unpacked
echo pipekit: start.bat is not here. Unpack the whole ZIP first (right click, Extract All), then open this file there.
pause
exit /b 1
