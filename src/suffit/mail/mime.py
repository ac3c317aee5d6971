"""The parts of a message, found in one pass over its delimiter lines, however deep they are nested."""

from __future__ import annotations

from dataclasses import dataclass, field

from .headers import Headers, parse_parameters, split_header, value_of

PLAIN, EMBEDDED = "text/plain", "message/rfc822"
LONGEST_BOUNDARY = 250  # bytes; the standard allows 70


@dataclass(slots=True)
class Part:
    """A part without parts of its own: its header, and where its body lies in the message."""

    headers: Headers
    kind: str  # the content type
    parameters: dict[str, str]
    start: int
    end: int = -1


@dataclass(slots=True)
class Container:
    """A multipart that is open."""

    boundary: bytes
    body: int  # where it begins
    inside: str  # content type of those of its parts that declare none
    hidden: Container | None  # the one further out with the same boundary
    seen: bool = False  # whether its boundary has come


@dataclass(slots=True)
class Parts:
    """What was found: the parts that hold something, and what stands around them."""

    leaves: list[Part] = field(default_factory=list)
    containers: list[str] = field(default_factory=list)  # content types
    embedded: list[Headers] = field(default_factory=list)  # headers of messages within the message
    notes: list[str] = field(default_factory=list)


class Walk:
    """A pass over the delimiter lines of a message.

    Every line that begins with two hyphens is looked up once among all open boundaries, and every header is read once,
    so that the time is linear in the number of bytes, whatever the nesting; and no more than so many lines, parts and
    bytes of a header.
    """

    def __init__(self, data: bytes, most_parts: int, most_header: int, most_lines: int) -> None:
        self.data, self.most_parts, self.most_header, self.most_lines = data, most_parts, most_header, most_lines
        self.found = Parts()
        self.stack: list[Container] = []
        self.innermost: dict[bytes, Container] = {}
        self.leaf: Part | None = None
        self.entered = 0  # parts, containers and embedded messages

    def parts(self, headers: Headers, body: int) -> Parts:
        """All parts of a message whose own header has been read; ``data[body - 1]`` is the end of a line."""
        data, size, waiting = self.data, len(self.data), -1
        self.enter(headers, body, size, PLAIN)
        at = body - 1
        for _ in range(self.most_lines):
            at = data.find(b"\n--", at) if self.stack else -1
            if at < 0:
                break
            if waiting >= 0:  # a part whose header ends here at the latest
                self.open(waiting, at)
                waiting = -1
            line_end = data.find(b"\n", at + 3, at + LONGEST_BOUNDARY + 9)
            line = data[at + 3 : line_end if line_end >= 0 else at + LONGEST_BOUNDARY + 9].rstrip()
            container, last = self.innermost.get(line), False
            if container is None and line.endswith(b"--"):
                container, last = self.innermost.get(line[:-2]), True
            at += 3
            if container is None:
                continue
            self.close(at - 3, container)
            if last:
                self.pop(at - 3)
            elif self.entered >= self.most_parts:
                return self.found
            elif line_end >= 0:
                waiting, at = line_end + 1, line_end
        else:
            self.found.notes.append(f"{self.most_lines} lines begin as boundaries do; no part after them was found")
        if waiting >= 0:
            self.open(waiting, size)
        self.close(size, None)
        return self.found

    def open(self, start: int, end: int) -> None:
        """Read the header of a part that begins at a position and go into what it holds."""
        headers, body, cut = split_header(self.data, start, max(start, end), self.most_header)
        if cut:
            self.found.notes.append(f"a part's header is longer than {self.most_header} bytes")
        self.enter(headers, body, end, self.stack[-1].inside)

    def enter(self, headers: Headers, body: int, end: int, default: str) -> None:
        """Go into a part: through the messages it embeds, into the container it is, or stay in it as a leaf."""
        while True:
            self.entered += 1
            kind, parameters = parse_parameters(value_of(headers, "content-type") or default)
            is_encoded = value_of(headers, "content-transfer-encoding").lower() == "base64"
            if kind != EMBEDDED or is_encoded or self.entered >= self.most_parts:
                break
            if self.data.startswith((b"From ", b">From "), body):
                body = self.data.find(b"\n", body, end) + 1 or end
            headers, body, _ = split_header(self.data, body, max(body, end), self.most_header)
            self.found.embedded.append(headers)
            default = PLAIN
        if self.entered == self.most_parts:
            self.found.notes.append(f"{self.most_parts} parts or more; what comes after them was not read")
        boundary = parameters.get("boundary", "").rstrip().encode("utf-8", "replace")
        if not kind.startswith("multipart/"):
            self.leaf = Part(headers, kind, parameters, body)
        elif not 0 < len(boundary) <= LONGEST_BOUNDARY:
            self.found.notes.append("a multipart without a usable boundary was read as text")
            self.leaf = Part(headers, PLAIN, parameters, body)
        else:
            self.found.containers.append(kind)
            inside = EMBEDDED if kind == "multipart/digest" else PLAIN
            container = Container(boundary, body, inside, self.innermost.get(boundary))
            self.stack.append(container)
            self.innermost[boundary] = container

    def close(self, end: int, container: Container | None) -> None:
        """End the part that is open, and every container inside the one whose boundary has come (None: all)."""
        if self.leaf is not None:
            self.leaf.end = max(self.leaf.start, end)
            self.found.leaves.append(self.leaf)
            self.leaf = None
        while self.stack and self.stack[-1] is not container:
            self.pop(end)
        if container is not None:
            container.seen = True

    def pop(self, end: int) -> None:
        """Leave the innermost container; one whose boundary never came was text."""
        container = self.stack.pop()
        del self.innermost[container.boundary]
        if container.hidden is not None:
            self.innermost[container.boundary] = container.hidden
        if not container.seen:
            self.found.notes.append("a multipart whose boundary never comes was read as text")
            self.found.leaves.append(Part([], PLAIN, {}, container.body, max(container.body, end)))
