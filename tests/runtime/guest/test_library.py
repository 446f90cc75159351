"""The standard library inside the guest: what makes sense there is used here, what does not says why."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith_runtime.testing import Scripts

USED: list[tuple[str, object]] = [
    ("import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\nabc.get_cache_token() >= 0", True),
    ("import annotationlib\nannotationlib.get_annotations(lambda: 0)", {}),
    ("import argparse\np = argparse.ArgumentParser()\np.add_argument('-n', type=int)\np.parse_args(['-n', '3']).n", 3),
    ("import array\narray.array('i', [1, 2]).tolist()", [1, 2]),
    ("import ast\nast.literal_eval('[1, {2: 3}]')", [1, {2: 3}]),
    ("import asyncio\nasync def f(n): return n\nawait asyncio.gather(f(1), f(2))", [1, 2]),
    ("import atexit\natexit.register(print) is print", True),
    ("import base64\nbase64.b64encode(b'abc')", b"YWJj"),
    ("import bdb\nissubclass(bdb.Bdb, object)", True),
    ("import binascii\nbinascii.crc32(b'abc')", 891568578),
    ("import bisect\nbisect.bisect([1, 3], 2)", 1),
    ("import bz2\nbz2.decompress(bz2.compress(b'abc'))", b"abc"),
    ("import calendar\ncalendar.monthrange(2024, 2)[1]", 29),
    ("import cmath\ncmath.sqrt(-4)", 2j),
    ("import cmd\ncmd.Cmd().prompt", "(Cmd) "),
    ("import code, codeop\ncodeop.compile_command('if 1:') is None", True),
    ("import codecs\ncodecs.encode('abc', 'rot13')", "nop"),
    ("import collections\ncollections.Counter('aab')", {"a": 2, "b": 1}),
    ("import collections.abc\nisinstance({}, collections.abc.Mapping)", True),
    ("import colorsys\ncolorsys.rgb_to_hsv(1, 0, 0)", (0.0, 1.0, 1)),
    ("from compression import zstd\nzstd.decompress(zstd.compress(b'abc'))", b"abc"),
    ("import concurrent.futures\nf = concurrent.futures.Future()\nf.set_result(1)\nf.result()", 1),
    ("import configparser\nc = configparser.ConfigParser()\nc.read_string('[a]\\nb = 1')\nc['a']['b']", "1"),
    ("import contextlib\nwith contextlib.suppress(KeyError):\n    {}['a']\n1", 1),
    ("import contextvars\nv = contextvars.ContextVar('v', default=3)\nv.get()", 3),
    ("import copy\ncopy.deepcopy([[1]])", [[1]]),
    ("import copyreg\ncopyreg.dispatch_table is not None", True),
    ("import cProfile\np = cProfile.Profile()\np.runcall(len, [1])", 1),
    ("import csv, io\nlist(csv.DictReader(io.StringIO('a,b\\n1,2')))", [{"a": "1", "b": "2"}]),
    ("import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\ndataclasses.asdict(A())", {"x": 1}),
    ("import datetime\ndatetime.date(2026, 1, 31) + datetime.timedelta(1)", dt.date(2026, 2, 1)),
    ("import decimal\ndecimal.Decimal('0.1') + decimal.Decimal('0.2')", decimal.Decimal("0.3")),
    ("import difflib\ndifflib.get_close_matches('appel', ['ape', 'apple'])[0]", "apple"),
    ("import dis\nlen(list(dis.get_instructions('1'))) > 0", True),
    ("import doctest\ndoctest.testmod(doctest).failed", 0),
    ("import email\nemail.message_from_string('Subject: a\\n\\nb')['Subject']", "a"),
    ("from email.message import EmailMessage\nm = EmailMessage()\nm['To'] = 'a@b.c'\nm['To']", "a@b.c"),
    ("import encodings.idna\n'bücher'.encode('idna')", b"xn--bcher-kva"),
    ("'ä'.encode('cp1252'), b'\\x82\\xa0'.decode('shift_jis'), 'ä'.encode('utf-16-le')", (b"\xe4", "あ", b"\xe4\0")),
    ("import enum\nclass A(enum.Flag):\n    X = 1\n    Y = 2\n(A.X | A.Y)", 3),
    ("import errno\nerrno.errorcode[errno.EACCES]", "EACCES"),
    ("import faulthandler\nfaulthandler.is_enabled()", False),
    ("import filecmp, fileinput\nfilecmp.BUFSIZE", 8192),
    ("import fnmatch\nfnmatch.filter(['a.py', 'b'], '*.py')", ["a.py"]),
    ("import fractions\nstr(fractions.Fraction(1, 3) + 1)", "4/3"),
    ("import ftplib, imaplib, poplib, smtplib\n1", 1),
    ("import functools\nfunctools.reduce(int.__add__, [1, 2, 3])", 6),
    ("import gc\ngc.isenabled()", True),
    ("import getopt\ngetopt.getopt(['-a', '1'], 'a:')[0]", [("-a", "1")]),
    ("import gettext\ngettext.gettext('a')", "a"),
    ("import glob\nglob.glob('*')", []),
    ("import graphlib\nlist(graphlib.TopologicalSorter({1: [2], 2: [3]}).static_order())", [3, 2, 1]),
    ("import gzip\ngzip.decompress(gzip.compress(b'abc'))", b"abc"),
    ("import hashlib\nhashlib.sha256(b'abc').hexdigest()[:8], hashlib.md5(b'').hexdigest()[:4]", ("ba7816bf", "d41d")),
    (
        "import hashlib\nhashlib.blake2b(b'', digest_size=2).hexdigest(), hashlib.sha3_256(b'').hexdigest()[:4]",
        ("b1fe", "a7ff"),
    ),
    ("import heapq\nheapq.nlargest(2, [1, 3, 2])", [3, 2]),
    ("import hmac\nhmac.new(b'k', b'm', 'sha256').hexdigest()[:4]", "b600"),
    ("import html\nhtml.unescape('&lt;')", "<"),
    ("from html.parser import HTMLParser\np = HTMLParser()\np.feed('<a>')\np.getpos()", (1, 3)),
    ("import http, http.client, http.cookies, http.cookiejar, http.server\nhttp.HTTPStatus(404).phrase", "Not Found"),
    (
        "import importlib, importlib.metadata, importlib.resources, importlib.util\nimportlib.import_module('json').__name__",
        "json",
    ),
    ("import inspect\nstr(inspect.signature(lambda a, b=1: 0))", "(a, b=1)"),
    ("import io\nio.StringIO('a\\nb').readlines()", ["a\n", "b"]),
    ("import ipaddress\nstr(ipaddress.ip_network('10.0.0.0/30').broadcast_address)", "10.0.0.3"),
    ("import itertools\nlist(itertools.batched('abc', 2))", [("a", "b"), ("c",)]),
    ("import json\njson.loads(json.dumps({'a': [1, None, 2.5]}))", {"a": [1, None, 2.5]}),
    ("import keyword\nkeyword.iskeyword('for')", True),
    ("import linecache\nlinecache.getline('x', 1)", ""),
    ("import locale\nlocale.localeconv()['decimal_point']", "."),
    ("import logging, logging.config, logging.handlers\nlogging.getLevelName(20)", "INFO"),
    ("import lzma\nlzma.decompress(lzma.compress(b'abc'))", b"abc"),
    ("import mailbox, mimetypes\nmimetypes.guess_type('a.json')[0]", "application/json"),
    ("import marshal\nmarshal.loads(marshal.dumps([1]))", [1]),
    ("import math\nmath.isclose(math.sin(math.pi), 0, abs_tol=1e-9), math.comb(5, 2)", (True, 10)),
    ("import mmap\nlen(mmap.mmap(-1, 4096))", 4096),
    ("import modulefinder, netrc\n1", 1),
    ("import numbers\nisinstance(1, numbers.Integral)", True),
    ("import operator\noperator.itemgetter(1)([1, 2])", 2),
    ("import optparse\noptparse.OptionParser().get_usage()", "Usage:  [options]\n"),
    (
        "import os\nos.path.join('a', 'b'), os.path.splitext('a.py'), os.sep, len(os.urandom(4))",
        ("a/b", ("a", ".py"), "/", 4),
    ),
    ("import pathlib\npathlib.PurePath('a/b.txt').stem, str(pathlib.Path('a') / 'c')", ("b", "a/c")),
    ("import pdb\npdb.Pdb.__name__", "Pdb"),
    ("import pickle, pickletools\npickle.loads(pickle.dumps({1: (2,)}))", {1: (2,)}),
    ("import pkgutil\npkgutil.resolve_name('json:loads').__name__", "loads"),
    ("import platform\nplatform.python_implementation(), platform.machine()", ("CPython", "wasm32")),
    ("import plistlib\nplistlib.loads(plistlib.dumps({'a': 1}))", {"a": 1}),
    ("import posixpath, ntpath, genericpath\nntpath.join('a', 'b'), posixpath.join('a', 'b')", ("a\\b", "a/b")),
    ("import pprint\npprint.pformat({'b': 1, 'a': 2})", "{'a': 2, 'b': 1}"),
    ("import profile, pstats, timeit\ntimeit.timeit('1', number=1) >= 0", True),
    ("import py_compile, compileall, pyclbr, zipapp, trace\n1", 1),
    (
        "import pydoc\npydoc.plain(pydoc.render_doc(len)).split('\\n')[0]",
        "Python Library Documentation: built-in function len in module builtins",
    ),
    ("import queue\nq = queue.Queue()\nq.put(1)\nq.get(), q.empty()", (1, True)),
    ("import quopri\nquopri.encodestring(b'\\xe4')", b"=E4"),
    ("import random\nrandom.Random(1).randint(1, 100), len(random.sample(range(9), 3))", (18, 3)),
    ("import re\nre.sub(r'(\\w)(\\d)', r'\\2\\1', 'a1 b2')", "1a 2b"),
    ("import reprlib, rlcompleter, runpy\nreprlib.repr(list(range(100)))", "[0, 1, 2, 3, 4, 5, ...]"),
    ("import sched, time\ns = sched.scheduler()\ns.enter(0.01, 1, print, ('x',))\ns.run()", None),
    ("import secrets\nlen(secrets.token_hex(4))", 8),
    ("import selectors, select, socket, socketserver, ssl\nssl.OPENSSL_VERSION_NUMBER > 0, socket.AF_INET", (True, 2)),
    ("import shelve, shutil\nshutil.get_terminal_size()", (80, 24)),
    ("import shlex\nshlex.split(\"a 'b c'\")", ["a", "b c"]),
    ("import signal\nsignal.Signals(2).name", "SIGINT"),
    (
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t(a, b)')\nc.executemany('insert into t values (?, ?)', [(1, 'x'), (2, 'y')])\nc.execute('select max(a), json_group_array(b) from t').fetchall()",
        [(2, '["x","y"]')],
    ),
    ("import stat\nstat.filemode(0o100644)", "-rw-r--r--"),
    ("import statistics\nstatistics.median([1, 2, 4]), statistics.quantiles([1, 2, 3])", (2, [1.0, 2.0, 3.0])),
    ("import string\nstring.Template('$a').substitute(a=1), t'{1}'.interpolations[0].value", ("1", 1)),
    ("import stringprep\nstringprep.in_table_a1('\\u0221')", True),
    ("import struct\nstruct.unpack('<IH', struct.pack('<IH', 1, 2))", (1, 2)),
    ("import symtable\nsymtable.symtable('x = 1', 'x', 'exec').get_symbols()[0].get_name()", "x"),
    ("import sys\nsys.version_info[:2], sys.platform, sys.maxsize", ((3, 14), "emscripten", 2**31 - 1)),
    ("import sysconfig\nsysconfig.get_python_version()", "3.14"),
    ("import tabnanny, token, tokenize, io\nlen(list(tokenize.generate_tokens(io.StringIO('a = 1').readline)))", 5),
    (
        "import tarfile, io\nb = io.BytesIO()\nwith tarfile.open(fileobj=b, mode='w:gz') as t: t.addfile(tarfile.TarInfo('a'))\ntarfile.open(fileobj=io.BytesIO(b.getvalue())).getnames()",
        ["a"],
    ),
    ("import textwrap\ntextwrap.fill('aaa bbb', 3)", "aaa\nbbb"),
    ("import threading\nthreading.current_thread().name, threading.Lock().acquire()", ("MainThread", True)),
    (
        "import time\ntime.gmtime(0).tm_year, time.strftime('%Y', time.gmtime(86400 * 366)), time.mktime(time.gmtime(10**9))",
        (1970, "1971", 1e9),
    ),
    ("import tomllib\ntomllib.loads('a = 1\\n[b]\\nc = 2026-01-01')", {"a": 1, "b": {"c": dt.date(2026, 1, 1)}}),
    (
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    t = traceback.format_exc().splitlines()[-1]\nt",
        "ZeroDivisionError: division by zero",
    ),
    ("import tracemalloc\ntracemalloc.is_tracing()", False),
    ("import types, typing\ntyping.get_type_hints(typing.NamedTuple('A', [('x', int)])) == {'x': int}", True),
    ("import unicodedata\nunicodedata.normalize('NFD', 'ä') == 'a\\u0308', unicodedata.name('€')", (True, "EURO SIGN")),
    (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\nunittest.TestLoader().loadTestsFromTestCase(T).run(unittest.TestResult()).wasSuccessful()",
        True,
    ),
    ("from unittest import mock\nm = mock.Mock(return_value=3)\nm(1), m.call_args.args", (3, (1,))),
    (
        "import urllib.parse, urllib.request, urllib.error, urllib.robotparser\nurllib.parse.urlencode({'a': 'b c'})",
        "a=b+c",
    ),
    ("import uuid\nuuid.uuid5(uuid.NAMESPACE_DNS, 'a').version, uuid.uuid4().version, uuid.uuid7().version", (5, 4, 7)),
    (
        "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n    warnings.warn('a')\nlen(w)",
        1,
    ),
    (
        "import wave, io\nb = io.BytesIO()\nw = wave.open(b, 'wb')\nw.setnchannels(1); w.setsampwidth(2); w.setframerate(8000); w.writeframes(bytes(4)); w.close()\nlen(b.getvalue())",
        48,
    ),
    ("import weakref\nclass A: pass\na = A()\nweakref.ref(a)() is a", True),
    ("import wsgiref.util, wsgiref.headers\nwsgiref.util.guess_scheme({})", "http"),
    ("import xml.etree.ElementTree as ET\nET.fromstring('<a><b c=\"1\"/></a>').find('b').get('c')", "1"),
    ("import xml.dom.minidom\nxml.dom.minidom.parseString('<a/>').documentElement.tagName", "a"),
    ("import xml.sax, xml.sax.saxutils\nxml.sax.saxutils.escape('<')", "&lt;"),
    ("import xmlrpc.client, xmlrpc.server\nxmlrpc.client.loads(xmlrpc.client.dumps((1,)))[0]", (1,)),
    (
        "import zipfile, io\nb = io.BytesIO()\nwith zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('a', 'x')\nzipfile.ZipFile(b).read('a')",
        b"x",
    ),
    ("import zipimport, zlib\nzlib.decompress(zlib.compress(b'abc'))", b"abc"),
    (
        "import zoneinfo, datetime\ndatetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset()",
        dt.timedelta(hours=2),
    ),
    ("import zoneinfo\nlen(zoneinfo.available_timezones()) > 400", True),
]


def imported(source: str) -> str:
    found = re.search(r"(?:import|from) ([\w.]+)", source)
    return found[1] if found else source[:20]


@pytest.mark.parametrize(("source", "value"), USED, ids=lambda part: imported(part) if isinstance(part, str) else "")
def test_a_module_that_is_there_is_used(scripts: Scripts, source: str, value: object) -> None:
    assert scripts.run(source).value == value


EVERY = """
import sys, warnings
warnings.simplefilter("ignore")
answers = {}
for name in sorted(sys.stdlib_module_names):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        answers[name] = str(error)
answers
"""


def test_every_public_module_imports_or_says_why(scripts: Scripts) -> None:
    absent = scripts.run(EVERY, limits=None).value
    assert isinstance(absent, dict)
    public = {name: message for name, message in absent.items() if not name.startswith("_")}
    assert all(message.startswith(f"{name} is not available: ") for name, message in public.items()), public
    assert " ".join(sorted(public)) == (
        "antigravity ctypes curses dbm ensurepip grp idlelib msvcrt multiprocessing nt pty pwd pydoc_data readline "
        "resource site syslog termios this tkinter tty turtle turtledemo venv webbrowser winreg winsound"
    )


def test_every_carried_module_compiles(scripts: Scripts) -> None:
    source = (
        "from isolith_runtime.guest import importer\n"
        "finder = importer.CarriedImporter()\n"
        "[name for name in importer.carried if finder.get_code(name).co_name != '<module>']"
    )
    assert scripts.run(source).value == []


# what is there and refuses

FILES = "there is no file system here: take data from `input`, keep bytes with artifact(...), or call a connector"
REFUSED: list[tuple[str, str]] = [
    ("open('/etc/passwd')", FILES),
    ("import io\nio.open('a', 'w')", FILES),
    ("import os\nos.listdir('/')", FILES),
    ("import os\nos.stat('a')", FILES),
    ("import os\nlist(os.walk('/'))", FILES),
    ("import os\nos.makedirs('a/b')", FILES),
    ("import os\nos.remove('a')", FILES),
    ("import pathlib\npathlib.Path('a').read_text()", FILES),
    ("import pathlib\npathlib.Path('a').write_text('x')", FILES),
    ("import shutil\nshutil.copy('a', 'b')", FILES),
    ("import tempfile\ntempfile.mkdtemp()", FILES),
    ("import tempfile\ntempfile.NamedTemporaryFile()", FILES),
    ("import zipfile\nzipfile.ZipFile('a.zip')", FILES),
    ("import logging\nlogging.FileHandler('a.log')", FILES),
    ("import socket\nsocket.socket()", "there is no network here: call a connector"),
    ("import socket\nsocket.create_connection(('a', 80))", "there is no network here: call a connector"),
    ("import socket\nsocket.getaddrinfo('a', 80)", "there is no network here: call a connector"),
    ("import socket\nsocket.getprotobyname('tcp')", "there is no network here: call a connector"),
    ("import urllib.request\nurllib.request.urlopen('http://a')", "there is no network here: call a connector"),
    ("import http.client\nhttp.client.HTTPSConnection('a').request('GET', '/')", "there is no network here"),
    ("await asyncio.open_connection('a', 80)", "there is no network here: call a connector"),
    ("await asyncio.start_server(print, 'a', 80)", "there is no network here: call a connector"),
    ("import subprocess\nsubprocess.run(['ls'])", "there are no processes here: call a connector"),
    ("import os\nos.system('ls')", "there are no processes here: call a connector"),
    ("import os\nos.popen('ls')", "there are no processes here: call a connector"),
    ("import os\nos.fork()", "there are no processes here: call a connector"),
    ("import os\nos.kill(1, 9)", "there are no processes here: call a connector"),
    ("await asyncio.create_subprocess_exec('ls')", "there are no processes here: call a connector"),
    ("import threading\nthreading.Thread(target=print).start()", "there are no threads here: use asyncio.gather(...)"),
    ("import threading\nthreading.Timer(1, print).start()", "there are no threads here: use asyncio.gather(...)"),
    ("await asyncio.to_thread(print)", "there are no threads here: use asyncio.gather(...) or a TaskGroup"),
    (
        "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(print)",
        "there are no threads here",
    ),
    ("from concurrent.futures import ProcessPoolExecutor", "multiprocessing is not available: there are no processes"),
    (
        "import os\nos.environ['HOME']",
        "KeyError: 'HOME': there is no environment here: take settings from `input` or a connector",
    ),
    ("import os\nos.environ", "there is no environment here: take settings from `input` or a connector"),
    ("import os\ndict(os.environ)", "there is no environment here: take settings from `input` or a connector"),
    ("import os\nos.environ['A'] = 'b'", "there is no environment here: take settings from `input` or a connector"),
    ("import os\nos.getenv('HOME')", "there is no environment here: take settings from `input` or a connector"),
    ("import os\nos.environb[b'HOME']", "there is no environment here"),
    ("import signal\nsignal.raise_signal(2)", "there are no signals here"),
    ("import sys\nsys.stdin.read()", "nobody is there to ask: take data from `input`"),
    ("import sys\n[line for line in sys.stdin]", "nobody is there to ask: take data from `input`"),
    ("import builtins\nbuiltins.input('name?')", "nobody is there to ask: take data from `input`"),
    ("breakpoint()", "there is no debugger here: use print(...)"),
    ("import curses", "curses is not available: there is no terminal here"),
    ("import js", "js is not available: there is no JavaScript here"),
    ("import requests", "requests is not available: there is no network here: call a connector"),
    ("import numpy as np", "numpy is not available: use the statistics and math modules"),
    ("import curses.panel", "curses is not available: there is no terminal here"),
]


@pytest.mark.parametrize(("source", "message"), REFUSED, ids=lambda part: part.replace("\n", ";")[:50])
def test_what_cannot_be_used_says_what_to_use(scripts: Scripts, source: str, message: str) -> None:
    ran = scripts.run(source)
    assert ran.failure.kind == "exception"
    assert message in ran.failure.message


QUIET: list[tuple[str, object]] = [
    (
        "import os\nos.path.exists('/etc/passwd'), os.getcwd(), 'A' in os.environ, os.getenv('A', 'b')",
        (False, "/", False, "b"),
    ),
    ("import pathlib\npathlib.Path('/etc').exists(), list(pathlib.Path('/').glob('*'))", (False, [])),
    (
        "import io, tempfile\nwith tempfile.SpooledTemporaryFile() as f:\n    f.write(b'a')\nio.BytesIO(b'b').read()",
        b"b",
    ),
    ("import os\nos.environb is os.environ, len(os.environ), repr(os.environ)", (True, 0, "environ({})")),
    ("import posix\nposix.environ", {}),
    ("import os\nos.cpu_count(), os.getpid() > 0, os.uname().machine", (1, True, "wasm32")),
]


@pytest.mark.parametrize(("source", "value"), QUIET)
def test_what_the_library_asks_for_itself_is_answered(scripts: Scripts, source: str, value: object) -> None:
    assert scripts.run(source).value == value


# below what refuses: the system calls themselves

ERRNOS: list[tuple[str, str]] = [
    ("import _io\n_io.open('/etc/passwd')", "PermissionError: [Errno 2] Permission denied"),
    ("import io\nio.FileIO('a', 'w')", "PermissionError: [Errno 2] Permission denied"),
    ("import _socket\n_socket.socket()", "PermissionError: [Errno 2] Permission denied"),
    ("import _socket\n_socket.socket(2, 1, 0, 4)", "OSError: [Errno 8] Bad file descriptor"),
    ("import _socket\n_socket.getaddrinfo('a', 80)", "gaierror: [Errno -4] Non-recoverable error"),
    ("import _socket\n_socket.getnameinfo(('127.0.0.1', 80), 0)", "gaierror: [Errno -4] Non-recoverable error"),
    ("import _socket\n_socket.gethostbyname('a')", "gaierror: [Errno -4] Non-recoverable error"),
    ("import _socket\n_socket.getprotobyname('tcp')", "OSError: protocol not found"),
    ("import select\np = select.poll()\np.register(4)\np.poll(1)", "OSError: [Errno 52] Function not implemented"),
    ("import select\nselect.select([4], [], [], 1)", "OSError: [Errno"),
    ("import _thread\n_thread.start_new_thread(print, ())", "RuntimeError: can't start new thread"),
    ("import os\nos.pipe()", "PermissionError: [Errno 2] Permission denied"),
    ("import os\nos.read(0, 1)", "OSError: [Errno 8] Bad file descriptor"),
    ("import os\nos.close(4)", "OSError: [Errno 8] Bad file descriptor"),
    ("import os\nos.lseek(4, 0, 0)", "OSError: [Errno 8] Bad file descriptor"),
    ("import os\nos.fsync(1)", "OSError: [Errno 8] Bad file descriptor"),
    ("import os\nos.get_terminal_size()", "OSError: [Errno 59] Not a tty"),
    ("import os\nos.chroot('/')", "PermissionError: [Errno 2] Permission denied"),
    ("import time\ntime.clock_settime(0, 5)", "PermissionError: [Errno 63] Operation not permitted"),
    (
        "import _imp, importlib.machinery as m\n_imp.create_dynamic(m.ModuleSpec('a', None, origin='/a.so'))",
        "ImportError: ",
    ),
]


@pytest.mark.parametrize(("source", "message"), ERRNOS, ids=lambda part: part.replace("\n", ";")[:50])
def test_a_system_call_is_an_error_and_not_the_end_of_the_interpreter(
    scripts: Scripts, source: str, message: str
) -> None:
    assert message in scripts.run(source).failure.message
