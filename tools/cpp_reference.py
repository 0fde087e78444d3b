"""A reference of the C++ library made from the comments of its public headers, as Markdown pages.

It reads the style of this project, not C++: `///` above a declaration or `///<` behind it, clang-format's indentation, one public
class or function after the other inside a namespace. Bodies of functions and private members are left out.
"""
import re

PAGES = {
    "kith: points, index, results": "*.hpp",
    "kith::io: files": "io/*.hpp",
    "kith::apps: applications": "apps/*.hpp",
    "kith::shards: points in several indexes": "shards/*.hpp",
    "kith::mpi: points of many ranks": "mpi/*.hpp",
}
WIDTH = 86  # of a line of code that fits on the page
BEHIND = "///  "  # before what was said behind a declaration
SKIPPED = {"export.hpp", "kith.hpp", "version.hpp"}


def comment_of(lines):
    """The text of `///` lines; a blank one ends a paragraph."""
    text = "\n".join(re.sub(r"^\s*///? ?", "", line) for line in lines)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return "\n\n".join(re.sub(r"(?<![\w`])(\w+)(<)(?=\w)", r"\1\\\2", paragraph) for paragraph in paragraphs)


def without_body(code):
    """A declaration without the body of its function, the initialisers of a constructor and comments."""
    depth, start = 0, None
    for i, letter in enumerate(code):
        if letter in "(<[":
            depth += 1
        elif letter in ")]" or (letter == ">" and code[i - 1] != "-"):
            depth -= 1
        elif letter == "{" and depth <= 0 and re.search(r"\)[^=]*$", code[:i]):
            start = i
            break
    if start is not None:
        code = re.sub(r"\)\s*:\s[^:].*$", ")", code[:start], flags=re.S).rstrip() + ";"
    return code


def fitted(code):
    """The same on lines that fit: arguments one after the other below each other if need be."""
    code = " ".join(code.split())
    code = re.sub(r"^(template <.*?>) (?=\w)", r"\1\n", code)
    lines = []
    for line in code.split("\n"):
        if len(line) > WIDTH and "(" in line:
            head, _, rest = line.partition("(")
            line = head + "(\n    " + re.sub(r",\s(?![^<(]*[>)][^<(]*[,)])", ",\n    ", rest)
        lines.append(line)
    return "\n".join(lines)


def statements(lines):
    """(comment lines, code) for each declaration of a block, in order; a blank line gives (None, '')."""
    comment, code, depth = [], [], 0
    for line in lines:
        text = line.strip()
        if not code and not text:
            yield None, ""
        elif not code and text.startswith("///"):
            comment.append(line)
        elif not code and text.startswith("//"):
            continue
        else:
            behind = re.search(r"\s*///<\s?(.*)$", text)
            if behind:
                comment.append(BEHIND + behind.group(1)[:1].upper() + behind.group(1)[1:])
                text = text[:behind.start()]
            text = re.sub(r"\s+//\s.*$", "", text)
            code.append(text)
            depth += text.count("{") - text.count("}")
            if depth <= 0 and (text.endswith(";") or text.endswith("}")):
                yield comment, "\n".join(code)
                comment, code, depth = [], [], 0


def member_blocks(lines):
    """Public members as Markdown: declarations that share a comment stand together."""
    public, blocks, fresh = True, [], True
    kept = []
    for line in lines:
        access = re.match(r" (public|private|protected):", line)
        if access:
            public = access.group(1) == "public"
        elif public:
            kept.append(line)
    for comment, code in statements(kept):
        if comment is None:
            fresh = True
            continue
        if code.startswith(("friend class", "using ", "static_assert")) and not comment:
            continue
        code = fitted(without_body(code))
        if comment or fresh or not blocks or "(" not in code or "(" not in blocks[-1][0]:
            blocks.append((code, comment_of(comment)))
        else:
            blocks[-1] = (blocks[-1][0] + "\n" + code, blocks[-1][1])
        fresh = any(line.startswith(BEHIND) for line in comment)
    out = []
    for code, text in blocks:
        out += ["```cpp", code, "```", "", *([text, ""] if text else [])]
    return out


def entity(comment, code, lines):
    """One class, enumeration or function of a namespace as Markdown."""
    first = re.sub(r"^template <.*?>\s*", "", code.split("{")[0].strip(), flags=re.S)
    kind = re.match(r"(class|struct|enum class|enum)\s+(\w+)", first)
    if kind and kind.group(1).startswith("enum"):
        return [f"### {kind.group(2)}", "", comment_of(comment), "", "```cpp", *[line.rstrip() for line in lines], "```", ""]
    if kind:
        return [f"### {kind.group(2)}", "", comment_of(comment), "", *member_blocks(lines[1:-1])]
    name = re.search(r"(operator\S+|\w+)\s*\(", first) or re.search(r"using (\w+)", first)
    if not name or name.group(1) == "requires":
        return []
    return [f"### {name.group(1)}", "", "```cpp", fitted(without_body(code)), "```", "", comment_of(comment), ""]


def header_section(path, name):
    """The documented declarations of a header."""
    text = path.read_text(encoding="utf-8").replace("KITH_EXPORT ", "").split("\n")
    intro = []
    for line in text:
        if not line.startswith("//"):
            break
        intro.append(line)
    out = [f"## <{name}>", "", comment_of(intro), ""]
    inside, comment, block, depth, heading = False, [], [], 0, ""
    for line in text[len(intro):]:
        if re.match(r"namespace kith[\w: ]*\{", line):
            inside = not re.search(r"detail|cover_tree", line)
        elif line.startswith("}  // namespace"):
            inside = False
        if not inside or line.startswith(("#", "namespace", "inline namespace")):
            continue
        if not block and line.startswith("///"):
            comment.append(line)
            continue
        if not block and not line.strip():
            comment = []
            continue
        block.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and re.sub(r"\s+//.*$", "", line.rstrip()).endswith((";", "}")):
            if comment:
                found = entity(comment, "\n".join(block), block)
                out += found[2:] if found and found[0] == heading else found  # overloads share a heading
                heading = found[0] if found else heading
            comment, block = [], []
        elif depth == 0 and line.startswith("//"):
            block = []
    return out


def pages(include):
    """A title and the Markdown of each page."""
    for title, pattern in PAGES.items():
        lines = [f"# {title}", "", "From the comments of the public headers; [the C++ library](../docs/cpp.md) introduces them.", ""]
        for path in sorted(include.glob(pattern)):
            if path.name not in SKIPPED:
                lines += header_section(path, path.relative_to(include.parent).as_posix())
        yield title, "\n".join(lines)
