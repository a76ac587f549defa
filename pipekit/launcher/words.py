"""Every line start.py says, in Chinese and in English; what goes wrong is one paragraph in each."""

import sys
from dataclasses import dataclass
from typing import Any, TextIO

LINES = {
    "preparing": {
        "zh": "正在准备 .venv；第一次要几分钟",
        "en": "preparing .venv; the first time this takes some minutes",
    },
    "resuming": {
        "zh": "上次的安装没有做完，接着装",
        "en": "the last installation was not finished: going on with it",
    },
    "from_wheels": {
        "zh": "从 wheels 文件夹安装，不用网络",
        "en": "installing from the folder wheels, without a network",
    },
    "installing": {"zh": "正在安装：{what}", "en": "installing {what}"},
    "still_installing": {
        "zh": "    还在安装（{seconds:.0f} 秒）：{line}",
        "en": "    still installing ({seconds:.0f} s): {line}",
    },
    "no_cpu_build": {
        "zh": "没找到 torch {version} 的 CPU 版（{index} 也问过了），改用默认版，可能有好几 GB。按 Ctrl-C 停下；"
        "--torch-index-url 可以换一个地址。",
        "en": "found no CPU build of torch {version} (asked {index} too): taking the default build, which may be "
        "several GB. To stop, press Ctrl-C; --torch-index-url names another index.",
    },
    "prepared": {"zh": "准备好了，用了 {seconds:.0f} 秒", "en": "prepared in {seconds:.0f} s"},
    "ready": {"zh": "好了：用 python3 start.py 打开", "en": "ready: `python3 start.py` opens it"},
    "interrupted": {
        "zh": "停下了；再运行一次，会从停下的地方接着来",
        "en": "stopped; start again, and it goes on from there",
    },
    "waiting": {
        "zh": "另一个 start.py 正在准备，等它做完",
        "en": "another start.py is at work: waiting for it",
    },
    "starting": {
        "zh": "正在打开控制室（第一次可能要一分钟）",
        "en": "opening the control room (the first time this can take a minute)",
    },
    "already_open": {
        "zh": "控制室已经开着，再打开它的页面",
        "en": "the control room is running already: opening its page again",
    },
    "cells_slow": {
        "zh": "第一个单元格比平时慢，先打开浏览器",
        "en": "the first cell takes longer than usual: the browser opens while it runs",
    },
    "cell_failed": {
        "zh": "一个单元格出错了，错误写在笔记本里",
        "en": "a cell of the notebook stopped with an error, which the notebook shows",
    },
    "cells_not_run": {
        "zh": "没能先运行第一个单元格（{error}）；请在页面里用“运行”菜单的“运行所有单元格”。记录在 {log}",
        "en": "could not run the first cell beforehand ({error}); use Run > Run All Cells. The log is {log}",
    },
    "opened": {"zh": "页面在\n\n    {url}\n", "en": "the page is at\n\n    {url}\n"},
    "open_it": {
        "zh": "没找到浏览器；请自己在浏览器里打开\n\n    {url}\n",
        "en": "found no browser; open this in one\n\n    {url}\n",
    },
    "how_to_stop": {"zh": "下课后，在这个窗口按 Ctrl-C 关掉", "en": "press Ctrl-C here to stop"},
    "stopping": {"zh": "正在关掉 JupyterLab", "en": "stopping JupyterLab"},
    "newer_notebook": {
        "zh": "保留你改过的 {copy}；有一份更新的，想要就运行 python3 start.py afresh（你的会留着）",
        "en": "keeping your {copy}; there is a newer one: `python3 start.py afresh` brings it and keeps yours",
    },
    "unreadable_copy": {
        "zh": "{copy} 读不出来，换上一份新的；旧的留作 {kept}",
        "en": "{copy} cannot be read: a new one takes its place, the old one is kept as {kept}",
    },
    "kept_as": {"zh": "你原来的留作 {kept}", "en": "what you had is kept as {kept}"},
    "moved": {"zh": "你的笔记本从 {old} 搬到了 {new}", "en": "your notebooks moved from {old} to {new}"},
    "shared": {
        "zh": "手机页在\n\n    {url}\n\n手机连到同一个 Wi-Fi，扫屏幕上的码，或者输入这个地址",
        "en": "the page for phones is at\n\n    {url}\n\nphones in the same Wi-Fi scan the picture on the screen, or type "
        "this address",
    },
    "open_picture": {
        "zh": "没找到浏览器；大的二维码在（只有这台电脑打得开）\n\n    {url}\n",
        "en": "found no browser; the large picture (on this machine only) is at\n\n    {url}\n",
    },
    "other_addresses": {
        "zh": "手机打不开？这台电脑还有别的地址：{addresses}；用 python3 start.py share --address 地址 换一个",
        "en": "phones don't get there? This machine has other addresses: {addresses}; `python3 start.py share --address "
        "ADDRESS` takes another one",
    },
    "share_help": {
        "zh": "只给出这一页，看不到你的笔记本。防火墙问起来，请选允许（专用网络）；学校的 Wi-Fi 不让设备互相访问时，"
        "用手机开热点。下课后按 Ctrl-C 关掉",
        "en": "this page and nothing else is given out; your notebooks are not. If the firewall asks, allow it (private "
        "networks); where the school's Wi-Fi keeps devices apart, use a phone's hotspot. Press Ctrl-C here to stop",
    },
    "visits": {"zh": "打开过 {count} 次", "en": "visits: {count}"},
    "share_ended": {
        "zh": "关掉了；一共打开过 {count} 次",
        "en": "stopped; visits: {count}",
    },
    "screen_title": {"zh": "用手机打开", "en": "Open it on your phone"},
    "screen_how": {
        "zh": "手机连上这台电脑用的 Wi-Fi，扫一扫左边的码。",
        "en": "Join the Wi-Fi that this machine is in, and scan the picture.",
    },
    "screen_also": {"zh": "也可以在浏览器里输入这个地址。", "en": "Or type this address into a browser."},
    "bundled": {
        "zh": "做好了：{folder}（{megabytes:.0f} MB，{platform}，Python {python}）。整个拷到 U 盘，再带上 Python "
        "{python} 的安装程序；在目标电脑上先把文件夹拷到硬盘，再双击{opener}。",
        "en": "made {folder} ({megabytes:.0f} MB, for {platform} with Python {python}). Put all of it on the USB "
        "stick, and an installer of Python {python} beside it; on the other machine copy the folder to the disk "
        "first, then double-click {opener}.",
    },
}

FAILURES = {
    "no_venv": {
        "zh": "这个 Python {python} 没有 venv 模块，而 pipekit 要用它把自己的软件包和系统的分开。Debian、Ubuntu："
        "运行 sudo apt-get install python{python}-venv；没有管理员权限：到 python.org 或用 conda 另装一个 Python，"
        "再用它运行 start.py。",
        "en": "This Python {python} comes without the module venv, which pipekit needs to keep its packages apart "
        "from the system's. On Debian or Ubuntu: `sudo apt-get install python{python}-venv`; without "
        "administrator rights install another Python (python.org, conda) and call start.py with it.",
    },
    "no_pip": {
        "zh": "这个 Python {python} 没有带 pip（缺 ensurepip 模块），没法安装软件包。Debian、Ubuntu：运行 sudo "
        "apt-get install python{python}-venv；没有管理员权限：到 python.org 或用 conda 另装一个 Python，再用它运行 "
        "start.py。",
        "en": "This Python {python} comes without pip (its module ensurepip is missing), so nothing can be "
        "installed. On Debian or Ubuntu: `sudo apt-get install python{python}-venv`; without administrator rights "
        "install another Python (python.org, conda) and call start.py with it.",
    },
    "venv_failed": {
        "zh": "没能建立 {venv}：{line}。常见的原因：有程序正开着 .venv，或者这个文件夹不许写。关掉那个程序，删掉 "
        ".venv，再来一次。",
        "en": "{venv} could not be made: {line}. Usual reasons: a program holds .venv open, or the folder may not "
        "be written to. Close the program, remove .venv and start again.",
    },
    "no_network": {
        "zh": "安装“{what}”时连不上网络。请检查网络；如果要用代理，运行 pip config set global.proxy 代理地址，或设置 "
        "HTTPS_PROXY。没有网络的教室：在有网络的电脑上运行 python3 start.py bundle，把做好的文件夹用 U 盘带过来。"
        "再来一次时，装好的不会重装。pip 的原话在 {log}。",
        "en": "Installing {what} found no network. Check the connection; a proxy is named by `pip config set "
        "global.proxy ADDRESS` or HTTPS_PROXY. For a classroom without a network run `python3 start.py bundle` "
        "where there is one, and bring the folder on a USB stick. Then start again: what was installed stays. "
        "pip's own words are in {log}.",
    },
    "slow_mirror": {
        "zh": "安装“{what}”时下载太慢，超时了。换一个近的镜像：python3 start.py --index-url 镜像地址（学校的，或者"
        "清华、中科大等开源镜像站写的 PyPI 地址）；只有 torch 慢时用 --torch-index-url。也可以直接再来一次：装好的"
        "不会重装。pip 的原话在 {log}。",
        "en": "Installing {what} took too long to download and ran out of time. Name a mirror nearby: `python3 "
        "start.py --index-url ADDRESS` (your school's, or a public mirror's PyPI address); if only torch is slow, "
        "`--torch-index-url`. Or just start again: what was installed stays. pip's own words are in {log}.",
    },
    "certificate": {
        "zh": "安装“{what}”时，对方的安全证书没有通过检查。先看电脑的日期和时间对不对；学校或公司的网络如果换了证书，"
        "向管理员要证书文件，运行 pip config set global.cert 文件路径，再来一次。pip 的原话在 {log}。",
        "en": "Installing {what} failed because a server's certificate could not be verified. See whether this "
        "machine's date is right; where a school or company network replaces certificates, ask its administrator "
        "for the file and run `pip config set global.cert FILE`, then start again. pip's own words are in {log}.",
    },
    "disk_full": {
        "zh": "磁盘空间不够：{folder} 所在的磁盘还剩 {free:.1f} GB，安装大约要 {needed:.1f} GB。腾出空间，或者把整个"
        "文件夹移到别的磁盘，再来一次；装好的不会重装。",
        "en": "The disk is full: {folder} has {free:.1f} GB left, and the installation needs about {needed:.1f} "
        "GB. Free some space, or move the whole folder to another disk, then start again; what was installed "
        "stays.",
    },
    "path_too_long": {
        "zh": "文件夹的路径太长：{folder} 有 {length} 个字符，在这台电脑上最多 {limit} 个。把整个文件夹移到短一点的"
        "地方，例如 {example}，再来一次。",
        "en": "The folder's path is too long: {folder} has {length} characters, and this machine allows {limit}. "
        "Move the whole folder to a shorter place, for example {example}, and start again.",
    },
    "no_permission": {
        "zh": "不许写入 {folder}。把整个文件夹移到自己的地方（例如“文档”），不用管理员权限；如果有程序或杀毒软件正开着"
        "里面的文件，先关掉它，再来一次。",
        "en": "{folder} may not be written to. Move the whole folder to a place of your own (your documents, for "
        "example); no administrator rights are needed. If a program or a virus scanner holds a file in it, close "
        "it, then start again.",
    },
    "no_match": {
        "zh": "没有合适的安装包：“{what}”没有给 {machine} 上的 Python {python} 的版本。Python 太新、32 位的 Python、"
        "Intel 处理器的苹果电脑都会这样；用镜像时，也可能镜像里缺。在 64 位电脑上装 Python 3.12，用它运行 start.py"
        "（Windows：py -3.12 start.py），或者换一个镜像。pip 的原话在 {log}。",
        "en": "There is no package that fits: {what} is not to be had for Python {python} on {machine}. A Python "
        "that is too new, a 32-bit Python and Macs with an Intel processor are the usual reasons; a mirror can "
        "also lack a package. Install Python 3.12 on a 64-bit machine and call start.py with it (Windows: `py "
        "-3.12 start.py`), or name another mirror. pip's own words are in {log}.",
    },
    "wheels_unfit": {
        "zh": "wheels 文件夹是给 {made_platform}、Python {made_python} 准备的，而这里是 {platform}、Python {python}。"
        "用 Python {made_python} 运行 start.py，或者在有网络的电脑上运行 python3 start.py bundle --platform "
        "{platform} --python {python} 重新做；有网络就删掉 wheels 文件夹。",
        "en": "The folder wheels was made for {made_platform} with Python {made_python}, and this is {platform} "
        "with Python {python}. Call start.py with Python {made_python}, or make another folder where there is a "
        "network: `python3 start.py bundle --platform {platform} --python {python}`; with a network here, remove "
        "wheels.",
    },
    "pip_failed": {
        "zh": "pip 没能安装“{what}”：{line}。它的原话在 {log}。处理好以后再来一次：装好的不会重装。",
        "en": "pip could not install {what}: {line}. Its own words are in {log}. Start again when it is mended: "
        "what was installed stays.",
    },
    "torch_broken": {
        "zh": "torch 装上了，但打不开：{line}。Windows：从微软网站安装“Visual C++ Redistributable（x64）”，再来一次；"
        "Linux：缺什么库就装什么库（常见的是 libgomp1）；刚被杀毒软件删过文件的话，放行以后删掉 .venv，再来一次。",
        "en": "torch is installed but cannot be loaded: {line}. On Windows install Microsoft's Visual C++ "
        "Redistributable (x64) and start again; on Linux install the library it names (often libgomp1); if a "
        "virus scanner took a file away, allow it, remove .venv and start again.",
    },
    "foreign_pipekit": {
        "zh": "另一个也叫 pipekit 的东西挡住了这里的：{found}。包索引上的 pipekit 是别人的项目，和这里无关。如果是 "
        "pip 装的，运行 {python} -m pip uninstall pipekit；如果是自己的文件或文件夹，改个名字；如果来自 PYTHONPATH，"
        "把它拿掉。然后再来一次。",
        "en": "Something else called pipekit stands in the way of this one: {found}. The package index's pipekit "
        "is another project. If pip installed it, run `{python} -m pip uninstall pipekit`; if it is a file or "
        "folder of yours, rename it; if it comes from PYTHONPATH, take it out. Then start again.",
    },
    "constraints": {
        "zh": "constraints.txt 里没有 {name}==… 这一行。请重新下载 pipekit 的这个文件。",
        "en": "constraints.txt has no line `{name}==...`. Take that file again from where pipekit came from.",
    },
    "lab_ended": {
        "zh": "JupyterLab 刚启动就退出了：{line}。全部记录在 {log}。删掉 .lab 文件夹（里面只有设置），再来一次；还不行，"
        "就连 .venv 一起删掉，重新准备。",
        "en": "JupyterLab ended while it started: {line}. Everything it said is in {log}. Remove the folder .lab "
        "(it only holds settings) and start again; if that is not enough, remove .venv too.",
    },
    "lab_silent": {
        "zh": "等了 {seconds:.0f} 秒，JupyterLab 还没有回答。电脑可能正忙（杀毒软件在检查新装的文件？），再来一次。"
        "记录在 {log}。",
        "en": "JupyterLab did not answer within {seconds:.0f} s. The machine may be busy (a virus scanner looking "
        "at new files?): start again. The log is {log}.",
    },
    "no_port": {
        "zh": "端口 {first} 到 {last} 都被占用了。关掉几个 JupyterLab，再来一次。",
        "en": "Ports {first} to {last} are all taken. Close a JupyterLab and start again.",
    },
    "no_lan": {
        "zh": "这台电脑没有连网络，手机到不了。连上教室的 Wi-Fi，或者用手机开热点让电脑连上，再来一次。不用网络的办法："
        "python3 start.py 准备好以后，运行 python -m pipekit page --lang zh，把写好的文件发给学生。",
        "en": "This machine is in no network, so no phone can reach it. Join the classroom's Wi-Fi, or a phone's hotspot, "
        "and start again. Without any network: `python -m pipekit page --lang en` writes the file; hand it out.",
    },
    "not_here": {
        "zh": "这台电脑没有 {address} 这个地址。它有：{known}。",
        "en": "This machine has no address {address}. It has: {known}.",
    },
    "no_share_port": {
        "zh": "端口 {first} 到 {last} 都被占用了，或者不许用。关掉别的程序，再来一次。",
        "en": "Ports {first} to {last} are all taken, or may not be used. Close another program and start again.",
    },
    "page_failed": {
        "zh": "手机页没做成：{line}",
        "en": "The page for phones could not be made: {line}",
    },
    "bundle_python": {
        "zh": "--python 要写成 3.12 这样的版本，而不是 {asked}。先看目标电脑上装的是哪一个 Python。",
        "en": "--python takes a version like 3.12, not {asked}. See which Python the other machine has.",
    },
    "bundle_exists": {
        "zh": "{folder} 已经有东西了。先把它移走，或者用 --into 换一个文件夹。",
        "en": "{folder} is there already and not empty. Move it away, or name another folder with --into.",
    },
}


class SetupError(Exception):
    """Something is missing on this machine. It carries a key of FAILURES and what fills its gaps."""

    def __init__(self, key: str, **values: Any) -> None:
        self.key, self.values = key, values
        super().__init__(self.text("en"))

    def text(self, language: str) -> str:
        """The paragraph in one language."""
        return FAILURES[self.key][language].format(**self.values)


def can_print(text: str, stream: TextIO) -> bool:
    """Whether a stream's encoding has every character of a text."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def put(text: str, stream: TextIO) -> None:
    """Print at once, so that it stands before the output of what comes next; what can't be encoded is escaped."""
    encoding = stream.encoding or "ascii"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


@dataclass(frozen=True)
class Voice:
    """Speaks one language; on a stream that lacks its characters, English."""

    language: str

    def say(self, key: str, **values: Any) -> None:
        """Print one line of LINES."""
        language = self.language if can_print(LINES[key][self.language], sys.stdout) else "en"
        put("pipekit: " + LINES[key][language].format(**values), sys.stdout)

    def explain(self, error: SetupError) -> None:
        """Print what went wrong in both languages, this voice's first."""
        for language in sorted(FAILURES[error.key], key=lambda language: language != self.language):
            if can_print(FAILURES[error.key][language], sys.stderr):
                put("\npipekit: " + error.text(language), sys.stderr)
