"""The two payloads of the samples, computed so that every machine gets the same bytes."""

from __future__ import annotations

import base64
import struct
import zlib
from datetime import date, timedelta

STATIONS = ("skarvholm", "utsira", "lindesnes", "oksoy", "qinhuangdao")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _stored(data: bytes) -> bytes:
    """A zlib stream of one uncompressed block: unlike compressed ones, the same everywhere."""
    size = len(data)
    block = b"\x01" + struct.pack("<HH", size, size ^ 0xFFFF) + data
    return b"\x78\x01" + block + struct.pack(">I", zlib.adler32(data))


def lamp_chart() -> str:
    """A real PNG, base64: six nights of 24 half hours, lit in yellow, the last an hour short."""
    night, lit, marker = b"\x12\x1a\x33", b"\xff\xd1\x4a", b"\xd0\x30\x30"
    rows = bytearray()
    for row in range(6):
        until = 20 if row < 5 else 18
        pixels = b"".join(
            lit if 2 <= column < until else marker if until <= column < 20 else night
            for column in range(24)
        )
        rows += b"\x00" + pixels
    header = struct.pack(">IIBBBBB", 24, 6, 8, 2, 0, 0, 0)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", _stored(bytes(rows)))
        + _chunk(b"IEND", b"")
    )
    return base64.b64encode(png).decode()


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def suite_log() -> str:
    """Over 100,000 characters of a passing test run in which only the last lines matter."""
    lines = ["run_tests: 1105 items, 2 workers, seed 20260329", ""]
    first = date(2026, 1, 1)
    for number in range(1104):
        station = STATIONS[number % len(STATIONS)]
        day = first + timedelta(days=number // len(STATIONS))
        # Nights shorten towards midsummer: a triangle over the year is close enough for a log.
        shortening = 3 * min(day.timetuple().tm_yday, 366 - day.timetuple().tm_yday) // 2
        on, off = 16 * 60 + shortening, 32 * 60 - shortening
        lines.append(
            f"tests/test_stations.py::test_lamp_window[{station}-{day}] PASSED "
            f"[{number * 100 // 1105:3d}%] on {_clock(on)} off {_clock(off)}"
        )
    lines += [
        "tests/test_stations.py::test_lamp_window[hakodate-2026-10-25] FAILED [100%]",
        "",
        "E   zoneinfo.ZoneInfoNotFoundError: 'No time zone found with key Asia/Hakodate'",
        'E   config/stations.toml:31: station "hakodate" names a zone that does not exist',
        "",
        "1 failed, 1104 passed in 48.20s",
    ]
    return "\n".join(lines)
