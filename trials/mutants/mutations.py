"""Small changes to Python sources, each of which a good test suite should notice.

A *site* is a place in a module that can be changed: an operator, a number, a condition, a returned
value, a call whose result is not used. Each site has one or more alternatives. Nothing is changed
in docstrings, annotations, decorators, assertions, strings and the arguments of `raise`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("/", "+"),
    ast.Div: ("*",),
    ast.FloorDiv: ("*",),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.LShift: (">>",),
    ast.RShift: ("<<",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
    ast.BitXor: ("&",),
}
_TOKENS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: r"is\b", ast.IsNot: r"is\s+not", ast.In: r"in\b", ast.NotIn: r"not\s+in",
    ast.Add: r"\+", ast.Sub: "-", ast.Mult: r"\*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: r"\*\*", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: r"\|",
    ast.BitXor: r"\^", ast.And: "and", ast.Or: "or",
}  # fmt: skip
_SWAPPED_CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}
_NAMES_LEFT_ALONE = {"__all__", "__version__", "__slots__"}


@dataclass(frozen=True)
class Mutation:
    """One replacement in one module: the bytes `start:end` become `text`."""

    start: int
    end: int
    text: str
    line: int  # counted from 1
    function: str  # qualified name of the outermost function around it; "" for module level

    def apply(self, source: str) -> str:
        """Return the changed source."""
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()

    def is_valid(self, source: str) -> bool:
        """Return whether the changed source is Python and differs in more than its layout."""
        try:
            changed = ast.parse(self.apply(source))
        except SyntaxError:
            return False
        return ast.dump(changed) != ast.dump(ast.parse(source))

    def diff(self, source: str) -> tuple[str, str]:
        r"""Return the lines that differ, before and after, without indentation.

        Example:
            >>> source = "def half(x):\n    return x / 2\n"
            >>> sites(source)[1][0].diff(source)
            ('return x / 2', 'return x * 2')
        """
        data = source.encode()
        first = data.rfind(b"\n", 0, self.start) + 1
        last = data.find(b"\n", self.end)
        last = len(data) if last < 0 else last
        after = data[first : self.start] + self.text.encode() + data[self.end : last]
        return _one_line(data[first:last]), _one_line(after)


def sites(source: str, *, compiled: bool = False) -> list[list[Mutation]]:
    """Return the sites of a module in the order of the text, each with its alternatives.

    Returned values of `compiled` code are left alone: Numba would refuse another type.

    Example:
        >>> [[m.text for m in site] for site in sites("x = 1 if y < 2 else z")]
        [['2', '0'], ['<=', '>='], ['3', '1', '0', '4']]
    """
    finder = _Finder(source, compiled)
    finder.visit(ast.parse(source))
    return sorted(finder.sites, key=lambda site: (site[0].start, site[0].end))


def _one_line(text: bytes) -> str:
    return " ".join(line.strip() for line in text.decode().splitlines()).strip()


class _Finder(ast.NodeVisitor):
    """Collects the sites of a module."""

    def __init__(self, source: str, compiled: bool) -> None:
        self.sites: list[list[Mutation]] = []
        self._data = source.encode()
        self._compiled = compiled
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._classes: list[str] = []
        self._function = ""
        self._returns = ""  # annotation of the innermost function

    # --- places ---------------------------------------------------------------------------------

    def _start(self, node: Any) -> int:
        return self._lines[int(node.lineno) - 1] + int(node.col_offset)

    def _end(self, node: Any) -> int:
        return self._lines[int(node.end_lineno) - 1] + int(node.end_col_offset)

    def _text(self, node: Any) -> str:
        return self._data[self._start(node) : self._end(node)].decode()

    def _add(self, start: int, end: int, texts: list[str]) -> None:
        line = self._data.count(b"\n", 0, start) + 1
        self.sites.append([Mutation(start, end, text, line, self._function) for text in texts])

    def _replace(self, node: Any, *texts: str) -> None:
        self._add(self._start(node), self._end(node), list(texts))

    def _replace_operator(
        self, whole: Any, left: Any, right: Any, operator: ast.AST, texts: tuple[str, ...]
    ) -> None:
        """Replace the operator between two operands; the whole gets parentheses of its own."""
        start, end = self._end(left), self._start(right)
        between = self._data[start:end].decode()
        found = re.search(_TOKENS[type(operator)], between)
        if found is None:
            return
        if isinstance(operator, (ast.cmpop, ast.Add, ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
            first = start + len(between[: found.start()].encode())
            self._add(first, first + len(found.group()), list(texts))
            return
        before = self._data[self._start(whole) : start].decode() + between[: found.start()]
        after = between[found.end() :] + self._data[end : self._end(whole)].decode()
        self._replace(whole, *(f"({before}{text}{after})" for text in texts))

    def _negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return  # a site of its own, as is a condition that begins with `not`
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return
        self._replace(test, f"(not ({self._text(test)}))")

    # --- what is left alone ---------------------------------------------------------------------

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip formatted texts."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip assertions, which are hints for the type checker."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of `zip`: an assertion
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        is_alias = not self._function and isinstance(node.value, (ast.Subscript, ast.BinOp))
        if names & _NAMES_LEFT_ALONE or (is_alias and _is_type(node.value)):
            return
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        text = ast.unparse(node.test)
        if "TYPE_CHECKING" not in text and "__name__" not in text:
            self._negate(node.test)
            self.generic_visit(node)

    # --- structure ------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
            return
        # Defaults belong to the function: the tests that call it see them.
        outer, returns = self._function, self._returns
        self._function = outer or ".".join([*self._classes, node.name])
        self._returns = ast.unparse(node.returns) if node.returns else ""
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._function, self._returns = outer, returns

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    # --- statements -----------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace(node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace(node, "pass")
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not self._compiled and not _is_none(node.value):
            text = self._text(node.value)
            if self._returns == "bool":
                self._replace(node, f"return not ({text})")
            elif self._returns in ("int", "float"):
                self._replace(node, "return None", f"return -({text})")
            else:
                self._replace(node, "return None")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        start, end = self._end(node.target), self._start(node.value)
        between = self._data[start:end].decode()
        token = re.search(_TOKENS.get(type(node.op), "$^") + "=", between)
        if token is not None:
            first = start + len(between[: token.start()].encode())
            swaps = [f"{text}=" for text in _ARITHMETIC[type(node.op)]]
            self._add(first, first + len(token.group()), swaps)
        self._replace(node, "pass")
        self.visit(node.value)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace(node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace(node, "continue")

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negate(node.test)
        self.generic_visit(node)

    # --- expressions ----------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right, operator in zip(operands, operands[1:], node.ops, strict=False):
            self._replace_operator(node, left, right, operator, _COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_text = isinstance(node.left, ast.JoinedStr) or isinstance(node.right, ast.JoinedStr)
        is_text |= any(isinstance(_value(side), (str, bytes)) for side in (node.left, node.right))
        swaps = _ARITHMETIC.get(type(node.op))
        if swaps is not None and not is_text:
            self._replace_operator(node, node.left, node.right, node.op, swaps)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        swap = ("or",) if isinstance(node.op, ast.And) else ("and",)
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace_operator(node, left, right, node.op, swap)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
            sign = "not" if isinstance(node.op, ast.Not) else "-"
            rest = self._text(node)[len(sign) :].strip()
            self._replace(node, f"({rest})")
        self.visit(node.operand)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _SWAPPED_CALLS:
            end = self._end(node.func)
            self._add(end - len(name), end, [_SWAPPED_CALLS[name]])
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        if node.lower is not None and not isinstance(_value(node.lower), int):
            self._replace(node.lower, f"{self._text(node.lower)} + 1")
        if node.upper is not None and not isinstance(_value(node.upper), int):
            self._replace(node.upper, f"{self._text(node.upper)} - 1")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, str(not value))
        elif isinstance(value, int):
            texts = [str(value + 1), str(value - 1)]
            texts += ["0", str(2 * value)] if value > 1 else []
            self._replace(node, *dict.fromkeys(texts))
        elif isinstance(value, float):
            self._replace(node, *(["1.0"] if value == 0 else [repr(2 * value), repr(value / 2)]))


def _value(node: ast.expr) -> object:
    """Return the value of a constant, also of a negative number; None for all else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_type(node: ast.expr) -> bool:
    """Return whether a module-level expression reads as a type: names and brackets alone."""
    parts = (ast.Subscript, ast.Name, ast.Attribute, ast.Tuple, ast.BinOp, ast.BitOr, ast.Load)
    others = [n for n in ast.walk(node) if not isinstance(n, parts)]
    return all(isinstance(n, ast.Constant) and not isinstance(n.value, int) for n in others)
