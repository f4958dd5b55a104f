#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file includes what its layer may not see, is too long, or names no licence."""
import pathlib
import re
import sys

MAX_LINES = 500
MAY_SEE = {  # layer -> what is below it; a layer always sees itself
    "wick/base": "",
    "wick/core": "wick/base",
    "wick/parallel": "wick/base wick/core",
    "wick/kernels": "wick/base wick/core",
    "wick/ops": "wick wick/base wick/core wick/parallel wick/kernels",
    "wick/io": "wick wick/base wick/core wick/parallel wick/kernels wick/ops",
    "wick": "wick/base wick/core wick/parallel",
    "models": "wick",  # and what is PUBLIC
    "bench": "wick wick/base wick/core wick/parallel wick/kernels wick/ops wick/io models",
    "cli": "wick wick/base wick/core wick/parallel wick/io models bench",
}
# Users include the headers of these, so only the standard library may stand behind them.
PUBLIC = re.compile(r"wick/((base/|core/)?[^/]*|parallel/(executor|barrier_pool|flush_subnormals))\.(h|inc)")
TOPS = ("wick", "models", "cli", "bench", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


def layer_of(path):
    folder = path.rpartition("/")[0]
    return folder if folder.startswith("wick") else folder.split("/")[0]


def check(name, text):
    layer = layer_of(name)
    if text.count("\n") > MAX_LINES:
        yield f"wanted at most {MAX_LINES} lines, got {text.count(chr(10))}"
    if "SPDX-License-Identifier: Apache-2.0" not in text.split("\n", 1)[0]:
        yield "wanted the SPDX licence line first"
    # Headers that are read once per instruction set have Highway's guard.
    guard = "HWY_TARGET_TOGGLE" if name.endswith("-inl.h") else "#pragma once"
    if name.endswith(".h") and guard not in text:
        yield f"wanted {guard}"
    if layer == "tests":
        return
    may_see = [layer, *MAY_SEE[layer].split()]
    for quoted, angled in INCLUDE.findall(text):
        own = quoted.split("/")[0] in TOPS and quoted
        foreign = not own and (quoted or angled)
        public = layer == "models" and PUBLIC.fullmatch(own or "")
        if own and layer_of(own) not in may_see and not public:
            yield f'{layer} may not include "{own}"'
        if foreign and PUBLIC.fullmatch(name) and not re.fullmatch(r"\w+", foreign):
            yield f"a header that users see may not include <{foreign}>"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [p for top in TOPS for p in (root / top).rglob("*")]
    files = sorted(p for p in files if p.suffix in (".cc", ".h", ".inc"))
    problems = [f"{p.relative_to(root)}: {problem}" for p in files
                for problem in check(p.relative_to(root).as_posix(), p.read_text(encoding="utf-8"))]
    print("\n".join(problems) or f"layers: {len(files)} files are fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
