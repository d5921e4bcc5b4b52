"""C++ text without a compiler: comments and literals blanked, includes, function bodies.

A heuristic, not a parser: it knows what the house style allows, and line numbers always hold.
"""

import re
from typing import Iterator, NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<raw>\b(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
    | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<number>\b[0-9](?:'?[0-9a-zA-Z_.])*)
    | (?P<character>'(?:\\.|[^'\\\n])+')
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_NOT_A_FUNCTION = re.compile(
    r"(?:template\s*<.*>\s*)?(?:class|struct|union|enum|namespace)\b"
    r"|(?:if|for|while|switch|catch|do|else|try)\b",
    re.DOTALL,
)
_ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")


class Include(NamedTuple):
    line: int
    name: str  # with its quotes or angle brackets


class Function(NamedTuple):
    line: int
    line_count: int  # from the first line of its head to the closing brace


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def without_comments(text: str, keep_literals: bool = True) -> str:
    """`text` with comments (and the insides of literals) blanked; lines stay where they are."""

    def replaced(match: re.Match) -> str:
        token = match.group(0)
        if match.group("comment"):
            return _blank(token)
        if keep_literals or match.group("number"):
            return token
        return token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replaced, text)


def line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def includes(text: str) -> Iterator[Include]:
    code = without_comments(text)
    for match in _INCLUDE.finditer(code):
        yield Include(line_at(code, match.start(1)), match.group(1))


def _is_function_head(head: str) -> bool:
    if "(" not in head or head.count("(") != head.count(")"):
        return False
    if _NOT_A_FUNCTION.match(head):
        return False
    return not head.endswith(("=", ",", "return"))


def functions(text: str) -> Iterator[Function]:
    """Functions, test bodies, lambdas outside functions; what a function holds belongs to it."""
    code = without_comments(text, keep_literals=False)
    code = _DIRECTIVE.sub(lambda match: _blank(match.group(0)), code)
    open_braces = []  # the first line of a function's head, or None for any other brace
    inside = False
    head_start = 0
    for match in re.finditer(r"[{};]", code):
        symbol, position = match.group(0), match.start()
        if symbol == "{":
            head = code[head_start:position]
            access = _ACCESS.match(head)
            if access:
                head = head[access.end() :]
            first = position - len(head.lstrip()) if head.strip() else position
            is_function = not inside and _is_function_head(head.strip())
            open_braces.append(line_at(code, first) if is_function else None)
            inside = inside or is_function
        elif symbol == "}" and open_braces:
            first_line = open_braces.pop()
            if first_line is not None:
                inside = False
                yield Function(first_line, line_at(code, position) - first_line + 1)
        head_start = position + 1
