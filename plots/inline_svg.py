"""Figures as parts of an HTML page: SVG without what belongs to a file of its own, and with ids that
stay unique when several figures share a page."""

import re
import xml.etree.ElementTree as ET

import numpy as np

TOLERANCE = 0.03  # points; a tenth of a pixel at twice the size of print
SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"


def shorter(path):
    """Path data to a hundredth of a point, with the points alone that matter for lines."""
    parts, points = [], []
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        here = [round(float(number), 2) for number in numbers.split()]
        if command == "L":
            points.append(here)
            continue
        parts += line(points)
        parts.append(" ".join((command, *(f"{number:g}" for number in here))))
        points = [here[-2:]] if here else []  # where lines go on from
    return " ".join(parts + line(points))


def line(points):
    """Commands that go through all points but the first."""
    return [f"L {x:g} {y:g}" for x, y in needed(np.array(points))[1:]] if len(points) > 1 else []


def needed(points):
    """Those of the points (Douglas and Peucker's choice) from which no other is farther than TOLERANCE
    off the lines between them."""
    first, last = points[0], points[-1]
    length = np.hypot(*(last - first))
    apart = points - first
    if length:
        across = np.array([first[1] - last[1], last[0] - first[0]]) / length
        along = (last - first) / length
        # Beside the line, or beyond its ends.
        away = np.maximum(np.abs(apart @ across), np.maximum(-(apart @ along), apart @ along - length))
    else:
        away = np.hypot(*apart.T)
    middle = int(away.argmax())
    if away[middle] <= TOLERANCE:
        return np.array([first, last])
    return np.concatenate([needed(points[:middle + 1])[:-1], needed(points[middle:])])


def inline_svg(text, prefix, label):
    """The figure as <svg> whose ids begin with `prefix`, called `label` by readers of screens."""
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):  # the style is in page.css
                parent.remove(child)
        if "d" in parent.attrib:
            parent.set("d", shorter(parent.get("d")))
    used = set()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if HREF in element.attrib:
            element.set("href", element.attrib.pop(HREF))
        for name, value in element.attrib.items():
            targets = re.findall(r"url\(#([^)]+)\)", value)
            if name == "href" and value.startswith("#"):
                targets.append(value[1:])
            for target in targets:
                used.add(target)
                value = value.replace(f"#{target}", f"#{prefix}-{target}")
            element.set(name, value)
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return ET.tostring(root, encoding="unicode")
