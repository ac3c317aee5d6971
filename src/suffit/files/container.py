"""The bytes of a model file: a safetensors file whose last 32 bytes are the SHA-256 of all bytes before them.

    8 bytes         length N of the header, unsigned, little-endian
    N bytes         header: JSON, {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets"}, …}, padded
    the rest        the arrays one after the other, without gaps; the last is "sha256", 32 bytes

Everything that is declared is compared with the bytes that are there before anything is made of it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

DIGEST = "sha256"
DIGEST_SIZE = 32
METADATA = "__metadata__"
LONGEST_HEADER = 100_000_000  # bytes, as in other readers of the format
MOST_DIMENSIONS = 16
DEEPEST = 60  # brackets within brackets in JSON
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8",
    "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

Arrays = Mapping[str, NDArray[np.generic]]


class RefusedError(Exception):
    """What is wrong with a file, or cannot be written to one; whoever knows its name says so."""


def refuse(reason: str) -> NoReturn:
    """Stop reading or writing, for this reason."""
    raise RefusedError(reason)


def assembled(metadata: Mapping[str, str], arrays: Arrays) -> bytes:
    """The file of these arrays; those with larger numbers come first, so that each lies at a multiple of its size."""
    placed = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, object] = {METADATA: dict(metadata)}
    start = 0
    for name, a in placed:
        header[name] = {"dtype": NAMES[a.dtype.str], "shape": list(a.shape), "data_offsets": [start, start + a.nbytes]}
        start += a.nbytes
    header[DIGEST] = {"dtype": "U8", "shape": [DIGEST_SIZE], "data_offsets": [start, start + DIGEST_SIZE]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        refuse(f"its names and labels take {len(text)} bytes, and a file may have {LONGEST_HEADER}; use fewer")
    content = b"".join([len(text).to_bytes(8, "little"), text, *(a.tobytes() for _, a in placed)])
    return content + hashlib.sha256(content).digest()


def taken_apart(data: bytes) -> tuple[dict[str, str], dict[str, NDArray[np.generic]]]:
    """The metadata and the arrays of a file, which are views of its bytes."""
    if len(data) < 8 + DIGEST_SIZE:
        refuse(f"it has {len(data)} bytes, too few for a model file")
    if hashlib.sha256(memoryview(data)[:-DIGEST_SIZE]).digest() != data[-DIGEST_SIZE:]:
        ours = data[:100][8:].startswith(f'{{"{METADATA}"'.encode())
        refuse(f"its content does not have the SHA-256 at its end: it is {'damaged' if ours else 'no model of suffit'}")
    length = int.from_bytes(data[:8], "little")
    if length > min(LONGEST_HEADER, len(data) - 8 - DIGEST_SIZE):
        refuse(f"its header is declared with {length} bytes, and the file has {len(data)}")
    header = parsed(data[8 : 8 + length])
    metadata = header.pop(METADATA, None)
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        refuse("its header has no metadata")
    return metadata, dict(_arrays(header, data, 8 + length))


def parsed(text: bytes) -> dict[str, object]:
    """JSON as objects: no key twice, no NaN, not too deep."""
    _check_depth(text)
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        refuse(f"it holds text that is no JSON ({error})")
    if not isinstance(found, dict):
        refuse("it holds JSON that is no object")
    return found


def _check_depth(text: bytes) -> None:
    """Refuse brackets within brackets that would exhaust a parser."""
    marks = np.frombuffer(text, np.uint8)
    opened = (marks == ord("[")) | (marks == ord("{"))
    closed = (marks == ord("]")) | (marks == ord("}"))
    if opened.sum() > DEEPEST:  # else it cannot be too deep
        quoted = _quoted(marks)
        depth = np.cumsum((opened & ~quoted).astype(np.int32) - (closed & ~quoted).astype(np.int32))
        if depth.max(initial=0) > DEEPEST:
            refuse(f"it holds JSON nested more than {DEEPEST} deep")


def _quoted(marks: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes of JSON lie within strings: after an odd number of quotes that no odd run of backslashes precedes."""
    places = np.arange(len(marks))
    plain = np.maximum.accumulate(np.where(marks != ord("\\"), places, -1))  # the last byte so far that is none
    run = np.concatenate([[0], (places - plain)[:-1]]) if len(marks) else places  # of backslashes right before
    quotes = (marks == ord('"')) & (run % 2 == 0)
    return np.asarray(np.cumsum(quotes) % 2 == 1)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _arrays(header: dict[str, object], data: bytes, start: int) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Every array; refused where one is not exactly as long as declared, or bytes belong to none or two of them."""
    read = [(*_entry(name, entry), name) for name, entry in header.items()]
    at, last = 0, ""
    for first, stop, shape, dtype, name in sorted(read, key=lambda entry: entry[:2]):
        if first != at or stop - first != math.prod(shape) * dtype.itemsize:
            refuse(f"array {name[:100]!r} is not where its header has it")
        at, last = stop, name
    if at != len(data) - start or last != DIGEST:
        refuse("its header does not account for all of its bytes")
    for first, _, shape, dtype, name in read:
        if name != DIGEST:
            yield name, np.frombuffer(data, dtype, math.prod(shape), start + first).reshape(shape)


def _entry(name: str, entry: object) -> tuple[int, int, tuple[int, ...], np.dtype[np.generic]]:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        refuse(f"the header of array {name[:100]!r} is not dtype, shape and data_offsets")
    shape, offsets, dtype = entry["shape"], entry["data_offsets"], entry["dtype"]
    if not (sizes(shape) and sizes(offsets) and len(offsets) == 2 and isinstance(dtype, str) and dtype in DTYPES):
        refuse(f"the header of array {name[:100]!r} is not that of an array")
    return offsets[0], offsets[1], tuple(shape), np.dtype(DTYPES[dtype])


def sizes(value: object) -> TypeGuard[list[int]]:
    """Whether this is a list of integers from 0 on, such as a shape."""
    return (
        isinstance(value, list)
        and len(value) <= MOST_DIMENSIONS
        and all(type(n) is int and 0 <= n < 1 << 62 for n in value)
    )
