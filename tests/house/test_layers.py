"""A floor of the house includes only floors below it, and each module is one header, one source."""
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["GIH_SOURCE"])
FLOORS = ["base", "data", "model", "training", "theory", "memory", "io", "app"]
INCLUDE = re.compile(r'#include "gih/(\w+)/')
# What only one floor may know: HDF5 belongs to io, the configuration to app.
RESERVED = {"hdf5.h": "io", "boost/program_options": "app"}


def sources():
    for folder in ("include/gih", "sim"):
        for path in sorted((SOURCE / folder).rglob("*.[ch]pp")):
            yield path, path.relative_to(SOURCE / folder).parts[0]


class Layers(unittest.TestCase):
    def test_no_floor_includes_one_above(self):
        checked = 0
        for path, floor in sources():
            for target in INCLUDE.findall(path.read_text()):
                checked += 1
                self.assertLessEqual(FLOORS.index(target), FLOORS.index(floor),
                                     f"{path.relative_to(SOURCE)} includes floor {target}")
        self.assertGreater(checked, 50)

    def test_reserved_libraries_stay_on_their_floor(self):
        found = set()
        for path, floor in sources():
            text = path.read_text()
            for library, owner in RESERVED.items():
                if re.search(r"#include <" + re.escape(library), text):
                    found.add(library)
                    self.assertEqual(floor, owner, f"{path.relative_to(SOURCE)} includes {library}")
        self.assertEqual(found, set(RESERVED))

    def test_every_public_header_has_its_source(self):
        headers = [path for path, _ in sources() if "include" in path.parts]
        self.assertGreater(len(headers), 15)
        header_only = {"base/error.hpp", "model/objective.hpp", "training/log.hpp"}
        for path in headers:
            name = path.relative_to(SOURCE / "include" / "gih")
            if str(name) in header_only:
                continue
            source = (SOURCE / "sim" / name).with_suffix(".cpp")
            self.assertTrue(source.exists(), f"{name} has no sim/{name.with_suffix('.cpp')}")

    def test_sources_fit_on_a_few_screens(self):
        for path, _ in sources():
            lines = len(path.read_text().splitlines())
            self.assertLessEqual(lines, 330, f"{path.relative_to(SOURCE)} has {lines} lines")


class Tree(unittest.TestCase):
    def test_top_level_is_the_agreed_one(self):
        # What git ignores (builds, results, run files) belongs to whoever works here.
        ignored = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "--others", "--ignored",
                                  "--exclude-standard", "--directory"],
                                 capture_output=True, text=True).stdout.splitlines()
        ignored = {name.strip("/") for name in ignored}
        agreed = {"CMakeLists.txt", "sim", "include", "experiments", "plots", "tests", "docs",
                  "README.md", "LICENSE"}
        made = {"results"}
        found = {p.name for p in SOURCE.iterdir() if not p.name.startswith(".")}
        found = {name for name in found if not name.startswith("build")} - made - ignored
        self.assertEqual(found, agreed)


if __name__ == "__main__":
    unittest.main()
