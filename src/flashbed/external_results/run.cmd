@echo off
rem Runs the jobs of one folder: run.cmd 01 E:\
rem What is there already is not run again. See README.txt.
setlocal
if "%~2"=="" (
  echo usage: run.cmd FOLDER PLACE   ^(a folder of jobs, such as 01; the drive with the file system, such as E:\^)
  exit /b 2
)
set "here=%~dp0%~1"
if not exist "%here%\jobs" (
  echo run.cmd: %here% has no jobs
  exit /b 2
)
where fio >nul 2>nul
if errorlevel 1 (
  echo run.cmd: fio is not installed, or not on the PATH
  exit /b 3
)
set FLASHBED_ENGINE=windowsaio
if not exist "%here%\results" mkdir "%here%\results"
cd /d "%~2"
if errorlevel 1 exit /b 2
set failed=0
for %%j in ("%here%\jobs\*.measure.fio") do call :job "%%~nj" "%%~fj"
exit /b %failed%

:job
rem %1 is NAME.measure: take the last word off.
set "name=%~n1"
if exist "%here%\results\%name%.json" exit /b 0
echo %name%
if exist flashbed-work rmdir /s /q flashbed-work
mkdir flashbed-work
cd flashbed-work
if not exist "%here%\jobs\%name%.prepare.fio" goto cold
fio --eta=never --output="%here%\results\prepare.txt" "%here%\jobs\%name%.prepare.fio"
if errorlevel 1 goto broken
:cold
cd ..
if defined FLASHBED_COLD (
  cmd /c "%FLASHBED_COLD%"
) else (
  echo Take the medium out and put it in again, so that nothing of it is in memory. Then
  pause
)
cd flashbed-work
fio --output-format=json+ --eta=never --output="%here%\results\%name%.part" %2
if errorlevel 1 goto broken
move /y "%here%\results\%name%.part" "%here%\results\%name%.json" >nul
goto tidy
:broken
set failed=1
:tidy
cd ..
rmdir /s /q flashbed-work
if exist "%here%\results\prepare.txt" del /q "%here%\results\prepare.txt"
exit /b 0
