"""HTML of a report: one file that needs no other, light and dark, for wide screens, phones and paper."""

import html
import pathlib


class Html(str):
    """Text that is HTML already; every other text is escaped on its way into an element."""


def element(name, *content, **attributes):
    """<name key="value">content</name>; class_ stands for class, aria_label for aria-label."""
    shown = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
                    for key, value in attributes.items())
    return Html(f"<{name}{shown}>{_join(content)}</{name}>")


def _join(content):
    return Html("".join(part if isinstance(part, Html) else html.escape(str(part))
                        for part in content))


def table(label, head, rows, kind="values"):
    """A table that scrolls in a box of its own; the first cell of each row names the row."""
    columns = element("tr", *(element("th", cell, scope="col") for cell in head))
    body = (element("tr", element("th", first, scope="row"),
                    *(element("td", cell) for cell in rest)) for first, *rest in rows)
    return element("div", element("table", element("thead", columns), element("tbody", *body)),
                   class_=f"scroll {kind}", role="region", aria_label=label, tabindex=0)


def badge(verdict):
    sign = {"PASS": "\N{CHECK MARK}", "FAIL": "\N{BALLOT X}"}.get(verdict, "\N{EN DASH}")
    return element("span", element("span", sign, aria_hidden="true"), f" {verdict}",
                   class_=f"verdict {verdict.lower()}")


def commands(*lines):
    """What is typed at a shell."""
    return element("pre", element("code", "\n".join(lines)), tabindex=0)


def folded(summary, *content):
    return element("details", element("summary", summary), *content)


def figure(svg, caption):
    return element("figure", element("div", Html(svg), class_="scroll picture", role="region",
                                     aria_label="figure", tabindex=0),
                   *([element("figcaption", caption)] if caption else ()))


def compared(label, columns):
    """What differs between {name: {key: value}}, one column each, and folded below it what is common."""
    names = list(columns)
    keys = list(dict.fromkeys(key for values in columns.values() for key in values))
    rows = {key: [values.get(key, "\N{EN DASH}") for values in columns.values()] for key in keys}
    same = {key for key in keys if len(set(rows[key])) == 1}
    parts = []
    if len(same) < len(keys):
        parts.append(table(f"{label}: what differs", ["differs", *names],
                           [(key, *rows[key]) for key in keys if key not in same]))
    if same:
        of = "of the run" if len(names) == 1 else f"common to {len(names)} runs"
        parts.append(folded(f"{len(same)} {'value' if len(same) == 1 else 'values'} {of}",
                            table(f"{label}: what is common", ["key", "value"],
                                  [(key, rows[key][0]) for key in keys if key in same])))
    return _join(parts)


def page(title, *content):
    style = (pathlib.Path(__file__).parent / "page.css").read_text()
    head = element("head", Html('<meta charset="utf-8">'),
                   Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
                   Html('<meta name="color-scheme" content="light dark">'),
                   element("title", title), element("style", Html(style)))
    body = element("body", element("main", element("h1", title), *content))
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n{body}</html>\n'
