"""What tests of gih sweep share."""
import json

import app.cli as cli

GRID = """\
[data]
length = 20
train = 60
validation = 20
alpha = 0.03 0.3
seed = 1..3
[stage.1]
train = c
epochs = 30
[stage.2]
train = w
epochs = 20
"""

# Four runs of about a second each.
LONG = """\
[data]
train = 500
validation = 0
seed = 1..4
[stage.1]
train = c+w
epochs = 12000
[run]
threads = 2
checkpoint = 0.1
"""


class Sweep(cli.Folder):
    def setUp(self):
        super().setUp()
        self.put("grid.ini", GRID)
        self.put("long.ini", LONG)

    def expand(self, *arguments, grid="grid.ini"):
        return json.loads(self.gih("sweep", "expand", grid, "--json", *arguments)[0])

    def status(self, folder="out"):
        return json.loads(self.gih("sweep", "status", folder, "--json")[0])

    def states(self, folder="out"):
        return [point["state"] for point in self.status(folder)["status"]]

    def inside(self, folder="out"):
        return {p.name: p.read_bytes() for p in (self.folder / folder).iterdir()}

    def run_sweep(self, *arguments, grid="grid.ini", folder="out", status=0):
        return self.gih("sweep", "run", grid, "-o", folder, *arguments, status=status)
