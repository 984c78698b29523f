"""Reads Rust sources as far as the checks need: shipped code without comments, literals and test-only items."""

import re

_LITERAL = re.compile(
    r"""
    (?P<line>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>\b(?:b|c)?r(?P<hashes>\#*)")
  | (?P<string>(?:\b[bc])?"(?:\\.|[^"\\])*")
  | (?P<char>(?:\bb)?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.)|[^'\\])')
    """,
    re.VERBOSE | re.DOTALL,
)
_TEST_ATTRIBUTE = re.compile(r"#\s*(?P<inner>!?)\s*\[\s*cfg\s*\(\s*(?:test|all\s*\(\s*test\s*,[^\]]*\))\s*\)\s*\]")
_ITEM_WORDS = {
    "async", "const", "enum", "extern", "fn", "impl", "let", "macro_rules", "mod", "pub", "static", "struct",
    "trait", "type", "union", "unsafe", "use",
}
_MODULE_FILE = re.compile(r"(?:pub\s*(?:\([^)]*\)\s*)?)?mod\s+(\w+)\s*;")
_PATH_ATTRIBUTE = re.compile(r'#\s*\[\s*path\s*=\s*"([^"]+)"\s*\]')
_INLINE_PATH = re.compile(r"(?<![\w:$])(?:::\s*)?([A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+)")
_USE = re.compile(r"(?<!\w)use\s+([^;]+);")


def blank(text):
    """The text with comments and literals blanked; every position and line number stays."""
    out, at = [], 0
    while found := _LITERAL.search(text, at):
        end = found.end()
        if found["block"]:
            end = _block_comment_end(text, found.start())
        elif found["raw"]:
            close = text.find('"' + found["hashes"], end)
            end = len(text) if close < 0 else close + 1 + len(found["hashes"])
        out.append(text[at : found.start()])
        out.append(re.sub(r"[^\n]", " ", text[found.start() : end]))
        at = end
    out.append(text[at:])
    return "".join(out)


def shipped_sources(crate):
    """Pairs of path and blanked text for all of `src` that is compiled outside tests.

    A file counts as shipped unless a `#[cfg(test)] mod` names it: a file the reader cannot place is checked.
    """
    files = {path: path.read_text(encoding="utf-8") for path in sorted((crate / "src").rglob("*.rs"))}
    shipped, test_only = {}, set()
    for path, text in files.items():
        shipped[path], modules = _without_tests(path, text)
        test_only |= modules
    return [
        (path, text)
        for path, text in shipped.items()
        if path not in test_only and not any(path.is_relative_to(module.with_suffix("")) for module in test_only)
    ]


def paths(text):
    """Triples of line number, segments and alias for every path in blanked text, `use` trees spelled out."""
    for found in _USE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        for segments, alias in _use_tree(found[1].strip(), []):
            yield line, segments, alias
    for found in _INLINE_PATH.finditer(_USE.sub(lambda use: re.sub(r"[^\n]", " ", use[0]), text)):
        yield text.count("\n", 0, found.start()) + 1, re.split(r"\s*::\s*", found[1]), None


def use_trees(text):
    """Pairs of segments and alias for every name that a `use` in blanked text brings in."""
    for found in _USE.finditer(text):
        yield from _use_tree(found[1].strip(), [])


def words(text, wanted):
    """Pairs of line number and word for every wanted identifier in blanked text."""
    for found in re.finditer(r"(?<!\w)(?:" + "|".join(wanted) + r")(?!\w)", text):
        yield text.count("\n", 0, found.start()) + 1, found[0]


def _block_comment_end(text, start):
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def _without_tests(path, text):
    code, modules = blank(text), set()
    at = 0
    while found := _TEST_ATTRIBUTE.search(code, at):
        if found["inner"]:
            # An inner attribute speaks for the whole file, unless it stands inside a block.
            if code[: found.start()].count("{") == 0:
                return "", {path}
            at = found.end()
            continue
        end = _item_end(code, found.end())
        if module := _MODULE_FILE.search(code, found.end(), end):
            if _skip_attributes(code, found.end()) == module.start():
                modules |= _module_files(path, module[1], text[found.start() : end])
        code = code[: found.start()] + re.sub(r"[^\n]", " ", code[found.start() : end]) + code[end:]
        at = end
    return code, modules


def _module_files(parent, name, item):
    if named := _PATH_ATTRIBUTE.search(item):
        return {parent.parent / named[1]}
    folder = parent.parent if parent.stem in ("lib", "main", "mod") else parent.with_suffix("")
    # A folder module is entered as `name.rs` too, so that all that lies below it is found by one rule.
    return {folder / f"{name}.rs", folder / name / "mod.rs"}


def _skip_attributes(code, at):
    while found := re.compile(r"\s*#\s*\[").match(code, at):
        depth, at = 1, found.end()
        while depth and at < len(code):
            depth += {"[": 1, "]": -1}.get(code[at], 0)
            at += 1
    return re.compile(r"\s*").match(code, at).end()


def _item_end(code, at):
    at = _skip_attributes(code, at)
    first = re.compile(r"\w*").match(code, at)[0]
    ends = ";" if first in _ITEM_WORDS else ";,"
    depth = 0
    while at < len(code):
        sign = code[at]
        if depth == 0 and sign in ends:
            return at + 1
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return at
            if depth == 0 and sign == "}":
                return at + 1
        at += 1
    return at


def _use_tree(tree, prefix):
    head, brace, rest = tree.partition("{")
    if not brace:
        name, _, alias = (part.strip() for part in re.sub(r"\s+as\s+", " as ", tree).partition(" as "))
        segments = prefix + [part.strip() for part in name.split("::") if part.strip()]
        if segments[-1:] == ["self"]:
            segments.pop()
        yield segments, alias or None
        return
    prefix = prefix + [part.strip() for part in head.split("::") if part.strip()]
    depth, start, inside = 0, 0, rest[: rest.rfind("}")]
    for at, sign in enumerate(inside + ","):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            if inside[start:at].strip():
                yield from _use_tree(inside[start:at].strip(), prefix)
            start = at + 1
