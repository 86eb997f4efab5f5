"""Print, for each room of the product, how much code it has and how dense that is: `python -m tests.size`.

Tokens are those of code, without comments, docstrings and line ends; the words of a program for nodes count
as well. Densities are per 10,000 tokens. Nothing fails: a number is to be looked at.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("clusterlift", "jobs", "datagen", "harness")
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
PROGRAM_LINES = 3
"""A text of more lines is a program for nodes."""
BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.comprehension)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DENSITIES = ("packed", "comprehensions", "several fors", "walrus", "conditional", "starred")


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the first lines of all docstrings, also of attributes."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    statements = [each for node in ast.walk(tree) if isinstance(node, kinds) for each in node.body]
    return {
        each.lineno
        for each in statements
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }


def tokens_of(text: str, tree: ast.AST) -> int:
    """Return the number of tokens of code, and of words in programs for nodes."""
    docstrings = docstring_lines(tree)
    count = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_string = token.type == tokenize.STRING
        is_docstring = is_string and token.start[0] in docstrings
        if token.type in LAYOUT or is_docstring:
            continue
        count += 1
        if is_string and token.string.count("\n") > PROGRAM_LINES:
            count += len(token.string.split())
    return count


def measured(path: Path) -> Counter[str]:
    """Return what a module has."""
    text = path.read_text()
    if path.suffix == ".sh":
        return Counter(files=1, tokens=len(text.split()))
    tree = ast.parse(text)
    found = Counter(files=1, tokens=tokens_of(text, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            is_packed = isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
            found["packed"] += is_packed
        found["branches"] += isinstance(node, BRANCHES)
        found["functions"] += isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, COMPREHENSIONS):
            found["comprehensions"] += 1
            found["several fors"] += len(node.generators) > 1
        found["walrus"] += isinstance(node, ast.NamedExpr)
        found["conditional"] += isinstance(node, ast.IfExp)
        found["starred"] += isinstance(node, ast.Starred)
    return found


def room_of(path: Path) -> str:
    """Return the room that a module is in: the folder, at most two levels deep."""
    parts = path.relative_to(ROOT).parts[:-1]
    return "/".join(parts[:3] if parts[:2] == ("harness", "analysis") else parts[:2])


def row(room: str, found: Counter[str]) -> str:
    per_10_000 = max(found["tokens"], 1) / 10_000
    sizes = [f"{found[key]:>9,}" for key in ("files", "functions", "tokens", "branches")]
    densities = [f"{found[key] / per_10_000:>{len(key) + 2}.1f}" for key in DENSITIES]
    return f"{room:<26}{''.join(sizes)}{''.join(densities)}"


def main() -> None:
    """Print the table, the largest room first."""
    rooms: dict[str, Counter[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in {".py", ".sh"}:
                rooms.setdefault(room_of(path), Counter()).update(measured(path))
    heads = [f"{key:>9}" for key in ("files", "functions", "tokens", "branches")]
    heads += [f"  {key}" for key in DENSITIES]
    print(f"{'room':<26}{''.join(heads)}")
    for room, found in sorted(rooms.items(), key=lambda item: -item[1]["tokens"]):
        print(row(room, found))
    print(row("all", sum(rooms.values(), Counter())))


if __name__ == "__main__":
    main()
