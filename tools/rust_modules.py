"""The modules of a crate and what they import of each other, with re-exports traced to the module that defines a name."""

import re
from collections import defaultdict

from rust_source import paths, shipped_sources, use_trees

_ITEM = re.compile(r"(?<!\w)(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+([A-Za-z_]\w*)")
_RE_EXPORT = re.compile(r"pub(?:\s*\([^)]*\))?\s+use\s+[^;]+;")
_PUBLIC_TYPE = re.compile(r"^pub\s+(?:struct|enum|trait|type|union)\s+([A-Za-z_]\w*)", re.MULTILINE)


class Modules:
    """A module is named by the tuple of its path inside the crate; the root is the empty tuple."""

    def __init__(self, crate):
        self.texts = {}
        for path, text in shipped_sources(crate):
            parts = path.relative_to(crate / "src").with_suffix("").parts
            if parts[-1] == "mod" or parts in (("lib",), ("main",)):
                parts = parts[:-1]
            self.texts[parts] = text
        self.items = {module: set(_ITEM.findall(text)) for module, text in self.texts.items()}
        self.uses = {module: self._uses(text) for module, text in self.texts.items()}

    @staticmethod
    def _uses(text):
        uses = defaultdict(list)
        for segments, alias in use_trees(text):
            uses[alias or segments[-1]].append(segments)
        return uses

    def imports(self):
        """Triples of importing module, defining module and line. A re-export is no import of its own."""
        for module, text in self.texts.items():
            own = _RE_EXPORT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
            for line, segments, _ in paths(own):
                target = self._from(module, segments)
                if target is not None and target != module:
                    yield module, target, line

    def _from(self, module, segments, depth=0):
        start, rest = self._start(module, segments)
        return None if start is None else self._defining(start, rest, depth)

    def _start(self, module, segments):
        match segments:
            case ["crate", *rest]:
                return (), rest
            case ["self", *rest]:
                return module, rest
            case ["super", *_]:
                rest = list(segments)
                while rest and rest[0] == "super":
                    module, rest = module[:-1], rest[1:]
                return module, rest
            case [first, *_] if module + (first,) in self.texts or first in self.items[module]:
                return module, list(segments)
        return None, []

    def _defining(self, module, rest, depth):
        while rest and module + (rest[0],) in self.texts:
            module, rest = module + (rest[0],), rest[1:]
        # A path that leads in circles defines nothing; sixteen re-exports in a row do not exist.
        if not rest or depth > 16 or module not in self.texts or rest[0] in self.items[module]:
            return module
        for target in self.uses[module].get(rest[0], []):
            found = self._from(module, target + rest[1:], depth + 1)
            if found is not None:
                return found
        return module

    def cycles(self):
        """Pairs of siblings in a cycle and an example of each edge. Children count as part of their parent; what a
        parent and its own children import of each other does not count."""
        levels = defaultdict(lambda: defaultdict(dict))
        for module, target, line in self.imports():
            shared = 0
            while shared < min(len(module), len(target)) and module[shared] == target[shared]:
                shared += 1
            if shared < min(len(module), len(target)):
                edges = levels[module[:shared]][module[shared]]
                edges.setdefault(target[shared], f"{'::'.join(module)}:{line} uses {'::'.join(target)}")
        for level, graph in sorted(levels.items()):
            for group in _strongly_connected(graph):
                if len(group) > 1:
                    edges = [graph[one][two] for one in sorted(group) for two in sorted(graph[one]) if two in group]
                    yield level, sorted(group), edges

    def public_types(self):
        """Pairs of name and module for every public type."""
        for module, text in sorted(self.texts.items()):
            for name in _PUBLIC_TYPE.findall(text):
                yield name, module


def _strongly_connected(graph):
    """Tarjan's algorithm; the graphs are small and no path is long."""
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            groups.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return groups
